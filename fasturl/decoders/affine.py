"""Decoders whose scores are affine in the observation or in its image: k-means, spherical and tied
mixtures."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._kernels import affine_decoding as _affine
from .._kernels import packed_decoding as _packed
from .._kernels import sure_labels as _sure
from .._kernels.packed_rows import scratch_shape
from .._kernels.records import AffineScores, PackedTables
from ..problems.blocks import BitBlock, Block, RealBlock
from .decoder import ByteLabels, Decoder, Floats, Reals, in_rows, real_blocks


class AffineDecoder(Decoder):
    """The label k of greatest bias[k] + weights[k] . x + curvature[k] |x|^2.

    k-means, and mixtures of spherical or equally shaped Gaussians, decode so. Packed bits are looked up byte
    by byte. Where a matrix A is given, x is the affine image A x + b of an observation, where b is the
    offset, or 0.

    weights
        [K, D].
    bias
        [K].
    curvature
        [K], or None for none.
    matrix, offset
        A [R, D] and b [R], or None for the observation itself.

    Examples
    --------
    >>> import numpy as np
    >>> centres = np.eye(3)  # the nearest centre c is where c.x - |c|^2 / 2 is largest
    >>> AffineDecoder(centres, -np.square(centres).sum(axis=1) / 2).decode([[0.1, 0.9, 0.0], [0.8, 0.0, 0.1]])
    array([1, 0])
    """

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        curvature: ArrayLike | None = None,
        matrix: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        self._image = affine_image(matrix, offset)
        n_scored = self._image.affine.bias.size if self._image else None
        table = checks.real_table("weights", weights, (None, n_scored))
        super().__init__(table.shape[0])
        constants = checks.real_table("bias", bias, (self.n_labels,))
        sums = np.abs(table).sum(axis=1) + np.abs(np.where(constants == -np.inf, 0.0, constants))
        if sums.max() > checks.MOST_SINGLE:
            checks.single_table("weights", table, table.shape)
            checks.single_table("bias", constants, constants.shape, logarithms=True)
            checks.single_table("sums of the sizes of weights and bias", sums, sums.shape)
        self._scores = AffineMap(
            table,
            constants,
            None if curvature is None else checks.single_table("curvature", curvature, (self.n_labels,)),
        )

    @property
    def weights_and_bias(self) -> tuple[Reals, Reals] | None:
        """[K, D] and [K], where scores are affine in the observation itself."""
        weights, bias, curvature = self._scores.affine
        return None if self._image is not None or curvature.size else (weights, bias)

    def table(self, block: Block) -> ByteLabels:
        self._check(block, self._image.dimension if self._image else self._scores.dimension)
        if self._image is None and isinstance(block, BitBlock):
            return best_of_bits(block.words, self._scores.tables, self.relabel, block.n_levels)
        if self._image is not None:
            # the points of all states stand beside each other, as levels do
            points = self._image.block(block)
            labels = best_of_reals(points, self._scores.affine, self.relabel, points.n_levels)
            shape = block.n_episodes, block.n_states, block.n_levels
            return np.ascontiguousarray(labels.reshape(shape).transpose(0, 2, 1))
        if isinstance(block, RealBlock):
            return best_of_reals(block, self._scores.affine, self.relabel, block.n_levels)
        of_states = (
            best_of_reals(real, self._scores.affine, self.relabel, block.n_levels)
            for real in real_blocks(block)
        )
        return np.concatenate(list(of_states), axis=2)


class AffineMap:
    """bias[k] + weights[k] . x + curvature[k] |x|^2 for every observation of a block: float32 [E, K, S,
    L]."""

    def __init__(self, weights: ArrayLike, bias: ArrayLike, curvature: ArrayLike | None = None) -> None:
        exact, offset = np.asarray(weights, np.float64), np.asarray(bias, np.float64)
        bend = np.zeros(offset.size) if curvature is None else np.asarray(curvature, np.float64)
        self.affine = as_affine_scores(
            exact.astype(np.float32),
            offset.astype(np.float32),
            bend.astype(np.float32) if bend.any() else None,
        )
        self._exact = exact + bend[:, None], offset  # a bit is its own square
        self.dimension = exact.shape[1]

    @cached_property
    def tables(self) -> PackedTables:
        """What bytes of bits add to the scores: see `_byte_tables`."""
        return _byte_tables(*self._exact)

    def __call__(self, block: Block) -> Reals:
        n_scores = self.affine.bias.size
        scores = np.empty((block.n_episodes, n_scores, block.n_states, block.n_levels), np.float32)
        if isinstance(block, BitBlock):
            _packed.packed_scores(block.words, self.tables.scores, scores)
            return scores
        if not isinstance(block, RealBlock):
            return np.concatenate([self(real) for real in real_blocks(block)], axis=2)
        fill_scores(block, self.affine, scores)
        return scores

    def block(self, block: Block) -> RealBlock:
        """The image of a block, itself a block: all points of an episode in a row, as S * L levels with one
        state."""
        points = self(block)
        flat = in_rows(points)
        return RealBlock(flat, np.zeros((1, *flat.shape[1:]), np.float32), 0)


def best_of_bits(
    words: NDArray[np.uint64], tables: PackedTables, relabel: ByteLabels, n_levels: int
) -> ByteLabels:
    """The labels of greatest score of packed bits at the first levels, renamed: [E, n_levels, S]. The scores
    themselves are kept nowhere."""
    n_episodes, _, n_states, _ = words.shape
    labels = np.empty((n_episodes, n_levels, n_states), np.uint8)
    scratch = np.empty(scratch_shape(n_states, tables.scores.shape[3]), np.float32)
    _packed.packed_labels(words, tables, relabel, scratch, labels)
    return labels


def best_of_reals(block: RealBlock, scores: AffineScores, relabel: ByteLabels, n_levels: int) -> ByteLabels:
    """As `best_of_bits`, for reals."""
    labels = np.empty((block.n_episodes, n_levels, block.n_states), np.uint8)
    arrays, tail = block.arrays(), _tail(scores, n_levels)
    if _shares_sums(block, scores):
        scored_means = np.empty((block.n_states, scores.bias.shape[0], n_levels), np.float32)
        _sure.sure_labels(arrays, scores, relabel, tail, scored_means, labels)
    else:
        _affine.affine_labels(arrays, scores, relabel, tail, labels)
    return labels


def _shares_sums(block: RealBlock, scores: AffineScores) -> bool:
    """Whether sums over noise and means are taken apart: where that saves more than half of the products,
    since to see that labels are sure takes time too."""
    n_scores, dimension = scores.weights.shape[:2]
    in_each_state = n_scores * (dimension + (block.n_states - 1) * block.n_informative)
    taken_apart = n_scores * dimension + dimension + 4 * block.n_states * n_scores
    return not scores.curvature.size and in_each_state > 2 * taken_apart


def fill_scores(block: RealBlock, scores: AffineScores, out: Reals) -> None:
    """Fill in the scores of reals at the first levels: out [E, K, S, levels]."""
    _affine.affine_scores(block.arrays(), scores, _tail(scores, out.shape[3]), out)


def as_affine_scores(weights: Reals, bias: Reals, curvature: Reals | None = None) -> AffineScores:
    """Scores as kernels take them."""
    bend = np.empty(0, np.float32) if curvature is None else curvature
    return AffineScores(np.ascontiguousarray(weights), np.ascontiguousarray(bias), bend)


def _tail(scores: AffineScores, n_levels: int) -> Reals:
    """Scratch for such scores."""
    return np.empty((scores.bias.shape[0] + (scores.curvature.size > 0), 2 * n_levels), np.float32)


def affine_image(matrix: ArrayLike | None, offset: ArrayLike | None) -> AffineMap | None:
    if matrix is None:
        if offset is not None:
            raise ValueError(
                f"offset must be left out where there is no matrix, got {checks.short_repr(offset)}"
            )
        return None
    table = checks.single_table("matrix", matrix, (None, None))
    n_rows = table.shape[0]
    return AffineMap(
        table, np.zeros(n_rows) if offset is None else checks.single_table("offset", offset, (n_rows,))
    )


def blank_tables(n_levels: int, dimension: int, n_scores: int, bits: int) -> PackedTables:
    """Tables for groups of so many bits, by which every observation has label 0."""
    shape = n_levels, -(-dimension // bits), 1 << bits, -(-n_scores // 4) * 4
    tables = PackedTables(
        np.zeros(shape, np.float32), np.zeros(n_levels, np.uint64), np.zeros((n_levels, 1 << bits), np.int16)
    )
    tables.scores[:, 0, :, 1:] = -np.inf
    return tables


def decide(tables: PackedTables, level: int) -> None:
    """Find out which labels one group of bits decides for at a level, from what groups add to its scores."""
    scores = tables.scores[level]
    ranges = np.empty((3, len(scores) + 1, scores.shape[2]))
    tables.deciding[level] = _packed.find_deciding_group(scores, ranges, tables.decided[level])


def _byte_tables(weights: Floats, bias: Floats) -> PackedTables:
    """What each value of each byte of packed bits adds to each score, the same at every level.

    Sums are made in float64 and rounded once.
    """
    tables = blank_tables(1, weights.shape[1], bias.size, 8)
    sums = np.empty(tables.scores.shape[1:])
    _packed.fill_packed_tables(np.ascontiguousarray(weights), bias, sums)
    tables.scores[0] = sums
    decide(tables, 0)
    return tables
