"""The regressions of PCID: what an observation x tells of the code of the state and action before it.

`Linear` and `Network` are those of the published program, and see observations as they are:

    linear               g(x) = slopes x, without an intercept
    neural               g(x) = output logistic(hidden (x, 1)), from a random start by Adagrad

`WarmNetwork` is ours. It sees standardised observations z, starts at the linear fit and takes few steps:

    neural-warm-start    g(x) = output logistic(hidden (z, 1)) + offset, by Adam

Clusters and nearest centres know predictions by their distances alone, so each gives its predictions up to a
rotation and a shift, in no more dimensions than the fit has inputs or units.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._kernels import fitting as _fitting
from .._kernels import networks as _networks
from .._kernels import rng as _rng
from .._kernels.records import AdagradWorkspace, AdamWorkspace

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
Ints = NDArray[np.int64]
Stream = NDArray[np.uint64]

RIDGE = 1e-9
"""Added to the mean square of each coordinate in the normal equations, in units of the largest: it keeps them
regular where some coordinates determine others."""
ADAGRAD_RATE = 0.1
ADAGRAD_EPOCHS = 5000
"""Upper limit on the epochs of the published network, each of which has a step for every output."""
ADAM_ITERATIONS = 40
"""Few, from a good start: the network then has no time to fit the noise of a hundred coordinates."""
ADAM_RATE = 0.02


class Regression(ABC):
    """A regression of codes [n] below n_codes on observations X [n, D], fitted when it is made.

    points
        Its predictions of the samples, float array [axes, n].
    """

    logistic: ClassVar[bool]
    """Whether its predictions are mixtures of logistic units."""
    points: Floats

    @abstractmethod
    def __init__(
        self, rng: Stream, X: NDArray[np.generic], codes: Ints, n_codes: int, n_clusters: int
    ) -> None: ...

    @abstractmethod
    def scores(self, centres: Floats) -> tuple[Floats, Floats, Floats | None]:
        """The weights, bias and mixing that `PastDecoder.learn` finds the nearest of centres [K, axes] by."""


class Linear(Regression):
    """Least squares without an intercept."""

    logistic = False

    def __init__(
        self, rng: Stream, X: NDArray[np.generic], codes: Ints, n_codes: int, n_clusters: int
    ) -> None:
        rows = X.astype(np.float64)
        self._slopes = _at_most_square(_least_squares(rows, codes, n_codes))
        self.points = _images(self._slopes, np.ascontiguousarray(rows.T))

    def scores(self, centres: Floats) -> tuple[Floats, Floats, None]:
        # |A x - c|^2 is smallest where c' A x - |c|^2 / 2 is largest
        return centres @ self._slopes, -np.square(centres).sum(axis=1) / 2, None


class Network(Regression):
    """The published network: as many logistic units as clusters, with a bias, and outputs without one.

    It starts at random, as a linear layer of a deep-learning library usually does: the weights and the bias
    of a unit are uniform in +-1 / sqrt(D) for D coordinates, those of an output in +-1 / sqrt(K) for K units.
    They are drawn from the stream of oracles: unit by unit, each with its bias last, then output by output.
    Adagrad has a rate of 0.1 and takes up to 5,000 epochs; `networks.adagrad_network` says how.
    """

    logistic = True

    def __init__(
        self, rng: Stream, X: NDArray[np.generic], codes: Ints, n_codes: int, n_clusters: int
    ) -> None:
        columns = np.concatenate([X.T.astype(np.float64), np.ones((1, codes.size))])
        n_inputs = columns.shape[0]
        hidden = _uniform(rng, (n_clusters, n_inputs), 1 / math.sqrt(n_inputs - 1))
        output = _uniform(rng, (n_codes, n_clusters), 1 / math.sqrt(n_clusters))
        self._hidden, output = _train_by_adagrad(columns, codes, hidden, output)
        self._output = _at_most_square(output)
        self.points = _images(self._output, _logistic_units(self._hidden, columns))

    def scores(self, centres: Floats) -> tuple[Floats, Floats, Floats]:
        return self._hidden[:, :-1], self._hidden[:, -1], _mixing(centres, self._output)


class WarmNetwork(Regression):
    """A network with as many logistic units as clusters on standardised observations.

    Training starts where the network is the linear fit as nearly as its units allow: each has the direction
    of one of the leading principal axes of the linear predictions, on which logistic(u) is about 1/2 + u/4.
    """

    logistic = True

    def __init__(
        self, rng: Stream, X: NDArray[np.generic], codes: Ints, n_codes: int, n_clusters: int
    ) -> None:
        self._data = data = _Standardised(X)
        slopes, offset = _least_squares(data.rows, codes, n_codes), _shares(codes, n_codes)
        variances, axes = np.linalg.eigh(np.cov(_images(slopes, data.columns), bias=True))
        n_axes = min(n_clusters, n_codes)
        lengths, axes = np.sqrt(np.maximum(variances[::-1][:n_axes], 0.0)), axes.T[::-1][:n_axes]
        inverses = np.divide(1.0, lengths, out=np.zeros(n_axes), where=lengths > 1e-6)
        hidden, output = np.zeros((n_clusters, X.shape[1] + 1)), np.zeros((n_clusters + 1, n_codes))
        hidden[:n_axes, :-1] = inverses[:, None] * (axes @ slopes)
        output[:n_axes] = 4 * lengths[:, None] * axes
        output[-1] = offset - output[:-1].sum(axis=0) / 2
        columns = np.concatenate([data.columns, np.ones((1, codes.size))])
        self._hidden, output = _train_by_adam(columns, codes, hidden, output)
        self._output = _at_most_square(np.ascontiguousarray(output[:-1].T))
        self.points = _images(self._output, _logistic_units(self._hidden, columns))

    def scores(self, centres: Floats) -> tuple[Floats, Floats, Floats]:
        weights, bias = self._data.in_observation_space(self._hidden[:, :-1], self._hidden[:, -1])
        return weights, bias, _mixing(centres, self._output)


REGRESSIONS: dict[str, type[Regression]] = {
    "linear": Linear,
    "neural": Network,
    "neural-warm-start": WarmNetwork,
}
"""The models of PCID by name."""


class _Standardised:
    """Observations with mean 0 and variance 1 in each coordinate (0 where it is constant), by rows and by
    columns."""

    def __init__(self, X: NDArray[np.generic]) -> None:
        data = X.astype(np.float64)
        self.centre, deviation = data.mean(axis=0), data.std(axis=0)
        self.spread = np.where(deviation > 0, deviation, 1.0)
        self.rows = (data - self.centre) / self.spread
        self.columns = np.ascontiguousarray(self.rows.T)

    def in_observation_space(self, weights: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Weights and bias for observations as they are."""
        raw = weights / self.spread
        return raw, bias - (raw * self.centre).sum(axis=1)


def _least_squares(rows: Floats, codes: Ints, n_codes: int) -> Floats:
    """Slopes [R, D] of the regression of one-hot codes on rows [n, D]."""
    dimension = rows.shape[1]
    slopes = np.empty((n_codes, dimension))
    largest = np.square(rows).sum(axis=0).max() or 1.0
    _fitting.least_squares(rows, codes, RIDGE * largest, np.empty((dimension, dimension)), slopes)
    return slopes


def _shares(codes: Ints, n_codes: int) -> Floats:
    """The share of each code: [n_codes]."""
    return np.asarray(np.bincount(codes, minlength=n_codes) / codes.size)


def _at_most_square(matrix: Floats) -> Floats:
    """A matrix M' of no more rows than columns that preserves distances: |M' x| = |M x| for all x."""
    n_rows, n_columns = matrix.shape
    return matrix if n_rows <= n_columns else np.asarray(np.linalg.qr(matrix, mode="r"))


def _images(matrix: Floats, columns: Floats) -> Floats:
    """The product of a matrix [R, D] and columns [D, n], in the order of sums of `fitting.embed`."""
    points = np.empty((matrix.shape[0], columns.shape[1]))
    _fitting.embed(matrix, np.zeros(matrix.shape[0]), columns, points)
    return points


def _logistic_units(hidden: Floats, columns: Floats) -> Floats:
    """logistic(hidden x) of the columns x."""
    return np.asarray(1 / (1 + np.exp(-_images(hidden, columns))))


def _mixing(centres: Floats, output: Floats) -> Floats:
    """The coefficients [K, units + 1] of the units and of 1 in the scores of centres [K, axes]."""
    return np.column_stack([centres @ output, -np.square(centres).sum(axis=1) / 2])


def _uniform(rng: Stream, shape: tuple[int, int], bound: float) -> Floats:
    """Uniform in [-bound, bound), row by row."""
    draws = np.empty(math.prod(shape))
    _rng.fill_uniforms(rng, draws)
    return (2 * draws - 1).reshape(shape) * bound


def _zeros(*shape: int) -> Reals:
    return np.zeros(shape, np.float32)


def _padded(table: Floats, n_rows: int, n_columns: int) -> Reals:
    """A table of float32 with zeros beyond its rows and columns."""
    result = _zeros(n_rows, n_columns)
    result[: table.shape[0], : table.shape[1]] = table
    return result


def _up_to_multiple(number: int, of: int) -> int:
    return -(-number // of) * of


def _train_by_adagrad(columns: Floats, codes: Ints, hidden: Floats, output: Floats) -> tuple[Floats, Floats]:
    """The weights hidden [K, D + 1] and output [R, K] that training comes to from the given ones."""
    (n_units, n_inputs), n_codes = hidden.shape, output.shape[0]
    samples, inputs, units = (
        _up_to_multiple(columns.shape[1], 8),
        _up_to_multiple(n_inputs, 4),
        _up_to_multiple(n_units, 4),
    )
    workspace = AdagradWorkspace(
        hidden_slopes=_zeros(1, inputs),
        output_slopes=_zeros(1, units),
        hidden_squares=_zeros(n_units, inputs),
        output_squares=_zeros(n_codes, units),
        units=_zeros(units, samples),
        errors=_zeros(1, samples),
        back=_zeros(1, samples),
    )
    final_hidden, final_output = _padded(hidden, n_units, inputs), _padded(output, n_codes, units)
    _networks.adagrad_network(
        _padded(columns, inputs, samples),
        codes.astype(np.int32),
        ADAGRAD_RATE,
        ADAGRAD_EPOCHS,
        final_hidden,
        final_output,
        workspace,
    )
    return (
        final_hidden[:, :n_inputs].astype(np.float64, order="C"),
        final_output[:, :n_units].astype(np.float64, order="C"),
    )


def _train_by_adam(columns: Floats, codes: Ints, hidden: Floats, output: Floats) -> tuple[Floats, Floats]:
    """The weights hidden [K, D + 1] and output [K + 1, R] that training comes to from the given ones."""
    (n_units, _), n_codes, n = hidden.shape, output.shape[1], codes.size
    rows, columns_32, final_hidden, final_output = (
        table.astype(np.float32, order="C") for table in (columns.T, columns, hidden, output)
    )
    workspace = AdamWorkspace(
        hidden_slope=np.empty_like(final_hidden),
        output_slope=np.empty_like(final_output),
        hidden_moments=_zeros(2, *hidden.shape),
        output_moments=_zeros(2, *output.shape),
        units=_zeros(n_units + 1, n),
        errors=_zeros(n_codes, n),
        back=_zeros(n_units, n),
    )
    _networks.adam_network(
        rows, columns_32, codes, ADAM_RATE, ADAM_ITERATIONS, final_hidden, final_output, workspace
    )
    return final_hidden.astype(np.float64), final_output.astype(np.float64)
