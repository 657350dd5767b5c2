"""The noise around the means of clusters: how much there is, and how much in its strongest direction.

All of it is estimated from rows [n, D], of which there may be fewer than coordinates.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import directions as _directions
from .likelihoods import Reals, RowLabels

MOST_ROWS = 512
"""Upper limit on the rows that noise is estimated from."""
_POWER_STEPS = 8
"""Steps of the power method, which need not be exact: rows are put on their sides afterwards."""
_LEAST_ROWS = 100
"""Fewer rows of other clusters do not tell what the noise is."""
_CLEARLY = 1.25
"""Noise varies more in some direction where it does so by more than this factor times that of chance."""
_PAIRED_ROWS = 128
"""Rows whose products tell tr C^2."""


class Noise(NamedTuple):
    """The covariance C of noise: tr C, tr C^2 and the largest eigenvalue."""

    trace: float
    square: float
    norm: float

    @classmethod
    def around(
        cls, centres: Reals, rows: Reals, labels: RowLabels, chosen: NDArray[np.bool_]
    ) -> Noise | None:
        """That of chosen rows [n, D] around the centres [K, D] of their clusters; None where they are too few
        to tell."""
        numbers = np.flatnonzero(chosen)
        if numbers.size < _LEAST_ROWS:
            return None
        numbers = numbers[:: -(-numbers.size // MOST_ROWS)]
        noise = rows[numbers] - centres[labels[numbers]]
        trace = float(np.einsum("nd,nd->", noise, noise, dtype=np.float64)) / (len(noise) - 1)
        return cls(trace, squared_trace(noise, trace), largest_eigenvalue(noise, trace / noise.shape[1]))


def largest_eigenvalue(noise: Reals, mean: float) -> float:
    """The largest eigenvalue of the covariance of noise [n, D], by the power method; `mean` is that of all
    eigenvalues. Where all are the same, the largest one of a sample is greater by (1 + sqrt(D / n))^2
    (Marchenko and Pastur, 1967), by which it is divided unless it is clearly greater still."""
    freedom = max(len(noise) - 1, 1)
    start = noise[noise.any(axis=1).argmax()]  # a row of a cluster of its own is 0, and leads nowhere
    scores = noise @ leading_directions(noise, start, np.ones((1, len(noise)), np.float32))[0]
    largest = float(scores @ scores) / freedom
    by_chance = (1.0 + math.sqrt(noise.shape[1] / freedom)) ** 2
    return largest if largest > _CLEARLY * by_chance * mean else largest / by_chance


def squared_trace(noise: Reals, trace: float) -> float:
    """tr C^2: the mean squared product of two rows."""
    rows = noise[:: max(1, len(noise) // _PAIRED_ROWS)].astype(np.float64)
    products = np.square(rows @ rows.T)
    pairs = len(rows) * (len(rows) - 1)
    return max(float(products.sum() - products.trace()) / pairs, float(trace**2 / noise.shape[1]))


def leading_directions(sample: Reals, start: Reals, weights: Reals) -> Reals:
    """The directions [K, D] of largest variance of rows [n, D], for each of several weights [K, n]."""
    # in units in which all numbers are about 1, since float32 cannot hold the squares of squares of others;
    # powers of two leave digits as they are
    largest = max(float(sample.max()), -float(sample.min()))
    unit, weight_units = math.frexp(largest)[1], np.frexp(weights.max(axis=1, keepdims=True))[1]
    weights = np.ldexp(weights, -2 * unit - weight_units)
    rows, products = np.ascontiguousarray(sample), np.empty(len(sample), np.float32)
    directions = np.empty((len(weights), sample.shape[1]), np.float32)
    _directions.leading_directions(
        rows,
        np.ascontiguousarray(rows.T),
        weights,
        np.ldexp(start, -unit),
        _POWER_STEPS,
        products,
        directions,
    )
    return directions
