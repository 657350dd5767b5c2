"""Slow, obvious references for `_kernels/linear_maps.py`."""

import numpy as np


def mapped_rows(rows, matrix, out):
    """One product after the other, in single precision."""
    for e, i, h in np.ndindex(*out.shape):
        total = np.float32(0.0)
        for j in range(matrix.shape[1]):
            total += matrix[i, j] * rows[e, j, h]
        out[e, i, h] = total


def hadamard_rows(rows, n_rows, out):
    """The sign of an entry of Sylvester's matrix counts the bits that its row and its column share."""
    n_levels = rows.shape[2]
    for e in range(len(out)):
        for i in range(out.shape[1] // n_levels):
            signs = [(-1) ** (i & j).bit_count() for j in range(n_rows)]
            sums = np.array(signs, np.float64) @ rows[e, :n_rows].astype(np.float64)
            out[e, i * n_levels : (i + 1) * n_levels] = sums
