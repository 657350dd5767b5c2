"""R-MAX: what is not known is as good as can be (Brafman and Tennenholtz, 2002), for a finite horizon.

An action at (level, label) is known once it has been taken m = `known_after` times. With n its visits,

    Q[h, x, a] = r(h, x, a) + sum over y of p(y | h, x, a) V[h+1, y]   where it is known,
    Q[h, x, a] = caps[h]                                                where it is not,

where r and p are the means of what was seen, V is the maximum over actions, and caps[h] is the greatest
return that can be ahead. The agent acts greedily, so it goes to what is unknown until all of it is known or
out of reach. It plans anew when an action becomes known.

The paper's model of an action is that of its first m steps and is never changed again (`model="frozen"`).
With `model="learning"`, which is ours, it goes on learning from every step, and the agent also plans anew
when the visits of a known action reach a power of two. A small m then does less harm: a model of an action
that is taken gets better with every step. An action that looked bad in its first m steps is not tried again
in either form, so m must be the greater the closer the values of actions are: it takes about (range of
returns / gap)^2 steps to tell two of them apart.

With `planning="trajectory"` every episode backs up its own labels, whether or not an action became known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
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


@extending(ModelTables, PlanTables)
class RMaxTables(NamedTuple):
    """The model, the plan, and when an action is known."""

    due: np.ndarray  # bool[1], whether to plan at the end of the episode
    known_after: float
    frozen: bool
    along_path: bool


@njit
def take_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Add the step to the model, and note whether there is something to plan with."""
    note_step(tables, level, label, action)
    if tables.frozen and tables.visits[level, label, action] >= tables.known_after:
        return
    count_step(tables, level, label, action, reward, next_level, next_label)
    visits = tables.visits[level, label, action]
    if visits == tables.known_after or (visits > tables.known_after and is_power_of_two(visits)):
        tables.due[0] = True


@njit
def pair_value(tables: Any, level: int, label: int, action: int) -> float:
    """Q of the head of this file."""
    n = tables.visits[level, label, action]
    if n < tables.known_after:
        return float(tables.caps[level])
    following = expected_next(tables.transitions[level, label, action], tables.values[level + 1])
    return float((tables.rewards[level, label, action] + following) / n)


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Plan, where there is something new."""
    if tables.along_path:
        plan_along_path(tables, pair_value)
    elif tables.due[0]:
        plan_all(tables, pair_value)
    tables.due[0] = False


@dataclass(frozen=True)
class RMax(CompiledLearner):
    """R-MAX: explore what is not known until all that is left to know is out of reach or not worth it.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=20)
    >>> fu.train(env, fu.RMax(), episodes=4000).success_rate
    1.0
    """

    known_after: int = setting(
        5,
        least=1,
        search=Range(1, 1000),
        unit="visits",
        help="Visits m after which an action is known: the more, the surer, and the slower.",
    )
    model: str = setting(
        "learning",
        choices=("frozen", "learning"),
        help="The model of a known action: that of its first visits for good, or of all of them.",
    )
    planning: str = planning_setting()

    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, end_episode=end_episode
    )
    plans_by_level = True

    @property
    def plans_from_tables(self) -> bool:
        return self.planning == "full"

    def tables(self, task: Task) -> RMaxTables:
        return RMaxTables(
            **planning_tables(task),
            due=np.zeros(1, np.bool_),
            known_after=float(self.known_after),
            frozen=self.model == "frozen",
            along_path=self.planning == "trajectory",
        )
