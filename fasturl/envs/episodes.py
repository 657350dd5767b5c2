"""Whole batches of episodes of a fixed policy, at kernel speed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.streams import Streams
from .._kernels import vector as _vector
from ..problems.block_mdp import policy_table as checked_policy
from ..problems.emissions import cumulative
from ..problems.environment import Environment, emission_rngs
from . import footprint


class Episodes(NamedTuple):
    """E episodes of H steps, end to end.

    Episode e begins at row e * (H + 1) of observations and states, and at row e * H of actions and rewards.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[1.0, 0.0]]])
    >>> rollout(coin, coin.optimal_policy(), episodes=3).states.shape
    (6,)
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
        An environment of fasturl, or a Gymnasium environment of this package, which is left as it is.
    policy_table
        An integer array [H, S] of actions, or a float array [H, S, A] of probabilities.
    episodes
        Number of episodes.
    seed
        The instance, the noise and the random transitions and rewards are those of the first episodes of a
        run with this seed.

    Returns the episodes end to end.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[1.0, 0.0]]])
    >>> played = rollout(coin, coin.optimal_policy(), episodes=3)
    >>> played.actions.tolist(), played.rewards.tolist()
    ([0, 0, 0], [1.0, 1.0, 1.0])
    """
    environment = _environment(env)
    count = checks.integer("episodes", episodes, least=1)
    streams = Streams(checks.seed("seed", seed))
    footprint.check_rollout(environment, count)
    instance = environment.draw_checked(streams)
    levels = instance.horizon + 1
    table = cumulative(
        checked_policy(policy_table, instance.horizon, max(instance.n_states), instance.n_actions)
    )
    states = np.empty((count, levels), np.int64)
    actions = np.empty((count, instance.horizon), np.int64)
    rewards = np.empty((count, instance.horizon))
    _vector.play_policy(
        instance.dynamics, table, streams.row("dynamics"), streams.row("policy"), states, actions, rewards
    )
    observations: NDArray[Any] = states.reshape(-1)
    if instance.emission is not None:
        size = instance.emission.block_episodes
        rngs = emission_rngs(streams)
        parts = [states[n : n + size] for n in range(0, count, size)]
        blocks = [instance.draw_block(rngs, len(part)).observe(part) for part in parts]
        observations = np.concatenate(blocks).reshape(count * levels, -1)
    return Episodes(observations, actions.reshape(-1), rewards.reshape(-1), states.reshape(-1))


def _environment(env: Any) -> Environment:
    checks.instance("env", env)
    inside = getattr(getattr(env, "unwrapped", None), "environment", None)
    environment = env if isinstance(env, Environment) else inside
    if not isinstance(environment, Environment):
        raise ValueError(
            f"env must be an environment of fasturl or of fasturl.envs, got {checks.short_repr(env)}"
        )
    return environment
