"""The length of episodes, where Gymnasium's wrappers look for it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gymnasium.envs.registration import EnvSpec

from .._base import checks


class SpecWithLength:
    """The attribute `spec` of an environment, whose `max_episode_steps` is the environment's own horizon.

    A horizon is a setting: the registered spec cannot know it, and a limit there would cut longer episodes
    short. So it is added when Gymnasium hands an environment its spec.
    """

    def __get__(self, env: Any, _owner: type | None = None) -> EnvSpec | None:
        return None if env is None else env.__dict__.get("_spec")

    def __set__(self, env: Any, spec: EnvSpec | None) -> None:
        env.__dict__["_spec"] = None if spec is None else replace(spec, max_episode_steps=env.horizon)


def check_limit(max_episode_steps: object, horizon: int) -> None:
    """ValueError where a limit on steps would end episodes of a vector environment before their time."""
    if max_episode_steps is not None:
        checks.integer("max_episode_steps", max_episode_steps, least=horizon)
