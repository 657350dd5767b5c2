"""One decoder for all levels: what is seen at one of them helps at all.

The oracle is fitted again when the number of trajectories has grown by half. Where two decoders in a row
agree, the next fit waits twice as long, up to a fourfold growth: what has not changed is not looked at again
and again, and yet a state that turns up late is found.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Ints
from .history import History
from .level_decoding import GROWTH, POOLED, STABLE_AGREEMENT, LevelDecoding, next_growth

_FITTED = 2**14
"""Observations that an oracle is fitted on, where there are more."""


class PooledDecoding(LevelDecoding):
    """All levels decoded alike."""

    levels = POOLED
    most_observations = 2**17

    def __init__(self, oracle: Any, n_states: int, seeds: np.random.Generator, batch: int) -> None:
        super().__init__(oracle, n_states, seeds)
        self.decoder: Decoder = ConstantDecoder(n_states)
        self._next, self._growth = batch, GROWTH
        self._fitted = False

    def until_due(self, played: int) -> int:
        return max(self._next - played, 1)

    def refit(self, history: History) -> bool:
        if self._fitted and len(history.labels) < self._next:
            return False
        decoder, labels = self.fitted(history)
        history.make_room(decoder.n_labels)
        before = history.observed_labels
        names, agreement = history.relabel(labels)
        self.adopt(decoder.relabelled(names), agreement, len(history.labels))
        return not np.array_equal(before, names[labels])

    def fitted(self, history: History) -> tuple[Decoder, Ints]:
        """A decoder for all observations of the history, and their labels [n, H+1]."""
        from ..oracles.refinement import fit_and_refine

        observations = history.observations
        rows = observations.reshape(-1, observations.shape[-1])
        believed = self.decoder.decode(rows) if self._fitted else None
        seed = self._draw_seed()
        chosen = _chosen(len(rows), believed, seed)
        decoder = fit_and_refine(
            self._oracle, rows[chosen], None if believed is None else believed[chosen], seed, self._n_states
        )
        return decoder, decoder.decode(rows).reshape(observations.shape[:2])

    def labels_that_split(self, history: History) -> int:
        from ..oracles.refinement import labels_that_split

        observations, labels = history.observations, history.observed_labels.ravel().astype(np.int64)
        rows, seed = observations.reshape(-1, observations.shape[-1]), int(self._seeds.integers(2**31))
        chosen = _chosen(len(rows), labels, seed)
        return labels_that_split(rows[chosen], labels[chosen], seed)

    def adopt(self, decoder: Decoder, agreement: float, played: int) -> None:
        """Believe in a decoder that agrees so well with the one before."""
        self.decoder, self._fitted = decoder, True
        self._growth = next_growth(self._growth, agreement)
        self._next = math.ceil(self._growth * played)
        if agreement < STABLE_AGREEMENT:
            self.last_change = played


def _chosen(n: int, labels: Ints | None, seed: int) -> NDArray[np.int64] | slice:
    """Some of n observations, as many of each label where there are as many: a rare state is not lost."""
    if n <= _FITTED:
        return slice(None)
    generator = np.random.default_rng(seed)
    if labels is None:
        return np.sort(generator.choice(n, _FITTED, replace=False))
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.flatnonzero(generator.random(n) < (_FITTED / sizes.size / sizes)[numbers])
