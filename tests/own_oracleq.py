"""OracleQ as a stranger would write it: one file, plain `@njit` functions, what fasturl exports and nothing
else."""

from dataclasses import dataclass
from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import njit

import fasturl as fu
from fasturl.learners import draws


class Tables(NamedTuple):
    """Action values, and how often each action was taken."""

    q: np.ndarray  # float64[levels, labels, actions]
    visits: np.ndarray  # int64[levels, labels, actions]
    horizon: int
    cap: float
    rate: float
    confidence: float


@njit
def choose(tables, level, label, rng):
    """A best action, ties at random."""
    row = tables.q[level, label]
    best, ties = row[0], 1
    for a in range(1, row.size):
        if row[a] > best:
            best, ties = row[a], 1
        elif row[a] == best:
            ties += 1
    skip = draws.below(rng, ties) if ties > 1 else 0
    for a in range(row.size):
        if row[a] == best:
            if skip == 0:
                return a
            skip -= 1
    return 0


@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    """Move the value towards what was earned, what is ahead, and a bonus that falls with the visits."""
    ahead = 0.0
    if next_level < tables.q.shape[0]:
        ahead = tables.q[next_level, next_label].max()
    tables.visits[level, label, action] += 1
    bonus = tables.confidence * sqrt(tables.horizon / tables.visits[level, label, action])
    value = tables.q[level, label, action]
    value = (1.0 - tables.rate) * value + tables.rate * (reward + ahead + bonus)
    tables.q[level, label, action] = min(value, tables.cap)


@njit
def fill_policy(tables, chances):
    """The best actions, equally likely."""
    for level in range(chances.shape[0]):
        for label in range(chances.shape[1]):
            row = tables.q[level, label]
            best, ties = row.max(), 0
            for a in range(row.size):
                ties += row[a] == best
            for a in range(row.size):
                chances[level, label, a] = 1.0 / ties if row[a] == best else 0.0


@dataclass(frozen=True)
class OwnOracleQ(fu.CompiledLearner):
    """Optimistic Q-learning with a constant rate."""

    learning_rate: float = fu.setting(0.3, above=0, most=1, help="Rate of every update.")
    confidence: float = fu.setting(1e-3, least=0, help="Scale of the exploration bonus.")

    functions = fu.learner_functions(choose=choose, take_step=take_step, fill_policy=fill_policy)

    def tables(self, task):
        shape = task.n_levels, task.n_labels, task.n_actions
        return Tables(
            np.full(shape, task.max_return),
            np.zeros(shape, np.int64),
            task.horizon,
            task.max_return,
            self.learning_rate,
            self.confidence,
        )
