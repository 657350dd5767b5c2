"""What trajectories that were played say of the value of actions, as if labels were states."""

import numpy as np

from .compiling import inlined, kernel


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
        z = labels[i, first_level]
        for level in range(gains.shape[0]):
            h = first_level + level
            a, reward, next_z = actions[i, h], rewards[i, h], labels[i, h + 1]
            followers[level, z, a, next_z] += 1.0
            if reward != 0.0:
                gains[level, z, a] += reward
            z = next_z


@inlined
def _mean_gain(
    gains: np.ndarray, followers: np.ndarray, level: int, z: int, a: int, worst: float, ahead: np.ndarray
) -> float:
    """What an action at a label earned on average, with what lies ahead of the labels that came next; the
    worst where it was never taken."""
    visits, total = 0.0, 0.0
    for following in range(ahead.size):
        count = followers[level, z, a, following]
        visits += count
        total += count * ahead[following]
    return (gains[level, z, a] + total) / visits if visits > 0.0 else worst


@kernel
def best_actions(
    gains: np.ndarray, followers: np.ndarray, worst: np.ndarray, policy: np.ndarray, values: np.ndarray
) -> None:
    """Fill policy int64[L, K] with the first action of greatest mean gain at each label of some levels, and
    values float64[L + 1, K] with that gain. The last row of values is what lies ahead of those levels.

    gains and followers are those of `count_outcomes`, worst float64[L] stands for actions never taken.
    """
    n_levels, n_labels, n_actions = gains.shape
    for level in range(n_levels - 1, -1, -1):
        for z in range(n_labels):
            for a in range(n_actions):
                gain = _mean_gain(gains, followers, level, z, a, worst[level], values[level + 1])
                if a == 0 or gain > values[level, z]:
                    values[level, z], policy[level, z] = gain, a


@kernel
def policy_values(
    gains: np.ndarray, followers: np.ndarray, worst: np.ndarray, policy: np.ndarray, values: np.ndarray
) -> None:
    """As `best_actions`, with the values of the actions of a policy int64[L, K]."""
    for level in range(gains.shape[0] - 1, -1, -1):
        for z in range(gains.shape[1]):
            a = policy[level, z]
            values[level, z] = _mean_gain(gains, followers, level, z, a, worst[level], values[level + 1])


@kernel
def least_returns(rewards: np.ndarray, first: int, step: int, least: np.ndarray) -> None:
    """least[h] = the least sum of the rewards float64[n, H] of a trajectory from level h on, of `first` and
    every `step`-th one after it."""
    least[:] = np.inf
    n = rewards.shape[0]
    for i0 in range(first, n, 4 * step):
        # four trajectories at a time, since each sum waits for the one before; in the end some are the same
        i1, i2, i3 = i0 + step, i0 + 2 * step, i0 + 3 * step
        i1, i2, i3 = i1 if i1 < n else i0, i2 if i2 < n else i0, i3 if i3 < n else i0
        ahead0 = ahead1 = ahead2 = ahead3 = 0.0
        for h in range(rewards.shape[1] - 1, -1, -1):
            ahead0 += rewards[i0, h]
            ahead1 += rewards[i1, h]
            ahead2 += rewards[i2, h]
            ahead3 += rewards[i3, h]
            least[h] = min(least[h], min(min(ahead0, ahead1), min(ahead2, ahead3)))


@kernel
def add_rewards(rewards: np.ndarray, returns: np.ndarray) -> None:
    """returns[i] = the sum of rewards[i], float64[n, H], added from the first level to the last as in the
    loops of learners."""
    for i in range(rewards.shape[0]):
        total = 0.0
        for h in range(rewards.shape[1]):
            total += rewards[i, h]
        returns[i] = total
