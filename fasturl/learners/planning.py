"""Which labels a model-based learner backs up after an episode: all of them, or those on its way.

An optimistic learner whose value of an action comes from that action's model alone gives `pair_value(tables,
level, label, action)`, the value of an action that was taken before, from the model of that action and from
the values of the next level. A plan sets, from the last level to the first,

    Q[h, x, a] <- pair_value(h, x, a)   and   V[h, x] <- max over a of Q[h, x, a].

`plan_all` does so for every label and action that the model knows. It leaves out those whose value cannot
have changed since the last plan, because the action was not taken since and no label that it leads to has
another value now: what it computes is the whole of backward induction, in O(H S^2 A) at most.
`plan_along_path` backs up the labels of the last episode alone, in O(H S A): real-time dynamic programming
(Barto, Bradtke and Singh, 1995), which Efroni et al. (2019) show to explore as well. Values elsewhere are
then old, and no less optimistic for it.

Where values are samples, or have a part that the pairs of a level share, that is not so: a label whose last
sample was a bad one is not gone to, and if only the way of the agent were backed up it would never get
another. `plan_in_turn` therefore backs up, at each level, the label of the last episode and one more, all
labels that were met taking turns: asynchronous dynamic programming (Bertsekas, 1982), still O(H S A). Where k
labels of a level were met, no value there is older than k episodes. Such a learner gives `back_up(tables,
level, label, rng)`, which sets the values of a label and of its actions and may draw.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .._base.schema import setting
from .._kernels.entries import get_entry, set_entry, small_product
from .._kernels.tabular import greatest
from .learner import Floats, Stream, Task
from .model import count_step, greatest_ahead, model_tables


class PlanTables(NamedTuple):
    """What a plan of an optimistic learner needs besides the model, whose values start at caps[h]."""

    label_visits: np.ndarray  # float64[H, X], how often the label was met
    fresh: np.ndarray  # bool[H, X, A], whether the action was taken since the last plan
    changed: np.ndarray  # bool[H+1, X], whether what lies below may have to be computed again
    path: np.ndarray  # int64[H], labels of the last episode
    caps: np.ndarray  # float64[H+1], the greatest return that can be ahead


class TurnTables(NamedTuple):
    """What it takes to back up labels in turn."""

    met: np.ndarray  # bool[H, X], whether the label was met
    met_labels: np.ndarray  # int64[H, X], the labels that were met, in the order of their first meeting
    n_met: np.ndarray  # int64[H], how many these are
    turn: np.ndarray  # int64[H], whose turn is next, as a place in met_labels
    path: np.ndarray  # int64[H], labels of the last episode
    along_path: bool  # whether labels are backed up in turn at all


def planning_setting(in_turn: bool = False) -> Any:
    """The setting `planning` of every learner that has a model."""
    others = " and one more of each level in turn" if in_turn else " alone"
    return setting(
        "full",
        choices=("full", "trajectory"),
        help="Labels whose values are updated when the learner plans. full: all labels that were met. "
        f"trajectory: those of the last episode{others}, which is faster where there are many labels.",
    )


def planning_tables(task: Task) -> dict[str, Any]:
    """Fresh tables of the model and of the plan, by name."""
    levels, labels, actions = task.n_levels, task.n_labels, task.n_actions
    caps = greatest_ahead(task)
    plan = PlanTables(
        label_visits=np.zeros((levels, labels)),
        fresh=np.zeros((levels, labels, actions), np.bool_),
        changed=np.zeros((levels + 1, labels), np.bool_),
        path=np.zeros(levels, np.int64),
        caps=caps,
    )
    return model_tables(task, caps) | plan._asdict()


def turn_tables(task: Task, planning: str) -> dict[str, Any]:
    """Fresh tables of taking turns, by name."""
    tables = TurnTables(
        met=np.zeros((task.n_levels, task.n_labels), np.bool_),
        met_labels=np.zeros((task.n_levels, task.n_labels), np.int64),
        n_met=np.zeros(task.n_levels, np.int64),
        turn=np.zeros(task.n_levels, np.int64),
        path=np.zeros(task.n_levels, np.int64),
        along_path=planning == "trajectory",
    )
    return tables._asdict()


@njit
def note_step(tables: Any, level: int, label: int, action: int) -> None:
    """Remember that the label was met and that the action was taken."""
    tables.label_visits[level, label] += 1.0
    tables.fresh[level, label, action] = True
    tables.path[level] = label


@njit
def is_power_of_two(visits: float) -> bool:
    """Whether a count has doubled once more: it is 1, 2, 4, 8 ..."""
    count = int(visits)
    return count > 0 and count & (count - 1) == 0


@njit
def plan_all(tables: Any, pair_value: Any) -> None:
    """Backward induction over all labels that were met."""
    n_levels, n_labels, n_actions = tables.q.shape
    for h in range(n_levels - 1, -1, -1):
        below = tables.changed[h + 1]
        any_below = _any(below)
        for x in range(n_labels):
            if tables.label_visits[h, x] == 0.0:
                continue
            backed_up = False
            for a in range(n_actions):
                if tables.fresh[h, x, a] or (any_below and _leads_to(tables.transitions[h, x, a], below)):
                    tables.fresh[h, x, a] = False
                    tables.q[h, x, a] = pair_value(tables, h, x, a)
                    backed_up = True
            if backed_up:
                value = greatest(tables.q[h, x])
                if value != tables.values[h, x]:
                    tables.values[h, x] = value
                    tables.changed[h, x] = True
        for x in range(n_labels):
            below[x] = False
    for x in range(n_labels):
        tables.changed[0, x] = False


@njit
def plan_along_path(tables: Any, pair_value: Any) -> None:
    """Back up the labels of the last episode, from its end to its beginning."""
    n_levels, _, n_actions = tables.q.shape
    for h in range(n_levels - 1, -1, -1):
        x = tables.path[h]
        for a in range(n_actions):
            if tables.visits[h, x, a] > 0.0:
                tables.q[h, x, a] = pair_value(tables, h, x, a)
        tables.values[h, x] = greatest(tables.q[h, x])


@njit
def note_meeting(tables: Any, level: int, label: int) -> None:
    """Remember where the episode is, and a label that is met for the first time."""
    tables.path[level] = label
    note_label(tables, level, label)


@njit
def note_label(tables: Any, level: int, label: int) -> None:
    """Remember a label that is met for the first time."""
    place = small_product(level, tables.met.shape[1]) + np.uint64(label)
    if not get_entry(tables.met, place):
        set_entry(tables.met, place, True)
        tables.met_labels[level, tables.n_met[level]] = label
        tables.n_met[level] += 1


@njit
def take_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Add the step to the model: all that a learner does there whose values are drawn from the model."""
    note_meeting(tables, level, label)
    count_step(tables, level, label, action, reward, next_level, next_label)


@njit
def plan_met(tables: Any, back_up: Any, rng: Stream) -> None:
    """Back up all labels that were met, from the last level to the first."""
    n_levels, n_labels = tables.met.shape
    for h in range(n_levels - 1, -1, -1):
        for x in range(n_labels):
            if tables.met[h, x]:
                back_up(tables, h, x, rng)


@njit
def plan_in_turn(tables: Any, back_up: Any, rng: Stream) -> None:
    """Back up the labels of the last episode, and at each level one that was met before."""
    for h in range(tables.path.size - 1, -1, -1):
        x = tables.path[h]
        back_up(tables, h, x, rng)
        other = tables.met_labels[h, tables.turn[h]]
        tables.turn[h] = (tables.turn[h] + 1) % tables.n_met[h]
        if other != x:
            back_up(tables, h, other, rng)


@njit
def _any(flags: NDArray[np.bool_]) -> bool:
    """Whether some label is flagged."""
    some = False
    for y in range(flags.size):
        some |= flags[y]
    return some


@njit
def _leads_to(counts: Floats, flags: NDArray[np.bool_]) -> bool:
    """Whether some label that is flagged has followed."""
    some = False
    for y in range(counts.size):
        some |= flags[y] and counts[y] > 0.0
    return some
