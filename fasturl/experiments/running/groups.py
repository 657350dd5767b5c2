"""The grid of a [[group]]: its own tables over those above it, which are its defaults.

A setting of a part of an agent has several spellings: novelty, learner.novelty, or novelty in a table of the
learner. Before two tables of an agent are merged, both have such settings in the tables of the parts, so that
a setting of the group meets the one that it replaces. A part that the group names otherwise begins without
the settings of the part above.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ... import registry
from ..._base.schema import PARTS

Table = dict[str, Any]


def merged(top: Table, group: Table) -> Table:
    """The group with the top level as its defaults, setting by setting where both have one table."""
    content = top | group
    both = [key for key in group if isinstance(top.get(key), dict) and isinstance(group[key], dict)]
    for key in both:
        content[key] = _part(key, top[key], group[key], []) if key in PARTS else top[key] | group[key]
    if "agent" in both:
        names = content["agent"].get("name")
        several = names if isinstance(names, list) else [names]
        if several and all(_is_agent(name) for name in several):  # else the grid says what is wrong
            agents = [_agent(name, top, group, content) for name in several]
            content["agent"] = agents if isinstance(names, list) else agents[0]
    return content


def _is_agent(name: Any) -> bool:
    return isinstance(name, str) and name in registry.possible_agent_names()


def _agent(name: str, top: Table, group: Table, content: Table) -> Table:
    """One agent of a group: its own settings over those above, where the shared tables of both are known."""
    above, own = top["agent"], group["agent"]
    before, after = _Parts(name, [above], top), _Parts(name, [own, above], content)
    defaults, settings = before.nested(above), after.nested(own)
    agent = defaults | settings | {"name": name}
    for part in after.names:
        if part in defaults and part in settings:
            agent[part] = _part(part, defaults[part], settings[part], before.names_without_table[part])
    for key in [key for key in defaults if key in agent and key not in settings]:
        owner, inner = after.owner(key)
        if owner is not None:  # of a part that only the group names
            agent[owner] = _part(owner, {inner: agent.pop(key)}, agent.get(owner, {}), [])
    return agent


class _Parts:
    """The parts of an agent, and what each of them may be.

    names
        For each part the names of the components that it may be; none where the agent chooses by itself.
    names_without_table
        The same where the agent's own table does not name the part.
    """

    def __init__(self, agent: str, tables: list[Table], content: Table) -> None:
        self.declaration = registry.agent_declaration(agent)
        self.names: dict[str, list[str]] = {}
        self.names_without_table: dict[str, list[str]] = {}
        self._settings: dict[str, set[str]] = {}
        for part, declared in self.declaration.items():
            if not isinstance(declared.kind, str):
                continue
            default = registry.part_name(self.declaration, part, {})
            shared = _names(content.get(declared.kind))
            self.names_without_table[part] = shared or ([] if default is None else [default])
            own = next(filter(None, (_names(table.get(part)) for table in tables)), [])
            self.names[part] = own or self.names_without_table[part]
            scopes = [registry.agent_scopes(agent, {part: name})[part] for name in self.names[part]]
            self._settings[part] = {name for settings in scopes for name in settings}

    def owner(self, key: str) -> tuple[str | None, str]:
        """The part that has a setting, and what it is called there; no part where it is the agent's own or
        where that is not certain."""
        prefix, dot, inner = key.partition(".")
        if key in self.declaration:
            return None, key
        if dot and prefix in self.names:
            return prefix, inner
        owners = [part for part, settings in self._settings.items() if key in settings]
        return (owners[0] if len(owners) == 1 else None), key

    def nested(self, table: Table) -> Table:
        """A table of the agent in which settings of parts are in the tables of the parts."""
        nested = {key: value for key, value in table.items() if self.owner(key)[0] is None}
        for key, value in table.items():
            part, inner = self.owner(key)
            if part is None:
                continue
            tables = [
                registry.with_setting(part, one, inner, value) for one in _alternatives(nested.get(part, {}))
            ]
            nested[part] = tables if isinstance(nested.get(part), list) else tables[0]
        return nested


def _part(part: str, above: Any, own: Any, names_above: list[str]) -> Any:
    """A part of a group over the one above it, whose names count where the latter has none itself."""
    tables = []
    for table in _alternatives(own):
        wanted = set(_names(table))
        same = [one for one in _alternatives(above) if wanted <= set(_names(one) or names_above or wanted)]
        tables += [_over(part, one, table) for one in same] or [table]
    return tables if len(tables) != 1 else tables[0]


def _over(part: str, above: Any, own: Any) -> Any:
    """A table of a part with the settings of another one as its defaults; an object is whole in itself."""
    if not isinstance(own, Mapping):
        return own
    if isinstance(above, Mapping):
        return {**above, **own}
    if "name" in own:
        return own
    for inner, value in own.items():
        registry.with_setting(part, above, inner, value)
    return above


def _alternatives(value: Any) -> list[Any]:
    """What a part may be, names as tables; an object stays what it is."""
    alternatives = value if isinstance(value, list) else [value]
    return [{"name": one} if isinstance(one, str) else one for one in alternatives]


def _names(value: Any) -> list[str]:
    """The names that a part has, or a list of alternatives."""
    names: list[Any] = []
    for one in _alternatives(value):
        name = one.get("name") if isinstance(one, Mapping) else None
        names += name if isinstance(name, list) else [name]
    return [name for name in names if isinstance(name, str)]
