"""What Gymnasium's environments take, said before they are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import memory, patience
from ..problems.environment import Environment

_STATE_BYTES = 400
"""Generators, levels, states, actions, rewards and infos of one environment among many."""


def check_single(environment: Environment, *, latent: bool) -> None:
    """ValueError where one environment does not fit into the memory that there is, and a warning where it
    takes much of it."""
    patience.announce_memory("an environment of this horizon", _checked_bytes(environment, latent))


def check_many(environment: Environment, n_envs: int, *, latent: bool) -> None:
    """As `check_single`, for environments side by side."""
    _checked_bytes(environment, latent)
    space = environment.describe().observations
    # an observation that is returned and one that is kept, and the two bounds of the space
    shown = 0 if latent or space is None else 4 * space.dimension * (1 if space.discrete else 4)
    size = n_envs * (_STATE_BYTES + shown + _bytes_of_one_more(environment, latent))
    memory.refuse_beyond_limit("num_envs", f"{n_envs:,}", "environments side by side", size)
    patience.announce_memory(f"environments side by side, num_envs = {n_envs:,},", size)


def check_rollout(environment: Environment, episodes: int) -> None:
    """As `check_single`, for the arrays of whole episodes."""
    _checked_bytes(environment, latent=False)
    description = environment.describe()
    space, numbers = description.observations, 8 * (3 * description.horizon + 1)
    # observations are there twice while their blocks are put together
    shown = 0 if space is None else 2 * space.dimension * (1 if space.discrete else 4)
    size = episodes * (numbers + shown * (description.horizon + 1))
    memory.refuse_beyond_limit("episodes", f"{episodes:,}", "the arrays of a rollout", size)
    patience.announce_memory(f"a rollout of {episodes:,} episodes", size)


def _checked_bytes(environment: Environment, latent: bool) -> float:
    """What one environment takes, which fits into the memory that there is."""
    horizon, emission = environment.describe().horizon, environment.resolved_emission
    parts = {"an instance": float(environment.instance_bytes())}
    if not latent and emission is not None:
        parts["the observations of an episode"] = float(emission.episode_bytes)
    what = max(parts, key=lambda part: parts[part])
    memory.refuse_beyond_limit("horizon", horizon, what, parts[what])
    memory.refuse_beyond_limit("horizon", horizon, "an environment", sum(parts.values()))
    return sum(parts.values())


def _bytes_of_one_more(environment: Environment, latent: bool) -> float:
    """What each further environment adds: tables and buffers grow in proportion to their number."""
    emission = environment.resolved_emission

    def of(n_envs: int) -> int:
        tables = environment.vector_tables(n_envs)
        kept = n_envs * environment.instance_bytes() if getattr(tables, "keeps_instances", False) else 0
        shows = not latent and emission is not None
        return kept + _bytes([tables, emission.observation_buffer(n_envs) if shows and emission else None])

    return of(2) - of(1)


def _bytes(parts: list[Any]) -> int:
    """Memory of all arrays in the attributes of objects and in their records, each counted once."""
    owners: dict[int, int] = {}
    waiting = list(parts)
    while waiting:
        part = waiting.pop()
        if isinstance(part, np.ndarray):
            owner = part if part.base is None else part.base
            owners[id(owner)] = max(part.nbytes, getattr(owner, "nbytes", 0))
        elif isinstance(part, tuple):
            waiting += part
        elif hasattr(part, "__dict__") and any(part is one for one in parts):
            waiting += [value for value in vars(part).values() if isinstance(value, np.ndarray | tuple)]
    return sum(owners.values())
