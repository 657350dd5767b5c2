"""Clusters that lie together become one, the nearest first.

Two groups of clusters with means c and c' are

    |c - c'| / sqrt((v + v') / 2)

apart, where v and v' are the variances of their rows around their own means, along the line through both
means. Where that is less than a bound for some pair, the nearest pair becomes one group, and what lies
between it and the others is measured anew.

A row x of the group of c lies (x - c) . (c - c') / |c - c'| from its mean along that line, which is

    (x . c - c . c - x . c' + c . c') / |c - c'|,

and c is the sum of a group's rows over their number. So the products of all rows with the sums of all
clusters tell everything, and where two clusters become one, so do their products.
"""

import math

import numpy as np

from .compiling import inlined, kernel


@inlined
def _measure_spreads(
    products: np.ndarray,
    labels: np.ndarray,
    names: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    mean_products: np.ndarray,
    squares: np.ndarray,
) -> None:
    """Fill squares float64[K, K] with the sum of ((x - c) . (c - c'))^2 over the rows x of each group, of
    mean c, for the mean c' of every other; mean_products float64[K, K] with c . c'."""
    n_clusters = names.size
    for a in range(n_clusters):
        for b in range(n_clusters):
            squares[a, b] = mean_products[a, b] = 0.0
            if sizes[a] > 0.0 and sizes[b] > 0.0:
                for j in range(sums.shape[1]):
                    mean_products[a, b] += sums[a, j] / sizes[a] * (sums[b, j] / sizes[b])
    for i in range(labels.size):
        a = names[labels[i]]
        along_own = np.float64(products[i, a]) / sizes[a] - mean_products[a, a]
        for b in range(n_clusters):
            along_other = np.float64(products[i, b]) / max(sizes[b], 1.0) - mean_products[a, b]
            squares[a, b] += (along_own - along_other) * (along_own - along_other)


@inlined
def _separation(sums: np.ndarray, sizes: np.ndarray, squares: np.ndarray, a: int, b: int) -> float:
    """How far groups a and b are apart: infinitely where one is empty, or where they differ and nothing
    varies along the line between them."""
    if sizes[a] == 0.0 or sizes[b] == 0.0:
        return np.inf
    square = 0.0
    for j in range(sums.shape[1]):
        gap = sums[a, j] / sizes[a] - sums[b, j] / sizes[b]
        square += gap * gap
    if square == 0.0:
        return 0.0
    variance = (squares[a, b] / sizes[a] + squares[b, a] / sizes[b]) / 2
    return square / math.sqrt(variance) if variance > 0.0 else np.inf


@inlined
def _nearest(names: np.ndarray, sums: np.ndarray, sizes: np.ndarray, squares: np.ndarray) -> tuple:
    """The first of the nearest two groups, how far they are apart, or infinity where there is one group."""
    nearest_a, nearest_b, least = 0, 0, np.inf
    for a in range(names.size):
        for b in range(a + 1, names.size):
            if names[a] == a and names[b] == b:
                apart = _separation(sums, sizes, squares, a, b)
                if apart < least:
                    nearest_a, nearest_b, least = a, b, apart
    return nearest_a, nearest_b, least


@kernel
def merge_clusters(
    products: np.ndarray,
    labels: np.ndarray,
    sums: np.ndarray,
    sizes: np.ndarray,
    least: float,
    mean_products: np.ndarray,
    squares: np.ndarray,
    names: np.ndarray,
) -> None:
    """Fill names int64[K] with the first cluster of the group that each cluster is of in the end, when no two
    groups are less than `least` apart.

    labels int64[n] are the clusters of n rows of D reals, sums float64[K, D] and sizes float64[K] those of
    the rows of each cluster, products (reals [n, K]) those of every row and every sum. All three end as those
    of the groups. `mean_products` and `squares`, float64[K, K], are scratch.
    """
    for k in range(names.size):
        names[k] = k
    while True:
        _measure_spreads(products, labels, names, sums, sizes, mean_products, squares)
        a, b, nearest = _nearest(names, sums, sizes, squares)
        if not nearest < least:
            return
        for j in range(sums.shape[1]):
            sums[a, j] += sums[b, j]
        for i in range(labels.size):
            products[i, a] += products[i, b]
        sizes[a] += sizes[b]
        for k in range(names.size):
            if names[k] == b:
                names[k] = a
