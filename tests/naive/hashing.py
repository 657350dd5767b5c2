"""Slow, obvious references for `_kernels/hashing.py`: a dictionary from (level, observation) to a row of the
tables.

Rows are numbered in the order in which observations are first met. The dictionary is what finds them; `slots`
is filled as the kernels fill it, so that the whole table can be compared.
"""

from .dynamics import start_state, step
from .rng import below
from .tabular import epsilon_greedy, update


def _dictionary(table):
    return {tuple(key): row for row, key in enumerate(table.keys[: table.size[0]].tolist())}


def _key(words, e, h, s):
    return (h, *words[e, h, s].tolist())


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
    for key, row in _dictionary(table).items():
        _enter(table, key, row)


def _new_row(table, key):
    row = int(table.size[0])
    table.size[0] += 1
    table.keys[row] = key
    _enter(table, key, row)
    return row


def learn(dynamics, words, table, rules, dynamics_rng, policy_rng, returns):
    """Play each episode to its end, and then update in level order; an observation that is new gets the next
    row."""
    rows = _dictionary(table)
    horizon = dynamics.transitions.shape[0]
    for e in range(len(returns)):
        s, met = start_state(dynamics, dynamics_rng), []
        for h in range(horizon):
            key = _key(words, e, h, s)
            if key not in rows:
                rows[key] = _new_row(table, key)
            a, value = epsilon_greedy(table.q, rows[key], 0, rules.epsilons[e], policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            met.append((rows[key], a, value, reward))
        returns[e] = 0.0
        for h, (row, a, _, reward) in enumerate(met):
            following = met[h + 1][2] if h + 1 < horizon else 0.0
            update(table, row, 0, a, reward + following, rules)
            returns[e] += reward


def play(dynamics, words, table, dynamics_rng, policy_rng, returns):
    """Greedy where the observation is known, else the uniform action that is drawn at every step."""
    rows = _dictionary(table)
    for e in range(len(returns)):
        s, returns[e] = start_state(dynamics, dynamics_rng), 0.0
        for h in range(dynamics.transitions.shape[0]):
            a = below(policy_rng, table.q.shape[2])
            key = _key(words, e, h, s)
            if key in rows:
                a, _ = epsilon_greedy(table.q, rows[key], 0, 0.0, policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            returns[e] += reward
