"""How often two bits of an observation are set together, for all pairs of coordinates.

The bits of one coordinate in 64 observations are one word, so that 64 pairs are counted at a time:

    together[i, j] = sum over words w of the number of bits that columns[i, w] and columns[j, w] share.

With n observations and t = together, the correlation r of two bits i and j that are not always the same has

    n r^2 = n (n t[i, j] - t[i, i] t[j, j])^2 / (t[i, i] (n - t[i, i]) t[j, j] (n - t[j, j])),

which is chi-squared with one degree of freedom where they are independent.
"""

import numpy as np

from .compiling import count_ones, kernel

_0, _NO_BITS = np.uint64(0), np.uint8(0)


@kernel
def stack_bits(rows: np.ndarray, stacks: np.ndarray) -> None:
    """Fill stacks uint8[N, D] with the bits of eight of the rows uint8[n, D] each, the first row in the
    lowest bit; bits beyond the last row are 0."""
    n, dimension = rows.shape
    for k in range(stacks.shape[0]):
        first = 8 * k
        for j in range(dimension):
            stack = _NO_BITS
            # eight rows by themselves: a loop of a fixed length becomes vector instructions
            if first + 8 <= n:
                for i in range(7, -1, -1):
                    stack = np.uint8(stack + stack + rows[first + i, j])
            else:
                for i in range(n - 1, first - 1, -1):
                    stack = np.uint8(stack + stack + rows[i, j])
            stacks[k, j] = stack


@kernel
def count_together(columns: np.ndarray, together: np.ndarray) -> None:
    """Fill together float64[D, D] from columns uint64[D, W]."""
    dimension, n_words = columns.shape
    for i in range(dimension):
        for j in range(i + 1):
            total = _0
            for w in range(n_words):
                total += count_ones(columns[i, w] & columns[j, w])
            together[i, j] = together[j, i] = np.float64(total)


@kernel
def greatest_dependence(together: np.ndarray, n: int) -> float:
    """The greatest n r^2 of two bits, for together float64[D, D] of n observations; 0 where there are no
    two that vary."""
    greatest = 0.0
    for i in range(together.shape[0]):
        ones = together[i, i]
        varies = ones * (n - ones)
        if varies == 0.0:
            continue
        for j in range(i):
            others = together[j, j]
            covaries = n * together[i, j] - ones * others
            product = varies * others * (n - others)
            if product > 0.0:
                greatest = max(greatest, n * covaries * covaries / product)
    return greatest
