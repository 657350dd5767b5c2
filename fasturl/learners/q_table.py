"""Action values by (level, label): the tables that OracleQ and QLearning share, and their update.

With t the number of visits of (h, x, a), this one included, and y the label that followed,

    V = min(value_cap, max over a' of Q[h+1, y, a']),   V = 0 after the last level,
    Q[h, x, a] <- min(cap, (1 - rates[t]) Q[h, x, a] + rates[t] (r + V + bonuses[t])).

Updating while the episode runs is the same as updating after it in level order: the update of level h reads
level h+1, which no earlier update of the episode has touched.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._kernels.entries import get_entry, place_of, set_entry
from .._kernels.tabular import fill_greedy, greatest_at, greedy_at
from .learner import Floats, Stream


class QTables(NamedTuple):
    """Action values of L levels, X labels and A actions, and how they are updated."""

    q: np.ndarray  # float64[L, X, A]
    visits: np.ndarray  # int64[L, X, A]
    rates: np.ndarray  # float64[most visits + 1], by number of visits; entry 0 is not read
    bonuses: np.ndarray  # float64[most visits + 1], as `rates`
    cap: float  # no action value is greater
    value_cap: float  # no label is worth more, whatever its action values
    epsilons: np.ndarray  # float64[episodes], how often actions are random
    episode: np.ndarray  # int64[1], episodes learned from so far


@njit
def look(tables: Any, level: int, label: int, rng: Stream) -> tuple[int, float]:
    """A best action in the `q` of any tables, ties at random, and its value."""
    return greedy_at(tables.q, place_of(tables.q, level, label), rng)


@njit
def choose(tables: Any, level: int, label: int, rng: Stream) -> int:
    """A best action in the `q` of any tables, ties at random."""
    action, _ = look(tables, level, label, rng)
    return int(action)


@njit
def take_value(tables: QTables, level: int, label: int, action: int, reward: float, value: float) -> None:
    """The update above, where `value` is the greatest action value of what followed."""
    if value > tables.value_cap:  # a branch that is guessed right is faster than a minimum
        value = tables.value_cap
    pair = place_of(tables.q, level, label) + np.uint64(action)
    visits = get_entry(tables.visits, pair) + 1
    set_entry(tables.visits, pair, visits)
    t = np.uint64(visits)  # what has no sign need not be looked at for one
    rate = tables.rates[t]
    value = (1.0 - rate) * get_entry(tables.q, pair) + rate * (reward + value + tables.bonuses[t])
    set_entry(tables.q, pair, value if value < tables.cap else tables.cap)


@njit
def take_step(
    tables: QTables, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """The update above."""
    value = 0.0
    if next_level < tables.q.shape[0]:
        value = greatest_at(tables.q, place_of(tables.q, next_level, next_label))
    take_value(tables, level, label, action, reward, value)


@njit
def start_at_zero(tables: QTables, level: int, label: int) -> None:
    """Zeros in the place of the start, whatever that is."""
    for a in range(tables.q.shape[2]):
        tables.q[level, label, a] = 0.0


@njit
def fill_policy(tables: QTables, chances: Floats) -> None:
    """Greedy, ties as equal probabilities."""
    for h in range(chances.shape[0]):
        for x in range(chances.shape[1]):
            fill_greedy(tables.q[h, x], chances[h, x])
