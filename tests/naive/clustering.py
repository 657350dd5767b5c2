"""Slow, obvious references for `_kernels/clustering.py`, scratch included in their arguments."""

import math

import numpy as np

from .rng import below, uniform


def _square_distance(point, centre):
    total = 0.0
    for x, c in zip(point, centre, strict=True):
        total += (x - c) * (x - c)
    return total


def _nearest(samples, centres):
    """For each sample the first of its nearest centres, and the squared distance from it."""
    labels, closest = [], []
    for point in samples:
        distances = [_square_distance(point, centre) for centre in centres]
        closest.append(min(distances))
        labels.append(distances.index(closest[-1]))
    return labels, closest


def _weighted(weights, values):
    """The sum of products, in double precision."""
    return np.cumsum([w * x for w, x in zip(weights, values, strict=True)], dtype=float)


def _draw(rng, weights, closest):
    running = _weighted(weights, closest)
    goal = uniform(rng) * running[-1]
    return next((i for i, sum_so_far in enumerate(running) if sum_so_far > goal), len(closest) - 1)


def _first_centres(rng, samples, weights, trials, n_clusters):
    """k-means++: the chance of a sample is its weight times its squared distance from the centres so far; of
    several trials the first that leaves the least sum is kept."""
    centres = [samples[below(rng, len(samples))]]
    while len(centres) < n_clusters:
        _, closest = _nearest(samples, centres)
        tried = [samples[_draw(rng, weights, closest)] for _ in range(trials)]
        centres.append(
            min(tried, key=lambda one: _weighted(weights, _nearest(samples, [*centres, one])[1])[-1])
        )
    return centres


def _mean(rows, weights):
    """Sums are of the kind of the samples."""
    total = sum(float(w) for w in weights)
    sums = np.cumsum(weights[:, None] * np.asarray(rows, weights.dtype), axis=0)
    return (sums[-1].astype(float) / total).astype(weights.dtype).tolist()


def _moved(samples, weights, centres, iterations):
    """Lloyd's iterations; a cluster of no weight stays where it is."""
    given, _ = _nearest(samples, centres)
    for _ in range(iterations):
        for k in range(len(centres)):
            mine = [i for i, label in enumerate(given) if label == k]
            if weights[mine].sum() > 0.0:
                centres[k] = _mean([samples[i] for i in mine], weights[mine])
        before = given
        given, _ = _nearest(samples, centres)
        if given == before:
            break
    return centres


def kmeans(rng, points, rows, weights, starts, trials, iterations, workspace, centres):
    """From several starts; the one with the least weighted sum of squared distances is kept."""
    # float32 stays float32
    samples = points.T.tolist() if points.dtype == float else [list(point) for point in points.T]
    best = math.inf
    for _ in range(starts):
        found = _first_centres(rng, samples, weights, trials, len(centres))
        found = _moved(samples, weights, found, iterations)
        inertia = _weighted(weights, _nearest(samples, found)[1])[-1]
        if inertia < best:
            best, centres[:] = inertia, found
    workspace.labels[:], workspace.closest[:] = _nearest(samples, centres.tolist())
