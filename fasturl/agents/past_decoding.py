"""The decoder of PCID: what an observation tells of the state and action before it, and clusters of that.

`pcid` says why, and `past_regression` has the regressions. `cluster` finds the centres of their predictions,
and `PastDecoder` labels an observation by the centre that is nearest to its prediction.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._kernels import clustering as _clustering
from .._kernels import decoding as _decoding
from .._kernels import packed_decoding as _packed
from .._kernels import rng as _rng
from .._kernels.records import kmeans_workspace
from ..decoders.affine import (
    as_affine_scores,
    best_of_bits,
    best_of_reals,
    blank_tables,
    decide,
    fill_scores,
)
from ..decoders.decoder import ByteLabels, Decoder, Reals, block_of, in_rows, real_blocks
from ..problems.blocks import BitBlock, Block, RealBlock

LEAST_SAMPLES = 30
"""Samples that make a cluster."""
STARTS = 10
"""Starts of k-means."""
MOVES = 300
"""Moves of the centres after which a start of k-means ends."""
_GROUP_BITS = 4
"""Packed bits are looked up four at a time: every level has tables of its own, which should stay in the
cache."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class PastDecoder(Decoder):
    """The nearest centre in the space of the predictions, level by level.

    A level starts with one label, which every observation gets, until `learn` sets its centres. `n_found[h]`
    is the number of labels of level h + 1; the scores of all others are minus infinity there.
    """

    def __init__(self, n_levels: int, dimension: int, n_clusters: int, *, logistic: bool) -> None:
        super().__init__(n_clusters)
        self.n_found = np.ones(n_levels, np.int64)
        self._logistic, self._dimension = logistic, dimension
        self._weights = np.zeros((n_clusters, dimension, n_levels), np.float32)
        self._bias = np.zeros((n_clusters, n_levels), np.float32)
        self._tables = blank_tables(n_levels, dimension, n_clusters, _GROUP_BITS)
        self._mixing = np.zeros((n_clusters, n_clusters + 1, n_levels), np.float32)
        if logistic:
            self._mixing[1:, -1] = -np.inf
        else:
            self._bias[1:] = -np.inf

    def learn(self, level: int, weights: Floats, bias: Floats, mixing: Floats | None = None) -> None:
        """The scores of a level: bias + weights x, or mixing (logistic(bias + weights x), 1) where there is a
        layer."""
        h, n_scores = level - 1, bias.size
        if mixing is None:
            self.n_found[h] = n_scores
        else:
            self.n_found[h] = len(mixing)
            self._mixing[: len(mixing), :, h] = mixing
        self._weights[:n_scores, :, h] = weights
        self._bias[:n_scores, h] = bias
        level_weights = np.ascontiguousarray(self._weights[:, :, h])
        level_bias = np.ascontiguousarray(self._bias[:, h])
        _packed.fill_packed_tables(level_weights, level_bias, self._tables.scores[h])
        decide(self._tables, h)

    def table(self, block: Block) -> ByteLabels:
        return self.first_levels(block, block.n_levels)

    def first_levels(self, block: Block, levels: int) -> ByteLabels:
        """As `table`, with labels at the first levels alone; the others have that of the first cluster."""
        labels = np.full((block.n_episodes, block.n_levels, block.n_states), self.relabel[0], np.uint8)
        if isinstance(block, BitBlock) and not self._logistic:
            labels[:, :levels] = best_of_bits(block.words, self._tables, self.relabel, levels)
            return labels
        if isinstance(block, RealBlock) and not self._logistic:
            scores_of_levels = as_affine_scores(self._weights, self._bias)
            labels[:, :levels] = best_of_reals(block, scores_of_levels, self.relabel, levels)
            return labels
        if isinstance(block, BitBlock):
            scores = self._room(block, levels)
            _packed.packed_scores(block.words, self._tables.scores, scores)
        else:
            scores = np.concatenate([self._real_scores(real, levels) for real in real_blocks(block)], axis=2)
        self._label(scores, self._mixing, labels)
        return labels

    def decode(self, X: ArrayLike, level: int = 1) -> Ints:
        h = checks.integer("level", level, least=1, most=self.n_found.size) - 1
        block = block_of(checks.array("X", X))
        self._check(block, self._dimension)
        # observations of one level share their tables, so they can stand beside each other as levels do
        n = block.n_episodes * block.n_levels
        scores, labels = np.empty((1, self.relabel.size, 1, n), np.float32), np.empty((1, n, 1), np.uint8)
        if isinstance(block, BitBlock):
            words = block.words.reshape(1, n, 1, -1)
            _packed.packed_scores(words, self._tables.scores[h : h + 1], scores)
        else:
            (real,) = real_blocks(block)
            fill_scores(real, as_affine_scores(self._weights[:, :, h], self._bias[:, h]), scores)
        self._label(scores, np.repeat(self._mixing[:, :, h : h + 1], n, axis=2), labels)
        return labels.ravel().astype(np.int64)

    def _room(self, block: Block, levels: int) -> Reals:
        return np.empty((block.n_episodes, self.relabel.size, block.n_states, levels), np.float32)

    def _real_scores(self, real: RealBlock, levels: int) -> Reals:
        scores = self._room(real, levels)
        fill_scores(real, as_affine_scores(self._weights, self._bias), scores)
        return scores

    def _label(self, scores: Reals, mixing: Reals, labels: ByteLabels) -> None:
        """Fill in the labels of greatest score; the scores are used up."""
        if self._logistic:
            mixed = np.empty_like(scores)
            _decoding.mix_units(scores, mixing, mixed)
            scores = mixed
        _decoding.best_labels(in_rows(scores), self.relabel, labels)


def cluster(rng: NDArray[np.uint64], predictions: Floats, n_clusters: int) -> Floats:
    """Centres [K, R] of predictions [R, n]. K is the largest number up to n_clusters, going down by one at a
    time, with which every cluster has at least 30 samples."""
    points = predictions.astype(np.float32)  # twice as fast, and far finer than the noise of a regression
    rows = np.ascontiguousarray(points.T)
    weights, tolerance = (
        np.ones(len(rows), np.float32),
        _clustering.TOLERANCE * float(predictions.var(axis=1).mean()),
    )
    for size in range(n_clusters, 1, -1):
        centres, workspace = np.empty((size, len(points)), np.float32), kmeans_workspace(points, size)
        uniforms = np.empty((STARTS, size))
        _rng.fill_uniforms(rng, uniforms.ravel())
        _clustering.kmeans(uniforms, points, rows, weights, 1, MOVES, tolerance, workspace, centres)
        if np.bincount(workspace.labels, minlength=size).min() >= LEAST_SAMPLES:
            return centres.astype(np.float64)
    return np.asarray(predictions.mean(axis=1)[None])
