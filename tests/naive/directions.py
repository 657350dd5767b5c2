"""Slow, obvious references for `_kernels/directions.py`. Scratch arrays are not used."""

import numpy as np


def leading_directions(rows, columns, weights, start, n_steps, products, directions):
    """The power method in double precision, on the matrix itself."""
    exact = rows.astype(np.float64)
    for k, row_weights in enumerate(weights.astype(np.float64)):
        direction = start.astype(np.float64)
        for _ in range(n_steps):
            direction = exact.T @ np.diag(row_weights) @ exact @ direction
            length = np.linalg.norm(direction)
            direction = direction / length if length > 0 else start.astype(np.float64)
        directions[k] = direction


def best_cut(ranked):
    """All cuts, and the first of those of the greatest variance between sides."""
    sides = [(ranked[:size], ranked[size:]) for size in range(1, len(ranked))]
    variances = [len(low) * len(high) * (high.mean() - low.mean()) ** 2 for low, high in sides]
    low, high = sides[int(np.argmax(variances))]
    gap, deviation = high.mean() - low.mean(), max(low.std(), high.std())
    if deviation > 0:
        return gap / deviation
    return np.inf if gap > 0 else 0.0
