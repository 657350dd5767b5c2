"""Weighted k-means by Lloyd's iterations, from starts of k-means++.

Everything is summed in the order that is written here, so clusters do not depend on a library or its number
of threads. Samples are the fastest axis of `points`, so that loops over samples become vector instructions.
Reals are float32 or float64, all of one kind.
"""

import numpy as np
from numba import types
from numba.extending import overload

from .compiling import add_square, fma, inlined, kernel
from .registers import read_wide, wide, write_numbers
from .rng import below, uniform

_ROUNDING = 1e-6
"""Share of an inertia by which a start must be better than another: the same clusters, found in another way,
have means that round otherwise."""


@inlined
def _square_distances(points: np.ndarray, centres: np.ndarray, k: int, out: np.ndarray) -> None:
    """out[k, i] = |points[:, i] - centres[k]|^2, four coordinates at a time, so that a sum is
    loaded and stored once for four."""
    n_axes, n_samples = points.shape
    for i in range(n_samples):
        out[k, i] = 0.0
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
            out[k, i] = add_square(add_square(add_square(add_square(out[k, i], g0), g1), g2), g3)
        r += 4
    while r < n_axes:
        c0 = centres[k, r]
        for i in range(n_samples):
            out[k, i] = add_square(out[k, i], points[r, i] - c0)
        r += 1


@inlined
def _four_registers(points: np.ndarray, r: int, i: int, c: np.float32) -> tuple:
    """How far the samples of four registers from i on lie from a centre along one axis."""
    row, width = points[r], wide()
    return (
        read_wide(row, i) - c,
        read_wide(row, i + width) - c,
        read_wide(row, i + 2 * width) - c,
        read_wide(row, i + 3 * width) - c,
    )


@inlined
def _few_samples_at_a_time(
    points: np.ndarray, centres: np.ndarray, stale: np.ndarray, out: np.ndarray
) -> None:
    """`_square_distances` from every stale centre, for four registers of samples at a time, which memory is
    asked for once for all centres."""
    n_samples, width = points.shape[1], wide()
    step = 4 * width
    for start in range(0, n_samples, step):
        i = min(start, n_samples - step)  # the last ones again, where fewer are left
        for k in range(centres.shape[0]):
            if stale[k]:
                a, b, c, d = _four_registers(points, 0, i, centres[k, 0])
                a, b, c, d = a * a, b * b, c * c, d * d
                for r in range(1, points.shape[0]):
                    e, f, g, h = _four_registers(points, r, i, centres[k, r])
                    a, b, c, d = fma(e, e, a), fma(f, f, b), fma(g, g, c), fma(h, h, d)
                row = out[k]
                write_numbers(a, row, i)
                write_numbers(b, row, i + width)
                write_numbers(c, row, i + 2 * width)
                write_numbers(d, row, i + 3 * width)


@inlined
def _one_centre_at_a_time(
    points: np.ndarray, centres: np.ndarray, stale: np.ndarray, out: np.ndarray
) -> None:
    """`_square_distances` from every stale centre."""
    for k in range(centres.shape[0]):
        if stale[k]:
            _square_distances(points, centres, k, out)


@inlined
def _single_distances(points: np.ndarray, centres: np.ndarray, stale: np.ndarray, out: np.ndarray) -> None:
    """`_square_distances` of float32 from every stale centre."""
    if points.shape[1] < 4 * wide():
        _one_centre_at_a_time(points, centres, stale, out)
    else:
        _few_samples_at_a_time(points, centres, stale, out)


def _stale_distances(points: np.ndarray, centres: np.ndarray, stale: np.ndarray, out: np.ndarray) -> None:
    """`_square_distances` from every stale centre; registers hold float32 alone."""
    of_kind = _single_distances if points.dtype == np.float32 else _one_centre_at_a_time
    of_kind(points, centres, stale, out)


# without types: Numba refuses an overload whose signature is not to the letter that of the lambda it returns
@overload(_stale_distances, jit_options={"forceinline": True})
def _compiled_distances(points, centres, stale, out):  # type: ignore[no-untyped-def]
    if points.dtype == types.float32:
        return lambda points, centres, stale, out: _single_distances(points, centres, stale, out)
    return lambda points, centres, stale, out: _one_centre_at_a_time(points, centres, stale, out)


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
def _draw(rng: np.ndarray, weights: np.ndarray, closest: np.ndarray, total: float) -> int:
    """A sample, in proportion to its weight and to its squared distance from the nearest centre; `total` is
    the sum of these."""
    goal = uniform(rng) * total
    chosen = 0
    running = np.float64(weights[0] * closest[0])
    while running <= goal and chosen < closest.size - 1:
        chosen += 1
        running += weights[chosen] * closest[chosen]
    return chosen


@inlined
def _put_centre(points: np.ndarray, i: int, centres: np.ndarray, k: int, distances: np.ndarray) -> None:
    """Make sample i the centre k."""
    for r in range(points.shape[0]):
        centres[k, r] = points[r, i]
    _square_distances(points, centres, k, distances)


@inlined
def _spread(
    rng: np.ndarray,
    points: np.ndarray,
    weights: np.ndarray,
    trials: int,
    centres: np.ndarray,
    closest: np.ndarray,
    distances: np.ndarray,
) -> None:
    """k-means++ (Arthur and Vassilvitskii, 2007): the first centre is any sample, each further one is drawn
    among those far from the centres so far; of several trials the one that leaves the least is kept."""
    n_samples = closest.size
    _put_centre(points, below(rng, n_samples), centres, 0, distances)
    for i in range(n_samples):
        closest[i] = distances[0, i]
    for k in range(1, centres.shape[0]):
        best, least, total = -1, np.inf, _weighted_sum(weights, closest, closest)
        for _ in range(trials):
            chosen = _draw(rng, weights, closest, total)
            left = 0.0
            if trials > 1:
                _put_centre(points, chosen, centres, k, distances)
                left = _weighted_sum(weights, closest, distances[k])
            if best < 0 or left < least:
                best, least = chosen, left
        _put_centre(points, best, centres, k, distances)
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
            changed = stale[new] = True
            members[new] += weights[i] > 0.0
            totals[new] += weights[i]
            for r in range(rows.shape[1]):
                sums[new, r] += np.float64(weights[i]) * np.float64(rows[i, r])
            if old >= 0:
                stale[old] = True
                members[old] -= weights[i] > 0.0
                totals[old] -= weights[i]
                for r in range(rows.shape[1]):
                    sums[old, r] -= np.float64(weights[i]) * np.float64(rows[i, r])
            last_labels[i] = new
    return changed


@inlined
def _move(points: np.ndarray, workspace: tuple, centres: np.ndarray) -> None:
    """Put the centre of every stale cluster at the mean of its samples; one of no weight stays where it is.
    Then label every sample anew."""
    stale = workspace.stale
    for k in range(centres.shape[0]):
        stale[k] = stale[k] and workspace.members[k] > 0
        if stale[k]:
            for r in range(centres.shape[1]):
                centres[k, r] = workspace.sums[k, r] / workspace.totals[k]
    _stale_distances(points, centres, stale, workspace.distances)
    for k in range(centres.shape[0]):
        stale[k] = False
    _assign(workspace.distances, workspace.labels, workspace.closest)


@inlined
def _iterate(
    points: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    iterations: int,
    workspace: tuple,
    centres: np.ndarray,
) -> None:
    """Lloyd's iterations from labels that are those of the centres, until no label changes.

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
    moves = 0
    while _change_sides(rows, weights, workspace) and moves < iterations:
        _move(points, workspace, centres)
        moves += 1


@kernel
def kmeans(
    rng: np.ndarray,
    points: np.ndarray,
    rows: np.ndarray,
    weights: np.ndarray,
    starts: int,
    trials: int,
    iterations: int,
    workspace: tuple,
    centres: np.ndarray,
) -> None:
    """The best of several starts, the first of equals: centres [K, R].

    points [R, n] and rows [n, R] hold the same samples, weights [n] what each counts. Each further centre of
    a start is the best of several trials; a start ends when no label changes, or after so many iterations.
    `workspace` is a `KMeansWorkspace`; in the end it has the labels, and how near each sample is to its
    centre.
    """
    least = np.inf
    for _ in range(starts):
        _spread(rng, points, weights, trials, workspace.trial, workspace.closest, workspace.distances)
        _assign(workspace.distances, workspace.labels, workspace.closest)
        _iterate(points, rows, weights, iterations, workspace, workspace.trial)
        inertia = _weighted_sum(weights, workspace.closest, workspace.closest)
        if inertia < (1.0 - _ROUNDING) * least:
            least = inertia
            for k in range(centres.shape[0]):
                for r in range(centres.shape[1]):
                    centres[k, r] = workspace.trial[k, r]
    for k in range(centres.shape[0]):
        _square_distances(points, centres, k, workspace.distances)
    _assign(workspace.distances, workspace.labels, workspace.closest)
