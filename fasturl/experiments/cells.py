"""One cell of an experiment: an environment and an agent with all their settings, and a stable id for it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .. import catalog, validation
from ..agents import Agent
from ..models import Environment

POINTS = 200
"""As `train` has it."""


@dataclass(frozen=True)
class Cell:
    """All settings are kept, given or not, so that the id changes when a default changes. What a setting that is None or names an oracle
    stands for may change while the id does not: `store.FORMAT` is raised then."""

    env: str
    env_settings: dict[str, Any]
    agent: str
    agent_settings: dict[str, Any]
    episodes: int
    points: int

    @classmethod
    def make(
        cls, env: str, env_settings: dict[str, Any], agent: str, agent_settings: dict[str, Any], episodes: int, points: int = POINTS
    ) -> Cell:
        """A cell from the settings that differ from the defaults; whatever cannot be trained is refused here."""
        cell = cls(
            env,
            _canonical(catalog.environment_settings(env, **env_settings)),
            agent,
            _canonical(catalog.agent_settings(agent, **agent_settings)),
            validation.integer("episodes", episodes, least=1),
            validation.integer("points", points, least=1),
        )
        environment, player = cell.environment(), cell.player()
        player.check(environment)
        player.trajectories(environment, cell.episodes)
        return cell

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Cell:
        return cls(**config)

    @property
    def config(self) -> dict[str, Any]:
        return {
            "env": self.env,
            "env_settings": self.env_settings,
            "agent": self.agent,
            "agent_settings": self.agent_settings,
            "episodes": self.episodes,
            "points": self.points,
        }

    @cached_property
    def id(self) -> str:
        """A digest of the whole configuration."""
        return hashlib.sha256(json.dumps(self.config, sort_keys=True).encode()).hexdigest()[:16]

    def run_id(self, seed: int) -> str:
        return f"{self.id}-{seed}"

    def environment(self) -> Environment:
        return catalog.environment(self.env, **self.env_settings)

    def player(self) -> Agent:
        return catalog.agent(self.agent, **self.agent_settings)

    def __str__(self) -> str:
        oracle = self.agent_settings.get("oracle_settings") or {}
        agent = {name: value for name, value in self.agent_settings.items() if name != "oracle_settings"} | oracle
        return f"{self.env}{_listed(self.env_settings)}: {self.agent}{_listed(agent)}, {self.episodes:,} episodes"

    def __hash__(self) -> int:
        return hash(self.id)


def _listed(settings: dict[str, Any]) -> str:
    return "".join(f", {name} {value}" for name, value in settings.items() if value is not None)


def _canonical(value: Any) -> Any:
    """The same settings have the same id, whether a 0 was written as 0 or as 0.0."""
    if isinstance(value, dict):
        return {key: _canonical(inner) for key, inner in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value
