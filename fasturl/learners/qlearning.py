"""Tabular Q-learning with epsilon-greedy exploration (Watkins, 1989): the baseline without optimism.

Q starts at 0 and has no bonus and no cap; with V the maximum of the next level's row, Q <- (1 - rate) Q +
rate (r + V). Actions are random with probability epsilon, which falls along a line from 1 to 0.01 over the
first `exploration_fraction` of the episodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.schema import Declared, Range, setting
from .._kernels import tabular as _tabular
from .learner import Task
from .q_table import QTable, Rules


@dataclass(frozen=True)
class QLearning(Declared):
    """Tabular Q-learning that starts at 0 and explores epsilon-greedily.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=2)
    >>> run = fu.train(env, fu.QLearning(), episodes=2000)
    >>> run.agent
    'qlearning-lat'
    """

    learning_rate: float = setting(
        0.1, above=0, most=1, search=Range(1e-4, 1.0), help="Rate of every update."
    )
    exploration_fraction: float = setting(
        0.5,
        above=0,
        most=1,
        search=Range(1e-4, 1.0),
        help="Share of the episodes over which epsilon falls from 1 to 0.01.",
    )

    def start(self, task: Task) -> QTable:
        return QTable(self.rules(task), task)

    def rules(self, task: Task) -> Rules:
        rates, bonuses = np.empty((2, task.episodes + 1))
        epsilons = np.empty(task.episodes)
        _tabular.constant_schedule(task.horizon, self.learning_rate, 0.0, rates, bonuses)
        _tabular.falling_epsilons(self.exploration_fraction, epsilons)
        return Rules(0.0, rates, bonuses, np.inf, epsilons)
