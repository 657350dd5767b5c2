"""Fits: least squares by the normal equations, and k-means by Lloyd's iterations.

Everything is summed in the order that is written here, so a fit does not depend on a BLAS library or its
number of threads. Samples are the fastest axis of `points` and `columns`, so that loops over samples become
vector instructions.
"""

import math

import numpy as np

from .compiling import inlined, kernel
from .rng import below, uniform

_0 = np.float32(0.0)


@kernel
def least_squares(
    rows: np.ndarray, codes: np.ndarray, ridge: float, gram: np.ndarray, slopes: np.ndarray
) -> None:
    """Regress the one-hot code of codes int64[n] on centred rows float64[n, D]: slopes float64[R, D].

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


@inlined
def _square_distances(points: np.ndarray, centres: np.ndarray, k: int, out: np.ndarray) -> None:
    """out[k, i] = |points[:, i] - centres[k]|^2, four coordinates at a time as in `add_combination`."""
    n_axes, n_samples = points.shape
    for i in range(n_samples):
        out[k, i] = _0
    r = 0
    while r + 3 < n_axes:
        c0, c1, c2, c3 = centres[k, r], centres[k, r + 1], centres[k, r + 2], centres[k, r + 3]
        for i in range(n_samples):
            g0, g1, g2, g3 = (
                points[r, i] - c0,
                points[r + 1, i] - c1,
                points[r + 2, i] - c2,
                points[r + 3, i] - c3,
            )
            out[k, i] = out[k, i] + g0 * g0 + g1 * g1 + g2 * g2 + g3 * g3
        r += 4
    while r < n_axes:
        c0 = centres[k, r]
        for i in range(n_samples):
            g0 = points[r, i] - c0
            out[k, i] += g0 * g0
        r += 1


@inlined
def _spread(
    rng: np.ndarray, points: np.ndarray, centres: np.ndarray, closest: np.ndarray, distances: np.ndarray
) -> None:
    """k-means++ (Arthur and Vassilvitskii, 2007): a sample is the next centre in proportion to its squared
    distance from the last ones."""
    n_samples = closest.size
    chosen = below(rng, n_samples)
    for k in range(centres.shape[0]):
        if k > 0:
            total = 0.0
            for i in range(n_samples):
                total += closest[i]
            goal = uniform(rng) * total
            chosen = 0
            running = np.float64(closest[0])
            while running <= goal and chosen < n_samples - 1:
                chosen += 1
                running += closest[chosen]
        for r in range(points.shape[0]):
            centres[k, r] = points[r, chosen]
        _square_distances(points, centres, k, distances)
        for i in range(n_samples):
            closest[i] = min(closest[i], distances[k, i]) if k > 0 else distances[k, i]


@inlined
def _assign(distances: np.ndarray, labels: np.ndarray, closest: np.ndarray) -> None:
    """Give every sample its nearest centre, the first of equals; two centres at a time, so that the best so
    far is stored half as often."""
    for i in range(closest.size):
        closest[i] = distances[0, i]
        labels[i] = np.int32(0)
    k = 1
    while k + 1 < distances.shape[0]:
        first, second = np.int32(k), np.int32(k + 1)
        for i in range(closest.size):
            near, label, d0, d1 = closest[i], labels[i], distances[k, i], distances[k + 1, i]
            label = first if d0 < near else label
            near = d0 if d0 < near else near
            labels[i] = second if d1 < near else label
            closest[i] = d1 if d1 < near else near
        k += 2
    while k < distances.shape[0]:
        first = np.int32(k)
        for i in range(closest.size):
            near, label, d0 = closest[i], labels[i], distances[k, i]
            labels[i] = first if d0 < near else label
            closest[i] = d0 if d0 < near else near
        k += 1


@inlined
def _move(
    rows: np.ndarray, labels: np.ndarray, stale: np.ndarray, centres: np.ndarray, sizes: np.ndarray
) -> None:
    """Put the centre of every stale cluster at the mean of its samples; one without samples stays where it
    is."""
    n_axes = rows.shape[1]
    _count(labels, sizes)
    for k in range(centres.shape[0]):
        if stale[k] and sizes[k] > 0:
            for r in range(n_axes):
                centres[k, r] = _0
    for i in range(labels.size):
        k = labels[i]
        if stale[k]:
            for r in range(n_axes):
                centres[k, r] += rows[i, r]
    for k in range(centres.shape[0]):
        if stale[k] and sizes[k] > 0:
            for r in range(n_axes):
                centres[k, r] /= sizes[k]


@inlined
def _count(labels: np.ndarray, sizes: np.ndarray) -> None:
    for k in range(sizes.size):
        sizes[k] = 0
    for i in range(labels.size):
        sizes[labels[i]] += 1


@kernel
def kmeans(
    rng: np.ndarray,
    points: np.ndarray,
    rows: np.ndarray,
    starts: int,
    iterations: int,
    workspace: tuple,
    centres: np.ndarray,
    sizes: np.ndarray,
) -> None:
    """The best of several starts: centres float32[K, R] and how many samples each has, sizes int64[K].

    points float32[R, n] and rows float32[n, R] hold the same samples. A start ends when no label changes, or
    after `iterations` moves. A cluster that neither won nor lost a sample is where it was, so only the
    others, which are stale, are looked at. `workspace` is a `KMeansWorkspace`.
    """
    trial, stale, labels, last_labels = (
        workspace.trial,
        workspace.stale,
        workspace.labels,
        workspace.last_labels,
    )
    closest, distances = workspace.closest, workspace.distances
    n_clusters = centres.shape[0]
    least = np.inf
    for _ in range(starts):
        _spread(rng, points, trial, closest, distances)
        _assign(distances, labels, closest)
        for k in range(n_clusters):
            stale[k] = True
        moves, changed = 0, True
        while changed and moves < iterations:
            _move(rows, labels, stale, trial, sizes)
            for k in range(n_clusters):
                if stale[k]:
                    _square_distances(points, trial, k, distances)
                stale[k] = False
            for i in range(labels.size):
                last_labels[i] = labels[i]
            _assign(distances, labels, closest)
            changed = False
            for i in range(labels.size):
                if labels[i] != last_labels[i]:
                    changed = stale[labels[i]] = stale[last_labels[i]] = True
            moves += 1
        inertia = 0.0
        for i in range(closest.size):
            inertia += closest[i]
        if inertia < least:
            least = inertia
            for k in range(n_clusters):
                for r in range(trial.shape[1]):
                    centres[k, r] = trial[k, r]
    for k in range(n_clusters):
        _square_distances(points, centres, k, distances)
    _assign(distances, labels, closest)
    _count(labels, sizes)
