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

What has been learned is the greedy policy of the counts alone, without noise and prior. Actions that were
never taken are not in it where others were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .compiled import CompiledLearner, learner_functions
from .draws import normal
from .empirical_policy import fill_empirical_policy
from .learner import Stream, Task
from .model import count_step, expected_next, greatest_ahead
from .q_table import choose


class RLSVITables(NamedTuple):
    """An empirical model of H levels, X labels and A actions, and the sample that is acted on."""

    visits: np.ndarray  # float64[H, X, A]
    label_visits: np.ndarray  # int64[H, X]
    transitions: np.ndarray  # float64[H, X, A, X]
    rewards: np.ndarray  # float64[H, X, A], sums
    q: np.ndarray  # float64[H, X, A], of the sample; 0 for labels that were not met
    values: np.ndarray  # float64[H+1, X], of the sample
    mean_values: np.ndarray  # float64[H+1, X], of the counts alone
    least: np.ndarray  # float64[H], the least return that can be ahead
    row: np.ndarray  # float64[A], action values of the counts alone
    sigma: float  # standard deviation of the noise
    prior_visits: float  # sigma^2 ridge


@njit
def take_step(
    tables: RLSVITables, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Count the step."""
    tables.label_visits[level, label] += 1
    count_step(tables, level, label, action, reward, next_level, next_label)


@njit
def begin_episode(tables: RLSVITables, rng: Stream) -> None:
    """Draw a sample of the action values of every label that was met, from the last level to the first."""
    horizon, n_labels, n_actions = tables.q.shape
    for h in range(horizon - 1, -1, -1):
        for x in range(n_labels):
            if tables.label_visits[h, x] == 0:
                continue
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

    plans_by_level = True
    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_empirical_policy, begin_episode=begin_episode
    )

    def tables(self, task: Task) -> RLSVITables:
        horizon, n_labels, n_actions = task.n_levels, task.n_labels, task.n_actions
        least = task.reward_range[0] * (horizon - np.arange(horizon, dtype=np.float64))
        span = float((greatest_ahead(task)[:horizon] - least).max())
        return RLSVITables(
            visits=np.zeros((horizon, n_labels, n_actions)),
            label_visits=np.zeros((horizon, n_labels), np.int64),
            transitions=np.zeros((horizon, n_labels, n_actions, n_labels)),
            rewards=np.zeros((horizon, n_labels, n_actions)),
            q=np.zeros((horizon, n_labels, n_actions)),
            values=np.zeros((horizon + 1, n_labels)),
            mean_values=np.zeros((horizon + 1, n_labels)),
            least=least,
            row=np.zeros(n_actions),
            sigma=self.sigma * span,
            prior_visits=self.sigma**2 * self.ridge,
        )
