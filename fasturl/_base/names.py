"""Components by name: environments, oracles, learners and agents, ours and anybody's.

A class becomes known in one of two ways. A package names it in its entry points (groups
`fasturl.environments`, `fasturl.oracles`, `fasturl.learners`, `fasturl.agents`), as fasturl itself does for
all that it brings: the class is then known wherever the package is installed, and imported when it is first
used. Or a program calls `register`: the class is then known in that process, and goes with the work to worker
processes.

What is wrong with one component harms no other: a name that is taken is left out with a warning that names
the packages, and a class that cannot be imported, or does not declare its settings, is told of when it is
asked for.
"""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import metadata
from typing import Any

from . import checks
from .schema import Setting, clean_settings, declaration_problem, refuse_unknown, settings_of

GROUPS = {
    "environment": "fasturl.environments",
    "oracle": "fasturl.oracles",
    "learner": "fasturl.learners",
    "agent": "fasturl.agents",
}
"""The group of entry points of each kind of component."""
RESERVED = frozenset(
    [
        *("cell", "env", "agent", "oracle", "learner", "name", "episodes", "points", "version"),
        *("seed", "seeds", "seed_values", "trajectories", "total_trajectories", "wall_seconds", "curve"),
        *("average_reward", "average_reward_mean", "average_reward_std", "average_reward_iqm"),
        *("average_reward_low", "average_reward_high", "value", "values", "value_error"),
        *("regret", "regret_mean", "regret_std", "regret_iqm", "regret_low", "regret_high"),
        *(
            "v_star",
            "optimal_value",
            "near_optimal",
            "successes",
            "success_rate",
            "success_low",
            "success_high",
        ),
        *("value_mean", "value_std", "value_iqm", "value_low", "value_high"),
        *("reached", "needed", "needed_low", "needed_high", "label", "figure", "warnings", "warned"),
    ]
)
"""Columns of results and of their summaries, which no setting of an environment may be called."""
SUFFIXES = ("-lat", "-obs")
"""What follows the name of a learner in the names of its two agents."""
_OURS = "fasturl"
_NAME = re.compile(r"[a-z][a-z0-9]*([-_.][a-z0-9]+)*")


@dataclass(frozen=True)
class Component:
    """A class that is known by name, and the package that it came from."""

    kind: str
    name: str
    package: str
    version: str | None
    carried: bool
    """Whether it goes with the work to other processes: it was registered by a program, not by an installed
    package."""
    target: str
    """Where the class is: module:name."""
    load: Callable[[], Any]

    @property
    def origin(self) -> str:
        """Package and version, as results keep them."""
        return self.package if self.version is None else f"{self.package} {self.version}"

    @property
    def module(self) -> str:
        """The module that its entry point names, or that its class is defined in."""
        return self.target.partition(":")[0].strip()

    @property
    def built_in(self) -> bool:
        """Whether fasturl brings it itself."""
        return self.package == _OURS

    @cached_property
    def cls(self) -> Any:
        """The class; ValueError in one line where it cannot be loaded or does not declare its settings."""
        try:
            loaded = self.load()
        except (Exception, SystemExit) as error:  # a package of somebody else's may fail in any way
            text = " ".join(str(error).split())
            raise ValueError(
                f"{self.kind} {self.name!r} of the package {self.origin} cannot be loaded: "
                f"{type(error).__name__}: {text}"
            ) from error
        if problem := _defect(self.kind, loaded):
            raise ValueError(
                f"{self.kind} {self.name!r} of the package {self.origin} cannot be used: {problem}"
            )
        return loaded

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The settings that the class declares."""
        return settings_of(self.cls)


_registered: dict[str, dict[str, Component]] = {kind: {} for kind in GROUPS}
_listeners: list[Callable[[Component], None]] = []


def register(cls: Any = None, *, name: str | None = None, kind: str | None = None) -> Any:
    """Make a class known by name, as a decorator or a call: `fu.register(Corridor)` or
    `@fu.register(name="corridor")`.

    cls
        An environment, an oracle (`fit` and `predict`), a learner (`start`) or an agent, whose settings are
        declared: see `fasturl.setting`.
    name
        How it is called; if not given, the class's own name in small letters with hyphens: BlockMDP is
        block-mdp.
    kind
        "environment", "oracle", "learner" or "agent", where the class does not show which it is.

    Returns the class. A class that is registered again under its name, as in a notebook, takes the place of
    the former.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> import fasturl as fu
    >>> @fu.register(name="lazy", kind="learner")
    ... @dataclass(frozen=True)
    ... class Lazy(fu.Declared):
    ...     patience: int = fu.setting(1, least=0, help="How long to wait.")
    ...     def start(self, task):
    ...         raise NotImplementedError
    >>> from fasturl.registry import agent_names
    >>> "lazy-lat" in agent_names()
    True
    """
    if cls is None:
        return lambda decorated: register(decorated, name=name, kind=kind)
    if not isinstance(cls, type):
        raise ValueError(f"a class is registered, got {checks.short_repr(cls)}")
    kind = _kind_of(cls) if kind is None else checks.choice("kind", kind, GROUPS)
    name = default_name(cls) if name is None else name
    if not (isinstance(name, str) and _NAME.fullmatch(name)):
        raise ValueError(
            f"name must be small letters and digits with hyphens between them, got {checks.short_repr(name)}"
        )
    if problem := _defect(kind, cls):
        raise ValueError(f"{cls.__name__} cannot be registered: {problem}")
    other = _holder(kind, name)
    if other is not None and not (other.kind == kind and other.carried and _same_class(other.load(), cls)):
        whose = f"the package {other.origin}" if other.kind == kind else f"{other.kind} {other.name!r}"
        raise ValueError(f"{kind} {name!r} is taken by {whose}: register {cls.__name__} under another name")
    _add(_of_program(kind, name, cls))
    return cls


def on_register(listener: Callable[[Component], None]) -> None:
    """Have a function called with every component that a program registers from now on."""
    _listeners.append(listener)


def components(kind: str) -> dict[str, Component]:
    """All components of a kind by name: those of fasturl, those of other packages, those that were
    registered."""
    return {**_installed(kind), **_registered[kind]}


def find(kind: str, name: object) -> Component:
    """The component of this name; ValueError with the nearest name where there is none."""
    known = components(kind)
    return known[checks.choice(kind, name, known)]


def find_class(kind: str, cls: type) -> Component | None:
    """The component that a class is known as, if it is."""
    known, target = components(kind).values(), _target(cls)
    for component in known:
        if component.target == target:
            return component
    # an entry point may name a class where its package shows it, not where it is defined
    nearest = [one for one in known if _top(one.target) == _top(cls.__module__)]
    others = [one for one in known if one.module in sys.modules]
    return next((one for one in (*nearest, *others) if not one.built_in and _loads_as(one, cls)), None)


def name_of(kind: str, instance: object) -> str:
    """What an instance is called in tables and files: by the name of its class, or else after the class."""
    component = find_class(kind, type(instance))
    return component.name if component else default_name(type(instance))


def make(kind: str, name: object, settings: Mapping[str, Any]) -> Any:
    """An instance by name; ValueError for a setting that it does not have."""
    component = find(kind, name)
    refuse_unknown(component.name, settings, component.settings)
    for setting in component.settings.values():
        if setting.required and setting.name not in settings:
            raise ValueError(f"{setting.name} is missing: {component.name} needs it")
    return component.cls(**clean_settings(component.cls, settings))


def default_name(cls: type) -> str:
    """What a class is called: its `name` if it has one, or else BlockMDP is block-mdp."""
    own = cls.__dict__.get("name")
    if isinstance(own, str):
        return own
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", cls.__name__)
    return words.replace("_", "-").strip("-").lower()


def carried_components(*kinds_and_names: tuple[str, str]) -> list[tuple[str, str, type]]:
    """Those of the named components that another process does not know by itself."""
    named = (components(kind).get(name) for kind, name in kinds_and_names)
    return [(one.kind, one.name, one.cls) for one in named if one is not None and one.carried]


def receive(components: list[tuple[str, str, type]]) -> None:
    """What `carried_components` gave, made known in this process."""
    for kind, name, cls in components:
        if name not in _registered[kind]:
            _add(_of_program(kind, name, cls))


def _add(component: Component) -> None:
    _registered[component.kind][component.name] = component
    for listener in _listeners:
        listener(component)


@cache
def _entry_points() -> Any:
    """The entry points of all packages, which are read once; a warning for each in a group that is nearly one
    of ours."""
    entries: Any = metadata.entry_points()  # of another class before Python 3.12
    groups = list(GROUPS.values())
    for group in sorted(entries.groups):
        if not group.startswith(f"{_OURS}.") or group in groups:
            continue
        for entry in entries.select(group=group):
            warnings.warn(
                f"{entry.name!r} of the package {_package(entry)} is left out: there is no group {group} of "
                f"entry points{checks.nearest(group, groups)}; there are {', '.join(groups)}",
                stacklevel=5,
            )
    return entries


def forget_installed() -> None:
    """Read what packages bring anew when it is next asked for."""
    _entry_points.cache_clear()
    _installed.cache_clear()


@cache
def _installed(kind: str) -> dict[str, Component]:
    entries = _entry_points().select(group=GROUPS[kind])
    ours_first = sorted(entries, key=lambda entry: (_package(entry) != _OURS, _package(entry), entry.name))
    components: dict[str, Component] = {}
    for entry in ours_first:
        if reason := _left_out(kind, entry, components):
            warnings.warn(
                f"{kind} {entry.name!r} of the package {_package(entry)} is left out: {reason}", stacklevel=4
            )
        if reason or entry.name in components:  # an installation that is listed twice says the same twice
            continue
        version = _name_and_version(entry.dist)[1] if entry.dist else None
        components[entry.name] = Component(
            kind, entry.name, _package(entry), version, False, entry.value, entry.load
        )
    return components


def _left_out(kind: str, entry: metadata.EntryPoint, known: Mapping[str, Component]) -> str:
    """Why an entry point cannot be known by its name; nothing where it can."""
    if not _NAME.fullmatch(entry.name):
        return "a name must be small letters and digits with hyphens between them"
    if entry.name in known and known[entry.name].target != entry.value:
        return f"the name is taken by {known[entry.name].origin}"
    learner = _learner_of(entry.name)
    if kind == "agent" and learner in _installed("learner"):
        return f"the name is taken by learner {learner!r} of {_installed('learner')[learner].origin}"
    return ""


def _learner_of(agent: str) -> str:
    """The learner whose agent would have this name."""
    suffix = next((suffix for suffix in SUFFIXES if agent.endswith(suffix)), "")
    return agent.removesuffix(suffix) if suffix else ""


def _holder(kind: str, name: str) -> Component | None:
    """The component that has a name, or, of agents and learners, whose agents have it."""
    if kind == "agent" and _learner_of(name) in components("learner"):
        return components("learner")[_learner_of(name)]
    agents = components("agent") if kind == "learner" else {}
    of_agent = next((agents[name + suffix] for suffix in SUFFIXES if name + suffix in agents), None)
    return of_agent or components(kind).get(name)


def _of_program(kind: str, name: str, cls: type) -> Component:
    """A component that a program hands over as a class."""
    package, version = _package_of(cls)
    return Component(kind, name, package, version, True, _target(cls), lambda: cls)


def _target(cls: type) -> str:
    """Where a class is defined, as an entry point writes it."""
    return f"{cls.__module__}:{cls.__qualname__}"


def _top(path: str) -> str:
    """The outermost package of a module."""
    return path.partition(":")[0].partition(".")[0]


def _package(entry: metadata.EntryPoint) -> str:
    return _name_and_version(entry.dist)[0] if entry.dist else _top(entry.value)


@cache
def _name_and_version(distribution: metadata.Distribution) -> tuple[str, str]:
    """Kept, since each of them reads and takes apart a file."""
    return distribution.name, distribution.version


@cache
def _distributions(path: tuple[str, ...]) -> Mapping[str, list[str]]:
    """The distributions that each package on a path came with: kept, since the list of files of every one of
    them is read for that."""
    return metadata.packages_distributions()


def _package_of(cls: type) -> tuple[str, str | None]:
    """The package that a class came from, and its version where there is one."""
    top = _top(cls.__module__)
    for package in _distributions(tuple(sys.path)).get(top, ()):
        return package, metadata.version(package)
    version = getattr(sys.modules.get(top), "__version__", None)
    return top, version if isinstance(version, str) else None


def _kind_of(cls: type) -> str:
    own = getattr(cls, "component_kind", None)
    if own in GROUPS:
        return str(own)
    if callable(getattr(cls, "start", None)):
        return "learner"
    if callable(getattr(cls, "fit", None)) and callable(getattr(cls, "predict", None)):
        return "oracle"
    raise ValueError(
        f"{cls.__name__} cannot be registered: it is no Environment and no Agent, "
        "has no start as a learner has, and no fit and predict as an oracle has"
    )


_NEEDS = {"oracle": ("fit", "predict"), "learner": ("start",)}


def _defect(kind: str, cls: Any) -> str:
    """What keeps a class from being a component of its kind; nothing where it can be one."""
    if not isinstance(cls, type):
        return f"it must be a class, got {checks.short_repr(cls)}"
    if kind in _NEEDS:
        missing = [method for method in _NEEDS[kind] if not callable(getattr(cls, method, None))]
        if missing:
            return f"{cls.__name__} has no {' and no '.join(missing)}"
    elif getattr(cls, "component_kind", None) != kind:
        return f"{cls.__name__} must be a subclass of fasturl's {kind.capitalize()}"
    if abstract := getattr(cls, "__abstractmethods__", None):
        return f"{cls.__name__} does not define {' and '.join(sorted(abstract))}"
    if problem := declaration_problem(cls):
        return problem
    taken = sorted(RESERVED & settings_of(cls).keys()) if kind == "environment" else []
    return f"{taken[0]} is a column of results and cannot be a setting of {cls.__name__}" if taken else ""


def _same_class(known_class: Any, cls: type) -> bool:
    """Whether a class is another definition of the one that is known, as when a cell of a notebook runs
    again."""
    return (known_class.__module__, known_class.__qualname__) == (cls.__module__, cls.__qualname__)


def _loads_as(component: Component, cls: type) -> bool:
    try:
        return component.load() is cls
    except (Exception, SystemExit):  # another package's failure is not this class's
        return False
