"""The contract of decoders: what a fitted oracle hands on, compiled where it can be.

    decode(X, level) -> int64 labels      for observations [n, D] of one level (levels count from 1)
    table(block) -> uint8 [E, L, S]       for every observation that a block of episodes can show

Bits (uint8 zeros and ones) and reals (float32) go through the same kernels in both, so the two agree bit for
bit. Labels are known up to a permutation only; `relabelled` returns the same decoder with other names for its
labels. The decoders of this package pass their labels through the array `relabel`. A decoder of a user's own
does not: `CheckedDecoder`, which stands between it and the kernels, does that.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.kernel_arrays import for_kernels
from .._base.origin import in_method
from .._kernels import decoding as _decoding
from .._kernels import turning as _turning
from ..problems.blocks import Block, RealBlock, bit_block

MAX_LABELS = 256
"""Upper limit on the labels of a decoder: a label is a byte."""
Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
ByteLabels = NDArray[np.uint8]
"""The labels of observations, a byte for each."""
Observations = NDArray[np.generic]


class Decoder(ABC):
    """A decoder maps observations to labels 0..n_labels-1.

    A subclass implements `table`, which labels a whole block of episodes, for every latent state that a level
    can have; `block.every_state()` gives the observations [episodes, levels, states, coordinates]. It returns
    its own labels: renaming them is not its task.

    n_labels
        Number of labels, from 2 to 256.

    Examples
    --------
    >>> import numpy as np
    >>> class FirstCoordinate(Decoder):
    ...     def table(self, block):
    ...         return (block.every_state()[..., 0] > 0.5).astype(np.uint8)
    >>> FirstCoordinate(n_labels=2).decode([[0.0, 1.0], [0.9, 1.0]])
    array([0, 1])
    """

    n_labels: int
    """Number of labels: all are below it. Other names for labels may raise it."""
    relabel: ByteLabels
    """The name that is given out for each label of the decoder itself, uint8. Kernels apply it to the labels
    of built-in decoders, and `CheckedDecoder` to those of others."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = checks.integer("n_labels", n_labels, least=2, most=MAX_LABELS)
        self.relabel = np.arange(n_labels, dtype=np.uint8)

    @abstractmethod
    def table(self, block: Block) -> ByteLabels:
        """The label of every observation that the episodes of a block can show.

        block
            The observations; `block.every_state()` gives them as an array [episodes, levels, states,
            coordinates].

        Returns labels below `n_labels`: integers [episodes, levels, states], best uint8.
        """

    def level_table(self, block: Block, level: int) -> ByteLabels:
        """The `table` of a block that holds one level alone, 1 to H + 1. A decoder that decodes levels
        differently overrides it."""
        return self.table(block)

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        """The labels of observations X [n, D] that are all of one level, 1 to H + 1: int64[n]."""
        return labels_of_block(self, block_of(checks.real_array("X", X)))

    @staticmethod
    def _check(block: Block, dimension: int) -> None:
        if block.dimension != dimension:
            raise ValueError(
                f"observations must have {dimension} coordinates, as those that the decoder was made for, "
                f"got {block.dimension}"
            )

    def _best(self, block: Block, scores: Reals) -> ByteLabels:
        """The label of greatest score: scores float32 [E, K, S, L], or with the last two axes in one."""
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        _decoding.best_labels(in_rows(scores), self.relabel, labels)
        return labels

    def relabelled(self, permutation: ArrayLike) -> Self:
        """The same decoder with other names for its labels: label k becomes permutation[k].

        permutation
            The new names, integers from 0 to 255, one for each label. It is mostly a permutation, but two
            labels may get the same name, and names may be greater than the labels were.
        """
        names = np.asarray(permutation)
        if names.ndim != 1 or names.size <= self.relabel.max():
            raise ValueError(
                f"permutation must have an entry for each label up to {self.relabel.max()}, "
                f"got shape {names.shape}"
            )
        outputs = whole_labels("permutation must hold", names, MAX_LABELS).astype(np.uint8)
        other = copy.copy(self)
        other.relabel = outputs[self.relabel]
        other.n_labels = max(self.n_labels, int(other.relabel.max()) + 1)
        return other


def labels_of_block(decoder: Decoder, block: Block) -> NDArray[np.int64]:
    """The labels that a decoder gives to n observations in the block that `block_of` makes of them: int64[n].
    The decoder must treat all levels alike. The block is made once where several decoders label the same
    observations."""
    must = f"table of {type(decoder).__name__} must give"
    shape = (block.n_episodes, block.n_levels, block.n_states)
    with in_method("table", decoder):
        table = decoder.table(block)
    labels = labels_of_shape(f"{must} labels of shape {shape}", table, shape)
    return whole_labels(must, labels.ravel(), decoder.n_labels)


def in_rows(table: NDArray[Any]) -> NDArray[Any]:
    """A table [E, K, ...] as one of three axes, also where there are no episodes."""
    return table.reshape(*table.shape[:2], math.prod(table.shape[2:]))


def labels_of_shape(must: str, labels: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """The labels that a user's code returned, as an array of this shape, or an error that begins with
    `must`."""
    try:
        numbers = np.asarray(labels)
    except ValueError:  # rows that differ in length
        raise ValueError(f"{must}, got {checks.short_repr(labels)}") from None
    if numbers.shape != shape:
        raise ValueError(f"{must}, got shape {numbers.shape}")
    return numbers


def whole_labels(must: str, numbers: NDArray[Any], n_labels: int) -> NDArray[np.int64]:
    """Numbers as int64 labels, or an error that begins with `must` where they are none."""
    if numbers.dtype.kind not in "iuf":
        raise ValueError(f"{must} whole numbers, got {numbers.dtype}")
    least = 0 if numbers.dtype.kind == "u" else numbers.min(initial=0)
    if numbers.dtype.kind != "f" and least >= 0 and numbers.max(initial=0) < n_labels:
        return numbers.astype(np.int64)  # as those of our own decoders
    with np.errstate(invalid="ignore"):
        labels = numbers.astype(np.int64)
    wrong = (labels != numbers) | (labels < 0) | (labels >= n_labels)
    if wrong.any():
        raise ValueError(f"{must} labels from 0 to {n_labels - 1}, got {numbers[wrong][0]}")
    return labels


def shape_of(X: Observations) -> tuple[int, int]:
    """How many observations X [n, D] are, and of how many coordinates."""
    if X.ndim != 2:
        raise ValueError(f"X must have shape [observations, coordinates], got {X.shape}")
    n, dimension = X.shape
    return n, dimension


def block_of(X: Observations) -> Block:
    """Observations [n, D] as a block with one state: booleans, and bytes of zeros and ones, are bits, the
    rest reals."""
    n, dimension = shape_of(X)
    if X.dtype in (np.uint8, np.bool_) and X.view(np.uint8).max(initial=0) <= 1:
        return bit_block(X.astype(np.uint8, copy=False).reshape(n, 1, 1, dimension))
    columns = np.empty((dimension, n), np.float32)
    _turning.transpose(for_kernels(X, np.float32), columns)
    return RealBlock(columns.reshape(1, dimension, n), np.zeros((1, dimension, n), np.float32), 0)


def real_blocks(block: Block) -> list[RealBlock]:
    """The block for kernels that know noise around means alone: any other kind becomes a block of reals for
    each state."""
    if isinstance(block, RealBlock):
        return [block]
    columns = block.every_state().transpose(2, 0, 3, 1).astype(np.float32, order="C")
    blank = np.zeros((1, block.dimension, block.n_levels), np.float32)
    return [RealBlock(noise, blank, 0) for noise in columns]
