"""Environments and agents by name, as the command line and files of settings write them.

`fasturl._base.names` knows the components; here are those that are trained: environments, and agents. Every
learner is an agent, `<learner>-lat`, that sees the latent states; a compiled one is also `<learner>-obs`,
which takes each observation for a state, and has a setting of its own beside the learner's. A setting that
the named thing does not have is refused, so that no setting is ever silently ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from ._base import checks, names
from ._base.names import register as register
from ._base.parts import component_settings, describe_part
from ._base.schema import Setting, declared_fields, refuse_unknown
from .agents.agent import Agent
from .agents.latent import LatentAgent
from .agents.observation import ObservationAgent
from .learners.compiled import CompiledLearner
from .problems.environment import Environment

_SEEING: dict[str, Any] = dict(zip(names.SUFFIXES, (LatentAgent, ObservationAgent), strict=True))
"""What a learner's agents are called, and what they are."""


def environment_names() -> list[str]:
    return list(names.components("environment"))


def agent_names() -> list[str]:
    """Those of agents, and of each learner as an agent: <learner>-obs where it is compiled, as
    `ObservationAgent` wants it. Classes of learners are loaded; of one that cannot be, both are listed."""
    blind = {
        learner + names.SUFFIXES[1]
        for learner, component in names.components("learner").items()
        if not _may_see_observations(component)
    }
    return [name for name in possible_agent_names() if name not in blind]


def possible_agent_names() -> list[str]:
    """Those of agents, and two for each learner, whether or not it can see observations: it loads none."""
    return [
        *names.components("agent"),
        *(learner + suffix for learner in names.components("learner") for suffix in _SEEING),
    ]


def _may_see_observations(learner: names.Component) -> bool:
    try:
        return issubclass(learner.cls, CompiledLearner)
    except ValueError:  # told where it is used
        return True


def environment(name: str, **settings: Any) -> Environment:
    """For example environment("lock-gaussian", horizon=20, noise=0.1)."""
    env: Environment = names.make("environment", name, settings)
    return env


def agent(name: str, **settings: Any) -> Agent:
    """For example agent("oracleq-lat", learning_rate=0.3)."""
    component, suffix = agent_component(name)
    nested = nested_settings(name, settings)
    own = {key: nested.pop(key) for key in _own_settings(component, suffix) if key in nested}
    learner_or_agent: Any = names.make(component.kind, component.name, nested)
    player: Agent = _SEEING[suffix](learner_or_agent, **own) if suffix else learner_or_agent
    return player


def agent_component(name: object) -> tuple[names.Component, str]:
    """The class that an agent is made of: that of the agent itself, or of its learner with the suffix that
    says what it sees."""
    if not isinstance(name, str) or name not in possible_agent_names():
        checks.choice("agent", name, agent_names())
    text = str(name)
    if text in names.components("agent"):
        return names.find("agent", text), ""
    suffix = next(suffix for suffix in _SEEING if text.endswith(suffix))
    return names.find("learner", text.removesuffix(suffix)), suffix


def agent_declaration(name: str) -> Mapping[str, Setting]:
    """The settings that an agent has."""
    component, suffix = agent_component(name)
    return {**component.settings, **_own_settings(component, suffix)}


def _own_settings(component: names.Component, suffix: str) -> dict[str, Setting]:
    """The settings that a learner's agent has beside those of the learner, whose names go first."""
    declared = declared_fields(_SEEING[suffix]) if suffix else {}
    return {name: one for name, one in declared.items() if name not in component.settings}


def environment_declaration(name: str) -> Mapping[str, Setting]:
    """The settings that an environment has."""
    return names.find("environment", name).settings


def nested_settings(name: str, flat: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of an agent as a person writes them, sorted to the agent and its parts.

    A setting of a part may be written as learner.confidence, or as confidence where only one of the agent and
    its parts has a setting of that name. A part itself is its name, or a table with settings. However it is
    written, a setting is given once.
    """
    declaration = agent_declaration(name)
    parts = {part: declared for part, declared in declaration.items() if isinstance(declared.kind, str)}
    settings: dict[str, Any] = {key: value for key, value in flat.items() if key in declaration}
    tables = {part: _part_table(settings.get(part)) for part in parts}
    for key, value in flat.items():
        if key in declaration:
            continue
        part, inner = _owner(
            name, key, declaration, {part: _part_settings(parts[part], tables[part]) for part in parts}
        )
        tables[part] = with_setting(part, tables[part], inner, value)
    return settings | {part: table for part, table in tables.items() if isinstance(table, dict) and table}


def with_setting(part: str, table: Any, name: str, value: Any) -> dict[str, Any]:
    """The table of a part with one setting more; ValueError where it has that already, or is an object."""
    if not isinstance(table, Mapping):
        raise ValueError(
            f"{name} cannot be set beside {part} {checks.short_repr(table)}: set it in the object itself"
        )
    if name in table:
        values = checks.short_repr(table[name]), checks.short_repr(value)
        raise ValueError(f"{part}.{name} is given twice, as {values[0]} and as {values[1]}")
    return {**table, name: value}


def _part_table(value: Any) -> Any:
    """A part as a table of settings that can be added to; an object stays what it is."""
    if value is None or isinstance(value, str):
        return {} if value is None else {"name": value}
    return dict(value) if isinstance(value, Mapping) else value


def _part_settings(declared: Setting, table: Any) -> Mapping[str, Setting]:
    """The settings that a part has: those of the class that is named, or of the default."""
    kind = str(declared.kind)
    if isinstance(table, dict) and "name" in table:
        return names.find(kind, table["name"]).settings
    component = _default_component(declared)
    return component.settings if component else {}


def _default_component(declared: Setting) -> names.Component | None:
    """The class of a part that is left at its default: an object, a name, or a table with a name."""
    kind, table = str(declared.kind), _part_table(declared.default)
    if not isinstance(table, dict):
        return names.find_class(kind, type(table))
    return names.find(kind, table["name"]) if "name" in table else None


def _owner(
    name: str, key: str, declaration: Mapping[str, Setting], parts: Mapping[str, Mapping[str, Setting]]
) -> tuple[str, str]:
    """The part of an agent that has a setting, and what the setting is called there."""
    prefix, dot, inner = key.partition(".")
    if dot and prefix in parts:
        refuse_unknown(f"the {prefix} of {name}", [inner], parts[prefix])
        return prefix, inner
    owners = [part for part, settings in parts.items() if key in settings]
    if len(owners) == 1:
        return owners[0], key
    if owners:
        raise ValueError(
            f"{key} may be {' or '.join(f'{part}.{key}' for part in owners)} of {name}: write which"
        )
    counts = Counter([*declaration, *(inner for settings in parts.values() for inner in settings)])
    of_parts = [
        inner if counts[inner] == 1 else f"{part}.{inner}"
        for part, settings in parts.items()
        for inner in settings
    ]
    refuse_unknown(name, [key], [*declaration, *of_parts])
    raise AssertionError(key)


def agent_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of an agent, those given and the defaults of the rest, as results keep them."""
    component, suffix = agent_component(name)
    player: Any = agent(name, **settings)
    own = {key: getattr(player, key) for key in _own_settings(component, suffix)}
    return {**component_settings(component, player.learner if suffix else player), **own}


def environment_settings(name: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of an environment, those given and the defaults of the rest, as results keep them."""
    component = names.find("environment", name)
    return component_settings(component, names.make("environment", name, settings))


def origins(env: str, agent: str, settings: Mapping[str, Any]) -> dict[str, str]:
    """The package and version that an environment, an agent and the agent's parts come from."""
    return {f"{one.kind} {one.name}": one.origin for one in _components(env, agent, settings)}


def carried(env: str, agent: str, settings: Mapping[str, Any]) -> list[tuple[str, str, type]]:
    """Those of the components that another process does not know by itself: they go with the work."""
    return names.carried_components(*((one.kind, one.name) for one in _components(env, agent, settings)))


def _components(env: str, agent: str, settings: Mapping[str, Any]) -> list[names.Component]:
    declaration = agent_declaration(agent)
    parts = [
        (declared.kind, settings.get(part))
        for part, declared in declaration.items()
        if isinstance(declared.kind, str)
    ]
    named = [names.find(str(kind), table["name"]) for kind, table in parts if isinstance(table, Mapping)]
    return [names.find("environment", env), agent_component(agent)[0], *named]


def agent_scopes(name: str, parts: Mapping[str, Any]) -> dict[str, Mapping[str, Setting]]:
    """The settings of an agent under "agent", and those of each of its parts under the part's name.

    The defaults are those that count here: of URL's own learner, those that URL gives it.

    parts
        Which oracle or learner is chosen, where it is not the default: its name, or a table with its name.
    """
    declaration = agent_declaration(name)
    owners: dict[str, Mapping[str, Setting]] = {}
    for part, declared in declaration.items():
        if isinstance(declared.kind, str):
            table = _part_table(parts.get(part))
            settings = _part_settings(declared, table)
            if settings and not (isinstance(table, dict) and "name" in table):
                own = describe_part(declared.kind, declared.default)
                settings = {key: replace(one, default=own[key]) for key, one in settings.items()}
            owners[part] = settings
    return {"agent": declaration, **owners}


def default_parts(env: str, env_settings: Mapping[str, Any], agent_name: str) -> dict[str, str]:
    """The oracle that an agent takes by itself on an environment, under the name of the part that it is;
    nothing where it takes none, or where the settings are not allowed."""
    open_parts = [
        part
        for part, declared in agent_declaration(agent_name).items()
        if declared.kind == "oracle" and declared.default is None
    ]
    if len(open_parts) != 1:
        return {}
    try:
        oracle = agent(agent_name).oracle_name(environment(env, **env_settings).describe())
    except ValueError:
        return {}
    return {open_parts[0]: oracle} if oracle in names.components("oracle") else {}


class SettingNames:
    """How people write the settings of an environment, of an agent and of the agent's parts.

    A setting is written by its name, such as horizon or confidence, where only one of them has a setting of
    that name (an agent goes before its parts), and always with its owner before it: env.horizon, agent.batch,
    learner.confidence. Hyphens and underscores are the same.

    env, agent
        Their names.
    parts
        Which oracle or learner is chosen, as for `agent_scopes`.
    """

    OPTIONS = frozenset(("agent", "episodes", "seeds", "points", "n_jobs", "json", "plot", "dry_run", "help"))
    """What `fasturl train` calls options of its own: a setting of such a name is written with its owner."""

    def __init__(self, env: str, agent: str, parts: Mapping[str, Any]) -> None:
        scopes = agent_scopes(agent, parts)
        self.scopes: dict[str, Mapping[str, Setting]] = {"env": environment_declaration(env), **scopes}
        chosen = {scope: part_name(scopes["agent"], scope, parts) for scope in scopes if scope != "agent"}
        self.titles = {"env": env, "agent": agent} | {
            scope: f"{scope} {name}" for scope, name in chosen.items() if name
        }
        """What has settings, as messages and help call it."""

    def owner(self, word: str, options: Collection[str] = ()) -> tuple[str, Setting]:
        """Who has the setting that a word names, and its declaration; ValueError where nobody has it, or
        several have. `options` are those of the command that the word was given to: one of them may have been
        meant."""
        scope, dot, name = word.replace("-", "_").rpartition(".")
        if not dot:
            return self._only_owner(name, options)
        if scope not in self.scopes:
            raise ValueError(
                f"{word} cannot be set: {self.titles['agent']} has no {scope}"
                f"{checks.nearest(scope, self.scopes)}"
            )
        if scope not in self.titles:
            raise ValueError(f"{word} cannot be set: name the {scope} of {self.titles['agent']} first")
        refuse_unknown(self.titles[scope], [name], self.scopes[scope])
        return scope, self.scopes[scope][name]

    def _only_owner(self, name: str, options: Collection[str]) -> tuple[str, Setting]:
        owners = self._owners(name)
        if len(owners) > 1:
            spellings = " or ".join(_as_option(f"{scope}.{name}") for scope in owners)
            raise ValueError(f"{name} may be {spellings}: write which")
        if not owners:
            known = set(options).union(*self.scopes.values())
            titles = list(self.titles.values())
            listed = f"{', '.join(titles[:-1])} or {titles[-1]}"
            kind = "neither an option nor a setting" if options else "not a setting"
            raise ValueError(f"{name} is {kind} of {listed}{checks.nearest(name, sorted(known))}")
        return owners[0], self.scopes[owners[0]][name]

    def spelling(self, scope: str, name: str) -> str:
        """The shortest way to write a setting that leaves no doubt."""
        alone = self._owners(name) == [scope]
        return name if alone and name not in self.OPTIONS else f"{scope}.{name}"

    def _owners(self, name: str) -> list[str]:
        """Who may be meant by a name: the environment and the agent, or the parts of an agent that has no
        such setting itself."""
        owners = [scope for scope, settings in self.scopes.items() if name in settings]
        return [scope for scope in owners if scope in ("env", "agent")] if "agent" in owners else owners

    def option(self, scope: str, name: str) -> str:
        """The same as an option of the command line: --learning-rate."""
        return _as_option(self.spelling(scope, name))


def _as_option(spelling: str) -> str:
    return f"--{spelling.replace('_', '-')}"


def part_name(declaration: Mapping[str, Setting], part: str, parts: Mapping[str, Any]) -> str | None:
    """The name of the component that a part is, where there is one."""
    table = _part_table(parts.get(part))
    if isinstance(table, dict) and "name" in table:
        return str(table["name"])
    component = _default_component(declaration[part])
    return component.name if component else None
