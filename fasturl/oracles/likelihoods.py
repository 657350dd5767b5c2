"""Clusters as likelihoods: the scores that assign an observation to a cluster, in the space of observations.

    reals   the label k of least (x - m_k)' C^-1 (x - m_k), C being the covariance that the clusters have in
            common, shrunk towards a multiple of the identity with weight D / n (as Ledoit and Wolf, 2004);
    bits    the label of greatest likelihood, bits being independent given the label. A bit whose share in a
            cluster differs from that in all clusters by no more than chance has the share of all, and a
            small cluster that has no bit of its own is none.

A decoder of such scores lets all labels weigh the same: how frequent a state is depends on the policy, and
policies change. Clusters that somebody has found, in a projection perhaps, become such a decoder by
`refined`, which first moves the borders between them to where a mixture of such clusters has them, each as
frequent as it is: expectation and maximisation in turn (Dempster, Laird and Rubin, 1977).
"""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # whose parts load when they are used
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._kernels.mixtures import share_rows
from ..decoders.affine import AffineDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .projection import Floats, Observations, are_bits, mean_of, sums_around, sums_of

Reals = NDArray[np.float32]
RowLabels = NDArray[np.int64]
"""The cluster or the group of each row of a sample: [n]."""

_PSEUDO_COUNT = 0.5
"""Ones, and zeros, of each bit that every cluster is taken to have shown before the first observation."""
_LEAST_NOISE = 1e-6
"""Lower limit on the noise of a coordinate, as a share of its variance."""
_ROUNDING = 1e-12
"""Share of a sum of squares below which a difference of two such sums is rounding alone."""
_UNEVEN = 16.0
"""Noise is uneven where some coordinate has more than so many times the median of all variances."""
_ROWS_PER_COORDINATE = 32
"""Lower limit on the observations for each coordinate from which the covariance of the noise is estimated."""
_MOST_ITERATIONS = 30
"""Iterations after which borders are taken as they are."""


class Clusters:
    """What scores need to know of clusters of n rows: their sizes [K], and the sums of their rows [K, D]."""

    def __init__(self, sums: Floats, sizes: Floats, n: int, *, of_bits: bool) -> None:
        self.sums, self.sizes, self._n, self._of_bits = sums, sizes, n, of_bits

    @property
    def frequencies(self) -> Floats:
        return np.asarray(np.maximum(self.sizes, np.finfo(np.float32).tiny) / self._n)

    @property
    def centres(self) -> Floats:
        return np.asarray(self.sums / np.maximum(self.sizes, np.finfo(np.float32).tiny)[:, None])

    def scores(self, second_moments: Floats | None) -> tuple[Floats, Floats]:
        """Weights [K, D] and bias [K] of log-likelihoods, up to what all labels share. Of reals it takes the
        second moments [D, D] of the rows."""
        if self._of_bits:
            return self._bit_scores()
        assert second_moments is not None
        return self._real_scores(second_moments)

    def _real_scores(self, second_moments: Floats) -> tuple[Floats, Floats]:
        centres, n = self.centres, self._n
        dimension = centres.shape[1]
        covariance = (second_moments - centres.T @ self.sums) / max(n - len(centres), 1)
        shrinkage = min(1.0, dimension / n)
        least = np.finfo(np.float32).eps * float(np.square(centres).mean()) or 1.0
        sphere = max(covariance.trace() / dimension, least)
        covariance = (1.0 - shrinkage) * covariance + shrinkage * sphere * np.eye(dimension)
        weights = np.linalg.solve(covariance, centres.T).T
        return weights, -np.einsum("kd,kd->k", weights, centres) / 2

    def _bit_scores(self) -> tuple[Floats, Floats]:
        ones, sizes, n = self.sums, self.sizes[:, None], self.sizes.sum()

        def share(number: Floats, of: Any) -> Floats:
            return np.asarray((number + _PSEUDO_COUNT) / (of + 2 * _PSEUDO_COUNT))

        everywhere, here = share(ones.sum(axis=0), n), share(ones, sizes)
        elsewhere = share(ones.sum(axis=0) - ones, n - sizes)
        gains = 2.0 * (sizes * divergence(here, everywhere) + (n - sizes) * divergence(elsewhere, everywhere))
        # the greatest of D chi-squared gains is about 2 log D by chance
        differs = gains > 2.0 + 2.0 * np.log(ones.shape[1])
        weights, bias = log_odds(np.where(differs, here, everywhere))
        is_none = ~differs.any(axis=1)
        is_none[self.sizes.argmax()] = False
        bias[is_none] = -np.inf
        return weights, bias


def clusters_of(rows: Observations, labels: RowLabels, n_clusters: int, *, of_bits: bool) -> Clusters:
    """Clusters that have each row whole."""
    return Clusters(*sums_of(rows, labels, n_clusters), len(rows), of_bits=of_bits)


def same_clusters(first: NDArray[np.integer], second: NDArray[np.integer]) -> bool:
    """Whether two labels [n] of the same rows differ in name alone."""
    n_first, n_second = int(first.max()) + 1, int(second.max()) + 1
    pairs = np.bincount(first * n_second + second, minlength=n_first * n_second)
    meet = pairs.reshape(n_first, n_second) > 0
    return bool((meet.sum(axis=0) <= 1).all() and (meet.sum(axis=1) <= 1).all())


class CentredRows:
    """Observations [n, D] around their mean, which sums of squares in float32 need, and what all that is made
    of them shares.

    rows, centre
        Float arrays [n, D] and [D]. Bits stay as they are, and 0 stands for their mean.
    compact_rows
        The same rows, as bytes where they are bits.
    of_bits
        Whether they are bits.
    matrix
        A [D, D], where rows are A x of centred observations x; None where they are these themselves.
    """

    def __init__(self, observations: Observations) -> None:
        self.of_bits = are_bits(observations)
        self.matrix: Floats | None = None
        self.centre: Reals = np.zeros(observations.shape[1], np.float32)
        if self.of_bits:
            self.compact_rows: Observations = np.ascontiguousarray(observations, np.uint8)
            return
        self.centre = mean_of(observations).astype(np.float32)
        self.rows = np.subtract(observations, self.centre).astype(np.float32, copy=False)
        self.compact_rows = self.rows

    @cached_property
    def rows(self) -> Reals:
        return self.compact_rows.astype(np.float32)

    def sphered(self, labels: RowLabels) -> CentredRows:
        """The same reals in coordinates in which their noise around the means of labels 0, 1, ... [n] is as
        large in one direction as in any other.

        Clusters are looked for where rows vary most. Noise may vary more than the means do, in a coordinate
        of another unit or in a factor that all coordinates share: here it does not.
        """
        noise, (n, dimension) = self._noise(labels), self.rows.shape
        covariance = (noise.T @ noise).astype(np.float64) / n
        total = np.square(self.rows).mean(axis=0, dtype=np.float64)
        # a coordinate that the labels tell exactly still tells them apart
        variances = np.maximum(covariance.diagonal(), _LEAST_NOISE * total)
        units = np.sqrt(np.where(variances > 0.0, variances, 1.0))
        correlations = covariance / np.outer(units, units)
        np.fill_diagonal(correlations, 1.0)
        shrinkage = min(1.0, dimension / n)
        correlations = (1.0 - shrinkage) * correlations + shrinkage * np.eye(dimension)
        other = copy.copy(self)
        other.matrix = np.linalg.inv(np.linalg.cholesky(correlations)) / units
        other.rows = other.compact_rows = self.rows @ other.matrix.T.astype(np.float32)
        other.__dict__.pop("second_moments", None)
        return other

    @property
    def tell_their_noise(self) -> bool:
        """Whether they are reals, and enough for the covariance of their noise."""
        n, dimension = self.compact_rows.shape
        return not self.of_bits and n >= _ROWS_PER_COORDINATE * dimension

    def is_uneven(self, labels: RowLabels) -> bool:
        """Whether the noise around the means of labels 0, 1, ... [n] is far larger in some coordinate than in
        most."""
        sums, squares = sums_around(self.rows, labels, int(labels.max()) + 1, np.zeros(self.rows.shape[1]))
        variances = squares - np.einsum("kd,kd->d", sums.rows, sums.means)
        variances[variances < _ROUNDING * squares] = 0.0
        ranked = np.sort(variances)  # which takes a fifth of the time of NumPy's median
        median = (ranked[(ranked.size - 1) // 2] + ranked[ranked.size // 2]) / 2.0
        return bool(ranked[-1] > _UNEVEN * median)

    def _noise(self, labels: RowLabels) -> Reals:
        """The rows around the means of labels 0, 1, ... [n]."""
        centres = clusters_of(self.rows, labels, int(labels.max()) + 1, of_bits=False).centres
        return np.asarray(self.rows - centres.astype(np.float32)[labels])

    def decoder(self, weights: Floats, bias: Floats) -> AffineDecoder:
        """The decoder of observations for which rows have the scores bias [K] + weights [K, D] x."""
        if self.matrix is not None:
            weights = weights @ self.matrix
        return AffineDecoder(weights, bias - weights @ self.centre)

    @cached_property
    def second_moments(self) -> Floats | None:
        """The sum of x x' over the rows, [D, D], which scores of reals need."""
        return None if self.of_bits else np.asarray((self.rows.T @ self.rows).astype(np.float64))


@without_false_alarms
def refined(observations: CentredRows, labels: RowLabels) -> Decoder:
    """The decoder of the mixture that starts from labels 0, 1, ... [n] of observations [n, D]."""
    rows, of_bits, moments = observations.rows, observations.of_bits, observations.second_moments
    clusters = clusters_of(observations.compact_rows, labels, int(labels.max()) + 1, of_bits=of_bits)
    labels = labels.copy()
    for _ in range(_MOST_ITERATIONS):
        weights, bias = clusters.scores(moments)
        bias += np.log(clusters.frequencies)
        shares, sizes = weights.astype(np.float32) @ rows.T, np.empty(bias.size)
        n_moved = share_rows(shares, bias.astype(np.float32), labels, sizes)
        if of_bits and np.count_nonzero(shares) == len(rows):  # bits of whole rows are counted
            clusters = clusters_of(observations.compact_rows, labels, sizes.size, of_bits=True)
        else:
            clusters = Clusters((shares @ rows).astype(np.float64), sizes, len(rows), of_bits=of_bits)
        if n_moved == 0:
            break
    weights, bias = clusters.scores(moments)
    is_cluster = np.isfinite(bias)
    if is_cluster.sum() < 2:
        return ConstantDecoder(2)
    return observations.decoder(weights[is_cluster], bias[is_cluster])


def log_odds(shares: Floats) -> tuple[Floats, Floats]:
    """Weights and bias of the log-likelihood of bits that are 1 with these probabilities [..., D]."""
    return np.log(shares / (1.0 - shares)), np.log(1.0 - shares).sum(axis=-1)


def divergence(share: Floats, of: Floats) -> Floats:
    """Kullback and Leibler's divergence of one coin from another."""
    return np.asarray(
        scipy.special.rel_entr(share, of) + scipy.special.rel_entr(1.0 - share, 1.0 - of),
    )
