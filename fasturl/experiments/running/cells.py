"""One cell of an experiment: an environment and an agent with all their settings, and a stable id for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ... import registry
from ..._base import checks, names
from ...agents.agent import Agent
from ...agents.footprint import Footprint, checked_footprint
from ...problems.environment import Environment
from ...training import POINTS, checked_spacing
from .processes import this_process


@dataclass(frozen=True)
class Cell:
    """An environment and an agent by name, with all their settings, given or not, so that the id changes when
    a default changes. What a setting that is None stands for may change while the id does not: `store.FORMAT`
    is raised then.

    env, env_settings
        The environment's name and its settings.
    agent, agent_settings
        The agent's name and its settings; a part such as an oracle is a table of its name and settings.
    episodes, points, evaluate_every
        As `train` has them.
    origins
        The package and version that the environment, the agent and its parts come from.

    Examples
    --------
    >>> cell = Cell.make("lock-bernoulli", {"horizon": 5}, "oracleq-lat", {}, episodes=100)
    >>> cell.env_settings["horizon"], len(cell.id)
    (5, 16)
    """

    env: str
    env_settings: dict[str, Any]
    agent: str
    agent_settings: dict[str, Any]
    episodes: int
    points: int
    origins: dict[str, str]
    evaluate_every: int | None = None

    @classmethod
    def make(
        cls,
        env: str,
        env_settings: Mapping[str, Any],
        agent: str,
        agent_settings: Mapping[str, Any],
        episodes: int,
        points: int = POINTS,
        evaluate_every: int | None = None,
    ) -> Cell:
        """A cell from the settings that differ from the defaults; whatever cannot be trained is refused
        here."""
        _check_table("env_settings", env_settings)
        _check_table("agent_settings", agent_settings)
        described = _canonical(agent, registry.agent_settings(agent, agent_settings))
        cell = cls(
            env,
            _canonical(env, registry.environment_settings(env, env_settings)),
            agent,
            described,
            checks.integer("episodes", episodes, least=1),
            checks.integer("points", points, least=1),
            registry.origins(env, agent, described),
            checked_spacing(registry.agent(agent, **described), evaluate_every),
        )
        description, player = cell.environment().describe(), cell.player()
        player.check(description)
        player.trajectories(description, cell.episodes)
        return cell

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Cell:
        return cls(**config)

    @property
    def config(self) -> dict[str, Any]:
        """All of it as plain values, as files keep it."""
        config = {name: getattr(self, name) for name in self.__dataclass_fields__}
        if self.evaluate_every is None:
            del config["evaluate_every"]  # so that cells without evaluations keep the ids that they had
        return config

    @cached_property
    def id(self) -> str:
        """A digest of the whole configuration."""
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()[:16]

    def run_id(self, seed: int) -> str:
        return f"{self.id}-{seed}"

    def environment(self) -> Environment:
        return registry.environment(self.env, **self.env_settings)

    def player(self) -> Agent:
        return registry.agent(self.agent, **self.agent_settings)

    def footprint(self) -> Footprint:
        """What a run of it takes; ValueError where that does not fit into the memory that there is."""
        env, player = self.environment(), self.player()
        trajectories = player.trajectories(env.describe(), self.episodes)
        return checked_footprint(env, player, self.episodes, trajectories)

    def check_components(self) -> None:
        """ValueError where this process lacks a class of the cell, or has it from another version of its
        package."""
        machine, _ = this_process()
        for component, origin in self.origins.items():
            kind, name = component.split(" ", 1)
            known = names.components(kind).get(name)
            if known is None:
                raise ValueError(
                    f"{kind} {name!r} is not known on the worker {machine}: install {origin} there too"
                )
            if not known.carried and known.origin != origin:
                raise ValueError(
                    f"{kind} {name!r} is of {known.origin} on the worker {machine} and of {origin} "
                    "in the cell: install the same everywhere"
                )

    def __str__(self) -> str:
        env, agent = f"{self.env}{_listed(self.env_settings)}", f"{self.agent}{_listed(self.agent_settings)}"
        return f"{env}: {agent}, {self.episodes:,} episodes"

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> Any:
        return _unpickled, (self.config, registry.carried(self.env, self.agent, self.agent_settings))


def _unpickled(config: dict[str, Any], components: list[tuple[str, str, type]]) -> Cell:
    """A cell in another process, where the classes that a program registered become known with it."""
    names.receive(components)
    return Cell.from_config(config)


def flat_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of an agent with those of its parts beside them: oracle is its name, oracle.n_init a setting
    of it."""
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Mapping):
            flat |= {name: value["name"]} | {
                f"{name}.{inner}": one for inner, one in value.items() if inner != "name"
            }
        else:
            flat[name] = value
    return flat


def _listed(settings: Mapping[str, Any]) -> str:
    return "".join(
        f", {name} {value}" for name, value in flat_settings(settings).items() if value is not None
    )


def _check_table(name: str, settings: object) -> None:
    """ValueError for settings that are no table of names and values."""
    if not isinstance(settings, Mapping) or not all(isinstance(key, str) for key in settings):
        raise ValueError(f"{name} must be settings by name, got {checks.short_repr(settings)}")


def _canonical(owner: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as files keep them: the same ones have the same id, whether a 0 was written as 0 or as 0.0.
    ValueError for one that no file can keep."""
    plain = {name: _plain(value) for name, value in settings.items()}
    for name, value in plain.items():
        try:
            json.dumps(value)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name} of {owner} must be a number, a text or a list of them where results are kept, "
                f"got {checks.short_repr(value)}"
            ) from None
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return int(value) if isinstance(value, float) and value.is_integer() else value
