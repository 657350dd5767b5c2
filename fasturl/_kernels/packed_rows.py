"""The labels of greatest score of packed bits where there are many labels, two registers of scores at a time.

`packed_decoding` says what scores, groups and tables are. What one value of a group adds to all scores is a
row of a table. Of the rows that an observation asks for, as much is added up as two registers hold, then the
next part. What those groups add in which all states have the same bits is kept in a row of scratch. Sums are
made in the same order, and so are the same.
"""

from typing import Any

import numpy as np

from .compiling import inlined
from .registers import full_like, read_wide, where_greater, wide, write_numbers

_0F = np.float32(0.0)
_0, _1, _6, _63 = np.array([0, 1, 6, 63], np.uint64)
_TAIL, _NUMBERS, _LANES = 1, 2, 3
"""Rows of scratch; the first is of the caller's."""


def scratch_shape(n_states: int, n_scores: int) -> tuple[int, int]:
    """Of the scratch for so many states and scores: pairs of registers, of which one is no wider than all
    scores, may end beyond the last."""
    return 4, max(n_states, 3 * n_scores)


@inlined
def number_scores(scratch: np.ndarray) -> None:
    """Write down once what `label_by_rows` reads: 0, 1, 2, ..."""
    for k in range(scratch.shape[1]):
        scratch[_NUMBERS, k] = k


@inlined
def _places(start: int, n_scores: int) -> tuple:
    """The first scores of two registers from `start` on; where fewer are left, the last ones again."""
    last = n_scores - wide()
    return min(start, last), min(start + wide(), last)


@inlined
def _add_rows(
    words: np.ndarray, place: tuple, tables: np.ndarray, groups: tuple, at: tuple, sums: tuple
) -> tuple:
    """Sums of two registers of scores, and what the groups from the second of `groups` - 1 down to the first
    add to them; the third is how many bits a group has.

    A place is an episode, a level and a state.
    """
    (e, h, s), (first, group, bits), (i, j), (a, b) = place, groups, at, sums
    t = h if tables.shape[0] > 1 else _0
    mask = np.uint64(tables.shape[2] - 1)
    while group > first:
        group -= _1
        bit = group * bits
        row = tables[t, group, (words[e, h, s, bit >> _6] >> (bit & _63)) & mask]
        a, b = a + read_wide(row, i), b + read_wide(row, j)
    return a, b


@inlined
def _better(score: Any, numbers: Any, best: tuple) -> tuple:
    """The greatest scores and their numbers, among those so far and a register more."""
    greatest, names = best
    return where_greater(score, greatest, score, greatest), where_greater(score, greatest, numbers, names)


@inlined
def _first_of_greatest(best: tuple, lanes: np.ndarray) -> np.uint64:
    """The number of the greatest score, of all that stand side by side; the least of several."""
    write_numbers(best[0], lanes, 0)
    write_numbers(best[1], lanes, wide())
    greatest, number = lanes[0], lanes[wide()]
    for i in range(1, wide()):
        score, name = lanes[i], lanes[wide() + i]
        if score > greatest or (score == greatest and name < number):
            greatest, number = score, name
    return np.uint64(number)


@inlined
def label_by_rows(
    words: np.ndarray,
    place: tuple,
    tables: np.ndarray,
    groups: tuple,
    relabel: np.ndarray,
    scratch: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Fill labels[e, h] for a place (e, h), by the scores of tables of at least as many as a register holds;
    `groups` are the first one from which on all states have the same bits, how many there are, and how many
    bits each has."""
    (e, h), (shared, n_groups, bits) = place, groups
    n_scores, tail, numbers = tables.shape[3], scratch[_TAIL], scratch[_NUMBERS]
    nothing = full_like(read_wide(numbers, 0), _0F)
    for start in range(0, n_scores, 2 * wide()):
        at = _places(start, n_scores)
        sums = _add_rows(words, (e, h, _0), tables, (shared, n_groups, bits), at, (nothing, nothing))
        write_numbers(sums[0], tail, start)
        write_numbers(sums[1], tail, start + wide())
    for s in range(np.uint64(labels.shape[2])):
        best = full_like(nothing, np.float32(-np.inf)), nothing
        for start in range(0, n_scores, 2 * wide()):
            at, sums = _places(start, n_scores), (read_wide(tail, start), read_wide(tail, start + wide()))
            sums = _add_rows(words, (e, h, s), tables, (_0, shared, bits), at, sums)
            best = _better(sums[0], read_wide(numbers, at[0]), best)
            best = _better(sums[1], read_wide(numbers, at[1]), best)
        labels[e, h, s] = relabel[_first_of_greatest(best, scratch[_LANES])]
