"""Mixtures of categorical variables."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..decoders.decoder import Decoder
from ..decoders.symbols import SymbolDecoder
from .mixtures import MixtureOracle, whole_numbers
from .projection import Floats, Observations

MOST_SYMBOLS = 256
"""Symbols that a coordinate may have, from its least to its greatest: each has a table entry."""
_GREATEST_SYMBOL = 2**22
"""Decoders round observations as float32, in which halves exist up to here."""


@dataclass(eq=False, repr=False)
class CategoricalMixture(MixtureOracle):
    """A mixture of independent categorical variables, for observations whose coordinates are symbols: whole
    numbers that are names and have no order.

    `means_` are the probabilities of the symbols of all coordinates, those of a coordinate from its least to
    its greatest. A symbol that was not fitted on says nothing.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(2, size=500)
    >>> symbols = (states[:, None] + 2 * generator.integers(2, size=(500, 6))) % 4  # even, or odd
    >>> X = np.where(generator.random((500, 6)) < 0.2, generator.integers(4, size=(500, 6)), symbols)
    >>> labels = CategoricalMixture(2, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.98)
    True
    """

    def _statistics(self, data: Observations) -> Observations:
        whole_numbers(data, "X must hold whole numbers for a mixture of categorical variables")
        least, n_symbols = _alphabets(data)
        starts = np.cumsum(n_symbols) - n_symbols
        codes = np.zeros((len(data), int(n_symbols.sum())), np.uint8)
        np.put_along_axis(codes, data.astype(np.int64) - least + starts, 1, axis=1)
        return codes

    def _scores(self, means: Floats) -> tuple[Floats, Floats]:
        # a symbol between others that no coordinate ever shows tells nothing
        return np.log(np.where(means > 0.0, means, 1.0)), np.zeros(means.shape[1])

    def _decoder(self, data: Observations, weights: Floats, bias: Floats) -> Decoder:
        return SymbolDecoder(*_alphabets(data), weights, bias)

    def _n_parameters(self, data: Observations) -> int:
        return sum(len(np.unique(column)) - 1 for column in data.T)


def _alphabets(data: Observations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The least symbol of each coordinate, and how many there are from there to the greatest."""
    extremes = np.stack([data.min(axis=0), data.max(axis=0)])
    if (far := np.abs(extremes.astype(np.float64)) > _GREATEST_SYMBOL).any():
        raise ValueError(
            f"X must hold symbols from {-_GREATEST_SYMBOL} to {_GREATEST_SYMBOL}, got {extremes[far][0]:g}"
        )
    least, greatest = extremes.astype(np.int64)
    n_symbols = greatest - least + 1
    if n_symbols.max() > MOST_SYMBOLS:
        j = int(n_symbols.argmax())
        raise ValueError(
            f"X must hold at most {MOST_SYMBOLS} symbols a coordinate, got {n_symbols[j]} from {least[j]} to "
            f"{greatest[j]} in coordinate {j}"
        )
    return least, n_symbols
