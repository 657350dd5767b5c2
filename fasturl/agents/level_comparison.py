"""Whether what a label looks like depends on the level.

Each half of the trajectories is predicted from the other, an observation by the mean of those that have its
label, of all levels or of its own level, and the squared errors of the two are compared:

    levels look alike         the mean of all levels is the better one, since it rests on more observations;
    levels look different     the mean of the level is, by more than the noise of one of the D coordinates.

A mean of few observations is drawn towards that of all labels, as if that had been seen once more.

Labels of levels by themselves and those of one decoder are compared by the determinants of the matrices of
these errors, as the likelihood of normal noise has it: whatever units coordinates have and however they are
mixed, a cluster that is split where noise is largest counts for no more than where it is least.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._kernels import moments as _moments
from ..learners.learner import Floats, Ints

_MOST_COMPARED = 2**15
"""Upper limit on the observations of both halves, where it leaves enough trajectories."""
_ENOUGH_TRAJECTORIES = 256
"""Trajectories that are enough for the mean of a label at one level, however many levels there are."""
_MOST_COPIED, _FEW_TRAJECTORIES = 2**22, 16
"""Upper limit on the numbers of the observations that are copied to be compared, unless those trajectories
are so few."""
_ONE_COORDINATE = math.log(2.0)
"""What the logarithm of the determinant grows by if the errors of one coordinate become twice as large."""


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
    stride = -(-len(labels) // _most_trajectories(labels.shape[1]))
    numbers = labels.astype(np.int64)
    halves = [_sums(observations, numbers, slice(first, None, 2 * stride), n_labels) for first in (0, stride)]
    pooled_halves = [half.of_all_levels() for half in halves]
    together, apart = (
        first.error_around(second) + second.error_around(first) for first, second in (pooled_halves, halves)
    )
    return Unexplained(together, apart, observations.shape[-1])


@without_false_alarms
def predict_better(
    separate_labels: NDArray[np.integer],
    pooled_labels: NDArray[np.integer],
    observations: NDArray[np.generic],
) -> bool:
    """Whether labels [n, H+1] of each level by itself predict observations [n, H+1, D] better than labels
    that mean the same at all levels, by more than the noise of one coordinate."""
    n, n_levels, dimension = observations.shape
    most = min(_most_trajectories(n_levels), max(_MOST_COPIED // (n_levels * dimension), _FEW_TRAJECTORIES))
    chosen = slice(None, None, -(-n // most))
    rows = _standardised(observations[chosen])
    together = _log_spread(rows, pooled_labels[chosen], np.zeros(n_levels, np.int64))
    apart = _log_spread(rows, separate_labels[chosen], np.arange(n_levels))
    return together - apart > _ONE_COORDINATE


def _standardised(observations: NDArray[np.generic]) -> NDArray[np.float32]:
    """Observations [n, L, D] around their mean, all coordinates of which have the variance 1, or 0."""
    axes = (0, 1)
    rows = np.subtract(observations, observations.mean(axis=axes, dtype=np.float64), dtype=np.float32)
    largest = np.abs(rows).max(axis=axes)
    rows /= np.where(largest > 0.0, largest, 1.0)  # squares of any unit can be added up
    deviations = np.sqrt(np.square(rows).mean(axis=axes, dtype=np.float64)).astype(np.float32)
    return np.asarray(rows / np.where(largest > 0.0, deviations, 1.0))


def _log_spread(rows: NDArray[np.float32], labels: NDArray[np.integer], kinds: Ints) -> float:
    """The logarithm of the determinant of the errors of rows [n, L, D] of variance 1, each half of which is
    predicted from the other by labels [n, L] that mean the same at all levels of one kind [L]. It is as if
    each coordinate had been seen once more, without regard to the others."""
    from ..oracles.projection import sums_of

    n_labels, n_kinds, dimension = int(labels.max()) + 1, int(kinds.max()) + 1, rows.shape[2]
    groups, errors = kinds * n_labels + labels.astype(np.int64), np.empty_like(rows)
    for predicted, training in ((0, 1), (1, 0)):
        trained_on = rows[training::2].reshape(-1, dimension)
        sums = sums_of(trained_on, groups[training::2].ravel(), n_kinds * n_labels)
        of_kinds = sums_of(trained_on, groups[training::2].ravel() // n_labels, n_kinds)
        priors = np.repeat(of_kinds.means, n_labels, axis=0)
        means = (sums.rows + priors) / (sums.sizes + 1.0)[:, None]
        errors[predicted::2] = rows[predicted::2] - means.astype(np.float32)[groups[predicted::2]]
    flat = errors.reshape(-1, dimension)
    return float(np.linalg.slogdet((flat.T @ flat).astype(np.float64) + np.eye(dimension))[1])


def _most_trajectories(n_levels: int) -> int:
    """Upper limit on the trajectories of so many levels that are compared."""
    return max(_MOST_COMPARED // n_levels, _ENOUGH_TRAJECTORIES)


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
