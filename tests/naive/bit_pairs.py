"""Slow, obvious references for `_kernels/bit_pairs.py`."""

import numpy as np


def stack_bits(rows, stacks):
    """One bit at a time."""
    stacks[:] = 0
    for i, j in np.ndindex(*rows.shape):
        stacks[i // 8, j] += rows[i, j] * 2 ** (i % 8)


def count_together(columns, together):
    """One pair at a time."""
    for i, j in np.ndindex(*together.shape):
        together[i, j] = sum((int(a) & int(b)).bit_count() for a, b in zip(*columns[[i, j]], strict=True))


def greatest_dependence(together, n):
    """One pair at a time, by the textbook's correlation of zeros and ones."""
    shares = np.diag(together) / n
    deviations = np.sqrt(shares * (1 - shares))
    squares = [
        n * ((together[i, j] / n - shares[i] * shares[j]) / (deviations[i] * deviations[j])) ** 2
        for i, j in np.ndindex(*together.shape)
        if i != j and deviations[i] * deviations[j] > 0
    ]
    return max(squares, default=0.0)
