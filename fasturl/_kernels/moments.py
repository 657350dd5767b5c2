"""Sums and squares of observations, and rows around their mean.

Rows may be bytes, float32 or float64. Sums are float64 and run from the first row to the last, so they do not
depend on a library or its number of threads; those of bytes may be whole numbers, in any order. Coordinates
are the fastest axis: sums of all of them are made side by side.
"""

import numpy as np

from .compiling import kernel


@kernel
def sum_by_label(
    rows: np.ndarray,
    labels: np.ndarray,
    first: int,
    step: int,
    centre: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Sums of x - centre, float64[L, K, D], and numbers of rows, float64[L, K], for every level and label,
    and the sum of (x - centre)^2 over all, float64[D].

    Of the trajectories rows[n, L, D] with labels int64[n, L] it takes `first` and every `step`-th one after
    it; centre float64[D].
    """
    sums[:] = 0.0
    sizes[:] = 0.0
    squares[:] = 0.0
    for i in range(first, rows.shape[0], step):
        for h in range(rows.shape[1]):
            k = labels[i, h]
            sizes[h, k] += 1.0
            for j in range(rows.shape[2]):
                x = np.float64(rows[i, h, j]) - centre[j]
                sums[h, k, j] += x
                squares[j] += x * x


@kernel
def count_by_label(
    rows: np.ndarray, labels: np.ndarray, first: int, step: int, counts: np.ndarray, sizes: np.ndarray
) -> None:
    """As `sum_by_label` for rows uint8[n, L, D] around 0: sums [L, K, D] of whole numbers that hold them, and
    sizes float64[L, K]."""
    counts[:] = 0
    sizes[:] = 0.0
    for i in range(first, rows.shape[0], step):
        for h in range(rows.shape[1]):
            k = labels[i, h]
            sizes[h, k] += 1.0
            row, sums = rows[i, h], counts[h, k]
            for j in range(row.size):
                sums[j] += row[j]


@kernel
def error_around(
    sums: np.ndarray, sizes: np.ndarray, priors: np.ndarray, other_sums: np.ndarray, other_sizes: np.ndarray
) -> float:
    """What |x - m|^2 - |x|^2 adds up to over other rows x, where m is the mean of the rows of its level and
    label, the prior of the level counted as one more of them.

    Sums [L, K, D] and sizes float64[L, K] of the rows and of the others; priors float64[L, D].
    """
    error = 0.0
    for h in range(sums.shape[0]):
        for k in range(sums.shape[1]):
            share = 1.0 / (sizes[h, k] + 1.0)
            product, square = 0.0, 0.0
            for j in range(sums.shape[2]):
                mean = (sums[h, k, j] + priors[h, j]) * share
                product += other_sums[h, k, j] * mean
                square += mean * mean
            error += other_sizes[h, k] * square - 2.0 * product
    return error


@kernel
def standardise(rows: np.ndarray, centre: np.ndarray, scale: np.ndarray, out: np.ndarray) -> None:
    """out (reals [n, D]) = (x - centre) * scale for rows[n, D], in the precision of centre and scale, reals
    [D]."""
    for i in range(rows.shape[0]):
        for j in range(rows.shape[1]):
            out[i, j] = (centre.dtype.type(rows[i, j]) - centre[j]) * scale[j]
