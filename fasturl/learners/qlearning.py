"""Tabular Q-learning with epsilon-greedy exploration (Watkins, 1989): the baseline without optimism.

Q starts at 0 and has no bonus and no cap; with V the maximum of the next level's row, Q <- (1 - rate) Q +
rate (r + V). Actions are random with probability epsilon, which falls along a line from 1 to 0.01 over the
first `exploration_fraction` of the episodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .._kernels import tabular as _tabular
from .._kernels.entries import place_of
from .._kernels.tabular import epsilon_greedy_at
from .compiled import CompiledLearner, learner_functions
from .learner import Stream, Task
from .q_table import QTables, fill_policy, take_step, take_value


@njit
def look(tables: QTables, level: int, label: int, rng: Stream) -> tuple[int, float]:
    """A uniform action with the probability of the coming episode, else a best one, ties at random; and the
    greatest action value."""
    episode = min(tables.episode[0], tables.epsilons.size - 1)
    return epsilon_greedy_at(tables.q, place_of(tables.q, level, label), tables.epsilons[episode], rng)


@njit
def choose(tables: QTables, level: int, label: int, rng: Stream) -> int:
    """The action of `look`."""
    action, _ = look(tables, level, label, rng)
    return int(action)


@njit
def end_episode(tables: QTables, rng: Stream) -> None:
    """Go on to the next entry of the schedule of random actions."""
    tables.episode[0] += 1


@dataclass(frozen=True)
class QLearning(CompiledLearner):
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

    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        end_episode=end_episode,
        look=look,
        take_value=take_value,
    )

    def tables(self, task: Task) -> QTables:
        shape = task.n_levels, task.n_labels, task.n_actions
        rates, bonuses = np.empty((2, task.most_visits + 1))
        epsilons = np.empty(task.episodes)
        _tabular.constant_schedule(task.horizon, self.learning_rate, 0.0, rates, bonuses)
        _tabular.falling_epsilons(self.exploration_fraction, epsilons)
        return QTables(
            q=np.zeros(shape),
            visits=np.zeros(shape, np.int64),
            rates=rates,
            bonuses=bonuses,
            cap=np.inf,
            value_cap=np.inf,
            epsilons=epsilons,
            episode=np.zeros(1, np.int64),
        )
