"""Whether what a label looks like depends on the level.

Each half of the trajectories is predicted from the other, an observation by the mean of those that have its
label, of all levels or of its own level, and the squared errors of the two are compared:

    levels look alike         the mean of all levels is the better one, since it rests on more observations;
    levels look different     the mean of the level is, by more than the noise of one of the D coordinates.

A mean of few observations is drawn towards that of all labels, as if that had been seen once more.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import moments as _moments
from ..learners.learner import Floats, Ints

_MOST_COMPARED = 2**15
"""Upper limit on the observations of both halves, where it leaves enough trajectories."""
_ENOUGH_TRAJECTORIES = 256
"""Trajectories that are enough for the mean of a label at one level, however many levels there are."""


class Unexplained(NamedTuple):
    """Sums of squared errors: where labels mean the same at all levels, and where they do not."""

    together: float
    apart: float
    dimension: int

    @property
    def levels_differ(self) -> bool:
        return self.together - self.apart > self.together / self.dimension


def unexplained(observations: NDArray[np.generic], labels: NDArray[np.integer], n_labels: int) -> Unexplained:
    """The errors of labels [n, H+1] of observations [n, H+1, D], each half of the n trajectories being
    predicted from the other."""
    stride = -(-len(labels) // max(_MOST_COMPARED // labels.shape[1], _ENOUGH_TRAJECTORIES))
    numbers = labels.astype(np.int64)
    halves = [_sums(observations, numbers, slice(first, None, 2 * stride), n_labels) for first in (0, stride)]
    pooled_halves = [half.of_all_levels() for half in halves]
    together, apart = (
        first.error_around(second) + second.error_around(first) for first, second in (pooled_halves, halves)
    )
    return Unexplained(together, apart, observations.shape[-1])


class _Sums(NamedTuple):
    """Sums [L, K, D] and numbers [L, K] of observations at each level with each label, and the sum of all
    squares."""

    rows: NDArray[np.uint16] | Floats
    sizes: Floats
    squares: float

    def of_all_levels(self) -> _Sums:
        """What they add up to, as if there were one level."""
        kind = np.uint32 if self.rows.dtype == np.uint16 else np.float64
        rows = self.rows.sum(axis=0, keepdims=True, dtype=kind).astype(np.float64)
        return _Sums(rows, self.sizes.sum(axis=0, keepdims=True), self.squares)

    def error_around(self, training: _Sums) -> float:
        """The sum of squared distances from the means of labels in other observations, as if the mean of
        their level had been observed once more with each label."""
        # no overflow: all bits of a level are no more than its trajectories, whatever their labels
        rows, sizes = training.rows.sum(axis=1, dtype=training.rows.dtype), training.sizes.sum(axis=1)
        mean = rows.sum(axis=0) / max(sizes.sum(), 1.0)
        priors = (rows + mean) / (sizes[:, None] + 1.0)
        error = _moments.error_around(training.rows, training.sizes, priors, self.rows, self.sizes)
        return float(self.squares + error)


def _sums(observations: NDArray[np.generic], labels: Ints, chosen: slice, n_labels: int) -> _Sums:
    """The sums of every level, [H+1, K, D] and [H+1, K], over the chosen trajectories."""
    _, n_levels, dimension = observations.shape
    shape, sizes = (n_levels, n_labels, dimension), np.empty((n_levels, n_labels))
    if observations.dtype == np.uint8:  # bits, which are their own squares
        counts = np.empty(shape, np.uint16)  # which holds more than are ever compared
        _moments.count_by_label(observations, labels, chosen.start, chosen.step, counts, sizes)
        # numbers of 32 bits are added several at a time
        return _Sums(counts, sizes, float(counts.sum(axis=0, dtype=np.uint32).sum()))
    centre = observations[0].mean(axis=0, dtype=np.float64)
    rows, squares = np.empty(shape), np.empty(dimension)
    _moments.sum_by_label(observations, labels, chosen.start, chosen.step, centre, rows, sizes, squares)
    return _Sums(rows, sizes, float(squares.sum()))
