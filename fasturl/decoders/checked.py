"""Decoders that a user wrote, checked where their labels enter a kernel."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base.origin import in_method, is_ours
from ..problems.blocks import Block
from .decoder import ByteLabels, Decoder, labels_of_shape, whole_labels


class CheckedDecoder(Decoder):
    """A decoder that a user wrote, behind checks: kernels take labels for positions in arrays and check
    nothing. It also gives the labels their names, so that a user's decoder need not know of `relabel`."""

    def __init__(self, decoder: Decoder) -> None:
        # refused where it was never set
        super().__init__(getattr(decoder, "n_labels", None))  # type: ignore[arg-type]
        self._decoder = decoder

    def table(self, block: Block) -> ByteLabels:
        with in_method("table", self._decoder):
            labels = self._decoder.table(block)
        return self._checked("table", labels, (block.n_episodes, block.n_levels, block.n_states))

    def level_table(self, block: Block, level: int) -> ByteLabels:
        with in_method("level_table", self._decoder):
            labels = self._decoder.level_table(block, level)
        return self._checked("level_table", labels, (block.n_episodes, block.n_levels, block.n_states))

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        with in_method("decode", self._decoder):
            labels = self._decoder.decode(X, level)
        return self._checked("decode", labels, (len(np.asarray(X)),)).astype(np.int64)

    def _checked(self, method: str, labels: ArrayLike, shape: tuple[int, ...]) -> ByteLabels:
        must = f"{method} of {type(self._decoder).__name__} must give"
        numbers = labels_of_shape(f"{must} labels of shape {shape}", labels, shape)
        return np.asarray(self.relabel[whole_labels(must, numbers, self.relabel.size)])


def check_decoder(decoder: Decoder) -> Decoder:
    """The decoder itself if it is built in, which costs nothing, and else one that checks its labels.

    decoder
        Any decoder.

    Returns a decoder with the same labels.

    Examples
    --------
    >>> from fasturl.decoders import ConstantDecoder
    >>> ours = ConstantDecoder(2)
    >>> check_decoder(ours) is ours
    True
    """
    return decoder if is_ours(type(decoder)) else CheckedDecoder(decoder)
