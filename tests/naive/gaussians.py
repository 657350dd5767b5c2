"""Slow, obvious references for `_kernels/gaussians.py`."""

import numpy as np


def _shared(scores, shares):
    likelihoods = np.exp(scores)
    shares[:] = likelihoods / likelihoods.sum(axis=1, keepdims=True)
    return np.log(likelihoods.sum(axis=1)).sum()


def diagonal_expectation(points, constants, means, factors, shares, *scratch):
    """With matrices whose entries off the diagonal are 0."""
    return full_expectation(points, constants, means, np.stack([np.diag(one) for one in factors]), shares)


def full_expectation(points, constants, means, factors, shares, *scratch):
    """One quadratic form at a time."""
    scores = [
        [
            constant - np.square(factor @ (point - mean)).sum() / 2
            for constant, mean, factor in zip(constants, means, factors, strict=True)
        ]
        for point in points
    ]
    return _shared(np.array(scores), shares)


def shared_means(points, shares, sizes, means):
    """Sums over sums."""
    sizes[:] = shares.sum(axis=0)
    means[:] = shares.T @ points / np.where(sizes > 0.0, sizes, 1.0)[:, None]


def diagonal_scatter(points, shares, means, scatter):
    """The diagonals of the matrices."""
    whole = np.empty((*scatter.shape, scatter.shape[1]))
    full_scatter(points, shares, means, whole)
    scatter[:] = whole.diagonal(axis1=1, axis2=2)


def full_scatter(points, shares, means, scatter):
    """One outer product at a time."""
    for k, mean in enumerate(means):
        products = [
            share * np.outer(x - mean, x - mean) for share, x in zip(shares[:, k], points, strict=True)
        ]
        scatter[k] = np.tril(sum(products, np.zeros((mean.size, mean.size))))
