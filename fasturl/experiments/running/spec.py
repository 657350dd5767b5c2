"""Sweeps that are described in a file: TOML tables in which any setting may be a list, and lists span a grid.

Everything is checked before anything runs: names, settings, values, and whether each agent can be trained on
each environment.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any

from ..._base import checks
from .cells import Cell
from .grid import Grid
from .groups import merged
from .store import stored_seeds

KEYS = {
    "episodes": "Number of trajectories of each run.",
    "points": "Points of the learning curve that are kept, 200 if not given.",
    "evaluate_every": "If given, the policy is evaluated whenever so many trajectories have been played.",
    "env": "The environment: a `name` and settings; a list spans the grid; `[[env]]` for several.",
    "agent": "The agent: a `name`, its settings and those of its parts; `[[agent]]` for several.",
    "learner": "Settings for every agent that has them; with a `name`, the learner of agents that take one.",
    "oracle": "The oracle of agents that take one: a `name` and its settings; `[[oracle]]` for several.",
    "seeds": 'A count n for the seeds 0..n-1, a range as `"1000:1050"`, or a list; 50 if not given.',
    "group": "Tables `[[group]]`, each a grid of its own with everything above as its defaults.",
}
"""What a file may have at its top, and what it means."""
_FIELDS = tuple(key for key in KEYS if key not in ("seeds", "group"))

EXAMPLE = resources.files(__package__).joinpath("example.toml").read_text(encoding="utf-8")
"""A commented file to start from."""


@dataclass(frozen=True)
class Spec:
    """What a sweep runs: every cell over every seed.

    cells
        The cells.
    seeds
        The seeds.

    Examples
    --------
    >>> grid = {"name": "lock-bernoulli", "horizon": [2, 3]}
    >>> spec = parse_spec({"episodes": 100, "seeds": 5, "env": grid, "agent": {"name": "oracleq-lat"}})
    >>> len(spec.cells), spec.seeds
    (2, [0, 1, 2, 3, 4])
    """

    cells: list[Cell]
    seeds: list[int]


MOST_BYTES = 4_000_000
"""Upper limit on a spec: more than a person writes, and than a program should."""


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """The sweep that a TOML file describes; ValueError with the reason where it cannot be run.

    path
        The file.

    Returns its cells and seeds.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "sweep.toml")
    ...     _ = path.write_text(EXAMPLE)
    ...     spec = read_spec(path)
    >>> len(spec.seeds)
    50
    """
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
        return parse_spec(_tables(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
    except RecursionError:
        raise ValueError(f"{path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def _tables(text: str) -> dict[str, Any]:
    """The tables of a text in TOML; ValueError with the line of an integer of more digits than Python reads,
    which `tomllib` does not tell."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        most = sys.get_int_max_str_digits()
        for number, line in enumerate(text.splitlines(), 1):
            if any(len(digits) > most for digits in re.findall("[0-9_]+", line)):
                got = f"{checks.short_repr(line)} in line {number}"
                raise ValueError(f"an integer must have at most {most} digits, got {got}") from None
        raise


def parse_spec(content: Mapping[str, Any]) -> Spec:
    """The sweep that the tables of a file describe, as `tomllib` gives them.

    content
        The tables.

    Returns its cells and seeds.

    Examples
    --------
    >>> env, agent = {"name": "lock-bernoulli"}, {"name": "oracleq-lat"}
    >>> parse_spec({"episodes": [100, 200], "env": env, "agent": agent}).cells[1].episodes
    200
    """
    if not isinstance(content, Mapping):
        raise ValueError(f"content must be the tables of a file, got {checks.short_repr(content)}")
    _refuse_unknown("the spec", content, KEYS)
    top = {key: value for key, value in content.items() if key in _FIELDS}
    groups = content.get("group", [{}])
    if not (isinstance(groups, list) and groups and all(isinstance(group, dict) for group in groups)):
        raise ValueError("group must be tables, each headed [[group]]")
    for group in groups:
        if "seeds" in group:
            raise ValueError("seeds is for the whole sweep: set it at the top, not in a [[group]]")
        _refuse_unknown("[[group]]", group, _FIELDS)
    cells = dict.fromkeys(cell for group in groups for cell in Grid(merged(top, group)).cells())
    return Spec(list(cells), _seeds(content.get("seeds", 50)))


def _refuse_unknown(where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(
                f"{key} is not known in {where}{checks.nearest(key, known)}; it may have {', '.join(known)}"
            )


def _seeds(value: Any) -> list[int]:
    return stored_seeds(checks.parse_seeds(value) if isinstance(value, str) else value)
