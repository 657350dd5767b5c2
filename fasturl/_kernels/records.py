"""What belongs together on its way into a kernel: named tuples of arrays, whose fields kernels read by name.

Kernels do not import this file: to them a record is a tuple with the fields that are written here.
"""

from typing import NamedTuple

import numpy as np


class Dynamics(NamedTuple):
    """Tables of one Block MDP with H levels, at most S states a level, A actions."""

    start: np.ndarray  # float64[S], cumulative
    transitions: np.ndarray  # float64[H, S, A, S], cumulative over the last axis
    rewards: np.ndarray  # float64[H, S, A, S], mean reward of each transition
    random_rewards: np.ndarray  # bool[H], whether the level's rewards are Bernoulli draws


class HashTable(NamedTuple):
    """Action values by (level, observation of W words), as `_kernels.hashing` finds them."""

    slots: np.ndarray  # int32[capacity]
    keys: np.ndarray  # uint64[rows, 1 + W]
    q: np.ndarray  # float64[rows, 1, A]
    visits: np.ndarray  # int32[rows, 1, A]
    size: np.ndarray  # int64[1], rows in use


class SharedTables(NamedTuple):
    """Dynamics of N environments: H levels, at most S states a level, A actions, K distributions.

    M is 1 where all environments have the same table, else N; `ways` has an M of its own.
    """

    start: np.ndarray  # float64[M, S], cumulative
    outcomes: np.ndarray  # float64[K, S], cumulative
    ways: np.ndarray  # integers [H, M, S, A], the row of `outcomes` that an action leads to
    rewards: np.ndarray  # float64[H, M, S, A, S]
    random_rewards: np.ndarray  # bool[H, M]


class Players(NamedTuple):
    """N environments; level H is the terminal one."""

    luck: np.ndarray  # uint64[N, 4]
    lanes: np.ndarray  # uint64[N, 4, 4]
    levels: np.ndarray  # int64[N]
    states: np.ndarray  # int64[N]


class Coins(NamedTuple):
    """The bits of a lock's episodes under way, as `emission.lock_words` reads them."""

    raw: np.ndarray  # uint64[N, n, 4]
    words: np.ndarray  # uint64[N, 4 n], the same memory
    first: np.ndarray  # int64[L], where a level's words begin
    shift: np.ndarray  # uint64[L], bits of the first word that belong to levels before
    room: np.uint64  # how far coins move up to leave room for the code of the state


class Normals(NamedTuple):
    """The noise of episodes under way, and scratch for drawing one episode: each pair is the same memory
    under two shapes."""

    deviation: np.float32
    bits: np.ndarray  # uint64[n, 4]
    halves: np.ndarray  # uint32[2, 4 n]
    drawn: np.ndarray  # float32[1, 2, 4 n]
    grid: np.ndarray  # float32[coordinates, L]
    noise: np.ndarray  # float32[L, N, D]
    flat: np.ndarray  # float32[L, N D]
    means: np.ndarray  # float32[L, S, D]
    head: int  # coordinates from here on have mean 0 in every state
