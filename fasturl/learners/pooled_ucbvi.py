"""Optimistic planning with standard errors: UCBVI (Azar, Osband and Munos, 2017) without constants to tune.

With n the visits of (h, x, a), p and r the means of what was seen (see `model`), caps[h] the greatest return
that can be ahead and ranges[h] the distance between it and the least,

    Q[h, x, a] = min(caps[h], r + sum over y of p(y) V[h+1, y] + d sqrt(w log(1 + N / n) / n) + c ranges[h] /
    n), V[h, x] = max over a of Q[h, x, a],

and Q = caps[h] where n is less than 1, or than the task says (`Task.believed_after`). The agent acts greedily
in Q. The first bonus is d = `deviations` standard errors of the mean of r + V. They become more as the N
visits of the label go elsewhere, so that nothing is given up for good. The variance w cannot be judged by a
few visits: that of one visit is 0, and an arm whose first coins all fall badly seems sure to be bad. So what
the pairs of a level have in common is shared,

    w = (n v + k u) / (n + k),   u = sum of n v / sum of (n - 1), over the pairs of the level that were
    visited,

where v is the variance of the rewards of (h, x, a) plus that of V[h+1, y] under p, and k = `pooled_visits`.
Where nothing random was ever seen at a level, u = 0, and one visit all but settles a pair: dead ends are left
at once, as R-MAX leaves them. Where rewards are coins, u is the variance of a coin, and every pair is tried
as often as it takes to tell coins apart. The second bonus, with c = `novelty`, is for pairs that are rarer
than their level tells.

The agent plans at the end of an episode in which the visits of some pair have grown by a quarter since they
last led to a plan. With `planning="trajectory"` it plans after every episode, but backs up only the labels of
that episode and one more of each level in turn (see `planning`). The sums of u are then those of each label's
last backup,

    u = sum over x of squares(x) / sum over x of freedom(x),
    squares(x) = sum over a of n v,   freedom(x) = sum over a of (n - 1),

and a label whose bonuses came from a smaller u than there is now gets its turn.

What it has learned in the end is the policy that is greedy in the model itself, without bonuses; a pair that
was never tried is worth the least there is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base import checks
from .._base.schema import Range, setting
from .._kernels.entries import get_entry, place_of, set_entry, small_product
from .._kernels.tabular import fill_greedy, greatest, greatest_at
from .bounds import MOST_SCALE
from .compiled import CompiledLearner, learner_functions
from .learner import Floats, Stream, Task
from .model import ModelTables, by_level, count_step, greatest_ahead, least_ahead, model_tables
from .planning import TurnTables, note_label, plan_in_turn, planning_setting, turn_tables
from .q_table import choose
from .table_records import extending

GROWTH = 1.25
"""A plan is due when the visits of some pair have grown by this factor since they last led to one."""


@extending(ModelTables, TurnTables)
class PooledTables(NamedTuple):
    """The model with the values of the optimistic plan, what those are made of, and the settings."""

    reward_squares: np.ndarray  # float64[H, X, A], sum of squared rewards
    next_plan: np.ndarray  # float64[H, X, A], visits at which a plan is due
    deepest_due: np.ndarray  # int64[1], the deepest level at which a plan is due, or -1
    paid: np.ndarray  # bool[H], whether a reward other than 0 was met
    means: np.ndarray  # float64[X, A], scratch: r + sum of p V at the level that is planned
    variances: np.ndarray  # float64[X, A], scratch: v of the head of this file there
    shares: np.ndarray  # float64[H, X, A], 1 / n
    rarities: np.ndarray  # float64[H, X, A], log(1 + N / n) / (n (n + k))
    weighed_visits: np.ndarray  # float64[H, X], the N of these
    plain_variances: np.ndarray  # float64[A], scratch: the plan without bonuses has no use for variances
    squares: np.ndarray  # float64[H, X], sum of n v over the actions of a label, when it was last backed up
    freedom: np.ndarray  # float64[H, X], sum of n - 1, likewise
    plain_q: np.ndarray  # float64[H, X, A], of the plan without bonuses
    plain_values: np.ndarray  # float64[H+1, X]
    caps: np.ndarray  # float64[H+1]
    floors: np.ndarray  # float64[H+1], the least return that can be ahead
    deviations: float
    novelty: float
    pooled_visits: float
    believed_after: np.ndarray  # float64[H], visits from which a pair's model is believed


@njit
def take_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Add the step to the model, and note whether a plan is due."""
    pair = count_step(tables, level, label, action, reward, next_level, next_label)
    if reward != 0.0:
        tables.paid[level] = True
        set_entry(tables.reward_squares, pair, get_entry(tables.reward_squares, pair) + reward * reward)
    tables.path[level] = label
    n = get_entry(tables.visits, pair)
    if n >= get_entry(tables.next_plan, pair):
        # a label is new only where a pair is, whose first visit makes a plan due
        note_label(tables, level, label)
        set_entry(tables.next_plan, pair, GROWTH * n)
        tables.deepest_due[0] = max(level, tables.deepest_due[0])


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Plan: along the episode, or from the deepest level where a plan is due, below which nothing has
    changed."""
    if tables.along_path:
        plan_in_turn(tables, back_up, rng)
        return
    n_labels = tables.q.shape[1]
    for h in range(tables.deepest_due[0], -1, -1):
        for x in range(n_labels):
            if tables.met[h, x]:
                refresh_weights(tables, h, x)
                fill_means(tables, h, x, tables.values[h + 1], tables.means[x], tables.variances[x])
        pooled = pooled_variance(tables, h)
        for x in range(n_labels):
            if tables.met[h, x]:
                add_bonuses(tables, h, x, pooled)
    tables.deepest_due[0] = -1


@njit
def back_up(tables: Any, h: int, x: int, rng: Stream) -> None:
    """Set the values of one label, with what the others of its level had when they were last backed up."""
    refresh_weights(tables, h, x)
    fill_means(tables, h, x, tables.values[h + 1], tables.means[x], tables.variances[x])
    tables.squares[h, x], tables.freedom[h, x] = squares_and_freedom(tables, h, x)
    squares, freedom = 0.0, 0.0
    for y in range(tables.q.shape[1]):
        squares += tables.squares[h, y]
        freedom += tables.freedom[h, y]
    add_bonuses(tables, h, x, squares / max(freedom, 1.0))


@njit
def refresh_weights(tables: Any, h: int, x: int) -> None:
    """What follows from the visits of a label alone, where it was met since this was last computed."""
    n_actions, first, k = np.uint64(tables.q.shape[2]), place_of(tables.q, h, x), tables.pooled_visits
    label_visits = 0.0
    for a in range(n_actions):
        label_visits += get_entry(tables.visits, first + a)
    if label_visits == tables.weighed_visits[h, x]:
        return
    tables.weighed_visits[h, x] = label_visits
    for a in range(n_actions):
        n = get_entry(tables.visits, first + a)
        if n > 0.0:
            set_entry(tables.shares, first + a, 1.0 / n)
            set_entry(tables.rarities, first + a, math.log(1.0 + label_visits / n) / (n * (n + k)))


@njit
def fill_means(tables: Any, h: int, x: int, next_values: Floats, means: Floats, variances: Floats) -> None:
    """r + sum of p V for the visited actions of a label, and their variances v."""
    first, paid = place_of(tables.q, h, x), tables.paid[h]
    for a in range(np.uint64(means.size)):
        pair = first + a
        if get_entry(tables.visits, pair) == 0.0:
            continue
        mean, square, outcome = 0.0, 0.0, small_product(pair, next_values.size)
        for y in range(np.uint64(next_values.size)):
            count, value = get_entry(tables.transitions, outcome + y), get_entry(next_values, y)
            mean += count * value
            square += count * value * value
        share = get_entry(tables.shares, pair)
        mean *= share
        variance = max(square * share - mean * mean, 0.0)
        if paid:
            reward = get_entry(tables.rewards, pair) * share
            mean += reward
            variance += max(get_entry(tables.reward_squares, pair) * share - reward * reward, 0.0)
        means[a], variances[a] = mean, variance


@njit
def squares_and_freedom(tables: Any, h: int, x: int) -> tuple[float, float]:
    """The sums of n v and of n - 1 over the visited actions of a label."""
    first = place_of(tables.q, h, x)
    squares, freedom = 0.0, 0.0
    for a in range(np.uint64(tables.q.shape[2])):
        n = get_entry(tables.visits, first + a)
        if n > 0.0:
            squares += n * tables.variances[x, a]
            freedom += n - 1.0
    return squares, freedom


@njit
def pooled_variance(tables: Any, h: int) -> float:
    """The variance u that the visited pairs of a level share."""
    squares, freedom = 0.0, 0.0
    for x in range(tables.q.shape[1]):
        if tables.met[h, x]:
            of_label = squares_and_freedom(tables, h, x)
            squares += of_label[0]
            freedom += of_label[1]
    return squares / max(freedom, 1.0)


@njit
def add_bonuses(tables: Any, h: int, x: int, pooled: float) -> None:
    """Values of a label and its visited actions: means and both bonuses, with the pooled variance of the
    level."""
    first, cap, believed_after = place_of(tables.q, h, x), tables.caps[h], tables.believed_after[h]
    shared, novelty = tables.pooled_visits * pooled, tables.novelty * (cap - tables.floors[h])
    # without branches, so that several actions are computed at once
    for a in range(np.uint64(tables.q.shape[2])):
        n = get_entry(tables.visits, first + a)
        squared_error = (n * tables.variances[x, a] + shared) * get_entry(tables.rarities, first + a)
        bonus = tables.deviations * math.sqrt(squared_error) + novelty * get_entry(tables.shares, first + a)
        value = tables.means[x, a] + bonus
        value = cap if value > cap else value
        set_entry(tables.q, first + a, value if n >= believed_after else cap)
    tables.values[h, x] = greatest_at(tables.q, first)


@njit
def fill_policy(tables: Any, chances: Floats) -> None:
    """Greedy in the model without bonuses, ties as equal probabilities."""
    for h in range(chances.shape[0] - 1, -1, -1):
        for x in range(chances.shape[1]):
            refresh_weights(tables, h, x)
            fill_means(tables, h, x, tables.plain_values[h + 1], tables.plain_q[h, x], tables.plain_variances)
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
        most=MOST_SCALE,
        search=Range(0.3, 5.0),
        help="Scale of the exploration bonus, in standard errors of the estimated value of an action.",
    )
    novelty: float = setting(
        0.3,
        least=0,
        most=MOST_SCALE,
        search=Range(0.03, 3.0),
        help="Further bonus for rarely tried actions: this share of the range of returns, over the number of "
        "tries.",
    )
    pooled_visits: float = setting(
        4.0,
        least=0,
        most=MOST_SCALE,
        search=Range(0.5, 10.0),
        unit="visits",
        help="Weight of the variance that all actions of a level share, when that of one is estimated.",
    )
    planning: str = planning_setting(in_turn=True)

    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, end_episode=end_episode
    )
    plans_by_level = True

    @property
    def plans_from_tables(self) -> bool:
        return self.planning == "full"

    def tables(self, task: Task) -> PooledTables:
        shape = task.n_levels, task.n_labels, task.n_actions
        caps, floors = greatest_ahead(task), least_ahead(task)
        return PooledTables(
            **model_tables(task, caps),
            **turn_tables(task, self.planning),
            reward_squares=np.zeros(shape),
            next_plan=np.ones(shape),
            deepest_due=np.full(1, -1),
            paid=np.zeros(task.n_levels, np.bool_),
            means=np.zeros(shape[1:]),
            variances=np.zeros(shape[1:]),
            shares=np.zeros(shape),
            rarities=np.zeros(shape),
            weighed_visits=np.zeros(shape[:2]),
            plain_variances=np.zeros(task.n_actions),
            squares=np.zeros(shape[:2]),
            freedom=np.zeros(shape[:2]),
            plain_q=by_level(floors[:-1], *shape[1:]),
            plain_values=by_level(floors, task.n_labels),
            caps=caps,
            floors=floors,
            deviations=float(self.deviations),
            novelty=float(self.novelty),
            pooled_visits=float(self.pooled_visits),
            believed_after=_least_visits(task),
        )


def _least_visits(task: Task) -> Floats:
    """The visits from which a pair is believed: [levels of the tables]."""
    if task.believed_after is None:
        return np.ones(task.n_levels)
    visits = checks.array("believed_after", task.believed_after)
    if visits.shape != (task.horizon,) or visits.dtype.kind not in "iu":
        raise ValueError(
            f"believed_after must be {task.horizon} whole numbers, one for each level, "
            f"got {checks.short_repr(task.believed_after)}"
        )
    # one row of observations stands for all levels, and hides no states
    return np.maximum(visits, 1).astype(np.float64) if task.levels_apart else np.ones(task.n_levels)
