"""What is tuned: an agent, the environments and seeds it is tuned on, and the space of settings that is
searched."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import registry
from ..._base import checks
from ..._base.parts import describe_part
from ..._base.schema import Range, Setting, refuse_unknown
from ...training import train
from ..running.cells import Cell, flat_settings

JUDGING_SEEDS = range(50)
"""What results are judged on; no search may look at them."""
TUNING_SEEDS = range(10_000, 10_020)
"""What is tuned on if nothing else is asked for."""


Space = Mapping[str, Range | Sequence[Any]]
"""What is searched: for each setting a range, or some values."""


def grid_values(values: Range | Sequence[Any]) -> Sequence[Any]:
    """The values that a grid tries. Of a range: each power of ten, or each doubling of an integer, from its
    low end on; the high end is the last."""
    if not isinstance(values, Range):
        return values
    factor = 2 if values.whole else 10
    steps = itertools.takewhile(
        lambda x: x < values.high * (1 - 1e-9), (values.low * factor**n for n in itertools.count())
    )
    return (*(x if values.whole else float(f"{x:.12g}") for x in steps), values.high)


def default_space(agent: str, fixed: Mapping[str, Any]) -> dict[str, Range | Sequence[Any]]:
    """What is searched if nothing else is asked for: the settings of the agent and of its parts that declare
    a space.

    Left out are those that are fixed, and those that cannot be set beside what is fixed, as the rate of a
    learner whose schedule sets its own.
    """
    return {
        name: setting.search
        for name, setting in _all_settings(agent, fixed).items()
        if setting.search is not None
        and name not in fixed
        and _can_be_set(agent, fixed, name, setting.search)
    }


def _all_settings(agent: str, fixed: Mapping[str, Any]) -> dict[str, Setting]:
    """The settings of an agent and its parts by name; those of a part are called as learner.confidence."""
    return {
        name if scope == "agent" else f"{scope}.{name}": setting
        for scope, settings in registry.agent_scopes(agent, fixed).items()
        for name, setting in settings.items()
    }


def _can_be_set(agent: str, fixed: Mapping[str, Any], name: str, values: Range | Sequence[Any]) -> bool:
    try:
        registry.agent(agent, **fixed)
    except ValueError:
        return True  # what is fixed is wrong by itself, and is told of where the whole is checked
    try:
        registry.agent(agent, **fixed, **{name: grid_values(values)[-1]})
    except ValueError:
        return False
    return True


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
    origins: dict[str, str]
    """The package and version that the environment, the agent and its parts come from."""

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
        replaces the spaces that the agent and its learner declare.

        What is `fixed` is left out of the declared spaces; it cannot be in `search`. A setting of a part may
        be written as learner.confidence, or as confidence where only one part has a setting of that name.
        """
        fixed = _full_names(agent, fixed or {}, fixed or {})
        searched = None if search is None else _full_names(agent, search, fixed)
        for name in searched or {}:
            if name in fixed:
                raise ValueError(
                    f"{name} is searched, so it cannot be set to {checks.short_repr(fixed[name])}: "
                    "leave one out"
                )
        space = default_space(agent, fixed) if searched is None else searched
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
        environments = tuple(registry.environment_settings(env, chosen) for chosen in _combinations(lists))
        count = checks.integer("episodes", episodes, least=1)
        problem = cls(env, environments, agent, fixed, space, count, _tuning_seeds(seeds), {})
        return replace(problem, origins=problem._checked_origins())

    def _checked_origins(self) -> dict[str, str]:
        """The packages that all components come from; ValueError where a corner of the space cannot be
        trained."""
        if not self.env_settings:
            raise ValueError("there is no environment to tune on: a setting has an empty list of values")
        corners = {
            name: (values.low, values.high) if isinstance(values, Range) else values
            for name, values in self.space.items()
        }
        origins: dict[str, str] = {}
        for point in _combinations(corners):
            described = registry.agent_settings(self.agent, self.settings(point))
            origins |= registry.origins(self.env, self.agent, described)
        for env_settings in self.env_settings:
            Cell.make(self.env, env_settings, self.agent, self.settings(point), self.episodes)
        return origins

    def settings(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The settings of the agent at a point of the space; None stands for the agent's own default."""
        return {name: value for name, value in {**self.fixed, **point}.items() if value is not None}

    def grid(self) -> list[dict[str, Any]]:
        """All points of the space that a grid tries."""
        return _combinations({name: grid_values(values) for name, values in self.space.items()})

    def commands(self, settings: Mapping[str, Any]) -> list[str]:
        """What trains the agent with these settings, on each environment."""
        flat = flat_settings(settings)
        parts = registry.default_parts(self.env, self.env_settings[0], self.agent) | flat
        setting_names = registry.SettingNames(self.env, self.agent, parts)
        options = [_option(setting_names, name, value) for name, value in flat.items()]
        commands = []
        for env_settings in self.env_settings:
            of_env = [_option(setting_names, f"env.{name}", value) for name, value in env_settings.items()]
            words = [self.env, *of_env, "--agent", self.agent, *options, "--episodes", str(self.episodes)]
            commands.append(f"fasturl train {' '.join(words)}")
        return commands

    def evaluate(self, settings: Mapping[str, Any], seeds: Sequence[int], n_jobs: int | None) -> list[float]:
        """For each seed the average reward at the last trajectory, mean over environments."""
        player = registry.agent(self.agent, **settings)
        runs = [
            train(
                registry.environment(self.env, **chosen),
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
        settings = [
            f"{name} {', '.join(dict.fromkeys(_text(chosen[name]) for chosen in self.env_settings))}"
            for name in self.env_settings[0]
        ]
        environments = "; ".join(settings)
        return (
            f"{self.agent} on {self.env}, {environments}: {self.episodes:,} episodes, {len(self.seeds)} seeds"
        )


def _full_names(agent: str, settings: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by their full names, confidence as learner.confidence; parts that are objects as tables."""
    full = {}
    for written, value in settings.items():
        name, declared = _full_name(agent, written, fixed)
        if isinstance(declared.kind, str) and not isinstance(value, str | Mapping | Sequence | Range | None):
            value = describe_part(declared.kind, value)
        full[name] = value
    return full


def _full_name(agent: str, written: str, fixed: Mapping[str, Any]) -> tuple[str, Setting]:
    known = _all_settings(agent, fixed)
    name = written.removeprefix("agent.")
    if name in known:
        return name, known[name]
    owners = [full for full in known if full.endswith(f".{name}")]
    if len(owners) > 1:
        raise ValueError(f"{name} may be {' or '.join(owners)} of {agent}: write which")
    if not owners:
        refuse_unknown(agent, [name], known)
    return owners[0], known[owners[0]]


def _option(setting_names: registry.SettingNames, name: str, value: Any) -> str:
    """A setting as an option of `fasturl train`."""
    scope, _, inner = name.rpartition(".")
    return f"{setting_names.option(scope or 'agent', inner)} {shlex.quote(_text(value))}"


def _text(value: Any) -> str:
    """A value as a command line writes it, with all digits of a number."""
    if isinstance(value, bool) or value is None:
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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
        listed = f"{overlap[0]}..{overlap[-1]}" if len(overlap) > 1 else f"{overlap[0]}"
        raise ValueError(
            f"seeds 0..{JUDGING_SEEDS[-1]} are for judging and cannot be tuned on: choose others such as "
            f"{TUNING_SEEDS[0]}:{TUNING_SEEDS[-1] + 1}, got {listed}"
        )
    return tuple(chosen)


def _combinations(lists: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]
