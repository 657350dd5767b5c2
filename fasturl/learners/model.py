"""The empirical model that planning learners share: counts of transitions and sums of rewards.

The model says p(y | h, x, a) = transitions / visits and r(h, x, a) = rewards / visits (see `ModelTables`,
whose fields are among those of each learner's own record). What lies ahead of level h is at most caps[h], and
caps[H] = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._kernels.entries import get_entry, place_of, set_entry, small_product
from .learner import Floats, Task


class ModelTables(NamedTuple):
    """The model of H levels, X labels and A actions, and the values that were computed from it."""

    visits: np.ndarray  # float64[H, X, A], n(h, x, a): how often the action was taken
    # float64[H, X, A, X], how often it led to each next label; zeros at the last level
    transitions: np.ndarray
    rewards: np.ndarray  # float64[H, X, A], sum of the rewards
    q: np.ndarray  # float64[H, X, A], values of actions
    values: np.ndarray  # float64[H+1, X], values of labels; zeros after the last level


def model_tables(task: Task, start: Floats) -> dict[str, Any]:
    """Fresh tables of the model by name, where the values of each level [H+1] start at `start`."""
    shape = task.n_levels, task.n_labels, task.n_actions
    tables = ModelTables(
        visits=np.zeros(shape),
        transitions=np.zeros((*shape, task.n_labels)),
        rewards=np.zeros(shape),
        q=by_level(start[:-1], *shape[1:]),
        values=by_level(start, task.n_labels),
    )
    return tables._asdict()


def by_level(numbers: Floats, *shape: int) -> Floats:
    """A table of this shape for each level, all entries of which are the level's number."""
    table = np.empty((numbers.size, *shape))
    table.T[:] = numbers
    return table


def greatest_ahead(task: Task) -> Floats:
    """The greatest return that can be ahead at each level, [H+1]: what the environment declares, and no more
    than the greatest reward at every step that is left."""
    steps_left = task.horizon - np.arange(task.horizon + 1)
    caps = np.minimum(steps_left * task.reward_range[1], task.max_return)
    caps[-1] = 0.0
    return np.asarray(caps, np.float64)


def least_ahead(task: Task) -> Floats:
    """The least return that can be ahead at each level, [H+1]: the least reward at every step that is
    left."""
    steps_left = task.horizon - np.arange(task.horizon + 1)
    return np.asarray(steps_left * task.reward_range[0], np.float64)


@njit
def count_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> np.uint64:
    """Add one step to the counts. Returns the place of its label and action in tables [H, X, A]."""
    visits, transitions = tables.visits, tables.transitions
    pair = place_of(visits, level, label) + np.uint64(action)
    set_entry(visits, pair, get_entry(visits, pair) + 1.0)
    if reward != 0.0:
        set_entry(tables.rewards, pair, get_entry(tables.rewards, pair) + reward)
    if next_level < visits.shape[0]:
        outcome = small_product(pair, transitions.shape[3]) + np.uint64(next_label)
        set_entry(transitions, outcome, get_entry(transitions, outcome) + 1.0)
    return pair


@njit
def expected_next(counts: Floats, values: Floats) -> float:
    """The sum of counts[y] values[y] over the labels y of the next level, in their order."""
    total = 0.0
    for y in range(counts.size):
        total += counts[y] * values[y]
    return total
