"""Slow, obvious references for `_kernels/fitting.py`, scratch included in their arguments."""

import math

import numpy as np

from .rng import below, uniform


def least_squares(rows, codes, ridge, gram, slopes):
    """The normal equations."""
    onehot = np.eye(len(slopes))[codes]
    slopes[:] = np.linalg.solve(rows.T @ rows + ridge * np.eye(rows.shape[1]), rows.T @ onehot).T


def embed(slopes, offset, columns, points):
    """One sample at a time."""
    for i in range(columns.shape[1]):
        points[:, i] = offset + slopes @ columns[:, i]


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


def _first_centres(rng, samples, n_clusters):
    """k-means++: the chance of a sample is its squared distance from the centres so far."""
    centres = [samples[below(rng, len(samples))]]
    while len(centres) < n_clusters:
        _, closest = _nearest(samples, centres)
        running = np.cumsum(closest, dtype=float)
        goal = uniform(rng) * running[-1]
        centres.append(
            samples[next((i for i, sum_so_far in enumerate(running) if sum_so_far > goal), len(samples) - 1)]
        )
    return centres


def kmeans(rng, points, rows, starts, iterations, workspace, centres, sizes):
    """Lloyd from several starts; the one with the least sum of squared distances is kept."""
    samples = (
        points.T.tolist() if points.dtype == float else [list(point) for point in points.T]
    )  # float32 stays float32
    best = math.inf
    for _ in range(starts):
        found = _first_centres(rng, samples, len(centres))
        given, near = _nearest(samples, found)
        for _ in range(iterations):
            for k in range(len(found)):
                mine = [point for point, label in zip(samples, given, strict=True) if label == k]
                if mine:
                    found[k] = [(np.cumsum(axis)[-1] / len(mine)).item() for axis in zip(*mine, strict=True)]
            before = given
            given, near = _nearest(samples, found)
            if given == before:
                break
        if np.cumsum(near, dtype=float)[-1] < best:
            best, centres[:] = np.cumsum(near, dtype=float)[-1], found
    workspace.labels[:], workspace.closest[:] = _nearest(samples, centres.tolist())
    sizes[:] = [np.sum(workspace.labels == k) for k in range(len(centres))]
