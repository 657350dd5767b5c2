"""The cells that the tables of a sweep span: every combination of environments, agents and their settings.

Settings are those that the named classes declare. What [learner] and [oracle] set goes to every agent that
has such a part and does not set it itself; an agent that is a learner, such as <learner>-lat, takes settings
of [learner] as its own.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import registry
from ..._base import checks, names
from ..._base.schema import PARTS, Setting
from ...training import POINTS
from .cells import Cell

_MOST_CELLS = 100_000
"""Upper limit on the cells of a sweep: more are a mistake in its lists."""
Table = dict[str, Any]


class Grid:
    """The cells of one spec without groups."""

    def __init__(self, content: Table) -> None:
        for key in ("env", "agent", "episodes"):
            if key not in content:
                needed = "a number" if key == "episodes" else f"a table [{key}] with a name"
                raise ValueError(f"{key} is missing: {needed} is needed")
        self.episodes = _choices(content["episodes"], "episodes")
        self.points, self.evaluate_every = content.get("points", POINTS), content.get("evaluate_every")
        self.envs, self.agents = _tables(content, "env"), _tables(content, "agent")
        self.shared = {kind: _shared(content, kind) for kind in PARTS if kind in content}
        for table in self.envs:
            _check_table("env", table, registry.environment_names(), registry.environment_declaration)
        for table in self.agents:
            supplied = {field for shared in self.shared.values() for one in shared.tables for field in one}
            _check_table("agent", table, registry.agent_names(), registry.agent_declaration, supplied)

    def cells(self) -> Iterator[Cell]:
        envs = [choice for table in self.envs for choice in _choices(table, "env")]
        agents = list(
            itertools.islice(
                (choice for table in self.agents for choice in self._agent_choices(table)), _MOST_CELLS + 1
            )
        )
        if len(agents) > _MOST_CELLS:
            raise ValueError(f"the grid of agents has more than the {_MOST_CELLS:,} cells that are allowed")
        for shared in self.shared.values():
            shared.refuse_unused()
        count = len(envs) * len(agents) * len(self.episodes)
        if count > _MOST_CELLS:
            raise ValueError(f"the grid has {count:,} cells: at most {_MOST_CELLS:,} are allowed")
        for env, agent, episodes in itertools.product(envs, agents, self.episodes):
            env_name, env_settings = _named(env)
            agent_name, agent_settings = _named(agent)
            try:
                yield Cell.make(
                    env_name,
                    env_settings,
                    agent_name,
                    agent_settings,
                    episodes,
                    self.points,
                    self.evaluate_every,
                )
            except (ValueError, TypeError) as error:
                raise ValueError(f"{agent_name} on {env_name}: {error}") from None

    def _agent_choices(self, table: Table) -> Iterator[Table]:
        """Every agent of a table with its own settings, and those of [learner] and [oracle] that it takes."""
        for own in _choices(table, "agent"):
            name, settings = _named(own)
            component, _ = registry.agent_component(name)
            # an agent that is a learner is its own part, without a name
            parts = {None: component.kind} | {
                part: str(setting.kind)
                for part, setting in component.settings.items()
                if setting.kind in PARTS
            }
            options = [
                list(self.shared[kind].choices(name, part, settings))
                for part, kind in parts.items()
                if kind in self.shared
            ]
            for shared in itertools.product(*options):
                yield own | _with_shared(settings, [one for one in shared if one])


@dataclass
class _Shared:
    """[learner] or [oracle]: the settings that agents take from it, and those that no agent has taken so
    far."""

    kind: str
    tables: list[Table]
    open_settings: set[str] = field(default_factory=set)
    """All settings that agents could take."""
    in_use: bool = False

    def choices(self, agent: str, part: str | None, own: Table) -> Iterator[tuple[str | None, Table]]:
        """What an agent with these settings of its own takes for one of its parts, or for itself where the
        part is None; nothing is an empty table."""
        for table in self.tables:
            for name in _choices(table["name"], self.kind) if "name" in table else [None]:
                open_settings = self._open(agent, part, own, name)
                if open_settings is None:
                    yield part, {}
                    continue
                self.in_use = True
                self.open_settings |= open_settings
                taken = {
                    key: value
                    for key, value in table.items()
                    if key in open_settings or (part and name and key != "name" and not _sets(own, part, key))
                }
                for choice in _choices(taken, self.kind):
                    yield part, ({"name": name} if part and name else {}) | choice

    def _open(self, agent: str, part: str | None, own: Table, name: Any) -> set[str] | None:
        """The settings that an agent leaves to the table; None where it takes nothing from it."""
        component, _ = registry.agent_component(agent)
        if name is not None:
            names.find(self.kind, name)
        if part is None:
            if name is not None and name != component.name:
                return None
            return component.settings.keys() - own.keys()
        own_name = _part_name(own.get(part))
        if own_name is not None and name is not None:
            return None
        declared = _declared_by_part(self.kind, own_name or name, component.settings[part])
        if not declared and name is None:
            return None
        return {key for key in declared if not _sets(own, part, key)}

    def refuse_unused(self) -> None:
        """ValueError where no agent takes a setting of the table, or anything at all."""
        article = "an" if self.kind[0] in "aeiou" else "a"
        if not self.in_use and (self.kind == "oracle" or any("name" in table for table in self.tables)):
            raise ValueError(f"[{self.kind}] is of no use: no agent here takes {article} {self.kind}")
        for table in self.tables:
            for key in table.keys() - {"name"} - self.open_settings:
                # what a named part does not have is refused with what it has, when the cell is made
                if "name" not in table or not self.in_use:
                    raise ValueError(
                        f"[{self.kind}] {key} is a setting that no agent here takes"
                        f"{checks.nearest(key, self.open_settings)}"
                    )


def _shared(content: Table, kind: str) -> _Shared:
    if kind == "learner" and not isinstance(content[kind], dict):
        raise ValueError("learner must be one table, headed [learner]")
    tables = _tables(content, kind)
    if kind == "oracle" and not all("name" in table for table in tables):
        raise ValueError("[oracle] needs a name")
    return _Shared(kind, tables)


def _with_shared(settings: Table, shared: list[tuple[str | None, Table]]) -> Table:
    """The settings of an agent with what it takes for its parts: its own go first."""
    additions: Table = {}
    for part, table in shared:
        if part is None:
            additions |= table
        elif table:
            own = settings.get(part, {})
            additions[part] = table | ({"name": own} if isinstance(own, str) else own)
    return settings | additions


def _sets(own: Table, part: str, key: str) -> bool:
    """Whether an agent's own settings hold one of a part: by the bare name, as part.name, or in a table."""
    table = own.get(part)
    return key in own or f"{part}.{key}" in own or (isinstance(table, dict) and key in table)


def _part_name(value: Any) -> str | None:
    """The name of a part that is given as a name or as a table."""
    return value.get("name") if isinstance(value, dict) else value


def _declared_by_part(kind: str, name: str | None, declared: Setting) -> Mapping[str, Setting]:
    """The settings of the class that is named, or of the default."""
    if name is not None:
        return names.find(kind, name).settings
    component = names.find_class(kind, type(declared.default))
    return component.settings if component else {}


def _named(table: Table) -> tuple[str, Table]:
    return table["name"], {key: value for key, value in table.items() if key != "name"}


def _tables(content: Table, key: str) -> list[Table]:
    value = content[key]
    tables = value if isinstance(value, list) else [value]
    if not tables:
        raise ValueError(f"{key} is an empty list: there is nothing to run")
    if not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{key} must be a table, headed [{key}], got {checks.short_repr(value)}")
    return tables


def _check_table(
    key: str,
    table: Table,
    known: list[str],
    declaration: Callable[[str], Mapping[str, Setting]],
    supplied: Collection[str] = (),
) -> None:
    """ValueError for a name that is not known, and for settings that the named class needs and nobody
    gives."""
    if "name" not in table:
        raise ValueError(f"[{key}] needs a name: one of {', '.join(known)}{_guess(table, 'name')}")
    for name in table["name"] if isinstance(table["name"], list) else [table["name"]]:
        if not isinstance(name, str) or name not in known:
            guess = checks.nearest(str(name), known)
            raise ValueError(f"[{key}] name must be one of {', '.join(known)}, got {name!r}{guess}")
        for setting in declaration(name).values():
            if setting.required and setting.name not in table and setting.name not in supplied:
                raise ValueError(
                    f"[{key}] {setting.name} is missing: {name} needs it{_guess(table, setting.name)}"
                )


def _guess(table: Table, wanted: str) -> str:
    return "".join(f" (is {key} meant to be {wanted}?)" for key in table if checks.nearest(key, [wanted]))


def _choices(value: Any, where: str) -> list[Any]:
    """All combinations of a value whose lists are alternatives, also those inside its tables."""
    count = _count(value, f"[{where}] ", where)
    if count > _MOST_CELLS:
        raise ValueError(f"the grid of [{where}] has {count:,} cells: at most {_MOST_CELLS:,} are allowed")
    return _expanded(value)


def _count(value: Any, where: str, name: str) -> int:
    if isinstance(value, dict):
        return math.prod(_count(inner, where, f"{where}{key}") for key, inner in value.items())
    if not isinstance(value, list):
        return 1
    if not value:
        raise ValueError(f"{name} is an empty list: there is nothing to run")
    return sum(_count(one, where, name) if isinstance(one, dict) else 1 for one in value)


def _expanded(value: Any) -> list[Any]:
    if isinstance(value, list):  # a list inside a list is a value
        return [choice for one in value for choice in (_expanded(one) if isinstance(one, dict) else [one])]
    if not isinstance(value, dict):
        return [value]
    combinations = itertools.product(*map(_expanded, value.values()))
    return [dict(zip(value, combination, strict=True)) for combination in combinations]
