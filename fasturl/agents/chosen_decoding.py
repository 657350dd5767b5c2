"""One decoder for all levels or one for each: decided from the observations, again and again.

All levels are decoded alike at first. If what a label looks like depends on the level (`level_comparison`),
clusters may be missing, or levels may really look different: each level is decoded by itself, and those
labels have to predict better too, by as much, or else one decoder stays.

The question is asked whenever the decoder of all levels is fitted, and where levels are decoded by themselves
when the number of trajectories has grown by half, or by more where the last answer was the same.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..decoders.decoder import Decoder
from ..learners.learner import Ints
from .history import History
from .level_comparison import predict_better, unexplained
from .level_decoding import GROWTH, LabelledSample, LevelDecoding, next_growth
from .pooled_decoding import PooledDecoding
from .separate_decoding import SeparateDecoding


class ChosenDecoding(LevelDecoding):
    """The better one of two ways to decode."""

    def __init__(self, pooled: PooledDecoding, separate: SeparateDecoding) -> None:
        self._pooled, self._separate = pooled, separate
        self._present: PooledDecoding | SeparateDecoding = pooled
        self._switched_at = self._compared_at = 0
        self._growth = GROWTH
        self._follow()

    def until_due(self, played: int) -> int:
        return self._present.until_due(played)

    def samples(self, history: History) -> Iterator[LabelledSample]:
        return self._present.samples(history)

    def fitted(self, rows: NDArray[np.generic], old_labels: Ints | None, seed: int) -> Decoder:
        return self._present.fitted(rows, old_labels, seed)

    def believed_after(self, history: History) -> Ints:
        return self._present.believed_after(history)

    def refit(self, history: History) -> bool:
        played, fits = len(history.labels), self._pooled.fits
        changed = self._present.refit(history)
        if self._present is self._pooled:
            compare = self._pooled.fits > fits and self._levels_matter(history)
        else:
            compare = played >= self._growth * self._compared_at
        changed |= compare and self._compare(history)
        self._follow()
        return changed

    def _follow(self) -> None:
        """Take over the decoder of the present way to decode, and what that asks for."""
        present = self._present
        self.decoder, self.levels, self.oracle_name = present.decoder, present.levels, present.oracle_name
        self.n_directions = present.n_directions
        self.most_observations, self.keeps_rare = present.most_observations, present.keeps_rare
        self.last_change = max(present.last_change, self._switched_at)
        self.fits = self._pooled.fits + self._separate.fits

    def _levels_matter(self, history: History) -> bool:
        errors = unexplained(history.observations, history.observed_labels, history.n_labels)
        return errors.levels_differ

    def _compare(self, history: History) -> bool:
        """Decode in the other way too, and go on with the better one; returns whether that is the other."""
        present_labels, played = history.observed_labels, len(history.labels)
        self._compared_at = played
        if self._present is self._pooled:
            pooled_labels = present_labels
            try:
                self._separate.refit_all(history)
            except ValueError:  # one level may be too little for an oracle, and nobody has asked for it
                history.set_labels(present_labels)
                return False
            separate_labels = history.observed_labels
        else:
            fit = self._pooled.fitted_on_history(history)
            history.make_room(fit.decoder.n_labels)
            pooled_labels = fit.labels
            separate_labels = present_labels
        better: PooledDecoding | SeparateDecoding = self._pooled
        if predict_better(separate_labels, pooled_labels, history.observations):
            better = self._separate
        self._growth = next_growth(self._growth, float(better is self._present))
        if better is self._present:
            history.set_labels(present_labels)
            return False
        if better is self._pooled:
            names, agreement = history.relabel(pooled_labels)
            self._pooled.adopt(fit, names, agreement, history)
        self._present, self._switched_at = better, played
        return True
