"""Slow, obvious reference for `_kernels/merging.py`."""

import math

import numpy as np


def _separation(first, second):
    """How many standard deviations two groups of rows [n, D] are apart."""
    if not len(first) or not len(second):
        return math.inf
    line = first.mean(axis=0) - second.mean(axis=0)
    distance = np.linalg.norm(line)
    if distance == 0.0:
        return 0.0
    variance = np.mean([np.var(group @ (line / distance)) for group in (first, second)])
    return distance / math.sqrt(variance) if variance > 0 else math.inf


def merge_clusters(rows, labels, sums, sizes, least, axis, apart, names):
    """Every distance is measured anew at every step, from the rows themselves."""
    exact = rows.astype(np.float64)
    groups = [[cluster] for cluster in range(len(names))]
    while len(groups) > 1:
        members = [exact[np.isin(labels, group)] for group in groups]
        pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        distances = [_separation(members[a], members[b]) for a, b in pairs]
        if min(distances) >= least:
            break
        a, b = pairs[int(np.argmin(distances))]
        groups[a] += groups.pop(b)
    for group in groups:
        names[group] = group[0]
