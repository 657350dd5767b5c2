"""How the levels of a problem are decoded: all by one decoder, or each by one of its own (footnote 1 of the
paper has both ways).

A way to decode says after how many more trajectories (`until_due`) it wants to look at the history again, and
`refit` then gives the observations of the history their labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.names import name_of
from ..decoders.decoder import Decoder
from ..learners.learner import Ints
from .history import History

POOLED, SEPARATE = "pooled", "separate"
STABLE_AGREEMENT = 0.98
"""An old and a new decoder mean the same where they agree on at least this share of every label's
observations. Below it lies a missing cluster; above it the 1 % of points near a border that may flip."""

GROWTH, MOST_GROWTH = 1.5, 4.0
"""Growth of the number of trajectories after which an oracle is fitted again: where it has just changed its
mind, and at most."""


def next_growth(growth: float, agreement: float, most: float = MOST_GROWTH) -> float:
    """The factor by which the number of trajectories must grow before the next fit; `growth` is that before
    the last fit. It doubles, up to `most`, where the old and the new decoder agree: another fit would hardly
    tell more."""
    return min(2 * growth, most) if agreement >= STABLE_AGREEMENT else GROWTH


class LabelledSample(NamedTuple):
    """Observations that are decoded alike, some thousand of them.

    rows, labels
        The observations [n, D], and their labels [n].
    have_moved
        Whether the last fit on such observations gave any of them another label than the one before.
    are_clear
        Whether the labels are so clear that no test of them could doubt any (`clear_labels`).
    """

    rows: NDArray[np.generic]
    labels: Ints
    have_moved: bool
    are_clear: bool = False


class LevelDecoding(ABC):
    """A way to decode levels.

    oracle_name
        What the oracle that is fitted is called.
    decoder
        The present decoder.
    fits
        How often an oracle was fitted.
    last_change
        After how many trajectories an old and a new decoder disagreed last.
    """

    decoder: Decoder
    most_observations: int | None = None
    """How many observations it makes use of; None for all."""
    keeps_rare: bool = False
    """Whether it makes use of single observations of labels that are rare."""
    n_directions: int = 0
    """How many directions the oracle sees observations along; 0 where it sees them as they are."""
    levels: str
    """As `URL` has it, "pooled" or "separate"."""

    def __init__(self, oracle: Any, n_states: int, seeds: np.random.Generator) -> None:
        self._oracle, self._n_states, self._seeds = oracle, n_states, seeds
        self.oracle_name = name_of("oracle", oracle)
        self.fits = self.last_change = 0

    @abstractmethod
    def until_due(self, played: int) -> int:
        """How many trajectories to play before `refit` is called; `played` were played so far."""

    @abstractmethod
    def refit(self, history: History) -> bool:
        """Look at the history again; returns whether any label has changed."""

    @abstractmethod
    def samples(self, history: History) -> Iterator[LabelledSample]:
        """A sample for each decoder that there is."""

    @abstractmethod
    def fitted(self, rows: NDArray[np.generic], old_labels: Ints | None, seed: int) -> Decoder:
        """A decoder for observations [n, D], which had `old_labels` [n] so far, if any."""

    def believed_after(self, history: History) -> Ints:
        """How often an action must be taken at each level [H] before what follows it is believed."""
        return np.ones(history.labels.shape[1] - 1, np.int64)

    def _draw_seed(self) -> int:
        self.fits += 1
        return int(self._seeds.integers(2**31))
