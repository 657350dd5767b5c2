"""Slow, obvious references for `_kernels/hindsight.py`."""

import numpy as np


def level_gains(labels, actions, rewards, level, values, visits, gains):
    """One pair of label and action at a time."""
    for z, a in np.ndindex(visits.shape):
        taken = (labels[:, level] == z) & (actions[:, level] == a)
        visits[z, a] = taken.sum()
        gains[z, a] = (rewards[taken, level] + values[labels[taken, level + 1]]).sum()


def least_returns(rewards, least):
    """One level at a time."""
    for h in range(len(least)):
        least[h] = min([sum(row[h:]) for row in rewards], default=np.inf)
