"""Whole episodes of a table of action values, in a compiled loop."""

from __future__ import annotations

import numpy as np

from .._kernels import tabular as _tabular
from .._kernels.records import Dynamics, Trajectories
from .learner import Floats, Ints, Labels, Stream


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
