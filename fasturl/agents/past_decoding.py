"""The decoder of PCID: what an observation tells of the state and action before it, and clusters of that.

`pcid` says why. `Linear` and `Network` are the regressions, `cluster` finds the centres of their predictions,
and `PastDecoder` labels an observation by the centre that is nearest to its prediction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._kernels import fitting as _fitting
from .._kernels import pcid as _pcid
from ..decoders.decoder import Decoder, Labels, block_of, real_blocks
from ..problems.blocks import BitBlock, Block, RealBlock

LEAST_SAMPLES = 30
"""Samples that make a cluster."""
STARTS = 10
"""Starts of k-means."""
MOVES = 300
"""Moves of the centres after which a start of k-means ends."""
RIDGE = 1e-9
"""Added to the variance of each standardised coordinate in the normal equations."""
ADAM_ITERATIONS = 40
"""Few, from a good start: the network then has no time to fit the noise of a hundred coordinates."""
ADAM_RATE = 0.02

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PastDecoder(Decoder):
    """The nearest centre in the space of the predictions, level by level.

    A level starts with one label, which every observation gets, until `learn` sets its centres.
    """

    def __init__(self, n_levels: int, dimension: int, n_clusters: int, *, logistic: bool) -> None:
        super().__init__(n_clusters)
        padded = -(-n_clusters // 4) * 4
        self.found = np.ones(n_levels, np.int64)
        self._weights = np.zeros((n_clusters, dimension, n_levels), np.float32)
        self._bias = np.zeros((n_clusters, n_levels), np.float32)
        self._tables = np.zeros((n_levels, -(-dimension // 4), 16, padded), np.float32)
        self._mixing = np.zeros(
            (n_clusters, n_clusters + 1, n_levels) if logistic else (0, 0, n_levels), np.float32
        )

    def learn(
        self, level: int, found: int, weights: Floats, bias: Floats, mixing: Floats | None = None
    ) -> None:
        """The scores of a level: bias + weights x, or mixing (logistic(bias + weights x), 1) where there is a
        layer."""
        n_scores = bias.size
        self.found[level] = found
        self._weights[:n_scores, :, level] = weights
        self._bias[:n_scores, level] = bias
        _pcid.fill_nibble_tables(weights.astype(np.float32), bias.astype(np.float32), self._tables[level])
        if mixing is not None:
            self._mixing[:found, :, level] = mixing

    def table(self, block: Block) -> Labels:
        return self.first_levels(block, block.n_levels)

    def first_levels(self, block: Block, levels: int) -> Labels:
        """As `table`, with labels at the first levels alone; the rest is 0."""
        return self._label(block, levels, slice(None))

    def decode(self, X: ArrayLike, level: int = 0) -> Ints:
        return (
            self._label(_one_level_each(np.asarray(X)), 1, slice(level, level + 1)).ravel().astype(np.int64)
        )

    def _label(self, block: Block, levels: int, part: slice) -> Labels:
        found, mixing = self.found[part], np.ascontiguousarray(self._mixing[:, :, part])
        if isinstance(block, BitBlock):
            labels = np.zeros((block.n_episodes, block.n_levels, block.n_states), np.uint8)
            tables, n = self._tables[part], block.n_episodes * block.n_states
            scratch = (
                np.empty((tables.shape[-1], n), np.float32),
                np.empty((self._bias.shape[0], n), np.float32),
            )
            _pcid.bit_labels(block.words, tables, found, mixing, levels, *scratch, labels)
            return self.relabel[labels]
        weights, bias = (
            np.ascontiguousarray(self._weights[:, :, part]),
            np.ascontiguousarray(self._bias[:, part]),
        )
        tail, sums, mixed = np.empty((3, *bias.shape), np.float32)
        given = []
        for real in real_blocks(block):
            labels = np.zeros((real.n_episodes, real.n_levels, real.n_states), np.uint8)
            _pcid.real_labels(
                real.noise,
                real.means,
                real.n_informative,
                weights,
                bias,
                found,
                mixing,
                levels,
                tail,
                sums,
                mixed,
                labels,
            )
            given.append(labels)
        return self.relabel[np.concatenate(given, axis=2)]


def _one_level_each(X: NDArray[np.generic]) -> Block:
    """Observations [n, D] as n episodes of one level with one state."""
    block = block_of(X)
    if isinstance(block, RealBlock):
        n, dimension = X.shape
        return RealBlock(
            np.ascontiguousarray(X, np.float32).reshape(n, dimension, 1),
            np.zeros((1, dimension, 1), np.float32),
            0,
        )
    return block


class Standardised:
    """Observations with mean 0 and variance 1 in each coordinate (0 where it is constant), by rows and by
    columns."""

    def __init__(self, X: NDArray[np.generic]) -> None:
        data = X.astype(np.float64)
        self.centre, deviation = data.mean(axis=0), data.std(axis=0)
        self.spread = np.where(deviation > 0, deviation, 1.0)
        self.rows = (data - self.centre) / self.spread
        self.columns = np.ascontiguousarray(self.rows.T)

    def undone(self, weights: Floats, bias: Floats) -> tuple[Floats, Floats]:
        """Weights and bias for observations as they are."""
        raw = weights / self.spread
        return raw, bias - (raw * self.centre).sum(axis=1)


def _least_squares(data: Standardised, codes: Ints, n_codes: int) -> tuple[Floats, Floats]:
    """Slopes [R, D] and offset [R] of the regression on standardised observations."""
    n, dimension = data.rows.shape
    slopes = np.empty((n_codes, dimension))
    _fitting.least_squares(data.rows, codes, RIDGE * n, np.empty((dimension, dimension)), slopes)
    return slopes, np.bincount(codes, minlength=n_codes) / n


def _turned(matrix: Floats) -> Floats:
    """A matrix of as few rows as can be with the same lengths of all images.

    Clusters and nearest centres know predictions by their distances alone, and those of m variables live in m
    dimensions.
    """
    return np.asarray(np.linalg.qr(matrix, mode="r"))


class Linear:
    """Least squares, g(x) = slopes z up to a rotation and a shift, z being the standardised observation."""

    def __init__(self, data: Standardised, codes: Ints, n_codes: int) -> None:
        self.data = data
        self.slopes = _turned(_least_squares(data, codes, n_codes)[0])
        self.points = np.empty((self.slopes.shape[0], codes.size))
        _fitting.embed(self.slopes, np.zeros(self.slopes.shape[0]), data.columns, self.points)

    def scores(self, centres: Floats) -> tuple[Floats, Floats, None]:
        # |A z - c|^2 is smallest where c' A z - |c|^2 / 2 is largest
        return *self.data.undone(centres @ self.slopes, -np.square(centres).sum(axis=1) / 2), None


class Network:
    """g(x) = output' (logistic(hidden (z, 1)), 1), with as many logistic units as clusters, z being the
    standardised observation.

    Training starts where the network is the linear fit as nearly as its units allow: each has the direction
    of one of the leading principal axes of the linear predictions, on which logistic(u) is about 1/2 + u/4.
    """

    def __init__(self, data: Standardised, codes: Ints, n_codes: int, n_units: int) -> None:
        n, dimension = data.rows.shape
        self.data = data
        slopes, offset = _least_squares(data, codes, n_codes)
        predictions = np.empty((n_codes, n))
        _fitting.embed(slopes, offset, data.columns, predictions)
        variances, axes = np.linalg.eigh(np.cov(predictions, bias=True))
        kept = min(n_units, n_codes)
        lengths, axes = np.sqrt(np.maximum(variances[::-1][:kept], 0.0)), axes.T[::-1][:kept]
        inverses = np.divide(1.0, lengths, out=np.zeros(kept), where=lengths > 1e-6)
        self.hidden, output = np.zeros((n_units, dimension + 1)), np.zeros((n_units + 1, n_codes))
        self.hidden[:kept, :-1] = inverses[:, None] * (axes @ slopes)
        output[:kept] = 4 * lengths[:, None] * axes
        output[-1] = offset - output[:-1].sum(axis=0) / 2
        self._train(codes, output)

    def _train(self, codes: Ints, start: Floats) -> None:
        n, (n_units, n_codes) = codes.size, (self.hidden.shape[0], start.shape[1])
        columns = np.concatenate([self.data.columns, np.ones((1, n))])
        rows, narrow, hidden, output = (
            table.astype(np.float32, order="C") for table in (columns.T, columns, self.hidden, start)
        )
        slopes, moments = (
            (np.empty_like(hidden), np.empty_like(output)),
            (_zeros(2, *hidden.shape), _zeros(2, *output.shape)),
        )
        layers = _zeros(n_units + 1, n), _zeros(n_codes, n), _zeros(n_units, n)
        _fitting.train_network(
            rows, narrow, codes, ADAM_RATE, ADAM_ITERATIONS, hidden, output, *slopes, *moments, *layers
        )
        self.hidden, self.output = hidden.astype(np.float64), _turned(output[:-1].T.astype(np.float64))
        units, self.points = np.empty((n_units, n)), np.empty((self.output.shape[0], n))
        _fitting.embed(self.hidden, np.zeros(n_units), columns, units)
        _fitting.embed(self.output, np.zeros(self.output.shape[0]), 1 / (1 + np.exp(-units)), self.points)

    def scores(self, centres: Floats) -> tuple[Floats, Floats, Floats]:
        mixing = np.column_stack([centres @ self.output, -np.square(centres).sum(axis=1) / 2])
        return *self.data.undone(self.hidden[:, :-1], self.hidden[:, -1]), mixing


def _zeros(*shape: int) -> NDArray[np.float32]:
    return np.zeros(shape, np.float32)


def cluster(stream: NDArray[np.uint64], predictions: Floats, n_clusters: int) -> Floats:
    """Centres [K, R] of predictions [R, n]: from n_clusters, K falls to the number of clusters with at least
    30 samples until all have."""
    points = predictions.astype(np.float32)  # twice as fast, and far finer than the noise of a regression
    rows = np.ascontiguousarray(points.T)
    n_axes, n = points.shape
    size = n_clusters
    while size > 1:
        (centres, trial), sizes = np.empty((2, size, n_axes), np.float32), np.empty(size, np.int64)
        labels, last_labels = np.empty((2, n), np.int32)
        scratch = (
            trial,
            np.empty(size, np.bool_),
            labels,
            last_labels,
            np.empty(n, np.float32),
            np.empty((size, n), np.float32),
        )
        _fitting.kmeans(stream, points, rows, STARTS, MOVES, *scratch, centres, sizes)
        large = int((sizes >= LEAST_SAMPLES).sum())
        if large == size:
            return centres.astype(np.float64)
        size = large
    return np.asarray(predictions.mean(axis=1)[None])
