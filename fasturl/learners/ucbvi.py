"""UCBVI: value iteration on the empirical model, with a bonus (Azar, Osband and Munos, 2017).

With n the visits of (h, x, a), p and r the means of what was seen (see `model`), and caps[h] the greatest
return that can be ahead,

    Q[h, x, a] = min(caps[h], r + sum over y of p(y) V[h+1, y] + bonus),   V[h, x] = max over a of Q[h, x, a],

and Q = caps[h] where n = 0. The agent acts greedily in Q. H is the horizon, S the number of labels, A that of
actions, T that of steps, L = log(5 S A T / failure_probability), and R the range of returns, which stands
where the paper has H (see `bounds`). The paper's bonuses are, in its Algorithm 3,

    hoeffding:  7 R L / sqrt(n)

and, with D^2 the variance of V[h+1, y] under p, in its Algorithm 4,

    bernstein:  sqrt(8 L) D / sqrt(n) + 14 R L / (3 n)
                + sqrt(8 sum over y of p(y) min(100^2 H S^2 A L^2 R^2 / n(h+1, y), R^2)) / sqrt(n),

where n(h+1, y) counts the visits of a label. The third term makes up for what V[h+1] may be above the
optimum; at the last level, where both are 0, we leave it out. L is that of the algorithms; the paper's
Theorem 2 has log(5 H S A T / failure_probability) in its bound. The paper also keeps the least Q of all plans
so far (Algorithm 2). It pools the steps of all levels, where we count each by itself, and it knows the
rewards: ours may be random, so D is the sum of the standard deviations of the next value and of the rewards
(Zhang, Ji and Du, 2021, have the same two terms). Where rewards are certain the bonus is the paper's.

Those constants make proofs short, and learning long: even at n = 1,000 every bonus is more than what can be
earned. The practical ones share what does not come from the spread of outcomes among the H levels,

    hoeffding:  scale R / H sqrt(L / n)
    bernstein:  scale (sqrt(2 L) D / sqrt(n) + R / H L / n).

A bonus of that size may once be too small, so Q is then that of the last plan, which can rise again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .bounds import MOST_SCALE, constants_setting, failure_probability_setting, return_range
from .compiled import CompiledLearner, learner_functions
from .learner import Stream, Task
from .model import ModelTables, count_step, expected_next
from .planning import (
    PlanTables,
    is_power_of_two,
    note_step,
    plan_all,
    plan_along_path,
    planning_setting,
    planning_tables,
)
from .q_table import choose, fill_policy
from .table_records import extending

PRACTICAL_SCALE = 0.3


@extending(ModelTables, PlanTables)
class UCBVITables(NamedTuple):
    """The model, the plan, and the parts of the bonus."""

    reward_squares: np.ndarray  # float64[H, X, A], sum of (r - mean)^2
    due: np.ndarray  # bool[1], whether to plan at the end of the episode
    by_root: float  # what is divided by sqrt(n)
    by_visits: float  # what is divided by n
    by_deviation: float  # what D / sqrt(n) is multiplied with
    by_next_visits: float  # 100^2 H S^2 A L^2 R^2 of the third term, 0 where there is none
    most_by_next: float  # R^2 there
    keeps_least: bool
    along_path: bool
    each_episode: bool


_NO_BONUS = {
    "by_root": 0.0,
    "by_visits": 0.0,
    "by_deviation": 0.0,
    "by_next_visits": 0.0,
    "most_by_next": 0.0,
}


@njit
def take_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Add the step to the model, and note whether there is something to plan with."""
    n, total = tables.visits[level, label, action], tables.rewards[level, label, action]
    if n > 0.0:  # Welford: the squares of rewards that are all the same add up to nothing
        change = (reward - total / n) * (reward - (total + reward) / (n + 1.0))
        tables.reward_squares[level, label, action] += change
    count_step(tables, level, label, action, reward, next_level, next_label)
    note_step(tables, level, label, action)
    if tables.by_next_visits > 0.0:
        tables.changed[level, label] = True  # its visits are in the bonus of what leads to it
    if tables.each_episode or is_power_of_two(n + 1.0):
        tables.due[0] = True


@njit
def bonus(tables: Any, level: int, label: int, action: int, mean: float) -> float:
    """The bonus of the head of this file, where the next value has this mean."""
    n = tables.visits[level, label, action]
    counts, values = tables.transitions[level, label, action], tables.values[level + 1]
    by_root = tables.by_root
    if tables.by_deviation > 0.0:
        squares = 0.0
        for y in range(counts.size):
            squares += counts[y] * ((values[y] - mean) * (values[y] - mean))
        reward_squares = max(tables.reward_squares[level, label, action], 0.0)
        by_root += tables.by_deviation * (math.sqrt(squares / n) + math.sqrt(reward_squares / n))
    if tables.by_next_visits > 0.0 and level + 1 < tables.visits.shape[0]:
        total = 0.0
        for y in range(counts.size):
            if counts[y] > 0.0:
                total += counts[y] * min(
                    tables.by_next_visits / max(tables.label_visits[level + 1, y], 1.0), tables.most_by_next
                )
        by_root += math.sqrt(8.0 * (total / n))
    return float(by_root / math.sqrt(n) + tables.by_visits / n)


@njit
def pair_value(tables: Any, level: int, label: int, action: int) -> float:
    """Q of the head of this file."""
    n = tables.visits[level, label, action]
    mean = expected_next(tables.transitions[level, label, action], tables.values[level + 1]) / n
    value = tables.rewards[level, label, action] / n + mean + bonus(tables, level, label, action, mean)
    most = tables.q[level, label, action] if tables.keeps_least else tables.caps[level]
    return float(min(value, most))


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Plan, where that is due."""
    if not tables.due[0]:
        return
    tables.due[0] = False
    if tables.along_path:
        plan_along_path(tables, pair_value)
    else:
        plan_all(tables, pair_value)


@dataclass(frozen=True)
class UCBVI(CompiledLearner):
    """Value iteration on the empirical model with a bonus for what was seldom tried (Azar et al., 2017).

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=20)
    >>> fu.train(env, fu.UCBVI(), episodes=2000).success_rate
    1.0
    """

    bonus: str = setting(
        "bernstein",
        choices=("hoeffding", "bernstein"),
        help="From the range of returns alone, or from the variance of what was seen as well.",
    )
    constants: str = constants_setting("Azar et al. (2017)")
    scale: float | None = setting(
        None,
        least=0,
        most=MOST_SCALE,
        none=f"{PRACTICAL_SCALE:g}, or 1 with the paper's constants",
        search=Range(1e-2, 1.0),
        help="What the bonus is multiplied with.",
    )
    failure_probability: float = failure_probability_setting()
    planning: str = planning_setting()
    replan: str = setting(
        "episode",
        choices=("episode", "doubling"),
        help="Plan after every episode, or when the visits of some action have reached a power of two.",
    )

    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, end_episode=end_episode
    )
    plans_by_level = True

    @property
    def plans_from_tables(self) -> bool:
        return self.planning == "full"

    def tables(self, task: Task) -> UCBVITables:
        return UCBVITables(
            **planning_tables(task),
            reward_squares=np.zeros((task.n_levels, task.n_labels, task.n_actions)),
            due=np.zeros(1, np.bool_),
            **(self._paper_bonus(task) if self.constants == "paper" else self._practical_bonus(task)),
            keeps_least=self.constants == "paper",
            along_path=self.planning == "trajectory",
            each_episode=self.replan == "episode",
        )

    def _paper_bonus(self, task: Task) -> dict[str, Any]:
        scale = 1.0 if self.scale is None else self.scale
        log, returns = self._log(task), return_range(task)
        if self.bonus == "hoeffding":
            return _NO_BONUS | {"by_root": scale * 7 * returns * log}
        squared = (scale * returns) ** 2
        return _NO_BONUS | {
            "by_deviation": scale * math.sqrt(8 * log),
            "by_visits": scale * 14 * returns * log / 3,
            "by_next_visits": 100**2 * task.horizon * task.label_bound**2 * task.n_actions * log**2 * squared,
            "most_by_next": squared,
        }

    def _practical_bonus(self, task: Task) -> dict[str, Any]:
        scale = PRACTICAL_SCALE if self.scale is None else self.scale
        log, unit = self._log(task), return_range(task) / task.horizon
        if self.bonus == "hoeffding":
            return _NO_BONUS | {"by_root": scale * unit * math.sqrt(log)}
        return _NO_BONUS | {"by_deviation": scale * math.sqrt(2 * log), "by_visits": scale * unit * log}

    def _log(self, task: Task) -> float:
        """L of the head of this file."""
        steps = float(task.episodes) * task.horizon
        return math.log(5 * task.label_bound * task.n_actions * max(steps, 1.0) / self.failure_probability)
