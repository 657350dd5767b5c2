"""OracleQ as a stranger would write it: one file, plain `@njit` functions, what fasturl exports and nothing
else."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

import fasturl as fu
from fasturl.learners import draws


class Tables(NamedTuple):
    """Action values, and how often each action was taken."""

    q: np.ndarray  # float64[levels, labels, actions]
    visits: np.ndarray  # int64[levels, labels, actions]
    bonuses: np.ndarray  # float64[visits], by number of visits
    rate: float
    cap: float


@njit
def choose(tables, level, label, rng):
    """A best action, ties at random."""
    action, _ = draws.greedy(tables.q[level, label], rng)
    return action


@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    """Move the value towards what was earned, what is ahead, and a bonus that falls with the visits."""
    ahead = 0.0
    if next_level < tables.q.shape[0]:
        ahead = draws.greatest(tables.q[next_level, next_label])
    visits, values = tables.visits[level, label], tables.q[level, label]
    visits[action] += 1
    bonus = tables.bonuses[visits[action]]
    value = (1.0 - tables.rate) * values[action] + tables.rate * (reward + ahead + bonus)
    values[action] = min(value, tables.cap)


@njit
def start_at_zero(tables, level, label):
    """An episode ended with this observation before it was ever acted in."""
    tables.q[level, label] = 0.0


@njit
def fill_policy(tables, chances):
    """The best actions, equally likely."""
    for level in range(chances.shape[0]):
        for label in range(chances.shape[1]):
            draws.fill_greedy(tables.q[level, label], chances[level, label])


@dataclass(frozen=True)
class OwnOracleQ(fu.CompiledLearner):
    """Optimistic Q-learning with a constant rate."""

    learning_rate: float = fu.setting(0.3, above=0, most=1, help="Rate of every update.")
    confidence: float = fu.setting(1e-3, least=0, help="Scale of the exploration bonus.")

    functions = fu.learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, start_at_zero=start_at_zero
    )

    def tables(self, task):
        shape = task.n_levels, task.n_labels, task.n_actions
        visits = np.maximum(np.arange(task.most_visits + 1), 1)
        return Tables(
            q=np.full(shape, task.max_return),
            visits=np.zeros(shape, np.int64),
            bonuses=self.confidence * np.sqrt(task.horizon / visits),
            rate=self.learning_rate,
            cap=task.max_return,
        )
