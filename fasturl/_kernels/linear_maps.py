"""Linear maps of noise: a matrix of any kind, and Sylvester's Hadamard matrix."""

from typing import Any

import numpy as np

from .compiling import inlined, kernel
from .registers import FOUR, full_like, read_four, read_one, read_wide, wide, write_numbers

_F = np.float32


@inlined
def _add_rows(read: Any, width: int, rows: np.ndarray, weights: np.ndarray, out: np.ndarray) -> None:
    """out[h] = sum over j of weights[j] rows[j, h], for two registers of levels at a time; where fewer are
    left, the last ones again."""
    last = out.size - width
    for start in range(0, out.size, 2 * width):
        h, g = min(start, max(last - width, 0)), min(start + width, last)
        first = second = full_like(read(out, h), _F(0.0))
        for j in range(weights.size):
            weight = weights[j]
            if weight != _F(0.0):
                first = first + weight * read(rows[j], h)
                second = second + weight * read(rows[j], g)
        write_numbers(first, out, h)
        write_numbers(second, out, g)


@kernel
def mapped_rows(rows: np.ndarray, matrix: np.ndarray, out: np.ndarray) -> None:
    """out[e, i, h] = sum over j of matrix[i, j] rows[e, j, h], for matrix float32[D, K], rows float32[E, K or
    more, L] and out float32[E, D, L].

    Sums run from the first j to the last, whatever the number of episodes: blocks of any size give the same
    bits. Entries of 0 are left out.
    """
    n_levels = out.shape[2]
    for e in range(out.shape[0]):
        for i in range(out.shape[1]):
            if n_levels >= wide():
                _add_rows(read_wide, wide(), rows[e], matrix[i], out[e, i])
            elif n_levels >= FOUR:
                _add_rows(read_four, FOUR, rows[e], matrix[i], out[e, i])
            else:
                _add_rows(read_one, 1, rows[e], matrix[i], out[e, i])


@inlined
def _butterflies(upper: np.ndarray, lower: np.ndarray) -> None:
    """Sums and differences of two stretches of float32, in their place."""
    for i in range(upper.size):
        a, b = upper[i], lower[i]
        upper[i] = a + b
        lower[i] = a - b


@kernel
def hadamard_rows(rows: np.ndarray, n_rows: int, out: np.ndarray) -> None:
    """out[e, i, h] = sum over j < n_rows of (-1)^(number of bits that i and j share) rows[e, j, h]: the
    Walsh-Hadamard transform, for rows float32[E, n_rows or more, L] and out float32[E, D L], which is [E, D,
    L] in one row for each episode; D is a power of two.

    Butterflies of neighbours first, then of pairs of neighbours, and so on; the order of additions is fixed.
    Two halves of a butterfly are two stretches of memory, however few levels there are.
    """
    n_levels = rows.shape[2]
    for e in range(out.shape[0]):
        for j in range(n_rows):
            for h in range(n_levels):
                out[e, j * n_levels + h] = rows[e, j, h]
        for i in range(n_rows * n_levels, out.shape[1]):
            out[e, i] = _F(0.0)
        half = n_levels
        while half < out.shape[1]:
            for first in range(0, out.shape[1], 2 * half):
                middle = first + half
                _butterflies(out[e, first:middle], out[e, middle : middle + half])
            half *= 2
