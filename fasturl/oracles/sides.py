"""The two sides of a split, and how far each row lies on its side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.splitting import score_sides
from .likelihoods import Reals
from .projection import Floats

Groups = NDArray[np.bool_]


class Sample(NamedTuple):
    """Rows of a cluster around its mean."""

    rows: Reals  # [n, D]
    norms: Reals  # [n], squared
    squares: Floats  # [D], sum of the squares of all rows of the cluster
    of_bits: bool

    def part(self, chosen: NDArray[np.int64]) -> Sample:
        return self._replace(rows=self.rows[chosen], norms=self.norms[chosen])


class Sides:
    """Splits of a sample into a group A, for each of the groups [K, n], and the rest B; neither is empty.

    means
        m_A and m_B: [2, K, D].
    scores
        How far each row lies towards A [K, n]: see `_kernels.splitting`.
    """

    def __init__(self, sample: Sample, groups: Groups) -> None:
        rows, self.groups = sample.rows, groups
        members = groups.astype(np.float32)
        a = members.sum(axis=1)
        self._sizes = sizes = np.stack([a, np.float32(len(rows)) - a])
        inner, outer = self.means = np.empty((2, len(groups), rows.shape[1]), np.float32)
        np.matmul(members, rows, out=inner)
        np.subtract(rows.sum(axis=0), inner, out=outer)
        self.means /= sizes[:, :, None]
        products = np.stack([_products(inner, inner), _products(outer, outer), _products(inner, outer)])
        self.scores = np.empty(groups.shape, np.float32)
        self._centres, self._variances = np.empty((2, 2, len(groups)))
        along = self.means @ rows.T
        score_sides(groups, along, products, sample.norms, self.scores, self._centres, self._variances)

    def separations(self) -> Floats:
        """Standard deviations between the means, along the line through them: [K]."""
        # the larger one: the tail of a normal is narrow, and lies far from the mean of the rest
        deviations = np.sqrt(self._variances.max(axis=0))
        gaps = self._centres[0] - self._centres[1]
        apart: Floats = np.copysign(np.inf, gaps)
        np.divide(gaps, deviations, out=apart, where=deviations > 0.0)
        return apart

    def thresholds(self) -> Floats:
        """The score above which a row is likelier to be in A, for each split: of normals with these means,
        their common variance, and as frequent as the sides are large, but between a quarter and three
        quarters of the way. A rare cluster would else be swamped by the tail of a frequent one."""
        a, b = self._sizes
        spread = (self._variances * self._sizes).sum(axis=0) / (a + b)
        gaps = np.maximum(self._centres[0] - self._centres[1], np.finfo(np.float32).tiny)
        shifts = np.clip(spread * np.log(b / a) / gaps, -gaps / 4, gaps / 4)
        return np.asarray(self._centres.sum(axis=0) / 2 + shifts)

    def moved(self) -> Groups:
        """Every row on its likelier side: groups [K, n]."""
        return np.asarray(self.scores > self.thresholds()[:, None])

    def likelier(self, rows: Reals) -> Groups:
        """Which of other rows [m, D] are likelier to be in A, for each split: [K, m]."""
        inner, outer = self.means
        gaps = inner - outer
        limits = self.thresholds() + _products(outer, gaps)
        return np.asarray(gaps @ rows.T > limits[:, None])


def _products(left: Reals, right: Reals) -> Reals:
    """The scalar product of each row [K, D] with its counterpart: [K]."""
    return np.asarray(np.einsum("kd,kd->k", left, right))
