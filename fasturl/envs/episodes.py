"""Whole batches of episodes of a fixed policy, at kernel speed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.streams import Streams
from .._kernels import vector as _vector
from ..problems.emissions import cumulative
from ..problems.models import Environment, emission_rngs
from ..problems.models import policy_table as checked_policy


class Episodes(NamedTuple):
    """E episodes of H steps, end to end.

    Episode e begins at row e * (H + 1) of observations and states, and at row e * H of actions and rewards.
    """

    observations: NDArray[Any]
    """[E * (H+1), D], uint8 zeros and ones or float32; the latent states where the environment has no
    emission."""
    actions: NDArray[np.int64]
    """[E * H]"""
    rewards: NDArray[np.float64]
    """[E * H]"""
    states: NDArray[np.int64]
    """[E * (H+1)], latent."""


def rollout(env: Any, policy_table: ArrayLike, episodes: int, *, seed: int = 0) -> Episodes:
    """Play a policy on latent states for many episodes and return flat arrays.

    env
        A `fasturl` environment such as `LockBernoulli(...)`, or a Gymnasium environment of this package,
        which is left as it is.
    policy_table
        An integer array [H, S] of actions, or a float array [H, S, A] of probabilities.
    episodes
        Number of episodes.
    seed
        The lock, the noise and the luck are those of the first episodes of a run with this seed.
    """
    family = _family(env)
    count = checks.integer("episodes", episodes, least=1)
    streams = Streams(checks.seed("seed", seed))
    model = family.draw(streams)
    levels = model.horizon + 1
    table = cumulative(checked_policy(policy_table, model.horizon, max(model.n_states), model.n_actions))
    states = np.empty((count, levels), np.int64)
    actions = np.empty((count, model.horizon), np.int64)
    rewards = np.empty((count, model.horizon))
    _vector.play_policy(
        model.dynamics, table, streams.row("dynamics"), streams.row("policy"), states, actions, rewards
    )
    observations: NDArray[Any] = states.reshape(-1)
    if model.emission is not None:
        size = model.emission.block_episodes
        lanes = emission_rngs(streams)
        seen = [
            model.emission.draw(lanes, len(part)).observe(part)
            for part in (states[n : n + size] for n in range(0, count, size))
        ]
        observations = np.concatenate(seen).reshape(count * levels, -1)
    return Episodes(observations, actions.reshape(-1), rewards.reshape(-1), states.reshape(-1))


def _family(env: Any) -> Environment:
    family = env if isinstance(env, Environment) else getattr(getattr(env, "unwrapped", None), "family", None)
    if not isinstance(family, Environment):
        raise ValueError(
            f"env must be an environment of fasturl or of fasturl.envs, got {checks.short_repr(env)}"
        )
    return family
