"""Slow, obvious references for `_kernels/hashing.py`: a dictionary from (level, observation) to a row of the tables.

Rows are numbered in the order in which observations are first met, which is also the order of a dictionary.
"""

from typing import NamedTuple

import numpy as np

from .dynamics import start_state, step
from .rng import below
from .tabular import epsilon_greedy, update


class Table(NamedTuple):
    rows: dict[tuple[int, ...], int]
    q: np.ndarray
    visits: np.ndarray


def _key(words, e, h, s):
    return (h, *words[e, h, s].tolist())


def learn(dynamics, words, table, rates, bonuses, cap, epsilons, luck, choice, returns):
    """Play each episode to its end, and then update in level order; an observation that is new gets the next row."""
    horizon = dynamics.transitions.shape[0]
    for e in range(len(returns)):
        s, met = start_state(dynamics, luck), []
        for h in range(horizon):
            row = table.rows.setdefault(_key(words, e, h, s), len(table.rows))
            a, value = epsilon_greedy(table.q, row, 0, epsilons[e], choice)
            s, reward = step(dynamics, luck, h, s, a)
            met.append((row, a, value, reward))
        returns[e] = 0.0
        for h, (row, a, _, reward) in enumerate(met):
            following = met[h + 1][2] if h + 1 < horizon else 0.0
            update(table.q, table.visits, row, 0, a, reward + following, rates, bonuses, cap)
            returns[e] += reward


def play(dynamics, words, table, luck, choice, returns):
    """Greedy where the observation is known, else the uniform action that is drawn at every step."""
    for e in range(len(returns)):
        s, returns[e] = start_state(dynamics, luck), 0.0
        for h in range(dynamics.transitions.shape[0]):
            a = below(choice, table.q.shape[2])
            key = _key(words, e, h, s)
            if key in table.rows:
                a, _ = epsilon_greedy(table.q, table.rows[key], 0, 0.0, choice)
            s, reward = step(dynamics, luck, h, s, a)
            returns[e] += reward
