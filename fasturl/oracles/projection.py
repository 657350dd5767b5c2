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
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose parts load when they are used
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._base.row_labels import numbered
from .._kernels import bit_pairs as _bit_pairs
from .._kernels import merging as _merging
from .._kernels import moments as _moments
from .._kernels import splitting as _splitting

Floats = NDArray[np.float64]
Observations = NDArray[np.generic]

KINDS = ("moments", "pca")

_PIECE = 8192
"""Rows per chunk."""
_MOST_ROWS = 8192
_FEW_ROWS = 256
"""Rows that tell how large numbers are."""
_FEW = 32
"""Coordinates of which all eigenvectors take no longer than some, and need nothing of SciPy to be loaded."""
_MOST_COUNTED = 2**23
"""Rows of bytes whose sums are counted."""
_OWN_SHARE = 0.1
"""Of a bit's own excess kurtosis, what is left in: where no bits go together, the rare ones are the best
guess at rare states."""


class Projection:
    """z = A x + b: centred, scaled where asked, on the leading directions of fourth moments or of variance.

    The data are read as they are: a copy of all of them in double precision would be most of a run's memory.
    """

    def __init__(self, data: Observations, n_axes: int, scale: bool | str, kind: str) -> None:
        rows = _summable(data)
        n = len(rows)
        centre = mean_of(rows)
        spread = np.ones_like(centre)
        self.of_bits = are_bits(data)
        if self.of_bits if scale == "auto" else scale:
            if self.of_bits:
                variance = centre * (1.0 - centre)
            else:
                variance = sums_around(rows, np.zeros(n, np.int64), 1, centre)[1] / n
            deviation = np.sqrt(variance)
            spread = np.where(deviation > 0, deviation, 1.0)
        unit = 1.0 if self.of_bits else _unit_of(np.subtract(rows[:: -(-n // _FEW_ROWS)], centre) / spread)
        moments = _products(rows, centre, 1.0 / (unit * spread), by_length=kind != "pca")
        if self.of_bits and kind == "moments":
            variance = centre * (1 - centre)
            excess = variance * (1 - 6 * variance) / spread**4  # E[z^4] - 3 E[z^2]^2 of a bit
            moments -= np.diag((1 - _OWN_SHARE) * n * excess)
        axes = leading_eigenvectors(moments, n_axes)
        self.matrix = axes / spread
        self.offset = -self.matrix @ centre
        matrix = self.matrix.astype(np.float32) if rows.dtype == np.uint8 else self.matrix
        self.points = np.empty((n, len(matrix)))
        for first in range(0, n, _PIECE):
            np.add(
                _reals(rows[first : first + _PIECE]) @ matrix.T,
                self.offset,
                out=self.points[first : first + _PIECE],
            )
        self.weights = None if kind == "pca" else np.einsum("nr,nr->n", self.points, self.points)


def _unit_of(rows: Floats) -> float:
    """A power of two as large as the largest of these numbers: float32 holds the fourth powers of numbers in
    such units, and directions do not depend on them."""
    return float(2.0 ** math.frexp(float(np.abs(rows).max()))[1])


def leading_eigenvectors(matrix: Floats, count: int) -> Floats:
    """The eigenvectors of the greatest eigenvalues of a symmetric matrix [D, D], the greatest first: [count,
    D]."""
    dimension = len(matrix)
    if dimension <= _FEW:
        return np.asarray(np.linalg.eigh(matrix)[1].T[::-1][:count])
    some = dimension - count, dimension - 1
    return np.asarray(scipy.linalg.eigh(matrix, subset_by_index=some, check_finite=False)[1].T[::-1])


def are_bits(observations: Observations) -> bool:
    """Whether observations [n, D] are zeros and ones."""
    if observations.dtype == np.uint8:
        return bool(observations.max(initial=0) <= 1)
    # the first one mostly tells
    return all(bool(((rows == 0) | (rows == 1)).all()) for rows in (observations[:1], observations))


def _summable(data: Observations) -> Observations:
    """The data as kernels take them, which are compiled for three kinds of numbers."""
    kind = data.dtype if data.dtype in (np.uint8, np.float32, np.float64) else np.float64
    return np.ascontiguousarray(data, kind)


def _reals(rows: Observations) -> NDArray[Any]:
    """Rows as products of matrices take them: bytes in single precision, which holds them as they are."""
    return rows.astype(np.float32) if rows.dtype == np.uint8 else rows


def mean_of(rows: Observations) -> Floats:
    """The mean of rows [n, D], of which there is one at least: float64[D]."""
    mean = np.empty(rows.shape[1])
    _splitting.mean_row(_summable(rows), mean)  # NumPy would take three times as long
    return mean


class Sums(NamedTuple):
    """What rows add up to, by label."""

    rows: Floats  # [K, D]
    sizes: Floats  # [K]

    @property
    def means(self) -> Floats:
        return np.asarray(self.rows / np.maximum(self.sizes, 1.0)[:, None])


def sums_of(rows: Observations, labels: NDArray[np.int64], n_labels: int) -> Sums:
    """The sums of rows [n, D] with labels [n]."""
    n, dimension = rows.shape
    if rows.dtype != np.uint8 or n > _MOST_COUNTED:
        return sums_around(rows, labels, n_labels, np.zeros(dimension))[0]
    # the smaller the numbers, the more of them are added at a time
    kind = np.uint16 if n * int(rows.max(initial=0)) < 2**16 else np.int32
    counts, sizes = np.empty((1, n_labels, dimension), kind), np.empty((1, n_labels))
    _moments.count_by_label(np.ascontiguousarray(rows)[:, None], labels[:, None], 0, 1, counts, sizes)
    return Sums(counts[0].astype(np.float64), sizes[0])


def sums_around(
    rows: Observations, labels: NDArray[np.int64], n_labels: int, centre: Floats
) -> tuple[Sums, Floats]:
    """The sums of rows [n, D] with labels [n] around a centre [D], and the squares of all of them, [D]."""
    dimension = rows.shape[1]
    sums, sizes, squares = np.empty((1, n_labels, dimension)), np.empty((1, n_labels)), np.empty(dimension)
    _moments.sum_by_label(_summable(rows)[:, None], labels[:, None], 0, 1, centre, sums, sizes, squares)
    return Sums(sums[0], sizes[0]), squares


def mean_variance(rows: Observations) -> float:
    """The variance of rows [n, D], the mean of all coordinates."""
    _, squares = sums_around(rows, np.zeros(len(rows), np.int64), 1, mean_of(rows))
    return float(squares.sum()) / rows.size


@without_false_alarms
def _products(rows: Observations, centre: Floats, scale: Floats, *, by_length: bool) -> Floats:
    """The sum of z z', or of |z|^2 z z', where z = (x - centre) * scale: [D, D]."""
    # fourth moments need not be as exact as principal components, which are to be those of scikit-learn
    kind = np.float32 if by_length else np.float64
    precision = kind if rows.dtype == np.uint8 else np.float64
    shift, factor = centre.astype(precision), scale.astype(precision)
    # eigenvectors of single precision would lose what lies beside an outlier
    products = np.zeros((centre.size, centre.size))
    piece = np.empty((min(len(rows), _PIECE), centre.size), kind)
    for first in range(0, len(rows), _PIECE):
        standard = piece[: len(rows) - first]
        _moments.standardise(rows[first : first + _PIECE], shift, factor, standard)
        if by_length:
            standard *= np.sqrt(np.einsum("nd,nd->n", standard, standard))[:, None]
        products += standard.T @ standard
    return products


@without_false_alarms
def merged(rows: Observations, labels: NDArray[np.int64], n_clusters: int, least: float) -> NDArray[np.int64]:
    """A renaming of the clusters of rows [n, D] with labels [n] that gives one name to those that lie less
    than `least` standard deviations apart, the nearest first (see `merging`)."""
    rows = _summable(rows)
    sums, names = sums_of(rows, labels, n_clusters), np.empty(n_clusters, np.int64)
    # of bytes they are whole numbers, which single precision holds, or nearly where they are beyond 2^24
    kind = np.float32 if rows.dtype == np.uint8 else np.float64
    products = _reals(rows) @ sums.rows.T.astype(kind)
    mean_products, squares = np.empty((2, n_clusters, n_clusters))
    _merging.merge_clusters(products, labels, sums.rows, sums.sizes, least, mean_products, squares, names)
    return numbered(names)


def bits_together(bits: Observations) -> Floats:
    """How many of the rows [n, D] of zeros and ones have both bits of each pair of coordinates: [D, D]."""
    n, dimension = bits.shape
    stacks, together = np.empty((8 * -(-n // 64), dimension), np.uint8), np.empty((dimension, dimension))
    _bit_pairs.stack_bits(np.ascontiguousarray(bits, np.uint8), stacks)
    _bit_pairs.count_together(np.ascontiguousarray(stacks.T).view(np.uint64), together)
    return together


def dependence(bits: Observations, labels: NDArray[np.integer], n_clusters: int) -> float:
    """How much bits still go together once the label is known: n r^2 for a pair of bits, which is 1 or less
    by chance.

    This tells clusters of states from those of a single bit, which nothing lies between either. Some thousand
    rows are enough.
    """
    every = -(-bits.shape[0] // _MOST_ROWS)
    rows = np.ascontiguousarray(bits[::every], np.uint8)
    n, dimension = rows.shape
    sums = sums_of(rows, labels[::every].astype(np.int64), n_clusters)
    together = bits_together(rows) - sums.rows.T @ sums.means
    mean = sums.rows.sum(axis=0) / n
    deviation = np.sqrt(mean * (1 - mean))
    deviation[deviation == 0] = 1.0
    together *= np.outer(1.0 / deviation, 1.0 / (n * deviation))  # which makes correlations of them
    np.fill_diagonal(together, 0.0)
    return float(n * np.vdot(together, together) / max(1, dimension * (dimension - 1)))
