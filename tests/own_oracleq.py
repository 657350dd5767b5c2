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
def look(tables, level, label, rng):
    """A best action, ties at random, and its value."""
    return draws.greedy_at(tables.q, draws.place_of(tables.q, level, label), rng)


@njit
def choose(tables, level, label, rng):
    """A best action, ties at random."""
    action, _ = look(tables, level, label, rng)
    return action


@njit
def take_value(tables, level, label, action, reward, value):
    """Move the value towards what was earned, what is ahead, and a bonus that falls with the visits."""
    pair = draws.place_of(tables.q, level, label) + np.uint64(action)
    old, visits = draws.get_entry(tables.q, pair), draws.get_entry(tables.visits, pair) + 1
    draws.set_entry(tables.visits, pair, visits)
    aim = reward + value + draws.get_entry(tables.bonuses, visits)
    new = (1.0 - tables.rate) * old + tables.rate * aim
    draws.set_entry(tables.q, pair, new if new < tables.cap else tables.cap)


@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    """As `take_value`, with the best value of what followed."""
    value = 0.0
    if next_level < tables.q.shape[0]:
        value = draws.greatest_at(tables.q, draws.place_of(tables.q, next_level, next_label))
    take_value(tables, level, label, action, reward, value)


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
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        start_at_zero=start_at_zero,
        look=look,
        take_value=take_value,
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
