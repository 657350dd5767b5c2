"""The columns of results: what the settings of a cell are called there, and of what type they are.

Columns come from declarations. A setting of the environment has its own name; those of the agent are
`agent.x`; a part that is called what it is, an oracle or a learner, has a column with its name and `oracle.x`
or `learner.x` for its settings. Every file keeps its columns and their kinds, so that results can be read
where the classes are not known.

In a folder of several families a setting that a family does not have is missing. Where two classes declare
one name with different kinds, integers and other numbers are numbers, and any other mixture is text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ... import registry
from ..._base import names
from ..._base.schema import PARTS, Setting
from .cells import Cell

if TYPE_CHECKING:
    import pandas

TEXT = "text"
_KINDS: dict[Any, str] = {bool: "bool", int: "int", float: "float", str: TEXT}
_TYPES = {
    "bool": ("bool", "boolean"),
    "int": ("int64", "Int64"),
    "float": ("float64",) * 2,
    TEXT: ("str",) * 2,
}
"""The type of a column in a frame, and the one that it has where some cells miss the setting."""
_LARGEST = 2**63


@dataclass(frozen=True)
class Column:
    """What a cell has in a column: the kind of the setting (bool, int, float or text) and its value."""

    kind: str
    value: Any


def environment_columns(cell: Cell) -> dict[str, Column]:
    """The settings of a cell's environment, in the order of their declaration; before them the horizon, which
    every environment has, where it is not a setting."""
    columns = _columns(registry.environment_declaration(cell.env), cell.env_settings)
    if "horizon" in columns:
        return columns
    return {"horizon": Column("int", cell.environment().describe().horizon)} | columns


def agent_columns(cell: Cell) -> dict[str, Column]:
    """The settings of a cell's agent and of its parts, in the order of their declaration, parts last."""
    own: dict[str, Column] = {}
    of_parts: dict[str, Column] = {}
    for name, setting in registry.agent_declaration(cell.agent).items():
        value = cell.agent_settings[name]
        if setting.kind not in PARTS:
            own[f"agent.{name}"] = _column(setting, value)
            continue
        column = name if name == setting.kind else f"agent.{name}"
        of_parts[column] = Column(TEXT, value and value["name"])
        if value is not None:
            declared = names.find(setting.kind, value["name"]).settings
            inner = _columns(declared, value)
            of_parts |= {f"{column}.{name_of_part}": one for name_of_part, one in inner.items()}
    return own | of_parts


def _columns(declared: Mapping[str, Setting], settings: Mapping[str, Any]) -> dict[str, Column]:
    return {name: _column(setting, settings[name]) for name, setting in declared.items()}


def _column(setting: Setting, value: Any) -> Column:
    """A value with the kind that its setting declares; with its own where it has another, as classes that
    check nothing allow."""
    declared, own = _KINDS.get(setting.kind), _kind_of_value(value)
    if declared is None or own not in (None, declared, "int" if declared == "float" else declared):
        return Column(own or TEXT, as_text(value) if own == TEXT else value)
    return Column(declared, value)


def _kind_of_value(value: Any) -> str | None:
    if value is None:
        return None
    if type(value) is int and abs(value) >= _LARGEST:  # more than a column of integers has room for
        return TEXT
    return _KINDS.get(type(value), TEXT)


def as_text(value: Any) -> str | None:
    """A setting in a column of texts."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def settings_frame(cells: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """A row for each cell, from the metadata of one of its files: who it is, and all its settings in columns
    of their types."""
    import pandas as pd

    by_name = sorted(cells, key=lambda about: (about["config"]["env"], about["config"]["agent"]))
    env_names = dict.fromkeys(name for about in by_name for name in about["columns"]["env"])
    agent_names = dict.fromkeys([*(name for about in by_name for name in about["columns"]["agent"]), *PARTS])
    columns: dict[str, Any] = {
        "cell": [about["cell"] for about in cells],
        "env": [about["config"]["env"] for about in cells],
    }
    columns |= {name: _typed(name, "env", cells) for name in env_names}
    columns["agent"] = [about["config"]["agent"] for about in cells]
    columns |= {name: _typed(name, "agent", cells) for name in sorted(agent_names, key=_rank)}
    # an agent may choose its oracle by what it sees: the run knows
    columns["oracle"] = pd.array([about["oracle"] for about in cells], dtype="str")
    columns["episodes"] = [about["config"]["episodes"] for about in cells]
    columns["points"] = [about["config"]["points"] for about in cells]
    return pd.DataFrame(columns)


def _rank(column: str) -> tuple[int, bool]:
    """The agent's own settings, then each part: its name before its settings."""
    owner, dot, _ = column.partition(".")
    return ("agent", *PARTS).index(owner), bool(dot)


def _typed(name: str, owner: str, cells: Sequence[Mapping[str, Any]]) -> Any:
    """A column of the type that all its cells agree on."""
    import pandas as pd

    entries = [about["columns"][owner].get(name) for about in cells]
    kind = _common_kind({entry["kind"] for entry in entries if entry is not None})
    values = [None if entry is None else entry["value"] for entry in entries]
    if kind == TEXT:
        values = [as_text(value) for value in values]
    whole, with_gaps = _TYPES[kind]
    return pd.array(values, dtype=with_gaps if None in values else whole)


def _common_kind(kinds: set[str]) -> str:
    """The kind of a column whose cells have these."""
    if len(kinds) == 1:
        return next(iter(kinds))
    return "float" if kinds == {"int", "float"} else TEXT
