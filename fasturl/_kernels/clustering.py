"""Weighted k-means by Lloyd's iterations, from starts of k-means++.

Everything is summed in the order that is written here, so clusters do not depend on a library or its number
of threads. Samples are the fastest axis of `points`, so that loops over samples become vector instructions.
Reals are float32 or float64, all of one kind.

Where all samples count alike, the same uniforms make the clusters that they make in scikit-learn, but for
rounding and for a cluster that loses all its samples: that one stays where it is, and does not go to the
sample that is farthest from its centre.
"""

import numpy as np

from .compiling import inlined, kernel
from .distances import fill_distances, fill_norms

TOLERANCE = 1e-4
"""The sum of the squared distances that centres move at which a start ends, as a share of the mean variance:
scikit-learn's default."""


@inlined
def _weighted_sum(weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """The sum of weights times the lesser of two distances: four sums, each of every fourth sample, since one
    addition would wait for the other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    n_whole = weights.size - weights.size % 4
    for i in range(0, n_whole, 4):
        a += weights[i] * min(first[i], second[i])
        b += weights[i + 1] * min(first[i + 1], second[i + 1])
        c += weights[i + 2] * min(first[i + 2], second[i + 2])
        d += weights[i + 3] * min(first[i + 3], second[i + 3])
    for i in range(n_whole, weights.size):
        a += weights[i] * min(first[i], second[i])
    return (a + b) + (c + d)


@inlined
def _drawn(weights: np.ndarray, closest: np.ndarray, goal: float) -> int:
    """The first sample with which the sum of weights times squared distances from the nearest centre goes
    beyond a goal, or the last one."""
    chosen = 0
    running = np.float64(weights[0] * closest[0])
    while running <= goal and chosen < closest.size - 1:
        chosen += 1
        running += weights[chosen] * closest[chosen]
    return chosen


@inlined
def _put_centre(points: np.ndarray, i: int, centres: np.ndarray, k: int, workspace: tuple) -> None:
    """Make sample i the centre k, and look how far all samples are from it."""
    for r in range(points.shape[0]):
        centres[k, r] = points[r, i]
    workspace.chosen[0] = k
    fill_distances(points, centres, 1, workspace)


@inlined
def _spread(
    uniforms: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    trials: int,
    workspace: tuple,
    centres: np.ndarray,
) -> None:
    """k-means++ (Arthur and Vassilvitskii, 2007): the first centre is any sample, each further one is drawn
    among those far from the centres so far; of several trials the one that leaves the least is kept."""
    closest, distances, n_samples = workspace.closest, workspace.distances, weights.size
    _put_centre(points, np.int64(uniforms[0] * n_samples), centres, 0, workspace)
    for i in range(n_samples):
        closest[i] = distances[0, i]
    for k in range(1, centres.shape[0]):
        best, least, total = -1, np.inf, _weighted_sum(weights, closest, closest)
        for trial in range(trials):
            chosen = _drawn(weights, closest, uniforms[1 + (k - 1) * trials + trial] * total)
            left = 0.0
            if trials > 1:
                _put_centre(points, chosen, centres, k, workspace)
                left = _weighted_sum(weights, closest, distances[k])
            if best < 0 or left < least:
                best, least = chosen, left
        _put_centre(points, best, centres, k, workspace)
        for i in range(n_samples):
            closest[i] = min(closest[i], distances[k, i])


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
def _change_sides(rows: np.ndarray, weights: np.ndarray, workspace: tuple) -> bool:
    """Take every sample whose label has changed out of the sums of its old cluster, if it had one, and into
    those of its new one; both are stale then. Returns whether there are any."""
    stale, labels, last_labels = workspace.stale, workspace.labels, workspace.last_labels
    sums, totals, members = workspace.sums, workspace.totals, workspace.members
    changed = False
    for i in range(labels.size):
        old, new = last_labels[i], labels[i]
        if old != new:
            weight = np.float64(weights[i])
            changed = stale[new] = True
            members[new] += weight > 0.0
            totals[new] += weight
            if old < 0:
                for r in range(rows.shape[1]):
                    sums[new, r] += weight * np.float64(rows[i, r])
            else:
                stale[old] = True
                members[old] -= weight > 0.0
                totals[old] -= weight
                for r in range(rows.shape[1]):
                    share = weight * np.float64(rows[i, r])
                    sums[new, r] += share
                    sums[old, r] -= share
            last_labels[i] = new
    return changed


@inlined
def _move(points: np.ndarray, workspace: tuple, centres: np.ndarray) -> float:
    """Put the centre of every stale cluster at the mean of its samples; one of no weight stays where it is.
    Then label every sample anew. Returns the sum of the squared distances that centres have moved."""
    stale, n_moved, moved_by = workspace.stale, 0, 0.0
    for k in range(centres.shape[0]):
        if stale[k] and workspace.members[k] > 0:
            for r in range(centres.shape[1]):
                before = np.float64(centres[k, r])
                centres[k, r] = workspace.sums[k, r] / workspace.totals[k]
                moved_by += (np.float64(centres[k, r]) - before) ** 2
            workspace.chosen[n_moved] = k
            n_moved += 1
        stale[k] = False
    fill_distances(points, centres, n_moved, workspace)
    _assign(workspace.distances, workspace.labels, workspace.closest)
    return moved_by


@inlined
def _iterate(
    points: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    iterations: int,
    tolerance: float,
    workspace: tuple,
    centres: np.ndarray,
) -> None:
    """Lloyd's iterations from labels that are those of the centres, until no label changes or centres move by
    no more than the tolerance.

    A cluster that neither won nor lost a sample is where it was, so only the others, which are stale, are
    looked at, and sums change by what was won and lost.
    """
    sums, totals, members = workspace.sums, workspace.totals, workspace.members
    for k in range(totals.size):
        totals[k] = members[k] = 0
        for r in range(sums.shape[1]):
            sums[k, r] = 0.0
    for i in range(workspace.last_labels.size):
        workspace.last_labels[i] = -1
    moves, moved_by = 0, np.inf
    while moved_by > tolerance and moves < iterations and _change_sides(rows, weights, workspace):
        moved_by = _move(points, workspace, centres)
        moves += 1


@inlined
def _splits_none(first: np.ndarray, second: np.ndarray, names: np.ndarray) -> bool:
    """Whether samples that have the same label in the first clustering have so in the second; `names` is
    scratch."""
    for k in range(names.size):
        names[k] = -1
    for i in range(first.size):
        if names[first[i]] < 0:
            names[first[i]] = second[i]
        elif names[first[i]] != second[i]:
            return False
    return True


@inlined
def _are_same(first: np.ndarray, second: np.ndarray, names: np.ndarray) -> bool:
    """Whether two clusterings differ in names alone; one of them may have empty clusters."""
    return _splits_none(first, second, names) and _splits_none(second, first, names)


@inlined
def _keep(workspace: tuple, centres: np.ndarray) -> None:
    """Make the clusters of this start the best ones so far."""
    for k in range(centres.shape[0]):
        for r in range(centres.shape[1]):
            centres[k, r] = workspace.trial[k, r]
    for i in range(workspace.labels.size):
        workspace.best_labels[i] = workspace.labels[i]


@kernel
def kmeans(
    uniforms: np.ndarray,
    points: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    trials: int,
    iterations: int,
    tolerance: float,
    workspace: tuple,
    centres: np.ndarray,
) -> None:
    """The best of several starts, and of those that find the same clusters the first: centres [K, R].

    points [R, n] and rows [n, R] hold the same samples, weights [n] what each counts. Each further centre of
    a start is the best of several trials, for which it has a row of uniforms float64[starts, 1 + (K - 1)
    trials]. A start ends when no label changes, or when the squared distances that centres move add up to the
    tolerance or less, or after so many iterations. `workspace` is a `KMeansWorkspace`; in the end it has the
    labels, and how near each sample is to its centre.
    """
    fill_norms(points, workspace.norms)
    least = np.inf
    for start in range(uniforms.shape[0]):
        _spread(uniforms[start], points, weights, trials, workspace, workspace.trial)
        _assign(workspace.distances, workspace.labels, workspace.closest)
        _iterate(points, rows, weights, iterations, tolerance, workspace, workspace.trial)
        inertia = _weighted_sum(weights, workspace.closest, workspace.closest)
        # means of the same clusters round otherwise where they were found in another way
        if inertia < least and not (
            start > 0 and _are_same(workspace.labels, workspace.best_labels, workspace.names)
        ):
            least = inertia
            _keep(workspace, centres)
    for k in range(centres.shape[0]):
        workspace.chosen[k] = k
    fill_distances(points, centres, centres.shape[0], workspace)
    _assign(workspace.distances, workspace.labels, workspace.closest)
