"""Whole episodes of a table of action values, in a compiled loop."""

from __future__ import annotations

import numpy as np

from .._base.kernel_arrays import for_kernels
from .._kernels import hindsight as _hindsight
from .._kernels import tabular as _tabular
from .._kernels.records import Dynamics, Trajectories, blank_trajectories
from .learner import Floats, LabelTable, Stream


def rollout(
    dynamics: Dynamics,
    labels: LabelTable,
    q: Floats,
    epsilon: float,
    dynamics_rng: Stream,
    policy_rng: Stream,
) -> Trajectories:
    """Play epsilon-greedily in q [H, n_labels, A], ties at random."""
    trajectories = blank_trajectories(labels.shape[0], q.shape[0])
    _tabular.rollout(
        dynamics, labels, np.ascontiguousarray(q), epsilon, dynamics_rng, policy_rng, trajectories
    )
    return trajectories


def returns_of(rewards: Floats) -> Floats:
    """The sums of rewards [E, H], added in their order as compiled loops do: [E]."""
    returns = np.empty(len(rewards))
    _hindsight.add_rewards(for_kernels(rewards), returns)
    return returns
