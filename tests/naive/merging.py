"""Slow, obvious reference for `_kernels/merging.py`."""

import math

import numpy as np


def _separation(products, labels, sums, first, second):
    """How many standard deviations two groups of clusters are apart, along the line through their means."""
    members = [np.isin(labels, group) for group in (first, second)]
    if not all(mine.any() for mine in members):
        return math.inf
    ends = [
        sums[group].sum(axis=0) / mine.sum() for group, mine in zip((first, second), members, strict=True)
    ]
    distance = np.linalg.norm(ends[0] - ends[1])
    if distance == 0.0:
        return 0.0
    along = [
        products[:, group].sum(axis=1) / mine.sum()
        for group, mine in zip((first, second), members, strict=True)
    ]
    places = (along[0] - along[1]) / distance
    variance = np.mean([np.var(places[mine]) for mine in members])
    return distance / math.sqrt(variance) if variance > 0 else math.inf


def merge_clusters(products, labels, sums, sizes, least, mean_products, squares, names):
    """Every distance is measured anew at every step, from the clusters that there were at first."""
    exact = products.astype(np.float64)
    groups = [[cluster] for cluster in range(len(names))]
    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        distances = [_separation(exact, labels, sums, groups[a], groups[b]) for a, b in pairs]
        if min(distances) >= least:
            break
        a, b = pairs[int(np.argmin(distances))]
        groups[a] += groups.pop(b)
    for group in groups:
        names[group] = group[0]
