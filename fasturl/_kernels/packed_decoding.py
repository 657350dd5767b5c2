"""Affine scores of packed bits, by tables of what each group of bits adds, and the labels of greatest score.

Words uint64[E, L, S, W] hold the bits of every episode, level and latent state. Groups are summed from the
last to the first. Where all states of a level have the same bits from some group on, as where only a code in
front tells them apart, what those groups add is summed once: the order is the same, and so is every sum.

Tables are float32[T, groups, 2^bits of a group, K rounded up to a multiple of 4], one for each level, or T =
1 for all; four scores are summed at a time, of which those beyond K are minus infinity, and so never the
greatest. Indices are unsigned, so that nobody asks whether they count from
the end.
"""

import numpy as np

from .compiling import inlined, kernel

_0F = np.float32(0.0)
_0 = np.uint64(0)
_1 = np.uint64(1)
_2 = np.uint64(2)
_3 = np.uint64(3)
_4 = np.uint64(4)
_6 = np.uint64(6)
_63 = np.uint64(63)
_NOTHING = (_0F, _0F, _0F, _0F)
_TILE = np.uint64(16)
"""Episodes that are looked up level by level, so that tables of a level stay in the cache."""


@inlined
def _group_bits(n_values: int) -> np.uint64:
    """How many bits a group has that takes so many values."""
    bits = _0
    while (_1 << bits) < np.uint64(n_values):
        bits += _1
    return bits


@kernel
def fill_packed_tables(weights: np.ndarray, bias: np.ndarray, tables: np.ndarray) -> None:
    """What each value of each group of bits adds to each score; the bias goes with the first group.

    weights [K, D], bias [K], tables [groups, 2^bits of a group, K rounded up to a multiple of 4], all of one
    type of float, in which the sums are made. Groups of 4 bits make small tables, groups of 8 bits half as
    many sums.
    """
    n_scores, dimension = weights.shape
    bits = np.int64(_group_bits(tables.shape[1]))
    tables[:] = 0.0
    tables[0, :, n_scores:] = -np.inf
    for k in range(n_scores):
        for group in range(tables.shape[0]):
            if group == 0:
                tables[group, 0, k] = bias[k]
            for value in range(1, tables.shape[1]):
                lowest = 0
                while not (value >> lowest) & 1:
                    lowest += 1
                j = bits * group + lowest
                tables[group, value, k] = tables[group, value & (value - 1), k]
                if j < dimension:
                    tables[group, value, k] += weights[k, j]


@inlined
def _first_shared_group(
    words: np.ndarray, first: np.uint64, end: np.uint64, n_levels: np.uint64, bits: np.uint64
) -> np.uint64:
    """The first of the groups from which on all states have the same bits, at every level of episodes `first`
    up to `end`."""
    w = np.uint64(words.shape[3])
    while w > _0:
        w -= _1
        differing = _0
        for e in range(first, end):
            for h in range(n_levels):
                for s in range(_1, np.uint64(words.shape[2])):
                    differing |= words[e, h, s, w] ^ words[e, h, _0, w]
        if differing:
            group = (w << _6) // bits
            while differing:
                differing >>= bits
                group += _1
            return group
    return _0


@inlined
def _add_groups(
    words: np.ndarray,
    place: tuple,
    tables: np.ndarray,
    bits: np.uint64,
    first: np.uint64,
    end: np.uint64,
    k: np.uint64,
    sums: tuple,
) -> tuple:
    """Sums of the scores k to k + 3, and what the groups from `end` - 1 down to `first` add to them.

    A place is an episode, a level and a state.
    """
    e, h, s = place
    a0, a1, a2, a3 = sums
    t = h if tables.shape[0] > 1 else _0
    mask = np.uint64(tables.shape[2] - 1)
    group = end
    while group > first:
        group -= _1
        bit = group * bits
        value = (words[e, h, s, bit >> _6] >> (bit & _63)) & mask
        a0 += tables[t, group, value, k]
        a1 += tables[t, group, value, k + _1]
        a2 += tables[t, group, value, k + _2]
        a3 += tables[t, group, value, k + _3]
    return a0, a1, a2, a3


@inlined
def _add_first_group(words: np.ndarray, place: tuple, tables: np.ndarray, sums: tuple) -> tuple:
    """As `_add_groups` for the first group and the first four scores alone, without a loop, which would take
    half as long again."""
    e, h, s = place
    a0, a1, a2, a3 = sums
    t = h if tables.shape[0] > 1 else _0
    value = words[e, h, s, _0] & np.uint64(tables.shape[2] - 1)
    return (
        a0 + tables[t, _0, value, _0],
        a1 + tables[t, _0, value, _1],
        a2 + tables[t, _0, value, _2],
        a3 + tables[t, _0, value, _3],
    )


@inlined
def _greatest(scores: tuple) -> tuple:
    """The greatest of four scores, and which it is: the first of several."""
    a0, a1, a2, a3 = scores
    top, best = a0, _0
    if a1 > top:
        top, best = a1, _1
    if a2 > top:
        top, best = a2, _2
    if a3 > top:
        top, best = a3, _3
    return top, best


@kernel
def packed_scores(words: np.ndarray, tables: np.ndarray, scores: np.ndarray) -> None:
    """Fill scores float32[E, K, S, levels], at the first levels where there are fewer than in `words`."""
    n_episodes, n_scores = np.uint64(scores.shape[0]), np.uint64(scores.shape[1])
    n_states, n_levels = np.uint64(scores.shape[2]), np.uint64(scores.shape[3])
    n_groups, bits = np.uint64(tables.shape[1]), _group_bits(tables.shape[2])
    for first in range(_0, n_episodes, _TILE):
        end = min(first + _TILE, n_episodes)
        shared = min(_first_shared_group(words, first, end, n_levels, bits), n_groups)
        for h in range(n_levels):
            for e in range(first, end):
                for k in range(_0, n_scores, _4):
                    tail = _add_groups(words, (e, h, _0), tables, bits, shared, n_groups, k, _NOTHING)
                    for s in range(n_states):
                        a0, a1, a2, a3 = _add_groups(words, (e, h, s), tables, bits, _0, shared, k, tail)
                        scores[e, k, s, h] = a0
                        if k + _1 < n_scores:
                            scores[e, k + _1, s, h] = a1
                        if k + _2 < n_scores:
                            scores[e, k + _2, s, h] = a2
                        if k + _3 < n_scores:
                            scores[e, k + _3, s, h] = a3


@kernel
def packed_labels(
    words: np.ndarray, tables: np.ndarray, relabel: np.ndarray, greatest: np.ndarray, labels: np.ndarray
) -> None:
    """Fill labels uint8[E, L, S] with the first of the greatest scores, passed through relabel uint8[K].

    `greatest` is float32[S] of scratch.
    """
    n_episodes, n_levels = np.uint64(labels.shape[0]), np.uint64(labels.shape[1])
    n_states, n_scores = np.uint64(labels.shape[2]), np.uint64(tables.shape[3])
    n_groups, bits = np.uint64(tables.shape[1]), _group_bits(tables.shape[2])
    for first in range(_0, n_episodes, _TILE):
        end = min(first + _TILE, n_episodes)
        shared = min(_first_shared_group(words, first, end, n_levels, bits), n_groups)
        if shared == _1 and n_scores == _4:
            for h in range(n_levels):
                for e in range(first, end):
                    tail = _add_groups(words, (e, h, _0), tables, bits, _1, n_groups, _0, _NOTHING)
                    for s in range(n_states):
                        _, best = _greatest(_add_first_group(words, (e, h, s), tables, tail))
                        labels[e, h, s] = relabel[best]
            continue
        for h in range(n_levels):
            for e in range(first, end):
                for k in range(_0, n_scores, _4):
                    tail = _add_groups(words, (e, h, _0), tables, bits, shared, n_groups, k, _NOTHING)
                    for s in range(n_states):
                        top, best = _greatest(
                            _add_groups(words, (e, h, s), tables, bits, _0, shared, k, tail)
                        )
                        if k == _0 or top > greatest[s]:
                            greatest[s], labels[e, h, s] = top, relabel[k + best]
