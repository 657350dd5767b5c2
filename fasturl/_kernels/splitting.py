"""Splits of a sample of n rows into a group A and the rest B, and groups that were known before.

The score of a row r says how far it lies towards A, of a rows, from B, of b rows:

    (r - m_B) . (m_A - m_B) - |r - m_A|^2 / (a - 1)   in A,
    (r - m_B) . (m_A - m_B) + |r - m_B|^2 / (b - 1)   in B.

The last terms are what a row adds to its own score by being part of a mean: every row lies close to that.
"""

import math

import numpy as np

from .compiling import inlined, kernel
from .records import SidesTables, SubsetLimits

_TINY = float(np.finfo(np.float32).tiny)


@kernel
def mean_row(rows: np.ndarray, mean: np.ndarray) -> None:
    """The mean float64[D] of rows [n, D], of which there is one at least."""
    n, dimension = rows.shape
    mean[:] = 0.0
    for i in range(n):
        for d in range(dimension):
            mean[d] += rows[i, d]
    for d in range(dimension):
        mean[d] /= n


@kernel
def find_residuals(
    rows: np.ndarray,
    centre: np.ndarray,
    scale: np.ndarray,
    residuals: np.ndarray,
    squares: np.ndarray,
) -> None:
    """residuals = (rows - centre) / scale, all float32[n, D], centre and scale float32[D]; and the sums of
    their squares by coordinate, squares float64[D]."""
    n, dimension = rows.shape
    squares[:] = 0.0
    for i in range(n):
        for d in range(dimension):
            residual = (rows[i, d] - centre[d]) / scale[d]
            residuals[i, d] = residual
            squares[d] += np.float64(residual) * np.float64(residual)


@kernel
def divide_sums(groups: np.ndarray, total: np.ndarray, sides: SidesTables) -> None:
    """The means m_A and m_B of both sides, and the products of m_A with itself, of m_B with itself, and of
    the two, for each of the groups bool[K, n].

    At first means[0] holds the sums of the rows of A; total float32[D] is the sum of all rows.
    """
    for k in range(groups.shape[0]):
        _divide_sum(groups, total, sides, k)


@inlined
def _divide_sum(groups: np.ndarray, total: np.ndarray, sides: SidesTables, k: int) -> None:
    """`divide_sums` for one of the groups."""
    means, products, a = sides.means, sides.products, _size(groups, k)
    size_a, size_b = np.float32(a), np.float32(groups.shape[1] - a)
    of_a, of_b, of_both = 0.0, 0.0, 0.0
    for d in range(total.size):
        mean_b = (total[d] - means[0, k, d]) / size_b
        mean_a = means[0, k, d] / size_a
        means[0, k, d], means[1, k, d] = mean_a, mean_b
        of_a += np.float64(mean_a * mean_a)
        of_b += np.float64(mean_b * mean_b)
        of_both += np.float64(mean_a * mean_b)
    products[0, k], products[1, k], products[2, k] = of_a, of_b, of_both


@inlined
def _size(groups: np.ndarray, k: int) -> int:
    """How many rows are in a group."""
    size = 0
    for i in range(groups.shape[1]):
        size += groups[k, i]
    return size


@kernel
def score_sides(groups: np.ndarray, along_sum: np.ndarray, norms: np.ndarray, sides: SidesTables) -> None:
    """The scores of the rows for each of the groups bool[K, n], and what follows from them, where `sides` has
    the means, their products, and the rows along the means of A.

    along_sum float32[n] has the products of the rows with the sum of all rows, which is a m_A + b m_B; norms
    float32[n] are |r|^2.
    """
    for k in range(groups.shape[0]):
        _score_group(groups, along_sum, norms, sides, k)


@inlined
def _score_group(
    groups: np.ndarray, along_sum: np.ndarray, norms: np.ndarray, sides: SidesTables, k: int
) -> None:
    """`score_sides` for one of the groups."""
    _, products, along, scores, centres, variances, thresholds = sides
    a, n = _size(groups, k), groups.shape[1]
    own_a = np.float32(1.0 / max(a - 1, 1))
    own_b = np.float32(1.0 / max(n - a - 1, 1))
    constant = products[1, k] - products[2, k]
    of_sum, of_a = np.float32(1.0 / (n - a)), np.float32(a / (n - a))
    for i in range(n):
        along_a = along[k, i]
        along_b = of_sum * along_sum[i] - of_a * along_a
        to_a = norms[i] - along_a - along_a + products[0, k]
        to_b = norms[i] - along_b - along_b + products[1, k]
        scores[k, i] = along_a - along_b + constant + (-to_a * own_a if groups[k, i] else to_b * own_b)
    _describe(scores, groups, k, a, centres, variances)
    thresholds[k] = _threshold(centres, variances, k, a, n - a)


@inlined
def _threshold(centres: np.ndarray, variances: np.ndarray, k: int, a: int, b: int) -> float:
    """Where two normals with these means and their common variance, as frequent as the sides are large, are
    as likely, but between a quarter and three quarters of the way: a rare cluster would else be swamped by
    the tail of a frequent one."""
    spread = (variances[0, k] * a + variances[1, k] * b) / (a + b)
    gap = max(centres[0, k] - centres[1, k], _TINY)
    shift = min(max(spread * math.log(b / a) / gap, -gap / 4), gap / 4)
    return (centres[0, k] + centres[1, k]) / 2 + shift


@inlined
def _describe(
    scores: np.ndarray, groups: np.ndarray, k: int, a: int, centres: np.ndarray, variances: np.ndarray
) -> None:
    """Mean and variance of the scores of the two sides of a split."""
    n = scores.shape[1]
    inside, outside = 0.0, 0.0
    for i in range(n):
        inside += scores[k, i] if groups[k, i] else 0.0
        outside += 0.0 if groups[k, i] else scores[k, i]
    inside /= a
    outside /= n - a
    centres[0, k], centres[1, k] = inside, outside
    within, without = 0.0, 0.0
    for i in range(n):
        difference = scores[k, i] - (inside if groups[k, i] else outside)
        square = difference * difference
        within += square if groups[k, i] else 0.0
        without += 0.0 if groups[k, i] else square
    variances[0, k], variances[1, k] = within / a, without / (n - a)


@kernel
def settle_groups(
    rows: np.ndarray,
    columns: np.ndarray,
    norms: np.ndarray,
    total: np.ndarray,
    along_sum: np.ndarray,
    n_steps: int,
    sides: SidesTables,
    groups: np.ndarray,
    steps: np.ndarray,
) -> None:
    """Put every row on its likelier side of each split, until none moves or so many times; of groups that
    become the same one goes on: one that has settled, or the first.

    Rows float32[n, D] and, the same, columns float32[D, n]; norms, total and along_sum are those of
    `score_sides` and `divide_sums`. The groups bool[K, n] differ, and none is empty or has all rows. steps
    int64[K]: after how many times no row of a group moved, n_steps where some did to the end, and -1 where
    the group ended: it had no row or all, or became the same as another.
    """
    steps[:] = n_steps
    for step in range(n_steps):
        for k in range(groups.shape[0]):
            if steps[k] == n_steps:
                _sum_group(rows, groups, sides.means[0], k)
                _divide_sum(groups, total, sides, k)
                _look_along(columns, sides.means[0], sides.along, k)
                _score_group(groups, along_sum, norms, sides, k)
                if not _move_rows(sides.scores, sides.thresholds[k], groups, k):
                    steps[k] = step
        for k in range(groups.shape[0]):
            if steps[k] == n_steps and _has_ended(groups, steps, n_steps, k):
                steps[k] = -1


@inlined
def _sum_group(rows: np.ndarray, groups: np.ndarray, sums: np.ndarray, k: int) -> None:
    """sums[k] = the sum of the rows of a group."""
    sums[k] = np.float32(0.0)
    for i in range(rows.shape[0]):
        if groups[k, i]:
            for d in range(rows.shape[1]):
                sums[k, d] += rows[i, d]


@inlined
def _look_along(columns: np.ndarray, directions: np.ndarray, along: np.ndarray, k: int) -> None:
    """along[k] = the products of all rows with direction k."""
    along[k] = np.float32(0.0)
    for d in range(columns.shape[0]):
        share = directions[k, d]
        for i in range(columns.shape[1]):
            along[k, i] += share * columns[d, i]


@inlined
def _move_rows(scores: np.ndarray, threshold: float, groups: np.ndarray, k: int) -> bool:
    """Let a group have the rows above the threshold; returns whether any has moved."""
    moved = False
    for i in range(groups.shape[1]):
        above = scores[k, i] > threshold
        moved |= above != groups[k, i]
        groups[k, i] = above
    return moved


@inlined
def _has_ended(groups: np.ndarray, steps: np.ndarray, n_steps: int, k: int) -> bool:
    """Whether a group has no row, or all, or is the same as one before it or one that has settled."""
    size = _size(groups, k)
    if size == 0 or size == groups.shape[1]:
        return True
    for j in range(groups.shape[0]):
        if 0 <= steps[j] < n_steps or (j < k and steps[j] == n_steps):
            i = 0
            while i < groups.shape[1] and groups[j, i] == groups[k, i]:
                i += 1
            if i == groups.shape[1]:
                return True
    return False


@inlined
def _log_choose(n: int, k: int) -> float:
    """log (n choose k)."""
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)


@kernel
def farthest_subset(
    rows: np.ndarray,
    order: np.ndarray,
    first: np.ndarray,
    sizes: np.ndarray,
    limits: SubsetLimits,
    sums: np.ndarray,
    best: np.ndarray,
) -> float:
    """Of each group g the first rows in order, order[first[g]], ..., up to sizes[g] of them, which are the
    outermost: the number of the group and how many of its rows lie farthest above what noise can reach
    (best int64[2]), and the logarithm of the number of sets that they were chosen among.

    rows float32[n, D] lie around their mean; sums float32[D] is scratch.
    """
    trace, most = limits.noise_trace, limits.most_rows
    n, dimension = rows.shape
    best[0], best[1] = 0, 0
    farthest, chosen_among = -math.inf, 0.0
    for g in range(first.size):
        for d in range(dimension):
            sums[d] = np.float32(0.0)
        for k in range(1, min(sizes[g], most) + 1):
            row = order[first[g] + k - 1]
            for d in range(dimension):
                sums[d] += rows[row, d]
            if k < limits.least_rows:
                continue
            square = 0.0
            for d in range(dimension):
                square += sums[d] * sums[d]
            choices = math.log(first.size) + math.log(min(sizes[g], most)) + _log_choose(sizes[g], k)
            u = choices + limits.log_inverse_error
            noise = trace * (1.0 + 2.0 * math.sqrt(u / dimension) + 2.0 * u / dimension)
            excess = square * n / (k * (n - k)) - noise
            if excess > farthest:
                farthest, chosen_among = excess, choices
                best[0], best[1] = g, k
    return chosen_among


@kernel
def best_thresholds(ranked: np.ndarray, log_choices: np.ndarray, best: np.ndarray) -> None:
    """For each direction, with scores ranked float32[K, n] from the least, the number of those below the
    threshold (best int64[K]) whose likelihood, less what it takes to choose so many rows (log_choices
    float64[n], by their number), is greatest; n where all scores are the same."""
    n_directions, n = ranked.shape
    for k in range(n_directions):
        mean = 0.0
        for i in range(n):
            mean += ranked[k, i]
        mean /= n
        total = 0.0
        for i in range(n):
            difference = ranked[k, i] - mean
            total += difference * difference
        best[k] = n
        greatest, running = -math.inf, 0.0
        for below in range(1, n):
            running += ranked[k, below - 1] - mean
            if ranked[k, below] <= ranked[k, below - 1]:
                continue
            between = running * running * n / (below * (n - below))
            within = max(total - between, 1e-9 * total)
            gain = n * math.log1p(between / within) - 2.0 * log_choices[below]
            if gain > greatest:
                greatest, best[k] = gain, below
