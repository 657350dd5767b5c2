"""Gaussian mixtures by expectation and maximisation, from a given start, and their decoders.

The iterations are those of scikit-learn's `GaussianMixture`, compiled: every variance is increased by the
least one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import gaussians as _gaussians
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from ..decoders.quadratic import QuadraticDecoder
from .projection import Floats, mean_of, sums_around

COVARIANCES = ("spherical", "tied", "diag", "full")

_NEVER_ZERO = 10 * np.finfo(np.float64).eps
"""Added to the size of every component, as scikit-learn does, so that none is 0."""
_TOLERANCE = 1e-4
"""What an iteration must add to the mean log-likelihood for another one to follow, if nobody says."""
_MOST_ITERATIONS = 200
"""Iterations after which a mixture is taken as it is, likewise."""


class GaussianMixture(NamedTuple):
    """A mixture of K components in R dimensions."""

    weights: Floats  # [K]
    means: Floats  # [K, R]
    covariances: Floats  # [K], [R, R], [K, R] or [K, R, R], in the order of COVARIANCES
    kind: str  # one of COVARIANCES

    @property
    def _independent(self) -> bool:
        """Whether coordinates are independent given the component."""
        return self.kind in ("spherical", "diag")

    def expect(self, points: Floats, shares: Floats) -> float:
        """The mean log-likelihood of points [n, R]; shares [n, K] are set to the probabilities that a point
        comes from a component."""
        n_components, dimension = self.means.shape
        if self._independent:
            factors = np.empty_like(self.means)
            factors.T[:] = (1.0 / np.sqrt(self.covariances)).T
            volumes, kernel = factors, _gaussians.diagonal_expectation
        else:
            factors = np.ascontiguousarray(
                np.broadcast_to(
                    np.linalg.inv(np.linalg.cholesky(self.covariances)), (n_components, dimension, dimension)
                )
            )
            volumes, kernel = factors.diagonal(axis1=1, axis2=2), _gaussians.full_expectation
        constants = (
            np.log(self.weights) + np.log(volumes).sum(axis=1) - dimension / 2 * math.log(2.0 * math.pi)
        )
        scratch = np.empty((dimension + 2, _gaussians.BATCH))
        return kernel(points, constants, self.means, factors, shares, scratch) / len(points)

    def maximised(self, points: Floats, shares: Floats, least_variance: float) -> GaussianMixture:
        """The likeliest mixture of the same kind, given the shares [n, K] of points [n, R]."""
        (n_components, dimension), kind = self.means.shape, self.kind
        sizes, means = np.empty(n_components), np.empty_like(self.means)
        _gaussians.shared_means(points, shares, sizes, means)
        sizes += _NEVER_ZERO
        if self._independent:
            scatter = np.empty_like(means)
            _gaussians.diagonal_scatter(points, shares, means, scatter)
            covariances = scatter / sizes[:, None] + least_variance
            if kind == "spherical":
                covariances = covariances.mean(axis=1)
        else:
            scatter = np.empty((n_components, dimension, dimension))
            _gaussians.full_scatter(points, shares, means, scatter)
            scatter += np.tril(scatter, -1).transpose(0, 2, 1)
            covariances = (
                scatter / sizes[:, None, None] if kind == "full" else scatter.sum(axis=0) / len(points)
            )
            covariances += least_variance * np.eye(dimension)
        return GaussianMixture(sizes / sizes.sum(), means, covariances, kind)

    def decoder(self, matrix: Floats | None = None, offset: Floats | None = None) -> Decoder:
        """The likeliest component as a label, of observations x or of their images A x + b."""
        means, log_weights, kind = self.means, np.log(self.weights), self.kind
        dimension = means.shape[1]
        if kind == "spherical":
            precision = 1 / self.covariances
            bias = (
                log_weights + dimension / 2 * np.log(precision) - precision / 2 * np.square(means).sum(axis=1)
            )
            return AffineDecoder(means * precision[:, None], bias, -precision / 2, matrix, offset)
        if kind == "tied":
            weights = np.linalg.solve(self.covariances, means.T).T
            return AffineDecoder(
                weights, log_weights - np.einsum("kd,kd->k", weights, means) / 2, None, matrix, offset
            )
        precisions = (
            np.eye(dimension) / self.covariances[:, None, :]
            if kind == "diag"
            else np.linalg.inv(self.covariances)
        )
        return QuadraticDecoder(means, precisions, log_weights, matrix, offset)


def start_at(
    points: Floats, labels: NDArray[np.int64], n_components: int, kind: str, least_variance: float
) -> GaussianMixture:
    """A mixture whose components are the clusters of these labels [n], all with their common variance."""
    centre, dimension = mean_of(points), points.shape[1]
    sums, squares = sums_around(points, labels, n_components, centre)
    counts, means = np.maximum(sums.sizes, 1.0), sums.means
    around_means = squares.sum() - (sums.rows * means).sum()
    variance, means = max(float(around_means) / points.size, least_variance), means + centre
    if kind in ("spherical", "diag"):
        covariances = np.full(means.shape if kind == "diag" else n_components, variance)
    else:
        shape = (n_components, dimension, dimension) if kind == "full" else (dimension, dimension)
        covariances = np.broadcast_to(variance * np.eye(dimension), shape).copy()
    return GaussianMixture(counts / counts.sum(), means, covariances, kind)


def fit_mixture(
    points: Floats,
    start: GaussianMixture,
    least_variance: float,
    tolerance: float = _TOLERANCE,
    most_iterations: int = _MOST_ITERATIONS,
) -> tuple[GaussianMixture, NDArray[np.int64]]:
    """Where the iterations end, and the likeliest component of each of the points [n, R]. They end once one
    adds less than `tolerance` to the mean log-likelihood."""
    points, mixture, before = np.ascontiguousarray(points), start, -math.inf
    shares = np.empty((len(points), len(start.weights)))
    for _ in range(most_iterations):
        log_likelihood = mixture.expect(points, shares)
        mixture = mixture.maximised(points, shares, least_variance)
        if abs(log_likelihood - before) < tolerance:
            break
        before = log_likelihood
    mixture.expect(points, shares)
    return mixture, shares.argmax(axis=1)
