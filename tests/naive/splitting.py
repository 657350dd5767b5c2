"""Splits of rows into a group and the rest, one row at a time."""

import math

import numpy as np

from fasturl._kernels.records import blank_sides


def mean_row(rows, mean):
    mean[:] = sum(row.astype(np.float64) for row in rows) / len(rows)


def find_residuals(rows, centre, scale, residuals, squares):
    residuals[:] = [(row - centre) / scale for row in rows]
    squares[:] = sum(np.square(row.astype(np.float64)) for row in residuals)


def divide_sums(groups, total, sides):
    means, products, *_ = sides
    for k, group in enumerate(groups):
        a, b = group.sum(), (~group).sum()
        inner, outer = means[0, k] / np.float32(a), (total - means[0, k]) / np.float32(b)
        means[:, k] = inner, outer
        for place, (left, right) in enumerate(((inner, inner), (outer, outer), (inner, outer))):
            products[place, k] = sum(float(x) * float(y) for x, y in zip(left, right, strict=True))


def score_sides(groups, along_sum, norms, sides):
    _, products, along, scores, centres, variances, thresholds = sides
    for k, group in enumerate(groups):
        a, b = group.sum(), (~group).sum()
        inner, outer, both = products[:, k].astype(np.float64)
        for i, norm in enumerate(norms.astype(np.float64)):
            along_inner = float(along[k, i])
            along_outer = (along_sum[i] - a * along_inner) / b
            to_inner = norm - 2 * along_inner + inner
            to_outer = norm - 2 * along_outer + outer
            score = along_inner - along_outer - both + outer
            scores[k, i] = score - to_inner / max(a - 1, 1) if group[i] else score + to_outer / max(b - 1, 1)
        for side, members in enumerate((group, ~group)):
            centres[side, k] = scores[k, members].mean(dtype=np.float64)
            variances[side, k] = scores[k, members].var(dtype=np.float64)
        gap = max(centres[0, k] - centres[1, k], np.finfo(np.float32).tiny)
        shift = (a * variances[0, k] + b * variances[1, k]) / (a + b) * math.log(b / a) / gap
        thresholds[k] = centres[:, k].mean() + np.clip(shift, -gap / 4, gap / 4)


def settle_groups(rows, columns, norms, total, along_sum, n_steps, sides, groups, steps):
    """One split at a time, by the two references above."""
    steps[:] = n_steps
    for step in range(n_steps):
        moving = np.flatnonzero(steps == n_steps)
        for k in moving:
            group, own = groups[k : k + 1].copy(), blank_sides(1, *rows.shape)
            own.means[0] = rows[group[0]].sum(axis=0)
            divide_sums(group, total, own)
            own.along[:] = own.means[0] @ rows.T
            score_sides(group, along_sum, norms, own)
            groups[k] = own.scores[0] > own.thresholds[0]
            if (groups[k] == group[0]).all():
                steps[k] = step
        for k in moving[steps[moving] == n_steps]:
            settled = np.flatnonzero((steps >= 0) & (steps < n_steps))
            others = {*settled, *np.flatnonzero(steps[:k] == n_steps)}
            if groups[k].all() or not groups[k].any() or any((groups[k] == groups[j]).all() for j in others):
                steps[k] = -1


def farthest_subset(rows, order, first, sizes, limits, sums, best):
    trace, most = limits.noise_trace, limits.most_rows
    n, dimension = rows.shape
    found = []
    for g, size in enumerate(sizes.tolist()):
        for k in range(limits.least_rows, min(size, most) + 1):
            mean = rows[order[first[g] : first[g] + k]].mean(axis=0, dtype=np.float64)
            ways = len(sizes) * min(size, most) * math.comb(size, k)
            u = math.log(ways) + limits.log_inverse_error
            # the squared difference of the means of k rows and of the others, whose sum is 0 with theirs
            gain = k * (n - k) / n * np.square(mean * n / (n - k)).sum()
            limit = trace + 2 * math.sqrt(trace**2 / dimension * u) + 2 * trace / dimension * u
            found.append((gain - limit, g, k, math.log(ways)))
    _, best[0], best[1], choices = max(found, key=lambda entry: entry[0])
    return choices


def best_thresholds(ranked, log_choices, best):
    for k, scores in enumerate(ranked.astype(np.float64)):
        n, greatest, best[k] = len(scores), -math.inf, len(scores)
        total = np.square(scores - scores.mean()).sum()
        for below in range(1, n):
            if scores[below] > scores[below - 1]:
                sides = scores[:below], scores[below:]
                within = sum(np.square(side - side.mean()).sum() for side in sides)
                gain = n * math.log(total / within) - 2 * log_choices[below]
                if gain > greatest:
                    greatest, best[k] = gain, below
