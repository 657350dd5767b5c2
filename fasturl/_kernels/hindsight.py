"""What trajectories that were played say of the value of actions, as if labels were states."""

import numpy as np

from .compiling import kernel


@kernel
def level_gains(
    labels: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
    level: int,
    values: np.ndarray,
    visits: np.ndarray,
    gains: np.ndarray,
) -> None:
    """How often each action was taken at each label of a level, 0 to H - 1, visits int64[K, A], and the sum
    of what followed, gains float64[K, A]: the reward, and the value float64[K] of the next label. Labels
    [n, H+1] and actions [n, H] are integers, rewards float64[n, H]."""
    visits[:] = 0
    gains[:] = 0.0
    for i in range(actions.shape[0]):
        z, a = labels[i, level], actions[i, level]
        visits[z, a] += 1
        gains[z, a] += rewards[i, level] + values[labels[i, level + 1]]


@kernel
def least_returns(rewards: np.ndarray, least: np.ndarray) -> None:
    """least[h] = the least sum of the rewards float64[n, H] of a trajectory from level h on."""
    least[:] = np.inf
    for i in range(rewards.shape[0]):
        ahead = 0.0
        for h in range(rewards.shape[1] - 1, -1, -1):
            ahead += rewards[i, h]
            least[h] = min(least[h], ahead)
