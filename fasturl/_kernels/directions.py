"""Directions in which rows vary most, and the cut across one that leaves the two sides farthest apart.

For rows r[i] with weights w[i] the power method repeats

    d <- sum over i of w[i] (d . r[i]) r[i],   divided by its length,

and comes ever closer to the leading eigenvector of E[w r r']. Rows come with their columns: products with all
rows are then sums of columns, and sums of rows are what they are, so that neither adds up the entries of one
row.
"""

import math

import numpy as np

from .compiling import kernel

_0F = np.float32(0.0)
_TINY = np.float32(np.finfo(np.float32).tiny)
_ROUNDING = 1e-13
"""Share of a mean square below which a variance is rounding alone."""


@kernel
def leading_directions(
    rows: np.ndarray,
    columns: np.ndarray,
    weights: np.ndarray,
    start: np.ndarray,
    n_steps: int,
    products: np.ndarray,
    directions: np.ndarray,
) -> None:
    """Directions float32[K, D] after so many steps of the power method, for each of several weights
    float32[K, n] of rows float32[n, D].

    columns float32[D, n] are the same rows; start float32[D] is where all begin, and stands for a direction
    that all rows are at right angles to. products float32[n] is scratch.
    """
    n_rows, dimension = rows.shape
    for k in range(weights.shape[0]):
        for j in range(dimension):
            directions[k, j] = start[j]
        for _ in range(n_steps):
            for i in range(n_rows):
                products[i] = _0F
            for j in range(dimension):
                share = directions[k, j]
                for i in range(n_rows):
                    products[i] += share * columns[j, i]
            for j in range(dimension):
                directions[k, j] = _0F
            for i in range(n_rows):
                product = products[i] * weights[k, i]
                for j in range(dimension):
                    directions[k, j] += product * rows[i, j]
            square = _0F
            for j in range(dimension):
                square += directions[k, j] * directions[k, j]
            length = np.float32(math.sqrt(square))
            for j in range(dimension):
                directions[k, j] = directions[k, j] / max(length, _TINY) if length > _0F else start[j]


@kernel
def widest_cut(ranked: np.ndarray, by_chance: float) -> float:
    """How many standard deviations lie between the means of the two sides of a cut through scores float64[n],
    ranked from the least, less by_chance / sqrt(size of the smaller side): that of the cut where this is
    greatest. The deviation is that of the wider side; infinite where neither has any, and 0 where all scores
    are the same."""
    n, total, total_of_squares = ranked.size, 0.0, 0.0
    for i in range(n):
        total += ranked[i]
        total_of_squares += ranked[i] * ranked[i]
    greatest = -math.inf
    below, below_of_squares = 0.0, 0.0
    for size in range(1, n):
        below += ranked[size - 1]
        below_of_squares += ranked[size - 1] * ranked[size - 1]
        if ranked[size] <= ranked[size - 1]:
            continue
        low, high = below / size, (total - below) / (n - size)
        low_variance = below_of_squares / size - low * low
        high_variance = (total_of_squares - below_of_squares) / (n - size) - high * high
        variance = max(low_variance, high_variance)
        if variance <= _ROUNDING * total_of_squares / n:
            return math.inf
        apart = (high - low) / math.sqrt(variance) - by_chance / math.sqrt(min(size, n - size))
        greatest = max(greatest, apart)
    return greatest if greatest > -math.inf else 0.0
