"""Trajectories for a history that nobody played: what was met in them is told."""

from types import SimpleNamespace

import numpy as np


def trajectories_of(labels, actions, rewards, observations=None):
    """With labels [n, H+1], actions and rewards [n, H], and observations [n, H+1, D], zeros if none are
    given."""
    if observations is None:
        observations = np.zeros((*labels.shape, 1), np.float32)
    return SimpleNamespace(
        labels=labels,
        labels_into=lambda out: np.copyto(out, labels, casting="unsafe"),
        actions=actions,
        rewards=rewards,
        observations=lambda count: observations[:count],
        observe_into=lambda out: np.copyto(out, observations[: len(out)]),
        observations_at=lambda level: observations[:, level - 1],
    )
