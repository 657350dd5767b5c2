"""Decoders of categorical variables, whose scores are looked up symbol by symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base import checks
from .._kernels import mixtures as _mixtures
from .._kernels.records import SymbolTables
from ..problems.blocks import Block, RealBlock
from .decoder import ByteLabels, Decoder, Reals, real_blocks


class SymbolDecoder(Decoder):
    """The label k of greatest bias[k] + the sum over coordinates of what the symbol there adds to k.

    least
        The first symbol of each coordinate, a whole number: [D].
    n_symbols
        How many there are from that one on, for each coordinate: [D].
    entries
        What each adds to each score, one coordinate after the other: [sum of n_symbols, K].
    bias
        [K].

    Observations are rounded to the nearest whole number. A symbol without an entry says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> decoder = SymbolDecoder(least=[0], n_symbols=[2], entries=np.eye(2), bias=[0.0, 0.0])
    >>> decoder.decode([[0.0], [1.0]])
    array([0, 1])
    """

    def __init__(self, least: ArrayLike, n_symbols: ArrayLike, entries: ArrayLike, bias: ArrayLike) -> None:
        shifts = checks.real_table("bias", bias, (None,))
        super().__init__(shifts.size)
        first = checks.real_table("least", least, (None,))
        counts = checks.real_table("n_symbols", n_symbols, (first.size,))
        if not (np.isfinite(counts) & (counts >= 1) & (counts == np.floor(counts))).all():
            raise ValueError(
                f"n_symbols must be whole numbers, 1 or more, got {checks.short_repr(n_symbols)}"
            )
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        table = checks.real_table("entries", entries, (int(starts[-1]), self.n_labels))
        self._tables = SymbolTables(
            least=first.astype(np.float32),
            starts=starts,
            entries=np.ascontiguousarray(table, np.float32),
            bias=shifts.astype(np.float32),
        )

    def table(self, block: Block) -> ByteLabels:
        self._check(block, self._tables.least.size)
        return self._best(block, np.concatenate([self._scores(real) for real in real_blocks(block)], axis=2))

    def _scores(self, real: RealBlock) -> Reals:
        scores = np.empty((real.n_episodes, self._tables.bias.size, real.n_states, real.n_levels), np.float32)
        totals = np.empty((2, self._tables.bias.size), np.float32)
        _mixtures.symbol_scores(real.arrays(), self._tables, totals, scores)
        return scores
