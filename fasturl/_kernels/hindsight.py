"""What trajectories that were played say of the value of actions, as if labels were states."""

import numpy as np

from .compiling import kernel


@kernel
def count_outcomes(
    labels: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    first: int,
    step: int,
    first_level: int,
    gains: np.ndarray,
    followers: np.ndarray,
) -> None:
    """How often each label came next after each action at each label of some levels, followers float64[L, K,
    A, K], and the sum of the rewards then, gains float64[L, K, A].

    Labels [n, H+1] and actions [n, H] are integers, rewards float64[n, H]. Of the n trajectories it takes
    `first` and every `step`-th one after it, of the levels L from `first_level` on, which counts from 0.
    """
    gains[:] = 0.0
    followers[:] = 0.0
    for i in range(first, actions.shape[0], step):
        for level in range(gains.shape[0]):
            h = first_level + level
            z, a, reward = labels[i, h], actions[i, h], rewards[i, h]
            followers[level, z, a, labels[i, h + 1]] += 1.0
            if reward != 0.0:
                gains[level, z, a] += reward


@kernel
def least_returns(rewards: np.ndarray, first: int, step: int, least: np.ndarray) -> None:
    """least[h] = the least sum of the rewards float64[n, H] of a trajectory from level h on, of `first` and
    every `step`-th one after it."""
    least[:] = np.inf
    for i in range(first, rewards.shape[0], step):
        ahead = 0.0
        for h in range(rewards.shape[1] - 1, -1, -1):
            ahead += rewards[i, h]
            least[h] = min(least[h], ahead)


@kernel
def add_rewards(rewards: np.ndarray, returns: np.ndarray) -> None:
    """returns[i] = the sum of rewards[i], float64[n, H], added from the first level to the last as in the
    loops of learners."""
    for i in range(rewards.shape[0]):
        total = 0.0
        for h in range(rewards.shape[1]):
            total += rewards[i, h]
        returns[i] = total
