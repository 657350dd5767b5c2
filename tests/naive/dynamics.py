"""Slow, obvious references for `_kernels/dynamics.py`."""

import numpy as np

from fasturl._kernels.records import RANDOM_REWARDS

from .rng import shuffle, uniform


def _outcome(cumulative, u):
    """The first outcome whose cumulative chance exceeds u."""
    return next(i for i in range(len(cumulative)) if u < cumulative[i])


def start_state(dynamics, dynamics_rng):
    """The state at the first level: one uniform."""
    return _outcome(dynamics.start, uniform(dynamics_rng))


def step(dynamics, dynamics_rng, h, s, a):
    """The next state and the reward: one uniform, and one more where the level's rewards are random."""
    following = _outcome(dynamics.transitions[h, s, a], uniform(dynamics_rng))
    reward = float(dynamics.rewards[h, s, a, following])
    if dynamics.reward_kinds[h] == RANDOM_REWARDS:
        sizes = np.broadcast_to(dynamics.reward_sizes, dynamics.rewards.shape)
        size = float(sizes[h, s, a, following])
        reward = size if uniform(dynamics_rng) < reward / size else 0.0
    return following, reward


def cumulate(chances, sums):
    """The chance of each outcome or one before it. What rounding takes from the last possible outcome or adds
    to any is set right."""
    for row, sums_of_row in zip(chances, sums, strict=True):
        total = 0.0
        for outcome in range(len(row)):
            total += row[outcome]
            is_certain = not any(row[outcome + 1 :])
            sums_of_row[outcome] = 1.0 if is_certain else min(1.0, total)


def draw_lock(rng, switch, order, out):
    """A combination lock, level by level; `order` is left holding the last permutation."""
    for h in range(len(out)):
        for s in range(3):
            for a in range(4):
                out[h, s, a] = [0.0, 0.0, 1.0]
        for s in range(2):
            order[:] = [0, 1, 2, 3]
            shuffle(rng, order)
            out[h, s, order[0]] = [1.0 - switch, switch, 0.0]
            out[h, s, order[1]] = [switch, 1.0 - switch, 0.0]
