"""What is tuned: an agent, the environments and seeds it is tuned on, and the space of settings that is
searched."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._base import checks
from ...training import train
from ..running.cells import Cell

JUDGING_SEEDS = range(50)
"""What results are judged on; no search may look at them."""
TUNING_SEEDS = range(10_000, 10_020)


@dataclass(frozen=True)
class Range:
    """Positive numbers from low to high, alike on a logarithmic scale; integers where both ends are."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not 0 < self.low <= self.high < math.inf:
            raise ValueError(f"a range must have ends 0 < low <= high, got {self.low:g}:{self.high:g}")

    @property
    def whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)

    def grid(self) -> tuple[float, ...]:
        """Each power of ten, or each doubling of an integer, from low on; high is the last."""
        factor = 2 if self.whole else 10
        steps = itertools.takewhile(
            lambda x: x < self.high * (1 - 1e-9), (self.low * factor**n for n in itertools.count())
        )
        return (*(x if self.whole else float(f"{x:.12g}") for x in steps), self.high)


Space = Mapping[str, Range | Sequence[Any]]

_STEP = Range(1e-4, 1.0)
SPACES: dict[str, Space] = {
    "oracleq-lat": {"learning_rate": _STEP, "confidence": _STEP},
    "oracleq-obs": {"learning_rate": _STEP, "confidence": _STEP},
    "qlearning-lat": {"learning_rate": _STEP, "exploration_fraction": _STEP},
    "qlearning-obs": {"learning_rate": _STEP, "exploration_fraction": _STEP},
    "url": {"batch": Range(25, 400), "confidence": _STEP},
    "pcid": {"n_clusters": (3, 4, 6), "samples_per_level": Range(125, 2000), "model": ("linear", "neural")},
}
"""The paper's grids: what is searched for each agent if nothing else is asked for."""
OPTIONS = {"n_clusters": "clusters"}
"""Settings that `fasturl train` has another name for."""


@dataclass(frozen=True)
class Problem:
    """What is tuned: the settings in `space` of an agent, for its mean over some environments and seeds."""

    env: str
    env_settings: tuple[dict[str, Any], ...]
    agent: str
    fixed: dict[str, Any]
    space: Space
    episodes: int
    seeds: tuple[int, ...]

    @classmethod
    def make(
        cls,
        env: str,
        agent: str,
        *,
        episodes: int,
        env_settings: Mapping[str, Any] | None = None,
        fixed: Mapping[str, Any] | None = None,
        search: Space | None = None,
        seeds: int | Iterable[int] = TUNING_SEEDS,
    ) -> Problem:
        """Lists in `env_settings` are expanded: the environments of all combinations count alike. `search`
        replaces the paper's grid.

        What is `fixed` is left out of the paper's grid; it cannot be in `search`.
        """
        checks.choice("agent", agent, catalog.AGENTS)
        fixed = dict(fixed or {})
        for name in search or {}:
            if name in fixed:
                raise ValueError(
                    f"{name} is searched, so it cannot be set to {checks.short_repr(fixed[name])}: leave one out"
                )
        space = {
            name: values
            for name, values in (SPACES.get(agent, {}) if search is None else search).items()
            if name not in fixed
        }
        if not space:
            raise ValueError(f"there is nothing to search for {agent}: name a setting and its values")
        for name, values in space.items():
            if not isinstance(values, Range) and not values:
                raise ValueError(f"{name} has no values to search")
        lists = {
            name: value if isinstance(value, list | tuple) else [value]
            for name, value in (env_settings or {}).items()
        }
        for name, values in (*space.items(), *lists.items()):
            if not isinstance(values, Range):
                _check_distinct(name, values)
        problem = cls(
            env,
            tuple(catalog.environment_settings(env, **chosen) for chosen in _combinations(lists)),
            agent,
            fixed,
            space,
            checks.integer("episodes", episodes, least=1),
            _tuning_seeds(seeds),
        )
        problem._check()
        return problem

    def _check(self) -> None:
        if not self.env_settings:
            raise ValueError("there is no environment to tune on: a setting has an empty list of values")
        ends = {
            name: (values.low, values.high) if isinstance(values, Range) else values
            for name, values in self.space.items()
        }
        for point in _combinations(ends):
            catalog.agent(self.agent, **self.settings(point))
        for env_settings in self.env_settings:
            Cell.make(self.env, env_settings, self.agent, self.settings(point), self.episodes)

    def settings(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the agent at a point of the space; None stands for the agent's own default."""
        return {name: value for name, value in {**self.fixed, **point}.items() if value is not None}

    def grid(self) -> list[dict[str, Any]]:
        return _combinations(
            {
                name: values.grid() if isinstance(values, Range) else values
                for name, values in self.space.items()
            }
        )

    def commands(self, settings: Mapping[str, Any]) -> list[str]:
        """What trains the agent with these settings, on each environment."""
        options = " ".join(
            f"--{OPTIONS.get(name, name).replace('_', '-')} {value}" for name, value in settings.items()
        )
        return [
            f"fasturl train {self.env} {' '.join(f'--{name} {value:g}' for name, value in env_settings.items())} "
            f"--agent {self.agent} {options} --episodes {self.episodes}"
            for env_settings in self.env_settings
        ]

    def evaluate(self, settings: Mapping[str, Any], seeds: Sequence[int], n_jobs: int | None) -> list[float]:
        """For each seed the average reward at the last trajectory, mean over environments."""
        player = catalog.agent(self.agent, **settings)
        runs = [
            train(
                catalog.environment(self.env, **chosen),
                player,
                self.episodes,
                seeds,
                points=1,
                n_jobs=n_jobs,
                progress=False,
            )
            for chosen in self.env_settings
        ]
        return [float(reward) for reward in np.mean([run.average_reward[:, -1] for run in runs], axis=0)]

    def __str__(self) -> str:
        varied = [
            f"{name} {', '.join(dict.fromkeys(f'{chosen[name]:g}' for chosen in self.env_settings))}"
            for name in self.env_settings[0]
        ]
        return f"{self.agent} on {self.env}, {'; '.join(varied)}: {self.episodes:,} episodes, {len(self.seeds)} seeds"


def _check_distinct(name: str, values: Sequence[Any]) -> None:
    for position, value in enumerate(values):
        if value in values[:position]:
            raise ValueError(
                f"{name} must have distinct values, got {checks.short_repr(value)} more than once"
            )


def _tuning_seeds(seeds: int | Iterable[int]) -> tuple[int, ...]:
    chosen = checks.seeds(seeds)
    overlap = [seed for seed in chosen if seed in JUDGING_SEEDS]
    if overlap:
        raise ValueError(
            f"seeds 0..{JUDGING_SEEDS[-1]} are for judging and cannot be tuned on: choose others such as "
            f"{TUNING_SEEDS[0]}:{TUNING_SEEDS[-1] + 1}, got {overlap[0]}{'' if len(overlap) == 1 else f'..{overlap[-1]}'}"
        )
    return tuple(chosen)


def _combinations(lists: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
