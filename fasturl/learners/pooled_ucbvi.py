"""Optimistic planning with standard errors: UCBVI (Azar, Osband and Munos, 2017) without constants to tune.

With n the visits of (h, x, a), p and r the means of what was seen (see `model`), caps[h] the greatest return
that can be ahead and ranges[h] the distance between it and the least,

    Q[h, x, a] = min(caps[h], r + sum over y of p(y) V[h+1, y] + d sqrt(w log(1 + N / n) / n) + c ranges[h] /
    n), V[h, x] = max over a of Q[h, x, a],

and Q = caps[h] where n = 0. The agent acts greedily in Q. The first bonus is d = `deviations` standard errors
of the mean of r + V. They become more as the N visits of the label go elsewhere, so that nothing is given up
for good. The variance w cannot be judged by a few visits: that of one visit is 0, and an arm whose first
coins all fall badly seems sure to be bad. So what the pairs of a level have in common is shared,

    w = (n v + k u) / (n + k),   u = sum of n v / sum of (n - 1), over the pairs of the level that were
    visited,

where v is the variance of the rewards of (h, x, a) plus that of V[h+1, y] under p, and k = `pooled_visits`.
Where nothing random was ever seen at a level, u = 0, and one visit all but settles a pair: dead ends are left
at once, as R-MAX leaves them. Where rewards are coins, u is the variance of a coin, and every pair is tried
as often as it takes to tell coins apart. The second bonus, with c = `novelty`, is for pairs that are rarer
than their level tells.

The agent plans at the end of an episode in which the visits of some pair have grown by a quarter since they
last led to a plan. What it has learned in the end is the policy that is greedy in the model itself, without
bonuses; a pair that was never tried is worth the least there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .._kernels.tabular import fill_greedy, greatest
from .compiled import CompiledLearner, learner_functions
from .learner import Floats, Stream, Task
from .model import count_step, greatest_ahead, least_ahead
from .q_table import choose

GROWTH = 1.25
"""How much more often a pair has been visited when a plan is due."""


class PooledTables(NamedTuple):
    """The model, the plan, and the settings."""

    visits: np.ndarray  # float64[H, X, A]
    transitions: np.ndarray  # float64[H, X, A, X]
    rewards: np.ndarray  # float64[H, X, A]
    reward_squares: np.ndarray  # float64[H, X, A], sum of squared rewards
    met: np.ndarray  # bool[H, X], whether the label was met
    next_plan: np.ndarray  # float64[H, X, A], visits at which a plan is due
    deepest_due: np.ndarray  # int64[1], the deepest level at which a plan is due, or -1
    means: np.ndarray  # float64[H, X, A], r + sum of p V of the optimistic plan
    variances: np.ndarray  # float64[H, X, A], v of the head of this file
    rarities: np.ndarray  # float64[H, X, A], log(1 + N / n)
    met_then: np.ndarray  # float64[H, X], the N of these
    unused: np.ndarray  # float64[A], variances of the plan without bonuses, which needs none
    q: np.ndarray  # float64[H, X, A], of the optimistic plan
    values: np.ndarray  # float64[H+1, X]
    plain_q: np.ndarray  # float64[H, X, A], of the plan without bonuses
    plain_values: np.ndarray  # float64[H+1, X]
    caps: np.ndarray  # float64[H+1]
    floors: np.ndarray  # float64[H+1], the least return that can be ahead
    deviations: float
    novelty: float
    pooled_visits: float


@njit
def take_step(
    tables: PooledTables, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Add the step to the model, and note whether a plan is due."""
    count_step(tables, level, label, action, reward, next_level, next_label)
    tables.reward_squares[level, label, action] += reward * reward
    tables.met[level, label] = True
    n = tables.visits[level, label, action]
    if n >= tables.next_plan[level, label, action]:
        tables.next_plan[level, label, action] = GROWTH * n
        tables.deepest_due[0] = max(level, tables.deepest_due[0])


@njit
def end_episode(tables: PooledTables, rng: Stream) -> None:
    """Plan, where it is due: nothing has changed below the deepest level of news."""
    for h in range(tables.deepest_due[0], -1, -1):
        for x in range(tables.q.shape[1]):
            if tables.met[h, x]:
                fill_means(tables, h, x, tables.values[h + 1], tables.means[h, x], tables.variances[h, x])
                refresh_rarities(tables, h, x)
        add_bonuses(tables, h, pooled_variance(tables, h))
        for x in range(tables.q.shape[1]):
            if tables.met[h, x]:
                tables.values[h, x] = greatest(tables.q[h, x])
    tables.deepest_due[0] = -1


@njit
def fill_means(
    tables: PooledTables, h: int, x: int, next_values: Floats, means: Floats, variances: Floats
) -> None:
    """r + sum of p V for the visited actions of a label, and their variances v."""
    for a in range(means.size):
        n = tables.visits[h, x, a]
        if n == 0.0:
            continue
        counts = tables.transitions[h, x, a]
        mean, square = 0.0, 0.0
        for y in range(counts.size):
            mean += counts[y] * next_values[y]
            square += counts[y] * next_values[y] * next_values[y]
        mean, reward = mean / n, tables.rewards[h, x, a] / n
        of_values = max(square / n - mean * mean, 0.0)
        of_rewards = max(tables.reward_squares[h, x, a] / n - reward * reward, 0.0)
        means[a] = reward + mean
        variances[a] = of_values + of_rewards


@njit
def refresh_rarities(tables: PooledTables, h: int, x: int) -> None:
    """log(1 + N / n) for the visited actions of a label, where it was met since this was last computed."""
    met = 0.0
    for a in range(tables.q.shape[2]):
        met += tables.visits[h, x, a]
    if met == tables.met_then[h, x]:
        return
    tables.met_then[h, x] = met
    for a in range(tables.q.shape[2]):
        n = tables.visits[h, x, a]
        if n > 0.0:
            tables.rarities[h, x, a] = math.log(1.0 + met / n)


@njit
def pooled_variance(tables: PooledTables, h: int) -> float:
    """The variance u that the visited pairs of a level share."""
    squares, freedom = 0.0, 0.0
    for x in range(tables.q.shape[1]):
        if not tables.met[h, x]:
            continue
        for a in range(tables.q.shape[2]):
            n = tables.visits[h, x, a]
            if n > 0.0:
                squares += n * tables.variances[h, x, a]
                freedom += n - 1.0
    return squares / max(freedom, 1.0)


@njit
def add_bonuses(tables: PooledTables, h: int, pooled: float) -> None:
    """Both bonuses for the visited pairs of a level, whose pooled variance is given."""
    k, novelty = tables.pooled_visits, tables.novelty * (tables.caps[h] - tables.floors[h])
    cap = tables.caps[h]
    for x in range(tables.q.shape[1]):
        if not tables.met[h, x]:
            continue
        # without branches, so that several actions are computed at once; those never taken keep their value
        for a in range(tables.q.shape[2]):
            n = tables.visits[h, x, a]
            variance = (n * tables.variances[h, x, a] + k * pooled) / (n + k)
            standard_error = math.sqrt(variance * tables.rarities[h, x, a] / n)
            value = tables.means[h, x, a] + (tables.deviations * standard_error + novelty / n)
            value = cap if value > cap else value
            tables.q[h, x, a] = value if n > 0.0 else tables.q[h, x, a]


@njit
def fill_policy(tables: PooledTables, chances: Floats) -> None:
    """Greedy in the model without bonuses, ties as equal probabilities."""
    for h in range(chances.shape[0] - 1, -1, -1):
        for x in range(chances.shape[1]):
            fill_means(tables, h, x, tables.plain_values[h + 1], tables.plain_q[h, x], tables.unused)
            tables.plain_values[h, x] = greatest(tables.plain_q[h, x])
            fill_greedy(tables.plain_q[h, x], chances[h, x])


@dataclass(frozen=True)
class PooledUCBVI(CompiledLearner):
    """Optimistic planning with standard errors that the pairs of a level share: nothing in it has to be
    tuned.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=20)
    >>> fu.train(env, fu.PooledUCBVI(), episodes=1000).success_rate
    1.0
    """

    deviations: float = setting(
        1.7,
        least=0,
        search=Range(0.3, 5.0),
        help="Standard errors that an estimate is raised by, times the root of log(1 + N / n).",
    )
    novelty: float = setting(
        0.3,
        least=0,
        search=Range(0.03, 3.0),
        help="Bonus of a pair of label and action after its first visit, as a share of the range of returns.",
    )
    pooled_visits: float = setting(
        4.0,
        least=0,
        search=Range(0.5, 10.0),
        unit="visits",
        help="How many visits the variance that the pairs of a level share weighs as much as.",
    )

    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, end_episode=end_episode
    )
    plans_by_level = True

    def tables(self, task: Task) -> PooledTables:
        shape = task.n_levels, task.n_labels, task.n_actions
        caps, floors = greatest_ahead(task), least_ahead(task)
        return PooledTables(
            visits=np.zeros(shape),
            transitions=np.zeros((*shape, task.n_labels)),
            rewards=np.zeros(shape),
            reward_squares=np.zeros(shape),
            met=np.zeros(shape[:2], np.bool_),
            next_plan=np.ones(shape),
            deepest_due=np.full(1, -1),
            means=np.zeros(shape),
            variances=np.zeros(shape),
            rarities=np.zeros(shape),
            met_then=np.zeros(shape[:2]),
            unused=np.zeros(task.n_actions),
            q=np.tile(caps[:-1, None, None], (1, *shape[1:])),
            values=np.tile(caps[:, None], (1, task.n_labels)),
            plain_q=np.tile(floors[:-1, None, None], (1, *shape[1:])),
            plain_values=np.tile(floors[:, None], (1, task.n_labels)),
            caps=caps,
            floors=floors,
            deviations=float(self.deviations),
            novelty=float(self.novelty),
            pooled_visits=float(self.pooled_visits),
        )
