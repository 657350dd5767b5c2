"""Gaussian mixtures: the steps of expectation and maximisation.

Component k of n_axes coordinates, with proportion p, mean m and covariance matrix C, gives a point x the
log-likelihood

    log p - n_axes / 2 log(2 pi) + log det F - |F (x - m)|^2 / 2,        F' F = C^-1,

where F is lower triangular, or diagonal where coordinates are independent given the component. `constants` is
all of it that does not depend on x. Everything is float64, and summed in the order that is written here, so a
fit does not depend on a BLAS library or its number of threads.
"""

import math

import numpy as np

from .compiling import inlined, kernel

BATCH = 64
"""Points whose scores are added up side by side, several in a register, each in the order of its own."""
_NEGLIGIBLE = -54.0 * math.log(2.0)
"""What is e to this, or less, of the greatest share leaves their sum as it is."""


@inlined
def _share(scores: np.ndarray, i: int) -> float:
    """Turn the scores of point i into probabilities, negligible ones into 0, and return the logarithm of what
    they added up to."""
    n_components = scores.shape[1]
    greatest = scores[i, 0]
    for k in range(1, n_components):
        greatest = max(greatest, scores[i, k])
    total = 0.0
    for k in range(n_components):
        gap = scores[i, k] - greatest
        # most are 0 or 1, and calls of exp and log took most of the time
        scores[i, k] = 1.0 if gap == 0.0 else math.exp(gap) if gap > _NEGLIGIBLE else 0.0
        total += scores[i, k]
    if total == 1.0:
        return greatest
    for k in range(n_components):
        scores[i, k] /= total
    return greatest + math.log(total)


@inlined
def _fill_columns(points: np.ndarray, first: int, end: int, columns: np.ndarray) -> None:
    """Points from `first` up to `end` as columns [R, BATCH]; what is in the others does not matter."""
    for i in range(end - first):
        for r in range(points.shape[1]):
            columns[r, i] = points[first + i, r]


@kernel
def diagonal_expectation(
    points: np.ndarray,
    constants: np.ndarray,
    means: np.ndarray,
    factors: np.ndarray,
    shares: np.ndarray,
    scratch: np.ndarray,
) -> float:
    """The log-likelihood of points [n, R], for constants [K], means [K, R] and the diagonals factors [K, R];
    shares [n, K] are set to the probabilities that a point comes from a component. scratch [R + 2, BATCH] may
    hold any numbers."""
    n, n_axes = points.shape
    columns, squares = scratch[:n_axes], scratch[n_axes]
    log_likelihood = 0.0
    for first in range(0, n, BATCH):
        end = min(first + BATCH, n)
        _fill_columns(points, first, end, columns)
        for k in range(constants.size):
            squares[:] = 0.0
            for r in range(n_axes):
                factor, mean, column = factors[k, r], means[k, r], columns[r]
                for i in range(BATCH):
                    z = factor * (column[i] - mean)
                    squares[i] += z * z
            for i in range(first, end):
                shares[i, k] = constants[k] - 0.5 * squares[i - first]
        for i in range(first, end):
            log_likelihood += _share(shares, i)
    return log_likelihood


@kernel
def full_expectation(
    points: np.ndarray,
    constants: np.ndarray,
    means: np.ndarray,
    factors: np.ndarray,
    shares: np.ndarray,
    scratch: np.ndarray,
) -> float:
    """As `diagonal_expectation`, for lower triangular factors [K, R, R]."""
    n, n_axes = points.shape
    columns, squares, z = scratch[:n_axes], scratch[n_axes], scratch[n_axes + 1]
    log_likelihood = 0.0
    for first in range(0, n, BATCH):
        end = min(first + BATCH, n)
        _fill_columns(points, first, end, columns)
        for k in range(constants.size):
            squares[:] = 0.0
            for r in range(n_axes):
                z[:] = 0.0
                for s in range(r + 1):
                    factor, mean, column = factors[k, r, s], means[k, s], columns[s]
                    for i in range(BATCH):
                        z[i] += factor * (column[i] - mean)
                for i in range(BATCH):
                    squares[i] += z[i] * z[i]
            for i in range(first, end):
                shares[i, k] = constants[k] - 0.5 * squares[i - first]
        for i in range(first, end):
            log_likelihood += _share(shares, i)
    return log_likelihood


@kernel
def shared_means(points: np.ndarray, shares: np.ndarray, sizes: np.ndarray, means: np.ndarray) -> None:
    """sizes [K] = the expected numbers of points, means [K, R] = the means of points [n, R], each counting
    with its share [n, K]. A component of no point keeps the mean 0."""
    sizes[:] = 0.0
    means[:] = 0.0
    for i in range(points.shape[0]):
        for k in range(sizes.size):
            share = shares[i, k]
            if share != 0.0:
                sizes[k] += share
                for r in range(points.shape[1]):
                    means[k, r] += share * points[i, r]
    for k in range(sizes.size):
        if sizes[k] > 0.0:
            for r in range(points.shape[1]):
                means[k, r] /= sizes[k]


@kernel
def diagonal_scatter(points: np.ndarray, shares: np.ndarray, means: np.ndarray, scatter: np.ndarray) -> None:
    """scatter[k, r] = the sum of shares [n, K] times squared differences from the mean."""
    scatter[:] = 0.0
    for i in range(points.shape[0]):
        for k in range(means.shape[0]):
            share = shares[i, k]
            if share != 0.0:
                for r in range(points.shape[1]):
                    z = points[i, r] - means[k, r]
                    scatter[k, r] += share * z * z


@kernel
def full_scatter(points: np.ndarray, shares: np.ndarray, means: np.ndarray, scatter: np.ndarray) -> None:
    """scatter[k, r, s] = the sum of shares [n, K] times products of differences from the mean, for s <= r
    alone: the rest is the same."""
    scatter[:] = 0.0
    for i in range(points.shape[0]):
        for k in range(means.shape[0]):
            share = shares[i, k]
            if share != 0.0:
                for r in range(points.shape[1]):
                    weighted = share * (points[i, r] - means[k, r])
                    for s in range(r + 1):
                        scatter[k, r, s] += weighted * (points[i, s] - means[k, s])
