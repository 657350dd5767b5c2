"""Rows that become columns, in registers.

To copy one number at a time would read or write a line of the cache for each. Of a square of four rows, which
are four registers, the first is interleaved with the third and the second with the fourth, and then what
comes out likewise: that leaves each column in one register.
"""

import numpy as np

from .compiling import inlined, kernel
from .registers import FOUR, interleave, read_four, write_numbers

_TILE = 16
"""Rows that are turned together: as many float32 as a line of the cache holds."""


@kernel
def transpose(rows: np.ndarray, columns: np.ndarray) -> None:
    """columns[j, i] = rows[i, j], both float32 without gaps."""
    turn(rows, columns)


@inlined
def turn(rows: np.ndarray, columns: np.ndarray) -> None:
    """`transpose`, of as many rows as the columns have entries; there may be more."""
    dimension, n = columns.shape
    if n < FOUR or dimension < FOUR:
        for i in range(n):
            for j in range(dimension):
                columns[j, i] = rows[i, j]
        return
    for first in range(0, n, _TILE):
        for left in range(0, dimension, FOUR):
            for top in range(first, min(first + _TILE, n), FOUR):
                # the last ones again, where fewer are left
                _turn_square(rows, min(top, n - FOUR), min(left, dimension - FOUR), columns)


@inlined
def _turn_square(rows: np.ndarray, i: int, j: int, columns: np.ndarray) -> None:
    """`turn` for four rows from i on and four columns from j on."""
    a, b = interleave(read_four(rows[i], j), read_four(rows[i + 2], j))
    c, d = interleave(read_four(rows[i + 1], j), read_four(rows[i + 3], j))
    first, second = interleave(a, c)
    third, fourth = interleave(b, d)
    write_numbers(first, columns[j], i)
    write_numbers(second, columns[j + 1], i)
    write_numbers(third, columns[j + 2], i)
    write_numbers(fourth, columns[j + 3], i)
