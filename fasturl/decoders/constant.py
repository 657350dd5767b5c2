"""Decoders that tell nothing apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from ..problems.blocks import Block
from .decoder import ByteLabels, Decoder, shape_of


class ConstantDecoder(Decoder):
    """Label 0, or what it is renamed to, for everything: the decoder before any training, or of observations
    that all look alike.

    n_labels
        For how many labels there is room, 2 to 256.

    Examples
    --------
    >>> ConstantDecoder(3).decode([[0.5, 1.0], [7.0, 0.0]])
    array([0, 0])
    """

    def table(self, block: Block) -> ByteLabels:
        return np.full((block.n_episodes, block.n_levels, block.n_states), self.relabel[0])

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        return np.full(shape_of(checks.real_array("X", X))[0], self.relabel[0], np.int64)
