"""RLSVI: randomised least-squares value iteration (Osband, Van Roy and Wen, "Generalization and exploration
via randomized value functions", 2016), with tables.

Before each episode, from the last level to the first, with n = n(h, x, a) visits, r_i the rewards and y_i the
next labels of those,

    mean(h, x, a) = sum over i of (r_i + V(h+1, y_i)) / (n + sigma^2 ridge),
    Q(h, x, a) ~ Normal(mean(h, x, a), sigma^2 / (n + sigma^2 ridge)),
    V(h, x) = max over a of Q(h, x, a).

The episode is greedy in Q: this is Bayesian regression of the targets on the table's entries, with noise of
variance sigma^2 and a prior of variance 1 / ridge. Returns are measured in units of their range, and from the
least return that can be ahead, so that one sigma and one ridge suit rewards of any size. A label that was not
met has the same prior for all actions: there they are equally likely, and nothing is drawn.

Regret bounds ask for a sigma that grows with the horizon and the number of labels, which never stops
exploring in practice. The default 0.5 is the standard deviation of a fair coin, the noisiest return in its
range: with 0.3, the better of two arms of means 0.5 and 0.6 was given up in 1 of 400 runs, with 0.5 in none.

With `planning="trajectory"` noise is drawn at the end of an episode, and only for its labels and one more of
each level in turn (see `planning`); the values of all others stay as they are. Between two visits of a label
its mean changes only with the values of the next level, so that noise which was drawn after the first is as
good a sample before the second.

What has been learned is the greedy policy of the counts alone, without noise and prior. Actions that were
never taken are not in it where others were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .bounds import return_range
from .compiled import CompiledLearner, learner_functions
from .draws import normal
from .empirical_policy import PolicyWorkspace, fill_empirical_policy, policy_workspace
from .learner import Stream, Task
from .model import ModelTables, expected_next, least_ahead, model_tables
from .planning import TurnTables, plan_in_turn, plan_met, planning_setting, take_step, turn_tables
from .q_table import choose
from .table_records import extending


@extending(ModelTables, TurnTables, PolicyWorkspace)
class RLSVITables(NamedTuple):
    """The model with the values of the sample that is acted on, 0 for labels that were not met, and the
    noise."""

    least: np.ndarray  # float64[H], the least return that can be ahead
    sigma: float  # standard deviation of the noise
    prior_visits: float  # sigma^2 ridge


@njit
def back_up(tables: Any, h: int, x: int, rng: Stream) -> None:
    """Draw the values of a label's actions."""
    horizon, _, n_actions = tables.q.shape
    best = -np.inf
    for a in range(n_actions):
        visits = tables.visits[h, x, a]
        targets = tables.rewards[h, x, a]
        if h + 1 < horizon:
            targets += expected_next(tables.transitions[h, x, a], tables.values[h + 1])
        precision = visits + tables.prior_visits
        mean = tables.least[h] + (targets - visits * tables.least[h]) / precision
        value = mean + tables.sigma / math.sqrt(precision) * normal(rng)
        tables.q[h, x, a] = value
        best = max(best, value)
    tables.values[h, x] = best


@njit
def begin_episode(tables: Any, rng: Stream) -> None:
    """Draw a sample of the action values of every label that was met, from the last level to the first."""
    if not tables.along_path:
        plan_met(tables, back_up, rng)


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Draw along the episode, where that is all that is planned."""
    if tables.along_path:
        plan_in_turn(tables, back_up, rng)


@dataclass(frozen=True)
class RLSVI(CompiledLearner):
    """Randomised least-squares value iteration: action values with noise that falls with the visits.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> fu.train(env, fu.RLSVI(), episodes=4000).success_rate
    1.0
    """

    sigma: float = setting(
        0.5,
        above=0,
        most=1e9,
        search=Range(0.01, 1.0),
        help="Standard deviation of the noise in a target, in ranges of returns.",
    )
    ridge: float = setting(
        1.0,
        above=0,
        most=1e9,
        search=Range(0.1, 10.0),
        help="Reciprocal variance of the prior, in ranges of returns.",
    )
    planning: str = planning_setting(in_turn=True)

    plans_by_level = True
    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_empirical_policy,
        begin_episode=begin_episode,
        end_episode=end_episode,
    )

    def tables(self, task: Task) -> RLSVITables:
        return RLSVITables(
            **model_tables(task, np.zeros(task.n_levels + 1)),
            **turn_tables(task, self.planning),
            **policy_workspace(task),
            least=least_ahead(task)[:-1],
            sigma=self.sigma * return_range(task),
            prior_visits=self.sigma**2 * self.ridge,
        )
