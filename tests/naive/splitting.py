"""Splits of rows into a group and the rest, one row at a time."""

import math

import numpy as np


def score_sides(rows, group):
    """Scores [n] of one split of rows [n, D], and the mean and variance of those of either side."""
    rows = np.asarray(rows, np.float64)
    inner, outer = rows[group].mean(axis=0), rows[~group].mean(axis=0)
    scores = []
    for row, in_group in zip(rows, group, strict=True):
        score = (row - outer) @ (inner - outer)
        if in_group:
            score -= (row - inner) @ (row - inner) / max(group.sum() - 1, 1)
        else:
            score += (row - outer) @ (row - outer) / max((~group).sum() - 1, 1)
        scores.append(score)
    scores = np.array(scores)
    sides = scores[group], scores[~group]
    return scores, [side.mean() for side in sides], [side.var() for side in sides]


def farthest_subset(rows, groups, limits):
    """Which rows of which group lie farthest above what noise can reach, and log of the number of choices.
    groups are lists of row numbers, the outermost first."""
    trace, patience, least, most = limits
    n, dimension = rows.shape
    found = []
    for group in groups:
        for k in range(least, min(len(group), most) + 1):
            mean = rows[group[:k]].mean(axis=0, dtype=np.float64)
            ways = len(groups) * min(len(group), most) * math.comb(len(group), k)
            u = math.log(ways) + patience
            # the squared difference of the means of k rows and of the others, whose sum is 0 with theirs
            gain = k * (n - k) / n * np.square(mean * n / (n - k)).sum()
            limit = trace + 2 * math.sqrt(trace**2 / dimension * u) + 2 * trace / dimension * u
            found.append((gain - limit, group[:k], math.log(ways)))
    return max(found, key=lambda entry: entry[0])[1:]


def best_threshold(scores):
    """The scores above the threshold of greatest likelihood, less what it takes to choose so many: [n]."""
    n = len(scores)
    best, above = -math.inf, np.zeros(n, bool)
    for threshold in np.unique(scores)[:-1]:
        split = scores > threshold
        within = sum(((side - side.mean()) ** 2).sum() for side in (scores[split], scores[~split]))
        total = ((scores - scores.mean()) ** 2).sum()
        gain = n * math.log(total / within) - 2 * math.log(math.comb(n, int(split.sum())))
        if gain > best:
            best, above = gain, split
    return above
