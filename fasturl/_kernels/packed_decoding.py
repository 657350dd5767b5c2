"""Affine scores of packed bits, by tables of what each group of bits adds, and the labels of greatest score.

Words uint64[E, L, S, W] hold the bits of every episode, level and latent state. Groups are summed from the
last to the first. Where all states of a level have the same bits from some group on, as where only a code in
front tells them apart, what those groups add is summed once: the order is the same, and so is every sum.

Tables are float32[T, groups, 2^bits of a group, K rounded up to a multiple of 4], one for each level, or T =
1 for all; four scores are summed at a time, of which those beyond K are minus infinity, and so never the
greatest. Indices are unsigned, so that nobody asks whether they count from the end.

Often one group tells the label by itself, as a code does: what it adds to one score is further ahead of what
it adds to the others than all other groups can make up. Let t[g, v, k] be what value v of group g adds to
score k beyond what it adds to score 0, and low[g, k] and high[g, k] its extremes over v. Value v of group g
decides for label k where, for all other labels j,

    t[g, v, k] + sum over g' != g of low[g', k] > t[g, v, j] + sum over g' != g of high[g', j],

by more than rounding can undo: the sum of G numbers in float32 misses the true one by less than G 2^-24 times
the sum of their absolute values. Nothing is summed then, and the label is the same.
"""

import numpy as np

from .compiling import inlined, kernel
from .entries import get_entry, place_of, set_entry
from .packed_rows import label_by_rows, number_scores
from .registers import wide

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
"""Episodes and levels that are looked up together."""
_LOW, _HIGH, _LARGEST = range(3)
_ROUNDING = 2.0**-23
UNDECIDED = np.int16(-1)
"""What stands for the label where a value decides for none."""


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
        tables[0, 0, k] = bias[k]
    for group in range(tables.shape[0]):
        for value in range(1, tables.shape[1]):
            lowest = 0
            while not (value >> lowest) & 1:
                lowest += 1
            j, rest = bits * group + lowest, value & (value - 1)
            for k in range(n_scores):
                added = weights[k, j] if j < dimension else weights.dtype.type(0.0)
                tables[group, value, k] = tables[group, rest, k] + added


@inlined
def _is_label(tables: np.ndarray, k: int) -> bool:
    """Whether score k may be the greatest."""
    return tables[0, 0, k] != -np.inf


@inlined
def _lead(tables: np.ndarray, g: int, v: int, k: int) -> float:
    """What value v of group g adds to score k beyond what it adds to score 0."""
    return np.float64(tables[g, v, k]) - np.float64(tables[g, v, 0])


@inlined
def _find_ranges(tables: np.ndarray, ranges: np.ndarray) -> None:
    """The extremes of what each group adds to each score beyond score 0, and its largest absolute value; the
    last row has the sums of all groups."""
    n_groups, n_values, n_scores = tables.shape
    ranges[:, n_groups] = 0.0
    for g in range(n_groups):
        for k in range(n_scores):
            if _is_label(tables, k):
                low, high, largest = np.inf, -np.inf, 0.0
                for v in range(n_values):
                    lead = _lead(tables, g, v, k)
                    low, high = min(low, lead), max(high, lead)
                    largest = max(largest, abs(np.float64(tables[g, v, k])))
                ranges[_LOW, g, k], ranges[_HIGH, g, k], ranges[_LARGEST, g, k] = low, high, largest
                for kind in range(3):
                    ranges[kind, n_groups, k] += ranges[kind, g, k]


@inlined
def _may_decide(tables: np.ndarray, g: int, ranges: np.ndarray) -> bool:
    """Whether some value of a group may decide for a label: what it adds to a score beyond score 0 outweighs
    all that other groups can add, or there is one score alone."""
    n_groups, _, n_scores = tables.shape
    is_alone = True
    for k in range(1, n_scores):
        if _is_label(tables, k):
            is_alone = False
            low, high = ranges[_LOW, g, k], ranges[_HIGH, g, k]
            if (
                low + (ranges[_HIGH, n_groups, k] - high) < 0.0
                or high + (ranges[_LOW, n_groups, k] - low) > 0.0
            ):
                return True
    return is_alone


@inlined
def _decide(tables: np.ndarray, g: int, ranges: np.ndarray, decided: np.ndarray) -> int:
    """Fill in the labels that the values of one group decide for; returns how many do."""
    n_groups, n_values, n_scores = tables.shape
    rounding, largest = n_groups * _ROUNDING, ranges[_LARGEST, n_groups]
    n_decided = 0
    for v in range(n_values):
        best, most = UNDECIDED, -np.inf
        for k in range(n_scores):
            if _is_label(tables, k):
                others = ranges[_LOW, n_groups, k] - ranges[_LOW, g, k]
                least = _lead(tables, g, v, k) + others - rounding * (largest[0] + largest[k])
                if least > most:
                    best, most = np.int16(k), least
        for k in range(n_scores):
            if _is_label(tables, k) and k != best:
                others = ranges[_HIGH, n_groups, k] - ranges[_HIGH, g, k]
                greatest = _lead(tables, g, v, k) + others + rounding * (largest[0] + largest[k])
                if not greatest < most:  # nor where it is no number
                    best = UNDECIDED
        decided[v] = best
        n_decided += best != UNDECIDED
    return n_decided


@kernel
def find_deciding_group(tables: np.ndarray, ranges: np.ndarray, decided: np.ndarray) -> int:
    """The group of which most values decide for a label, the first of several, and for which: decided
    int16[2^bits of a group]. The number of groups where no value of any decides.

    tables float32[groups, 2^bits of a group, K]; `ranges` is float64[3, groups + 1, K] of scratch. Scores
    whose entry for value 0 of the first group is minus infinity are those of no label.
    """
    _find_ranges(tables, ranges)
    decided[:] = UNDECIDED
    best, most = tables.shape[0], 0
    for g in range(tables.shape[0]):
        n_decided = _decide(tables, g, ranges, decided) if _may_decide(tables, g, ranges) else 0
        if n_decided > most:
            best, most = g, n_decided
    if most > 0:
        _decide(tables, best, ranges, decided)
    return best


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


@inlined
def _look_up(
    words: np.ndarray, episodes: tuple, levels: tuple, tables: tuple, relabel: np.ndarray, labels: np.ndarray
) -> bool:
    """Fill in the labels of episodes and levels from the first up to an end, where one group decides for
    them; returns whether it does for all. Several levels share a table."""
    t, bits = levels[0] if tables.scores.shape[0] > 1 else _0, _group_bits(tables.scores.shape[2])
    group, decided, n_states = tables.deciding[t], tables.decided[t], np.uint64(labels.shape[2])
    if group == np.uint64(tables.scores.shape[1]):
        return False
    w, shift, mask = (group * bits) >> _6, (group * bits) & _63, np.uint64(decided.size - 1)
    n_words = np.uint64(words.shape[3])
    first = place_of(labels, episodes[0], levels[0])
    first_word = place_of(words, episodes[0], levels[0]) * n_words + w
    for _ in range(*episodes):
        word = first_word
        for cell in range(first, first + (levels[1] - levels[0]) * n_states):
            label = decided[(get_entry(words, word) >> shift) & mask]
            if label == UNDECIDED:
                return False
            set_entry(labels, cell, relabel[np.uint64(label)])
            word += n_words
        first += np.uint64(labels.shape[1]) * n_states
        first_word += np.uint64(words.shape[1]) * n_states * n_words
    return True


@inlined
def _label_by_scores(
    words: np.ndarray,
    episodes: tuple,
    levels: tuple,
    scores: np.ndarray,
    shared: np.uint64,
    relabel: np.ndarray,
    scratch: np.ndarray,
    labels: np.ndarray,
) -> None:
    """As `_look_up`, for all labels; the states have the same bits in the groups from `shared` on."""
    n_groups, bits = np.uint64(scores.shape[1]), _group_bits(scores.shape[2])
    n_states, n_scores, greatest = np.uint64(labels.shape[2]), np.uint64(scores.shape[3]), scratch[0]
    for e in range(*episodes):
        for h in range(*levels):
            if n_scores > _4 and n_scores >= np.uint64(wide()):
                label_by_rows(words, (e, h), scores, (shared, n_groups, bits), relabel, scratch, labels)
                continue
            if shared == _1 and n_scores == _4:
                tail = _add_groups(words, (e, h, _0), scores, bits, _1, n_groups, _0, _NOTHING)
                for s in range(n_states):
                    _, best = _greatest(_add_first_group(words, (e, h, s), scores, tail))
                    labels[e, h, s] = relabel[best]
                continue
            for k in range(_0, n_scores, _4):
                tail = _add_groups(words, (e, h, _0), scores, bits, shared, n_groups, k, _NOTHING)
                for s in range(n_states):
                    top, best = _greatest(_add_groups(words, (e, h, s), scores, bits, _0, shared, k, tail))
                    if k == _0 or top > greatest[s]:
                        greatest[s], labels[e, h, s] = top, relabel[k + best]


@kernel
def packed_labels(
    words: np.ndarray, tables: tuple, relabel: np.ndarray, scratch: np.ndarray, labels: np.ndarray
) -> None:
    """Fill labels uint8[E, L, S] with the first of the greatest scores, passed through relabel uint8[K].

    `tables` is a `PackedTables`; `packed_rows` says how much scratch of float32 it takes. Observations are
    looked up sixteen at a time: one after the other where levels share a table, and else those of a level, so
    that its table stays in the cache.
    """
    n_episodes, n_levels = np.uint64(labels.shape[0]), np.uint64(labels.shape[1])
    n_groups, bits = np.uint64(tables.scores.shape[1]), _group_bits(tables.scores.shape[2])
    number_scores(scratch)
    tile = (_1, _TILE) if tables.scores.shape[0] == 1 else (_TILE, _1)
    for first in range(_0, n_episodes, tile[0]):
        episodes = first, min(first + tile[0], n_episodes)
        shared, is_known = n_groups, False
        for first_level in range(_0, n_levels, tile[1]):
            levels = first_level, min(first_level + tile[1], n_levels)
            if not _look_up(words, episodes, levels, tables, relabel, labels):
                if not is_known:
                    shared = min(_first_shared_group(words, *episodes, n_levels, bits), n_groups)
                    is_known = True
                _label_by_scores(words, episodes, levels, tables.scores, shared, relabel, scratch, labels)
