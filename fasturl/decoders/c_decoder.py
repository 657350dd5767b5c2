"""Decoders written in C."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks, plugin_loops
from .._base.c_functions import CFunction, Context, call_of, explain
from .._kernels.records import DecoderWorkspace
from ..problems.blocks import Block, RealBlock
from .decoder import ByteLabels, Decoder, real_blocks, shape_of


class CDecoder(Decoder):
    """A decoder written in C: a function with the signature of `fasturl_decoder_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL.
    n_labels
        How many labels it gives, 2 to 256.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes.

    It has learned already what it knows, so it serves as an oracle as it is: `fu.URL(oracle=CDecoder(...))`.

    Examples
    --------
    >>> from numba import carray, cfunc, types
    >>> reals, labels, size = types.CPointer(types.float32), types.CPointer(types.int32), types.int64
    >>> @cfunc(types.int32(reals, size, size, size, labels, types.voidptr))
    ... def sign(x, n, dimension, level, labels, context):
    ...     first, out = carray(x, (dimension, n))[0], carray(labels, (n,))
    ...     for i in range(n):
    ...         out[i] = 1 if first[i] > 0 else 0
    ...     return 0
    >>> CDecoder(sign, n_labels=2).decode([[-1.0, 5.0], [2.0, 5.0]])
    array([0, 1])
    """

    def __init__(self, pointer: Any, n_labels: int, context: Any = None) -> None:
        super().__init__(n_labels)
        self._function = CFunction(pointer, "fasturl_decoder_fn")
        self._context = Context(context)

    def table(self, block: Block) -> ByteLabels:
        return self.level_table(block, 1)

    def level_table(self, block: Block, level: int) -> ByteLabels:
        return np.concatenate([self._labels(real, level) for real in real_blocks(block)], axis=2)

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        observations = np.ascontiguousarray(checks.real_array("X", X), np.float32)
        _, dimension = shape_of(observations)
        block = RealBlock(observations[:, :, None], np.zeros((1, dimension, 1), np.float32), 0)
        return self._labels(block, level).ravel().astype(np.int64)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        return self.decode(X)

    @property
    def decoder_(self) -> Self:
        return self

    def _labels(self, real: RealBlock, level: int) -> ByteLabels:
        labels = np.empty((real.n_episodes, real.n_levels, real.n_states), np.uint8)
        problem = np.zeros(3, np.int64)
        workspace = DecoderWorkspace(
            points=np.empty((real.dimension, real.n_levels), np.float32),
            labels=np.empty(real.n_levels, np.int32),
        )
        call = call_of(self._function, self._context)
        plugin_loops.decoder_labels(real.arrays(), level, call, workspace, self.relabel, labels, problem)
        explain(problem, self._function, f"labels from 0 to {self.relabel.size - 1}")
        return labels
