"""A decoder of its own for each level."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from ..problems.blocks import Block
from .checked import check_decoder
from .decoder import Decoder, Labels


class LevelDecoder(Decoder):
    """A decoder of its own for each level.

    decoders
        One for each level, from the first on.
    n_labels
        For how many labels there is room; if not given, as many as the decoder with the most has.

    Examples
    --------
    >>> from fasturl.decoders import ConstantDecoder
    >>> by_level = LevelDecoder([ConstantDecoder(2), ConstantDecoder(2).relabelled([1, 0])])
    >>> by_level.decode([[0.5]], level=1), by_level.decode([[0.5]], level=2)
    (array([0]), array([1]))
    """

    def __init__(self, decoders: Sequence[Decoder], n_labels: int | None = None) -> None:
        super().__init__(max(decoder.n_labels for decoder in decoders) if n_labels is None else n_labels)
        self.decoders = [check_decoder(decoder) for decoder in decoders]

    def table(self, block: Block) -> Labels:
        if block.n_levels != len(self.decoders):
            raise ValueError(
                f"block must have {len(self.decoders)} levels, one for each decoder, got {block.n_levels}"
            )
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        for h in range(len(self.decoders)):
            labels[:, h] = self.level_table(block.level(h), h + 1)[:, 0]
        return labels

    def level_table(self, block: Block, level: int) -> Labels:
        return np.asarray(self.relabel[self._decoder(level).level_table(block, level)])

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        return self.relabel[self._decoder(level).decode(X, level)].astype(np.int64)

    def _decoder(self, level: int) -> Decoder:
        return self.decoders[checks.integer("level", level, least=1, most=len(self.decoders)) - 1]
