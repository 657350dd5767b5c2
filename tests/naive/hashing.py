"""Slow, obvious references for `_kernels/hashing.py`: a dictionary from (level, observation) to a row of the
tables. Where the level is no part of the key it is 0.

Rows are numbered in the order in which observations are first met. The dictionary is what finds them; `slots`
is filled as the kernels fill it, so that the whole table can be compared.
"""

from .dynamics import start_state, step
from .rng import below
from .tabular import greedy


def dictionary(table):
    """The row of every key that the table has."""
    return {tuple(key): row for row, key in enumerate(table.keys[: table.size[0]].tolist())}


def key(words, e, h, s, level_in_key):
    return (h if level_in_key else 0, *words[e, h, s].tolist())


def _home(key, n_slots):
    """The slot that a key hashes to."""
    level, *words = key
    value = 0
    for word in (level + 1, *words):
        value = (value ^ word) * 0x9E3779B97F4A7C15 % 2**64
        value ^= value >> 32
    value = value * 0xBF58476D1CE4E5B9 % 2**64
    return (value ^ value >> 29) % n_slots


def _enter(table, key, row):
    """Into the first empty slot from the key's own on."""
    slot = _home(key, len(table.slots))
    while table.slots[slot] >= 0:
        slot = (slot + 1) % len(table.slots)
    table.slots[slot] = row


def rehash(table):
    for key, row in dictionary(table).items():
        _enter(table, key, row)


def find_or_add_row(table, rows, key):
    """The row of a key in the dictionary and in the table, new if it has none."""
    if key not in rows:
        rows[key] = int(table.size[0])
        table.size[0] += 1
        table.keys[rows[key]] = key
        _enter(table, key, rows[key])
    return rows[key]


def play(dynamics, words, keys, chances, dynamics_rng, policy_rng, returns):
    """The likeliest action where the observation is known, else the uniform one that is drawn at every
    step."""
    rows = dictionary(keys.table)
    for e in range(len(returns)):
        s, returns[e] = start_state(dynamics, dynamics_rng), 0.0
        for h in range(dynamics.transitions.shape[0]):
            a = below(policy_rng, chances.shape[2])
            observation = key(words, e, h, s, keys.level_in_key)
            if observation in rows:
                level = h if keys.level_in_tables else 0
                a, _ = greedy(chances[level, rows[observation]], policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            returns[e] += reward
