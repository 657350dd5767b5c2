"""The few directions of observations in which their clusters stand apart, and whether clusters do.

Clusters of a Block MDP are as rare as their states are hard to reach: on a lock with 20 levels, random play
shows one of the live states in 2 % of the observations. Principal component analysis looks for large
variance, the leading eigenvectors of E[z z'] where z is an observation that was centred (and scaled), and a
rare cluster has little of it. Fourth moments see it: where each observation counts with its squared length,
E[|z|^2 z z'], as in fourth-order blind identification (Cardoso, 1989), a cluster of frequency p adds about
1/p. In that space k-means counts each point with its squared length too, which gives rare clusters their due.

A bit has two values whatever the state, and a kurtosis of about 1/p where one of them is rare: its own fourth
moment tells of the bit, not of clusters. What bits do together does, so most of what a bit alone adds to the
moments is taken out of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Observations = NDArray[np.generic]
Group = list[int]
"""Clusters that have one name."""

KINDS = ("moments", "pca")

_PIECE = 4096
"""Rows per chunk."""
_MOST_ROWS = 8192
_OWN_SHARE = 0.1
"""Of a bit's own excess kurtosis, what is left in: where no bits go together, the rare ones are the best
guess at rare states."""


class Projection:
    """z = A x + b: centred, scaled where asked, on the leading directions of fourth moments or of variance.

    The data are read in chunks, as they are: a copy of all of them in double precision would be most of a
    run's memory.
    """

    def __init__(self, data: Observations, n_axes: int, scale: bool | str, kind: str) -> None:
        pieces = [data[first : first + _PIECE] for first in range(0, data.shape[0], _PIECE)]
        centre = (
            sum((piece.sum(axis=0, dtype=np.float64) for piece in pieces), np.zeros(data.shape[1]))
            / data.shape[0]
        )
        spread = np.ones_like(centre)
        self.of_bits = all(((piece == 0) | (piece == 1)).all() for piece in (data[:1], *pieces))
        if self.of_bits if scale == "auto" else scale:
            squares = sum(
                (np.square(piece - centre).sum(axis=0) for piece in pieces), np.zeros(data.shape[1])
            )
            deviation = np.sqrt(squares / data.shape[0])
            spread = np.where(deviation > 0, deviation, 1.0)
        moments = np.zeros((data.shape[1], data.shape[1]))
        for piece in pieces:
            z = (piece - centre) / spread
            moments += (z if kind == "pca" else z * np.square(z).sum(axis=1, keepdims=True)).T @ z
        if self.of_bits and kind == "moments":
            variance = centre * (1 - centre)
            excess = variance * (1 - 6 * variance) / spread**4  # E[z^4] - 3 E[z^2]^2 of a bit
            moments -= np.diag((1 - _OWN_SHARE) * data.shape[0] * excess)
        axes = np.linalg.eigh(moments)[1][:, ::-1][:, :n_axes].T
        self.matrix = axes / spread
        self.offset = -self.matrix @ centre
        self.points = np.concatenate([piece @ self.matrix.T for piece in pieces]) + self.offset
        self.weights = None if kind == "pca" else np.square(self.points).sum(axis=1)


def merged(n_clusters: int, distance: Callable[[Group, Group], float], least: float) -> NDArray[np.int64]:
    """A renaming of clusters that gives one name to those less than `least` apart, the nearest first."""
    left: list[Group] = [[cluster] for cluster in range(n_clusters)]
    while len(left) > 1:
        nearest, a, b = min((distance(left[a], left[b]), a, b) for a, b in combinations(range(len(left)), 2))
        if nearest >= least:
            break
        left[a] += left.pop(b)
    names = np.empty(n_clusters, np.int64)
    for name, group in enumerate(left):
        names[group] = name
    return names


def separation(
    points: Floats, labels: NDArray[np.integer], n_clusters: int
) -> Callable[[Group, Group], float]:
    """How many standard deviations lie between the centres of two groups, along the line through them."""
    members = [points[labels == cluster] for cluster in range(n_clusters)]

    def between(a: Group, b: Group) -> float:
        first, second = (np.concatenate([members[cluster] for cluster in group]) for group in (a, b))
        if not (len(first) and len(second)):
            return math.inf
        gap = first.mean(axis=0) - second.mean(axis=0)
        distance = float(np.linalg.norm(gap))
        if distance == 0.0:
            return 0.0
        axis = gap / distance
        variance = float((first @ axis).var() + (second @ axis).var()) / 2
        return distance / math.sqrt(variance) if variance > 0 else math.inf

    return between


def dependence(bits: Observations, labels: NDArray[np.integer], n_clusters: int) -> float:
    """How much bits still go together once the label is known: n r^2 for a pair of bits, which is 1 or less
    by chance.

    This tells clusters of states from those of a single bit, which nothing lies between either. Some thousand
    rows are enough.
    """
    every = -(-bits.shape[0] // _MOST_ROWS)
    rows, member = bits[::every].astype(np.float32), np.eye(n_clusters, dtype=np.float32)[labels[::every]]
    n, dimension = rows.shape
    sizes, ones = member.sum(axis=0), member.T @ rows
    together = rows.T @ rows - ones.T @ (ones / np.maximum(sizes, 1)[:, None])
    mean = rows.mean(axis=0, dtype=np.float64)
    deviation = np.sqrt(mean * (1 - mean))
    deviation[deviation == 0] = 1.0
    correlations = together / n / np.outer(deviation, deviation)
    np.fill_diagonal(correlations, 0.0)
    return float(n * np.square(correlations).sum() / max(1, dimension * (dimension - 1)))
