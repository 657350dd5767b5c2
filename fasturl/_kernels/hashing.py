"""Rows for observations: open addressing in flat arrays, for agents that see raw bits.

The key of a row is the W words of an observation, with the level before them, or 0 where the level is no part
of the key. `slots` (int32, a power of two, -1 where empty) finds the row by linear probing. The object layer
makes room for a whole block beforehand: kernels neither grow nor rehash while they play.
"""

import numpy as np

from .compiling import inlined, kernel
from .dynamics import start_state, step
from .entries import fetch_ahead
from .rng import below
from .tabular import greedy

_FOLD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_29 = np.uint64(29)
_32 = np.uint64(32)
_SLOTS_IN_CACHE = 2**17
"""Half a megabyte of slots: they are in the cache anyway."""
_FEW_WORDS = 8
"""Words of the states of a level up to which their keys take less time than a slot that is waited for."""
_ROWS_AHEAD = 16
"""Rows between one that is entered and one whose slot is fetched."""


@inlined
def _fold(key: np.uint64, word: np.uint64) -> np.uint64:
    key = (key ^ word) * _FOLD
    return key ^ (key >> _32)


@inlined
def _finish(key: np.uint64) -> np.uint64:
    """The low bits choose the slot, so the high bits, which depend on every bit of the key, are folded onto
    them."""
    key *= _MIX
    return key ^ (key >> _29)


@inlined
def _first_slot(table: tuple, words: np.ndarray, e: int, h: int, s: int, level: int) -> np.uint64:
    """Where the search for the row of the observation words[e, h, s] begins, with `level` in its key."""
    key = _fold(np.uint64(0), np.uint64(level + 1))
    for w in range(words.shape[3]):
        key = _fold(key, words[e, h, s, w])
    return _finish(key) & np.uint64(table.slots.size - 1)


@inlined
def fetch_slots_ahead(table: tuple, words: np.ndarray, e: int, level_in_key: bool) -> None:
    """Ask for the slots of all observations that episode e may act in, where the cache has no room for all
    slots, and few states a level mean little to compute."""
    if table.slots.size > _SLOTS_IN_CACHE and words.shape[2] * words.shape[3] <= _FEW_WORDS:
        for h in range(words.shape[1] - 1):
            for s in range(words.shape[2]):
                fetch_ahead(table.slots, _first_slot(table, words, e, h, s, h if level_in_key else 0))


@inlined
def _slot(table: tuple, words: np.ndarray, e: int, h: int, s: int, level: int) -> int:
    """The slot that holds the row of the observation words[e, h, s] with `level` in its key, or the empty one
    where it belongs."""
    last = np.uint64(table.slots.size - 1)
    slot = _first_slot(table, words, e, h, s, level)
    while True:
        row = table.slots[slot]
        if row < 0:
            return np.int64(slot)
        same = table.keys[row, 0] == np.uint64(level)
        for w in range(words.shape[3]):
            same = same and table.keys[row, 1 + w] == words[e, h, s, w]
        if same:
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & last


@inlined
def find_or_add_row(table: tuple, words: np.ndarray, e: int, h: int, s: int, level_in_key: bool) -> int:
    """The row of the observation words[e, h, s], new if it has none."""
    level = h if level_in_key else 0
    slot = _slot(table, words, e, h, s, level)
    row = np.int64(table.slots[slot])
    if row < 0:
        row = table.size[0]
        table.size[0] = row + 1
        table.slots[slot] = row
        table.keys[row, 0] = np.uint64(level)
        for w in range(words.shape[3]):
            table.keys[row, 1 + w] = words[e, h, s, w]
    return row


@kernel
def play(
    dynamics: tuple,
    words: np.ndarray,
    keys: tuple,
    chances: np.ndarray,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    returns: np.ndarray,
) -> None:
    """Play the likeliest action of the observation's row, ties at random; a uniform one where it has no row.

    words uint64[E, H+1, S, W], `keys` an `ObservationKeys`, chances float64[levels, rows, A].
    """
    table = keys.table
    for e in range(returns.size):
        total = 0.0
        s = start_state(dynamics, dynamics_rng)
        for h in range(dynamics.transitions.shape[0]):
            row = np.int64(table.slots[_slot(table, words, e, h, s, h if keys.level_in_key else 0)])
            a = below(policy_rng, chances.shape[2])
            if row >= 0:
                level = h if keys.level_in_tables else 0
                a, _ = greedy(chances[level, row], policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            total += reward
        returns[e] = total


@inlined
def _first_slot_of_row(table: tuple, row: int) -> np.uint64:
    """Where the search for a row that there is begins."""
    key = _fold(np.uint64(0), table.keys[row, 0] + np.uint64(1))
    for w in range(1, table.keys.shape[1]):
        key = _fold(key, table.keys[row, w])
    return _finish(key) & np.uint64(table.slots.size - 1)


@kernel
def rehash(table: tuple) -> None:
    """Enter every row into `slots`, which the caller has emptied."""
    last, n_rows = np.uint64(table.slots.size - 1), table.size[0]
    for row in range(n_rows):
        fetch_ahead(table.slots, _first_slot_of_row(table, min(row + _ROWS_AHEAD, n_rows - 1)))
        slot = _first_slot_of_row(table, row)
        while table.slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
        table.slots[slot] = row
