"""Least squares by the normal equations, and what they predict.

Everything is summed in the order that is written here, so a fit does not depend on a BLAS library or its
number of threads. Samples are the fastest axis of `columns` and `points`, so that loops over samples become
vector instructions.
"""

import math

import numpy as np

from .compiling import inlined, kernel


@kernel
def least_squares(
    rows: np.ndarray, codes: np.ndarray, ridge: float, gram: np.ndarray, slopes: np.ndarray
) -> None:
    """Regress the one-hot code of codes int64[n] on rows float64[n, D]: slopes float64[R, D].

    Solves (X'X + ridge I) b = X'y by Cholesky's factors. The ridge keeps the equations regular where some
    coordinates determine others. gram float64[D, D] is scratch.
    """
    dimension = gram.shape[0]
    gram[:] = 0.0
    slopes[:] = 0.0
    for i in range(codes.size):
        r = codes[i]
        for a in range(dimension):
            x = rows[i, a]
            slopes[r, a] += x
            for b in range(dimension):
                gram[a, b] += x * rows[i, b]
    for a in range(dimension):
        gram[a, a] += ridge
        for b in range(a + 1):
            total = gram[a, b]
            for c in range(b):
                total -= gram[a, c] * gram[b, c]
            gram[a, b] = math.sqrt(total) if a == b else total / gram[b, b]
    for r in range(slopes.shape[0]):
        for a in range(dimension):
            total = slopes[r, a]
            for c in range(a):
                total -= gram[a, c] * slopes[r, c]
            slopes[r, a] = total / gram[a, a]
        for a in range(dimension - 1, -1, -1):
            slopes[r, a] /= gram[a, a]
            for c in range(a):
                slopes[r, c] -= gram[a, c] * slopes[r, a]


@inlined
def add_combination(weights: np.ndarray, k: int, table: np.ndarray, sums: np.ndarray) -> None:
    """sums[k] += the rows of the table, each times its entry of weights[k].

    Four rows at a time: a sum is then loaded and stored once for four products.
    """
    n_rows, width = table.shape
    j = 0
    while j + 3 < n_rows:
        w0, w1, w2, w3 = weights[k, j], weights[k, j + 1], weights[k, j + 2], weights[k, j + 3]
        for i in range(width):
            sums[k, i] += (
                w0 * table[j, i] + w1 * table[j + 1, i] + w2 * table[j + 2, i] + w3 * table[j + 3, i]
            )
        j += 4
    while j < n_rows:
        w0 = weights[k, j]
        for i in range(width):
            sums[k, i] += w0 * table[j, i]
        j += 1


@kernel
def embed(slopes: np.ndarray, offset: np.ndarray, columns: np.ndarray, points: np.ndarray) -> None:
    """points[r, i] = offset[r] + slopes[r] . columns[:, i], for slopes float64[R, D], columns float64[D, n],
    points float64[R, n]."""
    for r in range(points.shape[0]):
        for i in range(points.shape[1]):
            points[r, i] = offset[r]
        add_combination(slopes, r, columns, points)
