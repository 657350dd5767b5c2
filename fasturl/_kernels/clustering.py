"""Weighted k-means by Lloyd's iterations, from starts of k-means++.

Everything is summed in the order that is written here, so clusters do not depend on a library or its number
of threads. Samples are the fastest axis of `points`, so that loops over samples become vector instructions.
Reals are float32 or float64, all of one kind.

Where all samples count alike, the same uniforms make the clusters that they make in scikit-learn, but for
rounding and for a cluster that loses all its samples: that one stays where it is, and does not go to the
sample that is farthest from its centre.
"""

import numpy as np
from numba import types
from numba.extending import overload

from .compiling import add_product, fma, inlined, kernel
from .registers import full_like, read_wide, where_greater, wide, write_numbers

_0F = np.float32(0.0)
TOLERANCE = 1e-4
"""The sum of the squared distances that centres move at which a start ends, as a share of the mean variance:
scikit-learn's default."""

_NEAR_SAMPLES = 512
"""Samples whose coordinates stay in the nearest cache, where there are few of these."""


@inlined
def _fill_norms(points: np.ndarray, norms: np.ndarray) -> None:
    """norms[i] = |points[:, i]|^2."""
    for i in range(norms.size):
        norms[i] = 0.0
    for r in range(points.shape[0]):
        for i in range(norms.size):
            norms[i] = add_product(norms[i], points[r, i], points[r, i])


@inlined
def _fill_norm_of(centres: np.ndarray, k: int, norms: np.ndarray) -> None:
    """norms[k] = |centres[k]|^2."""
    norms[k] = 0.0
    for r in range(centres.shape[1]):
        norms[k] = add_product(norms[k], centres[k, r], centres[k, r])


@inlined
def _distances_from(
    points: np.ndarray, centres: np.ndarray, k: int, first: int, end: int, workspace: tuple
) -> None:
    """distances[k, i] = |points[:, i] - centres[k]|^2 for the samples from `first` up to `end`; four
    coordinates at a time, so that a sum is loaded and stored once for four."""
    norm, centre = workspace.centre_norms[k], centres[k]
    norms, out = workspace.norms[first:end], workspace.distances[k][first:end]
    for i in range(out.size):
        out[i] = 0.0
    r = 0
    while r + 3 < centre.size:
        x0, x1 = points[r][first:end], points[r + 1][first:end]
        x2, x3 = points[r + 2][first:end], points[r + 3][first:end]
        c0, c1, c2, c3 = centre[r], centre[r + 1], centre[r + 2], centre[r + 3]
        for i in range(out.size):
            total = add_product(add_product(out[i], x0[i], c0), x1[i], c1)
            out[i] = add_product(add_product(total, x2[i], c2), x3[i], c3)
        r += 4
    while r < centre.size:
        x0, c0 = points[r][first:end], centre[r]
        for i in range(out.size):
            out[i] = add_product(out[i], x0[i], c0)
        r += 1
    for i in range(out.size):
        distance = (norms[i] + norm) - (out[i] + out[i])
        out[i] = distance if distance > 0.0 else 0.0


@inlined
def _four_registers(row: np.ndarray, i: int) -> tuple:
    """The entries of a row from i on."""
    width = wide()
    return (
        read_wide(row, i),
        read_wide(row, i + width),
        read_wide(row, i + 2 * width),
        read_wide(row, i + 3 * width),
    )


@inlined
def _with_products(sums: tuple, x: tuple, c: np.float32) -> tuple:
    """Sums in four registers, and c times what is in four others."""
    (a0, a1, a2, a3), (x0, x1, x2, x3) = sums, x
    return fma(x0, c, a0), fma(x1, c, a1), fma(x2, c, a2), fma(x3, c, a3)


@inlined
def _write_distances(norms: tuple, norm: np.float32, products: tuple, row: np.ndarray, i: int) -> None:
    """Put squared distances into a row from i on: those of samples from a centre, by the norms of both and
    their products."""
    (n0, n1, n2, n3), (a0, a1, a2, a3), width = norms, products, wide()
    none = full_like(a0, _0F)
    d0, d1 = (n0 + norm) - (a0 + a0), (n1 + norm) - (a1 + a1)
    d2, d3 = (n2 + norm) - (a2 + a2), (n3 + norm) - (a3 + a3)
    write_numbers(where_greater(d0, none, d0, none), row, i)
    write_numbers(where_greater(d1, none, d1, none), row, i + width)
    write_numbers(where_greater(d2, none, d2, none), row, i + 2 * width)
    write_numbers(where_greater(d3, none, d3, none), row, i + 3 * width)


@inlined
def _distances_from_two(
    points: np.ndarray, centres: np.ndarray, k: int, m: int, i: int, workspace: tuple
) -> None:
    """`_distances_from` two centres, of the samples of four registers from i on."""
    none = full_like(read_wide(points[0], i), _0F)
    from_k = from_m = none, none, none, none
    for r in range(points.shape[0]):
        x = _four_registers(points[r], i)
        from_k, from_m = _with_products(from_k, x, centres[k, r]), _with_products(from_m, x, centres[m, r])
    norms, of_centres = _four_registers(workspace.norms, i), workspace.centre_norms
    _write_distances(norms, of_centres[k], from_k, workspace.distances[k], i)
    _write_distances(norms, of_centres[m], from_m, workspace.distances[m], i)


@inlined
def _one_centre_at_a_time(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`_fill_distances` of any reals, of so few samples at a time that they stay in the nearest cache."""
    n_samples = points.shape[1]
    for first in range(0, n_samples, _NEAR_SAMPLES):
        for p in range(n):
            end = min(first + _NEAR_SAMPLES, n_samples)
            _distances_from(points, centres, workspace.chosen[p], first, end, workspace)


@inlined
def _two_centres_at_a_time(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`_fill_distances` of float32: memory is asked for few samples at a time, once for all centres, and two
    of them share what is loaded."""
    n_samples, step, chosen = points.shape[1], 4 * wide(), workspace.chosen
    if n_samples < step:
        _one_centre_at_a_time(points, centres, n, workspace)
        return
    for start in range(0, n_samples, step):
        i = min(start, n_samples - step)  # the last ones again, where fewer are left
        for p in range(0, n, 2):
            _distances_from_two(points, centres, chosen[p], chosen[min(p + 1, n - 1)], i, workspace)


def _of_kind(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """`_fill_distances` for one kind of reals: registers hold float32 alone."""
    in_registers = points.dtype == np.float32
    (_two_centres_at_a_time if in_registers else _one_centre_at_a_time)(points, centres, n, workspace)


# without types: Numba refuses an overload whose signature is not to the letter that of the lambda it returns
@overload(_of_kind, jit_options={"forceinline": True})
def _compiled_of_kind(points, centres, n, workspace):  # type: ignore[no-untyped-def]
    if points.dtype == types.float32:
        return lambda points, centres, n, workspace: _two_centres_at_a_time(points, centres, n, workspace)
    return lambda points, centres, n, workspace: _one_centre_at_a_time(points, centres, n, workspace)


@inlined
def _fill_distances(points: np.ndarray, centres: np.ndarray, n: int, workspace: tuple) -> None:
    """distances[k, i] = |points[:, i] - centres[k]|^2 for the first n of the chosen centres k.

    That is |x|^2 + |c|^2 - 2 c . x, which takes half as many instructions as a sum of squares does; 0 where
    it comes out less.
    """
    for p in range(n):
        _fill_norm_of(centres, workspace.chosen[p], workspace.centre_norms)
    _of_kind(points, centres, n, workspace)


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
    _fill_distances(points, centres, 1, workspace)


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
    _fill_distances(points, centres, n_moved, workspace)
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
    _fill_norms(points, workspace.norms)
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
    _fill_distances(points, centres, centres.shape[0], workspace)
    _assign(workspace.distances, workspace.labels, workspace.closest)
