"""A decoder of its own for each level."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._kernels.records import AffineScores
from ..problems.blocks import Block, RealBlock
from .affine import AffineDecoder, as_affine_scores, best_of_reals
from .checked import check_decoder
from .constant import ConstantDecoder
from .decoder import ByteLabels, Decoder


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
        if not len(decoders):
            raise ValueError("decoders must be one for each level, got none")
        self.decoders = [check_decoder(decoder) for decoder in decoders]
        super().__init__(max(decoder.n_labels for decoder in decoders) if n_labels is None else n_labels)

    def table(self, block: Block) -> ByteLabels:
        if block.n_levels != len(self.decoders):
            raise ValueError(
                f"block must have {len(self.decoders)} levels, one for each decoder, got {block.n_levels}"
            )
        if isinstance(block, RealBlock) and self._affine is not None:
            return np.asarray(self.relabel[self._affine.table(block)])
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        for h in range(len(self.decoders)):
            labels[:, h] = self.level_table(block.level(h), h + 1)[:, 0]
        return labels

    @cached_property
    def _affine(self) -> _AffineLevels | None:
        """The same labels from all levels at once, where all scores are affine."""
        return _AffineLevels.of(self.decoders)

    def level_table(self, block: Block, level: int) -> ByteLabels:
        return np.asarray(self.relabel[self._decoder(level).level_table(block, level)])

    def decode(self, X: ArrayLike, level: int = 1) -> NDArray[np.int64]:
        return self.relabel[self._decoder(level).decode(X, level)].astype(np.int64)

    def _decoder(self, level: int) -> Decoder:
        return self.decoders[checks.integer("level", level, least=1, most=len(self.decoders)) - 1]


class _AffineLevels:
    """Affine scores of all levels side by side, which are summed several levels at a time.

    scores
        Weights [K, D, L] and bias [K, L], K being the greatest number of labels. The bias of a label that a
        level does not have is minus infinity.
    names
        What each level calls its labels: [L, K].
    """

    def __init__(self, scores: AffineScores, names: ByteLabels) -> None:
        self._scores, self._names = scores, names

    @classmethod
    def of(cls, decoders: Sequence[Decoder]) -> _AffineLevels | None:
        """The scores of decoders that are affine or constant; None where there are others among them."""
        scores = {
            h: affine
            for h, decoder in enumerate(decoders)
            if isinstance(decoder, AffineDecoder) and (affine := decoder.weights_and_bias) is not None
        }
        n_constant = sum(isinstance(decoder, ConstantDecoder) for decoder in decoders)
        dimensions = {weights.shape[1] for weights, _ in scores.values()}
        if len(scores) + n_constant < len(decoders) or len(dimensions) != 1:
            return None
        n_scores = max(decoder.relabel.size for decoder in decoders)
        weights = np.zeros((len(decoders), n_scores, *dimensions), np.float32)
        bias = np.full((len(decoders), n_scores), -np.inf, np.float32)
        bias[:, 0] = 0.0
        names = np.zeros(bias.shape, np.uint8)
        for h, decoder in enumerate(decoders):
            names[h, : decoder.relabel.size] = decoder.relabel
        for h, (own_weights, own_bias) in scores.items():
            weights[h, : own_bias.size], bias[h, : own_bias.size] = own_weights, own_bias
        return cls(as_affine_scores(weights.transpose(1, 2, 0), bias.T), names)

    def table(self, block: RealBlock) -> ByteLabels:
        n_scores, dimension, n_levels = self._scores.weights.shape
        Decoder._check(block, dimension)
        labels = best_of_reals(block, self._scores, np.arange(n_scores, dtype=np.uint8), n_levels)
        return np.asarray(self._names[np.arange(n_levels)[:, None], labels])
