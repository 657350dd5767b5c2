"""Sweeps that are described in a file: TOML tables in which any setting may be a list, and lists span a grid.

Everything is checked before anything runs: names, settings, values, and whether each agent can be trained on
each environment.
"""

from __future__ import annotations

import inspect
import itertools
import math
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._base import checks
from .cells import POINTS, Cell
from .store import stored_seeds

_TABLES = ("env", "agent", "learner", "oracle")
_FIELDS = ("episodes", "points", *_TABLES)
_MOST_CELLS = 100_000

EXAMPLE = """\
# A sweep for `fasturl sweep FILE --out DIR`. A setting that is a list is a dimension of the grid: every combination is
# a cell, and every cell runs over every seed. Settings that are left out keep their defaults.

seeds = 50            # a count n for the seeds 0..n-1, a range as "1000:1050", or a list as [3, 5, 8]
episodes = 20_000     # trajectories of each run
points = 200          # points of the learning curve that are kept

[env]
name = "lock-bernoulli"
horizon = [5, 10]
switch = [0.0, 0.2]

# One [agent] table, or several [[agent]] tables that share everything else.
[[agent]]
name = "oracleq-lat"
learning_rate = [0.1, 0.3]

[[agent]]
name = "url"

# Settings of the learner: for every agent that has them and does not set them itself.
[learner]
confidence = [1e-4, 1e-3]

# The oracle of the agents that have one: a name and its settings.
[oracle]
name = "kmeans"
n_init = 5

# A group is a sweep of its own in which everything above is the default.
[[group]]

[[group]]
episodes = 60_000
env.horizon = 20
"""


@dataclass(frozen=True)
class Spec:
    """What a sweep runs: every cell over every seed."""

    cells: list[Cell]
    seeds: list[int]


def read_spec(path: str | os.PathLike[str]) -> Spec:
    """The sweep that a TOML file describes; ValueError with the reason where it cannot be run."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"cannot read {path}: it is not text in UTF-8") from None
    try:
        return parse_spec(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None
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
    cells = dict.fromkeys(cell for group in groups for cell in _Grid(_merged(top, group)).cells())
    return Spec(list(cells), _seeds(content.get("seeds", 50)))


class _Grid:
    """The cells of one spec without groups."""

    def __init__(self, content: dict[str, Any]) -> None:
        for key in ("env", "agent", "episodes"):
            if key not in content:
                raise ValueError(
                    f"{key} is missing: {'a number' if key == 'episodes' else f'a table [{key}] with a name'} is needed"
                )
        self.episodes = _options({"episodes": content["episodes"]}, "")
        self.points = content.get("points", POINTS)
        self.envs = _tables(content, "env")
        self.agents = _tables(content, "agent")
        self.oracles = _tables(content, "oracle") if "oracle" in content else [{}]
        if "oracle" in content and not all("name" in table for table in self.oracles):
            raise ValueError("[oracle] needs a name")
        self.learner = content.get("learner", {})
        if not isinstance(self.learner, dict):
            raise ValueError("learner must be one table, headed [learner]")
        for table in self.envs:
            _check_names("env", table, catalog.ENVIRONMENTS)
        for table in self.agents:
            _check_names("agent", table, catalog.AGENTS)
        self._check_shared()

    def cells(self) -> Iterator[Cell]:
        envs = [dict(choice) for table in self.envs for choice in _product(table, "env")]
        agents = [choice for table in self.agents for choice in self._agent_choices(table)]
        count = len(envs) * len(agents) * len(self.episodes["episodes"])
        if count > _MOST_CELLS:
            raise ValueError(f"the grid has {count:,} cells: at most {_MOST_CELLS:,} are allowed")
        for env, agent, episodes in itertools.product(envs, agents, self.episodes["episodes"]):
            env_fields, agent_fields = dict(env), dict(agent)
            env_name, agent_name = env_fields.pop("name"), agent_fields.pop("name")
            try:
                yield Cell.make(env_name, env_fields, agent_name, agent_fields, episodes, self.points)
            except (ValueError, TypeError) as error:
                raise ValueError(f"{agent_name} on {env_name}: {error}") from None

    def _agent_choices(self, table: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Every agent of a table: its own settings, those of [learner] and [oracle] that it has and does not
        set itself."""
        for name in _options(table, "agent")["name"]:
            fields = _parameters(catalog.AGENTS[name])
            shared = {key: value for key, value in self.learner.items() if key in fields and key not in table}
            sees = "oracle" in fields and "oracle" not in table
            for oracle in self.oracles if sees else [{}]:
                for choice in _product(shared | table | {"name": name}, "agent"):
                    for eyes in _product(oracle, "oracle"):
                        yield choice | _oracle_fields(eyes)

    def _check_shared(self) -> None:
        """Everything that [learner] and [oracle] set is used by some agent."""
        open_fields: set[str] = set()
        for table in self.agents:
            for name in _options(table, "agent")["name"]:
                open_fields |= _parameters(catalog.AGENTS[name]) - set(table)
        for field in self.learner:
            if field not in open_fields - {"oracle", "oracle_settings"}:
                raise ValueError(
                    f"[learner] {field} is a setting that no agent here takes{checks.nearest(field, open_fields)}"
                )
        if any(self.oracles) and "oracle" not in open_fields:
            raise ValueError("[oracle] is of no use: no agent here takes an oracle")


def _oracle_fields(eyes: dict[str, Any]) -> dict[str, Any]:
    if not eyes:
        return {}
    settings = {key: value for key, value in eyes.items() if key != "name"}
    return {"oracle": eyes["name"]} | ({"oracle_settings": settings} if settings else {})


def _merged(top: dict[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    """The group with the top level as its defaults, field by field where both have one table."""
    both = {
        key: top[key] | value
        for key, value in group.items()
        if isinstance(value, dict) and isinstance(top.get(key), dict)
    }
    return top | group | both


def _tables(content: dict[str, Any], key: str) -> list[dict[str, Any]]:
    given = content[key]
    tables = given if isinstance(given, list) else [given]
    if not tables:
        raise ValueError(f"{key} is an empty list: there is nothing to run")
    if not all(isinstance(table, dict) for table in tables):
        raise ValueError(f"{key} must be a table, headed [{key}], got {given!r}")
    return tables


def _check_names(key: str, table: dict[str, Any], known: Mapping[str, Callable[..., Any]]) -> None:
    if "name" not in table:
        raise ValueError(f"[{key}] needs a name: one of {', '.join(known)}{_guess(table, 'name')}")
    for name in _options(table, key)["name"]:
        if not isinstance(name, str) or name not in known:
            raise ValueError(
                f"[{key}] name must be one of {', '.join(known)}, got {name!r}{checks.nearest(str(name), known)}"
            )
        for field, parameter in inspect.signature(known[name]).parameters.items():
            if parameter.default is inspect.Parameter.empty and field not in table:
                raise ValueError(f"[{key}] {field} is missing: {name} needs it{_guess(table, field)}")


def _guess(table: dict[str, Any], wanted: str) -> str:
    return "".join(f" (is {key} meant to be {wanted}?)" for key in table if checks.nearest(key, [wanted]))


def _options(table: dict[str, Any], key: str) -> dict[str, list[Any]]:
    """The values of each field: lists are what they are, and anything else is a list of one."""
    options = {field: value if isinstance(value, list) else [value] for field, value in table.items()}
    for field, values in options.items():
        if not values:
            raise ValueError(f"{f'[{key}] ' if key else ''}{field} is an empty list: there is nothing to run")
    return options


def _product(table: dict[str, Any], key: str) -> Iterator[dict[str, Any]]:
    options = _options(table, key)
    if (count := math.prod(len(values) for values in options.values())) > _MOST_CELLS:
        raise ValueError(f"the grid of [{key}] has {count:,} cells: at most {_MOST_CELLS:,} are allowed")
    for values in itertools.product(*options.values()):
        yield dict(zip(options, values, strict=True))


def _parameters(maker: Callable[..., Any]) -> set[str]:
    return set(inspect.signature(maker).parameters)


def _refuse_unknown(where: str, table: Mapping[str, Any], known: Iterable[str]) -> None:
    for key in table:
        if key not in known:
            raise ValueError(
                f"{key} is not known in {where}{checks.nearest(key, known)}; it may have {', '.join(known)}"
            )


def _seeds(value: Any) -> list[int]:
    return stored_seeds(checks.parse_seeds(value) if isinstance(value, str) else value)
