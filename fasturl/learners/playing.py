"""Whole episodes over label tables: learning, exploring with a memory, and playing a fixed policy."""

from __future__ import annotations

import numpy as np

from .._kernels import rng as _rng
from .._kernels import tabular as _tabular
from .._kernels.records import Dynamics, Trajectories
from ..problems.emissions import cumulative
from .learner import Floats, Ints, Labels, Memory, Stream, check_policy
from .q_table import QTable


def learn(memory: Memory, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream, returns: Floats) -> None:
    """Play and learn one episode for each entry of `returns`, seeing `labels` [E, H+1, S]."""
    if isinstance(memory, QTable):
        memory.learn(dynamics, labels, dynamics_rng, returns)
        return
    for e in range(returns.size):
        states, actions, rewards = explore(memory, dynamics, labels[e : e + 1], dynamics_rng)
        seen = labels[e, np.arange(states.shape[1]), states[0]].astype(np.int64)
        memory.update(seen, actions[0], rewards[0])
        returns[e] = rewards[0].cumsum()[-1]  # added in order, as the compiled loop does


def explore(
    memory: Memory, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream
) -> tuple[Ints, Ints, Floats]:
    """Play one episode for each row of `labels` with the memory's current policy, without learning.

    Returns states [E, H+1], actions [E, H] and rewards [E, H].
    """
    if isinstance(memory, QTable):
        return rollout(dynamics, labels, memory.q, memory.epsilon, dynamics_rng, memory.policy_rng)
    horizon, _, n_actions, _ = dynamics.transitions.shape
    met = (
        int(labels.max()) + 1
    )  # the memory may have room for labels that no observation of these episodes gets
    unused = np.zeros(4, np.uint64)  # a policy of zeros and ones has no ties, so nothing is drawn
    chosen = (check_policy(memory, horizon, met, n_actions, or_more=True) for _ in range(labels.shape[0]))
    played = [
        rollout(dynamics, labels[e : e + 1], np.eye(n_actions)[policy], 0.0, dynamics_rng, unused)
        for e, policy in enumerate(chosen)
    ]
    states, actions, rewards = (np.concatenate(parts) for parts in zip(*played, strict=True))
    return states, actions, rewards


def draw_policy(chances: Floats, policy_rng: Stream) -> Ints:
    """An action for each level and label, drawn from the probabilities [H, n_labels, A]."""
    actions = np.empty(chances.shape[:2], np.int64)
    if _only_ties(chances):
        _tabular.draw_policy(chances, 0.0, policy_rng, actions)
        return actions
    uniforms = np.empty(actions.size)
    _rng.fill_uniforms(policy_rng, uniforms)
    return np.asarray((cumulative(chances) <= uniforms.reshape(*actions.shape, 1)).sum(axis=2))


def play_policy(
    dynamics: Dynamics, labels: Labels, chances: Floats, dynamics_rng: Stream, policy_rng: Stream
) -> tuple[Ints, Ints, Floats]:
    """Play a policy of probabilities [H, n_labels, A]: states [E, H+1], actions [E, H], rewards [E, H]."""
    if _only_ties(chances):
        return rollout(dynamics, labels, chances, 0.0, dynamics_rng, policy_rng)
    # a level is met once in an episode, so its action can be drawn for every state beforehand, and be what is
    # seen there
    horizon, _, n_actions = chances.shape
    levels = np.arange(horizon)[:, None]
    drawn = np.stack([draw_policy(chances, policy_rng)[levels, seen] for seen in labels[:, :horizon]])
    return rollout(
        dynamics,
        drawn.astype(np.int32),
        np.tile(np.eye(n_actions), (horizon, 1, 1)),
        0.0,
        dynamics_rng,
        policy_rng,
    )


def _only_ties(chances: Floats) -> bool:
    """Whether in each row all actions that can be taken are equally likely: playing greedily with random ties
    then does the same."""
    return bool(((chances == 0) | (chances == chances.max(axis=2, keepdims=True))).all())


def rollout(
    dynamics: Dynamics, labels: Labels, q: Floats, epsilon: float, dynamics_rng: Stream, policy_rng: Stream
) -> tuple[Ints, Ints, Floats]:
    """Play epsilon-greedily in q [H, n_labels, A], ties at random: states [E, H+1], actions [E, H], rewards
    [E, H]."""
    episodes, horizon = labels.shape[0], q.shape[0]
    trajectories = Trajectories(
        states=np.empty((episodes, horizon + 1), np.int64),
        actions=np.empty((episodes, horizon), np.int64),
        rewards=np.empty((episodes, horizon)),
    )
    _tabular.rollout(
        dynamics, labels, np.ascontiguousarray(q), epsilon, dynamics_rng, policy_rng, trajectories
    )
    return trajectories.states, trajectories.actions, trajectories.rewards
