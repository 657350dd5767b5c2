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


def widest_cut(ranked, by_chance):
    """All cuts between different scores, and the greatest of what they come to."""
    results = []
    for size in range(1, len(ranked)):
        low, high = ranked[:size], ranked[size:]
        if low[-1] == high[0]:
            continue
        deviation = max(low.std(), high.std())
        apart = (high.mean() - low.mean()) / deviation if deviation > 0 else np.inf
        results.append(apart - by_chance / np.sqrt(min(len(low), len(high))))
    return max(results, default=0.0)
