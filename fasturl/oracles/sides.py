"""The two sides of a split, and how far each row lies on its side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.records import blank_sides
from .._kernels.splitting import divide_sums, find_residuals, score_sides, settle_groups
from .likelihoods import Reals
from .projection import Floats

Groups = NDArray[np.bool_]


class Sample(NamedTuple):
    """Rows of a cluster around its mean."""

    rows: Reals  # [n, D]
    norms: Reals  # [n], squared
    squares: Floats  # [D], sum of the squares of all rows of the cluster
    of_bits: bool
    sum: Reals  # [D], of the rows
    along_sum: Reals  # [n], products of the rows with that

    @classmethod
    def around(cls, rows: Reals, centre: Floats, scale: Floats, *, of_bits: bool) -> Sample:
        """Rows [n, D] of a whole cluster, around its centre [D] and divided by the scale [D]."""
        residuals, squares = np.empty_like(rows), np.empty(centre.size)
        find_residuals(rows, centre.astype(np.float32), scale.astype(np.float32), residuals, squares)
        norms, total = np.einsum("nd,nd->n", residuals, residuals), residuals.sum(axis=0)
        return cls(residuals, norms, squares, of_bits, total, residuals @ total)

    def part(self, chosen: NDArray[np.int64]) -> Sample:
        """The chosen rows, still around the mean of the whole cluster."""
        rows = self.rows[chosen]
        total = rows.sum(axis=0)
        return Sample(rows, self.norms[chosen], self.squares, self.of_bits, total, rows @ total)

    def settled(self, groups: Groups, most: int) -> Groups:
        """Distinct groups [K, n], which are used up, once every row has gone to its likelier side, and again,
        `most` times or until none moves: those that are still different [L, n], the first to settle first."""
        columns, steps = np.ascontiguousarray(self.rows.T), np.empty(len(groups), np.int64)
        settle_groups(
            self.rows,
            columns,
            self.norms,
            self.sum,
            self.along_sum,
            most,
            blank_sides(len(groups), *self.rows.shape),
            groups,
            steps,
        )
        order = np.argsort(steps, kind="stable")
        return np.asarray(groups[order[steps[order] >= 0]])


class Sides:
    """Splits of a sample into a group A, for each of the groups [K, n], and the rest B; neither is empty.

    means
        m_A and m_B: [2, K, D].
    scores, thresholds
        How far each row lies towards A [K, n], and from where on it is likelier to be in it [K]: see
        `_kernels.splitting`.
    """

    def __init__(self, sample: Sample, groups: Groups) -> None:
        rows, self.groups = sample.rows, groups
        sides = blank_sides(len(groups), *rows.shape)
        np.matmul(groups.astype(np.float32), rows, out=sides.means[0])
        divide_sums(groups, sample.sum, sides)
        np.matmul(sides.means[0], rows.T, out=sides.along)
        score_sides(groups, sample.along_sum, sample.norms, sides)
        self.means, self.scores, self.thresholds = sides.means, sides.scores, sides.thresholds
        self._centres, self._variances = sides.centres, sides.variances

    def separations(self) -> Floats:
        """Standard deviations between the means, along the line through them: [K]."""
        # the larger one: the tail of a normal is narrow, and lies far from the mean of the rest
        deviations = np.sqrt(self._variances.max(axis=0))
        gaps = self._centres[0] - self._centres[1]
        separations: Floats = np.copysign(np.inf, gaps)
        np.divide(gaps, deviations, out=separations, where=deviations > 0.0)
        return separations

    @property
    def first_is_wider(self) -> NDArray[np.bool_]:
        """Whether A varies more than B along the line through the means: [K]."""
        return np.asarray(self._variances[0] > self._variances[1])

    def likelier(self, rows: Reals) -> Groups:
        """Which of other rows [m, D] are likelier to be in A, for each split: [K, m]."""
        inner, outer = self.means
        gaps = inner - outer
        limits = self.thresholds + np.einsum("kd,kd->k", outer, gaps)
        return np.asarray(gaps @ rows.T > limits[:, None])
