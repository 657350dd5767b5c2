"""Sweeps that are described in a file: TOML tables in which any setting may be a list, and lists span a grid.

Everything is checked before anything runs: names, settings, values, and whether each agent can be trained on
each environment.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ..._base import checks
from .cells import Cell
from .grid import Grid
from .store import stored_seeds

_TABLES = ("env", "agent", "learner", "oracle")
_FIELDS = ("episodes", "points", "evaluate_every", *_TABLES)

EXAMPLE = resources.files(__package__).joinpath("example.toml").read_text(encoding="utf-8")
"""A commented file to start from."""


@dataclass(frozen=True)
class Spec:
    """What a sweep runs: every cell over every seed."""

    cells: list[Cell]
    seeds: list[int]


MOST_BYTES = 4_000_000
"""Upper limit on a spec: more than a person writes, and than a program should."""


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """The sweep that a TOML file describes; ValueError with the reason where it cannot be run."""
    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)  # a device such as /dev/full has no end
        if len(content) > MOST_BYTES:
            raise ValueError(f"cannot read {path}: a spec has at most {MOST_BYTES // 10**6} MB, got more")
        text = content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: it is not text in UTF-8") from None
    try:
        return parse_spec(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def parse_spec(content: Mapping[str, Any]) -> Spec:
    """The sweep that the tables of a file describe, as `tomllib` gives them."""
    _refuse_unknown("the spec", content, (*_FIELDS, "seeds", "group"))
    top = {key: value for key, value in content.items() if key in _FIELDS}
    groups = content.get("group", [{}])
    if not (isinstance(groups, list) and groups and all(isinstance(group, dict) for group in groups)):
        raise ValueError("group must be tables, each headed [[group]]")
    for group in groups:
        if "seeds" in group:
            raise ValueError("seeds is for the whole sweep: set it at the top, not in a [[group]]")
        _refuse_unknown("[[group]]", group, _FIELDS)
    cells = dict.fromkeys(cell for group in groups for cell in Grid(_merged(top, group)).cells())
    return Spec(list(cells), _seeds(content.get("seeds", 50)))


def _merged(top: dict[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    """The group with the top level as its defaults, field by field where both have one table."""
    both = {
        key: top[key] | value
        for key, value in group.items()
        if isinstance(value, dict) and isinstance(top.get(key), dict)
    }
    return top | group | both


def _refuse_unknown(where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(
                f"{key} is not known in {where}{checks.nearest(key, known)}; it may have {', '.join(known)}"
            )


def _seeds(value: Any) -> list[int]:
    return stored_seeds(checks.parse_seeds(value) if isinstance(value, str) else value)
