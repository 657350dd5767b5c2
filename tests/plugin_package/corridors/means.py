"""A compiled learner: mean returns, as if every action had earned the most there is some times before."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

import fasturl as fu
from fasturl.learners import draws


class MeanReturns(NamedTuple):
    values: np.ndarray  # float64[levels, labels, actions], the mean return from here on
    visits: np.ndarray  # float64[levels, labels, actions], with those that are imagined
    path: np.ndarray  # int64[horizon, 3], level, label and action of each step of this episode
    rewards: np.ndarray  # float64[horizon], their rewards
    length: np.ndarray  # int64[1], how many steps there are so far


@njit
def choose(tables, level, label, rng):
    return draws.greedy(tables.values[level, label], rng)[0]


@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    step = tables.length[0]
    tables.path[step, 0], tables.path[step, 1], tables.path[step, 2] = level, label, action
    tables.rewards[step] = reward
    tables.length[0] += 1


@njit
def end_episode(tables, rng):
    ahead = 0.0
    for step in range(tables.length[0] - 1, -1, -1):
        level, label, action = tables.path[step]
        ahead += tables.rewards[step]
        tables.visits[level, label, action] += 1
        error = ahead - tables.values[level, label, action]
        tables.values[level, label, action] += error / tables.visits[level, label, action]
    tables.length[0] = 0


@njit
def fill_policy(tables, chances):
    for level in range(chances.shape[0]):
        for label in range(chances.shape[1]):
            draws.fill_greedy(tables.values[level, label], chances[level, label])


@dataclass(frozen=True)
class Means(fu.CompiledLearner):
    """Greedy in optimistic mean returns."""

    patience: float = fu.setting(5.0, least=0, search=fu.Range(0.5, 50.0), help="Imagined visits.")

    functions = fu.learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, end_episode=end_episode
    )

    def tables(self, task):
        shape = task.n_levels, task.n_labels, task.n_actions
        return MeanReturns(
            values=np.full(shape, float(task.max_return)),
            visits=np.full(shape, self.patience),
            path=np.zeros((task.horizon, 3), np.int64),
            rewards=np.zeros(task.horizon),
            length=np.zeros(1, np.int64),
        )
