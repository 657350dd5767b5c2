"""Which labels a model-based learner backs up after an episode: all of them, or those on its way.

A learner gives `pair_value(tables, level, label, action)`, the value of an action that was taken before, from
the model of that action and from the values of the next level. A plan sets, from the last level to the first,

    Q[h, x, a] <- pair_value(h, x, a)   and   V[h, x] <- max over a of Q[h, x, a].

`plan_all` does so for every label and action that the model knows. It leaves out those whose value cannot
have changed since the last plan, because the action was not taken since and no label that it leads to has
another value now: what it computes is the whole of backward induction, in O(H S^2 A) at most.
`plan_along_path` backs up the labels of the last episode alone, in O(H S A): real-time dynamic programming
(Barto, Bradtke and Singh, 1995), which Efroni et al. (2019) show to explore as well. Values elsewhere are
then old, and no less optimistic for it.

The tables of a learner that plans so have, besides those of `model`,

    q             float64[H, X, A]     Q, which starts at caps[h]
    values        float64[H+1, X]      V, which starts at caps[h]; zeros after the last level
    label_visits  float64[H, X]        how often the label was met
    fresh         bool[H, X, A]        whether the action was taken since the last plan
    changed       bool[H+1, X]         whether what lies below may have to be computed again
    path          int64[H]             labels of the last episode
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .._kernels.tabular import greatest
from .learner import Floats, Task
from .model import greatest_ahead

PLANNING = ("full", "trajectory")
"""What is backed up: all labels, or those of the last episode."""


def planning_tables(task: Task) -> dict[str, Any]:
    """Fresh tables of the model and of the plan, by name."""
    levels, labels, actions = task.n_levels, task.n_labels, task.n_actions
    caps = greatest_ahead(task)
    return {
        "visits": np.zeros((levels, labels, actions)),
        "transitions": np.zeros((levels, labels, actions, labels)),
        "rewards": np.zeros((levels, labels, actions)),
        "q": np.tile(caps[:levels, None, None], (1, labels, actions)),
        "values": np.tile(caps[:, None], (1, labels)),
        "label_visits": np.zeros((levels, labels)),
        "fresh": np.zeros((levels, labels, actions), np.bool_),
        "changed": np.zeros((levels + 1, labels), np.bool_),
        "path": np.zeros(levels, np.int64),
        "caps": caps,
    }


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
def _any(flags: NDArray[np.bool_]) -> bool:
    """Whether some label is flagged."""
    found = False
    for y in range(flags.size):
        found |= flags[y]
    return found


@njit
def _leads_to(counts: Floats, flags: NDArray[np.bool_]) -> bool:
    """Whether some label that is flagged has followed."""
    found = False
    for y in range(counts.size):
        found |= flags[y] and counts[y] > 0.0
    return found
