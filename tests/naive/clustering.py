"""Slow, obvious references for `_kernels/clustering.py` and the distances of `_kernels/distances.py`, scratch
included in their arguments."""

import math

import numpy as np


def _product(a, b):
    """Sums of float32 are rounded once for each coordinate."""
    total = 0.0
    for x, y in zip(a, b, strict=True):
        if isinstance(x, np.float32):
            total = np.float32(float(x) * float(y) + float(total))
        else:
            total += x * y
    return total


def _square_distance(point, centre):
    distance = (_product(point, point) + _product(centre, centre)) - 2 * _product(point, centre)
    return distance if distance > 0.0 else type(distance)(0.0)


def _nearest(samples, centres):
    """For each sample the first of its nearest centres, and the squared distance from it."""
    labels, closest = [], []
    for point in samples:
        distances = [_square_distance(point, centre) for centre in centres]
        closest.append(min(distances))
        labels.append(distances.index(closest[-1]))
    return labels, closest


def _weighted(weights, values):
    """The sums of the first products, in double precision."""
    return np.cumsum([w * x for w, x in zip(weights, values, strict=True)], dtype=float)


def _weighted_sum(weights, values):
    """The same as four sums, each of every fourth product; those that are left over are in the first."""
    n_whole, sums = len(weights) - len(weights) % 4, [0.0] * 4
    for i, (w, x) in enumerate(zip(weights, values, strict=True)):
        sums[i % 4 if i < n_whole else 0] += float(w * x)
    return (sums[0] + sums[1]) + (sums[2] + sums[3])


def _first_centres(uniforms, samples, weights, trials, n_clusters):
    """k-means++: the chance of a sample is its weight times its squared distance from the centres so far; of
    several trials the first that leaves the least sum is kept."""
    uniforms = iter(uniforms)
    centres = [samples[int(next(uniforms) * len(samples))]]
    while len(centres) < n_clusters:
        _, closest = _nearest(samples, centres)
        total, running = _weighted_sum(weights, closest), _weighted(weights, closest)
        goals = [next(uniforms) * total for _ in range(trials)]
        tried = [
            samples[next((i for i, sum_so_far in enumerate(running) if sum_so_far > goal), len(closest) - 1)]
            for goal in goals
        ]
        centres.append(
            min(tried, key=lambda one: _weighted_sum(weights, _nearest(samples, [*centres, one])[1]))
        )
    return centres


def _change_sides(shares, weights, before, given, sums, totals):
    """Put each sample whose label has changed into its new sums, and take it out of the old ones."""
    for i, (old, new) in enumerate(zip(before, given, strict=True)):
        if new != old:
            sums[new] += shares[i]
            totals[new] += weights[i]
        if new != old is not None:
            sums[old] -= shares[i]
            totals[old] -= weights[i]


def _put_at_means(centres, weights, given, sums, totals):
    """A cluster of no weight stays where it is."""
    for k in set(given):
        if any(label == k and weight > 0 for label, weight in zip(given, weights, strict=True)):
            centres[k] = list((sums[k] / totals[k]).astype(weights.dtype))


def _moved(samples, weights, centres, iterations, tolerance):
    """Lloyd's iterations, with sums in double precision."""
    given, _ = _nearest(samples, centres)
    shares, before = weights.astype(float)[:, None] * np.array(samples, float), [None] * len(samples)
    sums, totals = np.zeros((len(centres), shares.shape[1])), np.zeros(len(centres))
    for _ in range(iterations):
        _change_sides(shares, weights, before, given, sums, totals)
        old_centres = np.array(centres, float)
        _put_at_means(centres, weights, given, sums, totals)
        before, (given, _) = given, _nearest(samples, centres)
        moved_by = np.cumsum(np.square(np.array(centres, float) - old_centres))[-1]
        if given == before or moved_by <= tolerance:
            break
    return centres


def _are_same(first, second):
    """Whether two clusterings differ in names alone."""
    return len(set(zip(first, second, strict=True))) == len(set(first)) == len(set(second))


def kmeans(uniforms, points, rows, weights, trials, iterations, tolerance, workspace, centres):
    """From several starts; the one with the least weighted sum of squared distances is kept, the first of
    those that find the same clusters."""
    samples = [list(point) for point in points.T]  # float32 stays float32
    best, best_labels = math.inf, None
    for of_start in uniforms:
        found = _first_centres(of_start, samples, weights, trials, len(centres))
        found = _moved(samples, weights, found, iterations, tolerance)
        labels, closest = _nearest(samples, found)
        inertia = _weighted_sum(weights, closest)
        if inertia < best and not (best_labels and _are_same(labels, best_labels)):
            best, best_labels, centres[:] = inertia, labels, found
    workspace.labels[:], workspace.closest[:] = _nearest(samples, [list(centre) for centre in centres])
