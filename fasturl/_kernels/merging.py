"""Clusters that lie together become one, the nearest first.

Two groups of clusters with means c and c' are

    |c - c'| / sqrt((v + v') / 2)

apart, where v and v' are the variances of their rows around their own means, along the line through both
means. Where that is less than a bound for some pair, the nearest pair becomes one group, and what lies
between it and the others is measured anew.
"""

import math

import numpy as np

from .compiling import inlined, kernel


@inlined
def _separation(
    rows: np.ndarray,
    labels: np.ndarray,
    names: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    a: int,
    b: int,
    axis: np.ndarray,
) -> float:
    """How far groups a and b are apart: infinitely where one is empty, or where they differ and nothing
    varies along the line between them."""
    if sizes[a] == 0.0 or sizes[b] == 0.0:
        return np.inf
    square = 0.0
    for j in range(axis.size):
        axis[j] = sums[a, j] / sizes[a] - sums[b, j] / sizes[b]
        square += axis[j] * axis[j]
    if square == 0.0:
        return 0.0
    distance = math.sqrt(square)
    middle_a, middle_b = 0.0, 0.0
    for j in range(axis.size):
        axis[j] /= distance
        middle_a += sums[a, j] / sizes[a] * axis[j]
        middle_b += sums[b, j] / sizes[b] * axis[j]
    squares_a, squares_b = 0.0, 0.0
    for i in range(rows.shape[0]):
        name = names[labels[i]]
        if name in (a, b):
            place = 0.0
            for j in range(axis.size):
                place += np.float64(rows[i, j]) * axis[j]
            if name == a:
                squares_a += (place - middle_a) * (place - middle_a)
            else:
                squares_b += (place - middle_b) * (place - middle_b)
    variance = (squares_a / sizes[a] + squares_b / sizes[b]) / 2
    return distance / math.sqrt(variance) if variance > 0.0 else np.inf


@inlined
def _nearest(names: np.ndarray, apart: np.ndarray) -> tuple:
    """The first of the nearest two groups, how far they are apart, or infinity where there is one group."""
    nearest_a, nearest_b, least = 0, 0, np.inf
    for a in range(names.size):
        for b in range(a + 1, names.size):
            if names[a] == a and names[b] == b and apart[a, b] < least:
                nearest_a, nearest_b, least = a, b, apart[a, b]
    return nearest_a, nearest_b, least


@kernel
def merge_clusters(
    rows: np.ndarray,
    labels: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    least: float,
    axis: np.ndarray,
    apart: np.ndarray,
    names: np.ndarray,
) -> None:
    """Fill names int64[K] with the first cluster of the group that each cluster is of in the end, when no two
    groups are less than `least` apart.

    rows [n, D] are bytes or reals, labels int64[n] their clusters, sums float64[K, D] and sizes float64[K]
    those of the rows of each cluster, which end as those of the groups. `axis` float64[D] and `apart`
    float64[K, K] are scratch.
    """
    for k in range(names.size):
        names[k] = k
    for a in range(names.size):
        for b in range(a + 1, names.size):
            apart[a, b] = _separation(rows, labels, names, sums, sizes, a, b, axis)
    while True:
        a, b, nearest = _nearest(names, apart)
        if not nearest < least:
            return
        for j in range(axis.size):
            sums[a, j] += sums[b, j]
        sizes[a] += sizes[b]
        for k in range(names.size):
            if names[k] == b:
                names[k] = a
        for k in range(names.size):
            if names[k] == k and k != a:
                first, second = min(a, k), max(a, k)
                apart[first, second] = _separation(rows, labels, names, sums, sizes, first, second, axis)
