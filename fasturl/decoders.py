"""Decoders: what a fitted oracle hands on. One contract, compiled where it can be.

    decode(X, level) -> int64 labels      for observations [n, D] of one level (levels count from 0)
    table(block) -> uint8 [E, L, S]       for every observation that a block of episodes can show

Bits (uint8 zeros and ones) and reals (float32) go through the same kernels in both, so the two agree bit for bit. Labels are known up to
a permutation only; `relabelled` returns the same decoder with its outputs renamed.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import plugin_loops, validation
from ._kernels import decoding as _decoding
from ._kernels import emission as _emission
from .emissions import BitBlock, Block, RealBlock
from .plugins import CFunction, Context, explain

MAX_LABELS = 256

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
Labels = NDArray[np.uint8]
Observations = NDArray[np.generic]


class Predictor(Protocol):
    def predict(self, X: Any) -> Any: ...


class Decoder(ABC):
    n_labels: int
    """Labels are below this number; renaming may raise it."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = validation.integer("n_labels", n_labels, least=2, most=MAX_LABELS)
        self.relabel = np.arange(n_labels, dtype=np.uint8)

    @abstractmethod
    def table(self, block: Block) -> Labels:
        """A label for every (episode, level, state) of the block."""

    def level_table(self, block: Block, level: int) -> Labels:
        """`table` of a block that holds this level alone, for decoders to which levels are not all the same."""
        return self.table(block)

    def decode(self, X: ArrayLike, level: int = 0) -> NDArray[np.int64]:
        """A label for each observation, all of one level."""
        return self.table(block_of(np.asarray(X))).ravel().astype(np.int64)

    @staticmethod
    def _check(block: Block, dimension: int) -> None:
        if block.dimension != dimension:
            raise ValueError(
                f"observations must have {dimension} coordinates, as those that the decoder was made for, got {block.dimension}"
            )

    def _best(self, block: Block, scores: Reals) -> Labels:
        """The label of greatest score: scores float32 [E, K, S, L], however the last two axes are cut."""
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        _decoding.best_labels(scores.reshape(*scores.shape[:2], -1), self.relabel, labels)
        return labels

    def relabelled(self, permutation: ArrayLike) -> Self:
        """The same decoder with label k given out as permutation[k]; two labels may get one name."""
        names = np.asarray(permutation)
        if names.ndim != 1 or names.size <= self.relabel.max():
            raise ValueError(f"permutation must have an entry for each label up to {self.relabel.max()}, got shape {names.shape}")
        renamed = copy.copy(self)
        renamed.relabel = _whole_labels("permutation must hold", names, MAX_LABELS).astype(np.uint8)[self.relabel]
        renamed.n_labels = max(self.n_labels, int(renamed.relabel.max()) + 1)
        return renamed


class AffineDecoder(Decoder):
    """The label k of greatest bias[k] + weights[k] . x + curvature[k] |x|^2.

    k-means, and mixtures of spherical or equally shaped Gaussians, decode so. Packed bits are looked up byte by byte. Where a
    matrix A is given, x is the affine image A x + b of an observation, where b is the offset, or 0.
    """

    def __init__(
        self,
        weights: ArrayLike,
        bias: ArrayLike,
        curvature: ArrayLike | None = None,
        matrix: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        super().__init__(np.shape(weights)[0])
        self._scores = _AffineMap(weights, bias, curvature)
        self._image = _image(matrix, offset)

    def table(self, block: Block) -> Labels:
        self._check(block, self._image.dimension if self._image else self._scores.dimension)
        return self._best(block, self._scores(self._image.block(block) if self._image else block))


class QuadraticDecoder(Decoder):
    """The component k of greatest log density: a mixture of Gaussians with full covariance matrices.

    means [K, R], precisions [K, R, R] and log_weights [K] describe the mixture of the affine image A x + b of an observation, or of
    the observation itself where no matrix A is given; b is the offset, or 0.
    """

    def __init__(
        self,
        means: ArrayLike,
        precisions: ArrayLike,
        log_weights: ArrayLike,
        matrix: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        exact = np.asarray(precisions, np.float64)
        super().__init__(exact.shape[0])
        factors = np.linalg.cholesky(exact).transpose(0, 2, 1)
        self._factors = np.ascontiguousarray(factors, np.float32)
        self._centres = np.einsum("kij,kj->ki", factors, np.asarray(means, np.float64)).astype(np.float32)
        log_volume = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        self._bias = (np.asarray(log_weights, np.float64) + log_volume).astype(np.float32)
        self._image = _image(matrix, offset)

    def table(self, block: Block) -> Labels:
        self._check(block, self._image.dimension if self._image else self._factors.shape[1])
        blocks = [self._image.block(block)] if self._image else real_blocks(block)
        return self._best(block, np.concatenate([self._scores(real) for real in blocks], axis=2))

    def _scores(self, real: RealBlock) -> Reals:
        scores = np.empty((real.n_episodes, self._bias.size, real.n_states, real.n_levels), np.float32)
        scratch = np.empty((real.head + 2, real.n_levels), np.float32)
        _decoding.quadratic_scores(real.noise, real.means, real.head, self._factors, self._centres, self._bias, scratch, scores)
        return scores


class SupportVectorDecoder(Decoder):
    """An RBF support vector classifier (fitted `sklearn.svm.SVC`) on the affine image A x + b of an observation."""

    def __init__(self, matrix: ArrayLike, offset: ArrayLike, classifier: Any) -> None:
        super().__init__(len(classifier.classes_))
        self._image = _AffineMap(matrix, offset)
        self._vectors = np.ascontiguousarray(classifier.support_vectors_, np.float64)
        self._starts = np.concatenate([[0], np.cumsum(classifier.n_support_)]).astype(np.int64)
        # with two classes scikit-learn turns the signs of dual_coef_ and intercept_ round
        sign = -1.0 if self.n_labels == 2 else 1.0
        self._coefficients = sign * np.ascontiguousarray(classifier.dual_coef_, np.float64)
        self._intercepts = sign * np.asarray(classifier.intercept_, np.float64)
        self._gamma = float(classifier._gamma)

    def table(self, block: Block) -> Labels:
        self._check(block, self._image.dimension)
        points = self._image(block)
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        _decoding.support_vector_labels(
            points,
            self._vectors,
            self._starts,
            self._coefficients,
            self._intercepts,
            self._gamma,
            np.empty(self._vectors.shape[0]),
            np.empty(self._starts.size - 1, np.int64),
            self.relabel,
            labels,
        )
        return labels


class PredictDecoder(Decoder):
    """Any object with `predict`, called once for a whole block.

    Where nobody knows how many labels it gives, `grows` makes room for those that turn up: `n_labels` is then raised as they do.
    """

    def __init__(self, predictor: Predictor, n_labels: int, *, grows: bool = False) -> None:
        super().__init__(n_labels)
        self.most = MAX_LABELS if grows else n_labels
        self._predictor = predictor

    def table(self, block: Block) -> Labels:
        X = block.every_state()
        labels = self._predict(X.reshape(-1, block.dimension))
        return self.relabel[labels].reshape(X.shape[:-1])

    def _predict(self, X: Observations) -> NDArray[np.int64]:
        must = f"predict of {type(self._predictor).__name__} must give"
        given = np.asarray(self._predictor.predict(X))
        if given.shape != (X.shape[0],):
            raise ValueError(f"{must} one label for each of {X.shape[0]} observations, got shape {given.shape}")
        labels = _whole_labels(must, given, self.most)
        if labels.size and labels.max() >= self.relabel.size:
            self._make_room(int(labels.max()) + 1)
        return labels

    def _make_room(self, n_labels: int) -> None:
        """Labels that turn up late get names that no other label has."""
        free = np.setdiff1d(np.arange(MAX_LABELS), self.relabel)
        self.relabel = np.concatenate([self.relabel, free[: n_labels - self.relabel.size]]).astype(np.uint8)
        self.n_labels = max(self.n_labels, int(self.relabel.max()) + 1)


class LevelDecoder(Decoder):
    """A decoder of its own for each level."""

    def __init__(self, decoders: Sequence[Decoder], n_labels: int | None = None) -> None:
        super().__init__(max(decoder.n_labels for decoder in decoders) if n_labels is None else n_labels)
        self.decoders = [checked(decoder) for decoder in decoders]

    def table(self, block: Block) -> Labels:
        if block.n_levels != len(self.decoders):
            raise ValueError(f"block must have {len(self.decoders)} levels, one for each decoder, got {block.n_levels}")
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        for level in range(len(self.decoders)):
            labels[:, level] = self.level_table(block.level(level), level)[:, 0]
        return labels

    def level_table(self, block: Block, level: int) -> Labels:
        return np.asarray(self.relabel[self._decoder(level).level_table(block, level)])

    def decode(self, X: ArrayLike, level: int = 0) -> NDArray[np.int64]:
        return self.relabel[self._decoder(level).decode(X, level)].astype(np.int64)

    def _decoder(self, level: int) -> Decoder:
        return self.decoders[validation.integer("level", level, least=0, most=len(self.decoders) - 1)]


class CheckedDecoder(Decoder):
    """A decoder that a user wrote: kernels take labels for positions and check nothing, so they are looked at here first."""

    def __init__(self, decoder: Decoder) -> None:
        super().__init__(getattr(decoder, "n_labels", None))  # type: ignore[arg-type]  # refused where it was never set
        self._decoder = decoder

    def table(self, block: Block) -> Labels:
        return self._checked("table", self._decoder.table(block), (block.n_episodes, block.n_levels, block.n_states))

    def level_table(self, block: Block, level: int) -> Labels:
        return self._checked("level_table", self._decoder.level_table(block, level), (block.n_episodes, block.n_levels, block.n_states))

    def decode(self, X: ArrayLike, level: int = 0) -> NDArray[np.int64]:
        return self._checked("decode", self._decoder.decode(X, level), (len(np.asarray(X)),)).astype(np.int64)

    def _checked(self, method: str, labels: ArrayLike, shape: tuple[int, ...]) -> Labels:
        must = f"{method} of {type(self._decoder).__name__} must give"
        given = np.asarray(labels)
        if given.shape != shape:
            raise ValueError(f"{must} labels of shape {shape}, got {given.shape}")
        return np.asarray(self.relabel[_whole_labels(must, given, self.relabel.size)])


def checked(decoder: Decoder) -> Decoder:
    """The decoder itself if it is built in, which costs nothing, and else one that checks its labels."""
    return decoder if type(decoder).__module__.startswith(f"{__package__}.") else CheckedDecoder(decoder)


def _whole_labels(must: str, given: NDArray[Any], n_labels: int) -> NDArray[np.int64]:
    """Labels as int64, if that is what they are."""
    if given.dtype.kind not in "iuf":
        raise ValueError(f"{must} whole numbers, got {given.dtype}")
    with np.errstate(invalid="ignore"):
        labels = given.astype(np.int64)
    wrong = (labels != given) | (labels < 0) | (labels >= n_labels)
    if wrong.any():
        raise ValueError(f"{must} labels from 0 to {n_labels - 1}, got {given[wrong][0]}")
    return labels


class CDecoder(Decoder):
    """A decoder written in C: a function with the signature of `fasturl_decoder_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once, without the GIL.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or ctypes.

    It has learned already what it knows, so it serves as an oracle as it is: `fu.URL(oracle=CDecoder(...))`.
    """

    def __init__(self, pointer: Any, n_labels: int, context: Any = None) -> None:
        super().__init__(n_labels)
        self._function = CFunction(pointer, "fasturl_decoder_fn")
        self._context = Context(context)

    def table(self, block: Block) -> Labels:
        return self.level_table(block, 0)

    def level_table(self, block: Block, level: int) -> Labels:
        return np.concatenate([self._labels(real, level) for real in real_blocks(block)], axis=2)

    def decode(self, X: ArrayLike, level: int = 0) -> NDArray[np.int64]:
        seen = np.ascontiguousarray(X, np.float32)
        if seen.ndim != 2:
            raise ValueError(f"X must have shape [observations, coordinates], got {seen.shape}")
        block = RealBlock(seen[:, :, None], np.zeros((1, seen.shape[1], 1), np.float32), 0)
        return self._labels(block, level).ravel().astype(np.int64)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        return self.decode(X)

    @property
    def decoder_(self) -> Self:
        return self

    def _labels(self, real: RealBlock, level: int) -> Labels:
        labels = np.empty((real.n_episodes, real.n_levels, real.n_states), np.uint8)
        problem = np.zeros(3, np.int64)
        plugin_loops.decoder_labels(
            real.noise,
            real.means,
            real.head,
            level,
            np.uint64(self._function.address),
            np.uint64(self._context.address),
            np.empty((real.dimension, real.n_levels), np.float32),
            np.empty(real.n_levels, np.int32),
            self.relabel,
            labels,
            problem,
        )
        explain(problem, self._function, f"labels from 0 to {self.relabel.size - 1}")
        return labels


def block_of(X: Observations) -> Block:
    """Observations [n, D] as a block with one state: booleans, and bytes of zeros and ones, are bits, the rest reals."""
    if X.ndim != 2:
        raise ValueError(f"X must have shape [observations, coordinates], got {X.shape}")
    n, dimension = X.shape
    if X.dtype in (np.uint8, np.bool_) and X.view(np.uint8).max(initial=0) <= 1:
        words = np.empty((n, 1, 1, -(-dimension // 64)), np.uint64)
        _emission.pack(np.ascontiguousarray(X, np.uint8), words.reshape(n, -1))
        return BitBlock(words, dimension)
    columns = np.ascontiguousarray(X.T, np.float32)
    return RealBlock(columns.reshape(1, dimension, n), np.zeros((1, dimension, n), np.float32), 0)


def real_blocks(block: Block) -> list[RealBlock]:
    """The block for kernels that know noise around means alone: any other becomes one block for each state."""
    if isinstance(block, RealBlock):
        return [block]
    columns = block.every_state().transpose(2, 0, 3, 1).astype(np.float32, order="C")
    blank = np.zeros((1, block.dimension, block.n_levels), np.float32)
    return [RealBlock(seen, blank, 0) for seen in columns]


class _AffineMap:
    """bias[k] + weights[k] . x + curvature[k] |x|^2 for every observation of a block: float32 [E, K, S, L]."""

    def __init__(self, weights: ArrayLike, bias: ArrayLike, curvature: ArrayLike | None = None) -> None:
        exact, offset = np.asarray(weights, np.float64), np.asarray(bias, np.float64)
        bend = np.zeros(offset.size) if curvature is None else np.asarray(curvature, np.float64)
        self.weights = np.ascontiguousarray(exact, np.float32)
        self.bias = offset.astype(np.float32)
        self.curvature = bend.astype(np.float32) if bend.any() else None
        self.bytes = _byte_tables(exact + bend[:, None], offset)  # a bit is its own square
        self.dimension = exact.shape[1]

    def __call__(self, block: Block) -> Reals:
        scores = np.empty((block.n_episodes, self.bias.size, block.n_states, block.n_levels), np.float32)
        if isinstance(block, BitBlock):
            _decoding.byte_scores(block.words, self.bytes, scores)
            return scores
        if not isinstance(block, RealBlock):
            return np.concatenate([self(real) for real in real_blocks(block)], axis=2)
        scratch = np.empty((self.bias.size, block.n_levels), np.float32)
        _decoding.affine_scores(block.noise, block.means, block.head, self.weights, self.bias, scratch, scores)
        if self.curvature is not None:
            squares = np.empty((2, block.n_levels), np.float32)
            _decoding.add_squares(block.noise, block.means, block.head, self.curvature, squares, scores)
        return scores

    def block(self, block: Block) -> RealBlock:
        """The image of a block, itself a block: all points of an episode in a row, as S * L levels with one state."""
        points = self(block)
        flat = points.reshape(*points.shape[:2], -1)
        return RealBlock(flat, np.zeros((1, *flat.shape[1:]), np.float32), 0)


def _image(matrix: ArrayLike | None, offset: ArrayLike | None) -> _AffineMap | None:
    if matrix is None:
        if offset is not None:
            raise ValueError(f"offset must be left out where there is no matrix, got {validation.shown(offset)}")
        return None
    return _AffineMap(matrix, np.zeros(len(np.asarray(matrix))) if offset is None else offset)


def _byte_tables(weights: Floats, bias: Floats) -> Reals:
    """What each value of each byte of packed bits adds to each score; the bias goes with byte 0.

    Shape [n_bytes, 256, K], K rounded up to a multiple of 4 with scores that nobody reads.
    """
    n_scores, dimension = weights.shape
    padded = np.zeros((-(-n_scores // 4) * 4, -(-dimension // 8) * 8))
    padded[:n_scores, :dimension] = weights
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    tables = np.einsum("vi,kbi->bvk", bits, padded.reshape(padded.shape[0], -1, 8))
    tables[0, :, :n_scores] += bias
    return np.ascontiguousarray(tables, np.float32)
