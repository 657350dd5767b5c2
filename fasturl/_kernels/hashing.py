"""Tables keyed by (level, observation): open addressing in flat arrays, for agents that see raw bits.

A row holds the key (the level and the W words), the action values and their visit counts; `slots` (int32, a
power of two, -1 where empty) finds the row by linear probing. The object layer makes room for a whole block
beforehand: kernels neither grow nor rehash while they play.
"""

import numpy as np

from .compiling import inlined, kernel
from .dynamics import start_state, step
from .rng import below
from .tabular import epsilon_greedy, update

_FOLD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_29 = np.uint64(29)
_32 = np.uint64(32)


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
def _slot(table: tuple, words: np.ndarray, e: int, h: int, s: int) -> int:
    """The slot that holds the observation's row, or the empty one where it belongs."""
    key = _fold(np.uint64(0), np.uint64(h + 1))
    for w in range(words.shape[3]):
        key = _fold(key, words[e, h, s, w])
    last = np.uint64(table.slots.size - 1)
    slot = _finish(key) & last
    while True:
        row = table.slots[slot]
        if row < 0:
            return np.int64(slot)
        same = table.keys[row, 0] == np.uint64(h)
        for w in range(words.shape[3]):
            same = same and table.keys[row, 1 + w] == words[e, h, s, w]
        if same:
            return np.int64(slot)
        slot = (slot + np.uint64(1)) & last


@inlined
def _row(table: tuple, words: np.ndarray, e: int, h: int, s: int) -> int:
    """The observation's row, new if it has none. Rows beyond `size` hold the initial values already."""
    slot = _slot(table, words, e, h, s)
    row = np.int64(table.slots[slot])
    if row < 0:
        row = table.size[0]
        table.size[0] = row + 1
        table.slots[slot] = row
        table.keys[row, 0] = np.uint64(h)
        for w in range(words.shape[3]):
            table.keys[row, 1 + w] = words[e, h, s, w]
    return row


@kernel
def learn(
    dynamics: tuple,
    words: np.ndarray,
    table: tuple,
    rules: tuple,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    returns: np.ndarray,
) -> None:
    """As `tabular.learn`, with a row for every (level, observation) met. words uint64[E, H+1, S, W]."""
    horizon = dynamics.transitions.shape[0]
    for e in range(returns.size):
        total = 0.0
        s = start_state(dynamics, dynamics_rng)
        row = _row(table, words, e, 0, s)
        a, _ = epsilon_greedy(table.q, row, 0, rules.epsilons[e], policy_rng)
        for h in range(horizon):
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            total += reward
            if h + 1 < horizon:
                next_row = _row(table, words, e, h + 1, s)
                next_a, value = epsilon_greedy(table.q, next_row, 0, rules.epsilons[e], policy_rng)
                update(table, row, 0, a, reward + value, rules)
                row, a = next_row, next_a
            else:
                update(table, row, 0, a, reward, rules)
        returns[e] = total


@kernel
def play(
    dynamics: tuple,
    words: np.ndarray,
    table: tuple,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    returns: np.ndarray,
) -> None:
    """Play greedily without learning; a uniform action where the observation has no row."""
    for e in range(returns.size):
        total = 0.0
        s = start_state(dynamics, dynamics_rng)
        for h in range(dynamics.transitions.shape[0]):
            row = np.int64(table.slots[_slot(table, words, e, h, s)])
            a = below(policy_rng, table.q.shape[2])
            if row >= 0:
                a, _ = epsilon_greedy(table.q, row, 0, 0.0, policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            total += reward
        returns[e] = total


@kernel
def rehash(table: tuple) -> None:
    """Enter every row into `slots`, which the caller has emptied."""
    last = np.uint64(table.slots.size - 1)
    for row in range(table.size[0]):
        key = _fold(np.uint64(0), table.keys[row, 0] + np.uint64(1))
        for w in range(1, table.keys.shape[1]):
            key = _fold(key, table.keys[row, w])
        slot = _finish(key) & last
        while table.slots[slot] >= 0:
            slot = (slot + np.uint64(1)) & last
        table.slots[slot] = row
