"""Decoders written in C."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import plugin_loops
from .._base.c_functions import CFunction, Context, explain
from ..problems.blocks import Block, RealBlock
from .decoder import Decoder, Labels, real_blocks


class CDecoder(Decoder):
    """A decoder written in C: a function with the signature of `fasturl_decoder_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes.

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
            real.n_informative,
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
