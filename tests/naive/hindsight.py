"""Slow, obvious references for `_kernels/hindsight.py`."""

import numpy as np


def count_outcomes(labels, actions, rewards, first, step, first_level, gains, followers):
    """One level, label and action at a time."""
    for level, z, a in np.ndindex(gains.shape):
        h = first_level + level
        taken = np.flatnonzero((labels[:, h] == z) & (actions[:, h] == a))
        taken = taken[(taken >= first) & ((taken - first) % step == 0)]
        gains[level, z, a] = rewards[taken, h].sum()
        followers[level, z, a] = [
            (labels[taken, h + 1] == follower).sum() for follower in range(gains.shape[1])
        ]


def best_actions(gains, followers, worst, policy, values):
    """One label at a time."""
    for level in reversed(range(len(gains))):
        for z in range(gains.shape[1]):
            means = [_mean_gain(gains, followers, worst, values, level, z, a) for a in range(gains.shape[2])]
            policy[level, z] = means.index(max(means))
            values[level, z] = max(means)


def policy_values(gains, followers, worst, policy, values):
    """One label at a time."""
    for level in reversed(range(len(gains))):
        for z in range(gains.shape[1]):
            values[level, z] = _mean_gain(gains, followers, worst, values, level, z, policy[level, z])


def _mean_gain(gains, followers, worst, values, level, z, a):
    """Rewards and values of what followed, added up and divided by how often."""
    counts = followers[level, z, a]
    if counts.sum() == 0:
        return worst[level]
    total = 0.0
    for following, count in enumerate(counts):
        total += count * values[level + 1, following]
    return (gains[level, z, a] + total) / counts.sum()


def least_returns(rewards, first, step, least):
    """One level at a time."""
    for h in range(len(least)):
        least[h] = min([sum(row[h:]) for row in rewards[first::step]], default=np.inf)


def add_rewards(rewards, returns):
    """One reward at a time."""
    returns[:] = 0.0
    for i, h in np.ndindex(*rewards.shape):
        returns[i] += rewards[i, h]
