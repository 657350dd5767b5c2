"""Observations of bits: independent ones, and the one-hot code of a symbol."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..._base import checks
from ..._kernels import emission as _emission
from ..blocks import BitBlock, Rngs
from .emission import Emission, cumulative, per_level, raw_words


class Bernoulli(Emission):
    """Independent bits, each set with a frequency that depends on the state, or on the level and the state.

    frequencies
        Array [S, D] of probabilities, or [H+1, S, D] where they depend on the level.
    n_levels
        Number of levels at which there are observations: H+1.

    Examples
    --------
    >>> emission = Bernoulli([[0.1, 0.9, 0.5], [0.9, 0.1, 0.5]], n_levels=4)
    >>> emission.n_states, emission.dimension
    (2, 3)
    """

    discrete = True
    independent_levels = True

    def __init__(self, frequencies: ArrayLike, *, n_levels: int) -> None:
        table = per_level("frequencies", frequencies, n_levels).astype(np.float64)
        if not np.all((table >= 0) & (table <= 1)):
            raise ValueError(f"frequencies must be in [0, 1], got {table.min():g}..{table.max():g}")
        self.n_levels, self.n_states, self.dimension = table.shape
        self._thresholds = np.round(table * 2.0**32).astype(np.uint64)

    def draw(self, rngs: Rngs, episodes: int) -> BitBlock:
        raw = raw_words(rngs, episodes, -(-self.n_levels * self.dimension // 2))
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.bernoulli_words(raw.view(np.uint32), self._thresholds, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class Categorical(Emission):
    """One of C symbols, observed as its one-hot code of C bits.

    probabilities
        Array [S, C] of the probabilities of the symbols in each state, or [H+1, S, C] where they depend on
        the level; they sum to 1 over symbols.
    n_levels
        Number of levels at which there are observations: H+1.

    Examples
    --------
    >>> emission = Categorical([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], n_levels=4)
    >>> emission.n_states, emission.dimension
    (2, 3)
    """

    discrete = True
    independent_levels = True

    def __init__(self, probabilities: ArrayLike, *, n_levels: int) -> None:
        table = checks.probabilities(
            "probabilities", per_level("probabilities", probabilities, n_levels), "symbols"
        )
        self.n_levels, self.n_states, self.dimension = table.shape
        self._cumulative = cumulative(table)

    def draw(self, rngs: Rngs, episodes: int) -> BitBlock:
        raw = raw_words(rngs, episodes, self.n_levels)
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.categorical_words(raw, self._cumulative, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return self.n_states * self.n_levels * 8 * -(-self.dimension // 64)
