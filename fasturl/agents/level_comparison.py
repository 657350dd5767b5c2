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

_COMPARED = 2**15
"""Observations that are looked at, where there are more."""
_LEAST_COMPARED = 256
"""Trajectories that are looked at, where there are as many: enough for the mean of a label at one level."""


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
    every = -(-len(labels) // max(_COMPARED // labels.shape[1], _LEAST_COMPARED))
    numbers = labels.astype(np.int64)
    halves = [_sums(observations, numbers, slice(first, None, 2 * every), n_labels) for first in (0, every)]
    together = apart = 0.0
    for known, tested in (halves, halves[::-1]):
        of_all = _Sums(known.rows.sum(axis=0), known.sizes.sum(axis=0), known.squares)
        everything = of_all.rows.sum(axis=0) / max(of_all.sizes.sum(), 1.0)
        of_level = (known.rows.sum(axis=1) + everything) / (known.sizes.sum(axis=1)[:, None] + 1.0)
        together += tested.error(of_all.means(everything)[None])
        apart += tested.error(known.means(of_level[:, None]))
    return Unexplained(together, apart, observations.shape[-1])


class _Sums(NamedTuple):
    """Sums [..., D] and numbers [...] of observations with each label, and the sum of all squares."""

    rows: Floats
    sizes: Floats
    squares: float

    def means(self, of_more: Floats) -> Floats:
        """The mean of each label, if that of more observations had been seen once besides."""
        return np.asarray((self.rows + of_more) / (self.sizes[..., None] + 1.0))

    def error(self, means: Floats) -> float:
        """The sum of squared distances from the means [..., D] of the labels."""
        products = np.einsum("lkd,lkd->", self.rows, np.broadcast_to(means, self.rows.shape))
        return float(self.squares - 2.0 * products + np.sum(self.sizes * np.square(means).sum(axis=-1)))


def _sums(observations: NDArray[np.generic], labels: Ints, chosen: slice, n_labels: int) -> _Sums:
    """The sums of every level, [H+1, K, D] and [H+1, K], over the chosen trajectories."""
    _, n_levels, dimension = observations.shape
    shape, sizes = (n_levels, n_labels, dimension), np.empty((n_levels, n_labels))
    if observations.dtype == np.uint8:  # bits, which are their own squares
        counts = np.empty(shape, np.int32)
        _moments.count_by_label(observations, labels, chosen.start, chosen.step, counts, sizes)
        return _Sums(counts.astype(np.float64), sizes, float(counts.sum()))
    centre = observations[0].mean(axis=0, dtype=np.float64)
    rows, squares = np.empty(shape), np.empty(dimension)
    _moments.sum_by_label(observations, labels, chosen.start, chosen.step, centre, rows, sizes, squares)
    return _Sums(rows, sizes, float(squares.sum()))
