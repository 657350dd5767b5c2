"""
A learner of your own, compiled
===============================

A learner is a record of arrays and three functions under ``@njit``. Its episodes run inside the compiled
loop: on latent states, on observations, and inside URL."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from matplotlib import pyplot
from numba import njit

import fasturl as fu
from fasturl.learners import draws


class Counts(NamedTuple):
    values: np.ndarray  # float64[levels, labels, actions]
    visits: np.ndarray  # float64[levels, labels, actions]
    bonus: float


@njit
def choose(tables, level, label, rng):
    action, _ = draws.greedy(tables.values[level, label], rng)
    return action


@njit
def take_step(tables, level, label, action, reward, next_level, next_label):
    tables.visits[level, label, action] += 1
    visits = tables.visits[level, label, action]
    ahead = 0.0
    if next_level < tables.values.shape[0]:
        ahead = min(1.0, draws.greatest(tables.values[next_level, next_label]))
    target = reward + ahead + tables.bonus / np.sqrt(visits)
    tables.values[level, label, action] += (target - tables.values[level, label, action]) / (1 + 0.2 * visits)


@njit
def fill_policy(tables, chances):
    for level in range(chances.shape[0]):
        for label in range(chances.shape[1]):
            draws.fill_greedy(tables.values[level, label], chances[level, label])


@fu.register
@dataclass(frozen=True)
class Curious(fu.CompiledLearner):
    """Q-learning with a bonus for what was seldom tried."""

    bonus: float = fu.setting(0.05, least=0, search=fu.Range(0.001, 1.0), help="Size of the bonus.")

    functions = fu.learner_functions(choose=choose, take_step=take_step, fill_policy=fill_policy)

    def tables(self, task):
        shape = task.n_levels, task.n_labels, task.n_actions
        return Counts(np.full(shape, float(task.max_return)), np.zeros(shape), self.bonus)


# %%
# The same class on latent states and inside URL, beside the learner that fasturl would choose.

lock = fu.LockBernoulli(horizon=6, switch=0.2)
figure, axes = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
for name, agent in {
    "curious, latent states": Curious(),
    "URL with curious": fu.URL(learner=Curious()),
    "URL with its default": fu.URL(),
}.items():
    fu.train(lock, agent, episodes=3_000, seeds=4).plot(axes, label=name)
axes.set(xlabel="number of trajectories", ylabel="average reward")
axes.legend(frameon=False)
