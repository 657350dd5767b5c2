"""A decoder for each level, where levels look different.

Deep levels show one state only until exploration gets there, so the oracle is fitted again at the levels that
have news. What is news at a level comes from the pairs of label and action of the level before. Where each of
them has been tried n times,

    news = sum over the pairs of 1 + log(n) / log(3/2)

counts how often the visits of some pair have grown by half: a pair that was taken a thousand times shows
nothing that it has not shown, one that was never taken may lead to a new state. Of the first level it is the
number of trajectories that counts so. The oracle is fitted again at a level that has fewer labels than it may
when as many news have come in as there are actions; and at any level when one of its labels has half as
many observations again, unless it had many, since of a few one learns little of what they look like. An
oracle that takes history goes on from the labels that it gave. It is fitted afresh when the number of
trajectories has grown by half. Both wait for more than a half where the last fit of their kind has changed
nothing.

It is also told which pair came before each observation. A state that is new is mostly what follows one of
them, so a few observations tell.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decoders.by_level import LevelDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints
from .history import History
from .level_decoding import (
    GROWTH,
    SEPARATE,
    STABLE_AGREEMENT,
    LevelDecoding,
    balanced_choice,
    next_growth,
)

_NEWS = 1.5
"""Growth of a pair's visits that is a piece of news."""
_MANY = 500
"""Observations of a label that tell well what it looks like."""
_TRIES = 3
"""How often an action is tried at least before one believes that it does not lead to a state that is new."""
_ROUNDS = 2
"""After so many times the trajectories that this takes, if no label is found, actions are tried once more."""
_AFFORDED = 6.0
"""Trajectories that may be spent so, as a multiple of the root of all."""
_FEWER = 0.9
"""After a label was found, so much of the tries that it took are enough for the next."""
_SAMPLED = 2**10
"""Observations in a level's sample, where there are more."""


class SeparateDecoding(LevelDecoding):
    """Each level decoded by itself."""

    levels = SEPARATE

    def __init__(
        self, oracle: Any, n_states: int, seeds: np.random.Generator, batch: int, n_levels: int
    ) -> None:
        super().__init__(oracle, n_states, seeds)
        self._batch = batch
        self._decoders: list[Decoder] = [ConstantDecoder(2) for _ in range(n_levels)]
        self._news_at_fit, self._played_at_fit = np.zeros(n_levels), np.zeros(n_levels)
        self._seen_at_fit = np.zeros((n_levels, n_states), np.int64)
        self._growths, self._label_growths = np.full((2, n_levels), GROWTH)
        self._n_found = self._found_at = 0
        self._tries_before = float(_TRIES)
        self.decoder: Decoder = LevelDecoder(self._decoders, n_states)

    def until_due(self, played: int) -> int:
        return self._batch

    def refit(self, history: History) -> bool:
        played, news = len(history.labels), _news(history)
        self._news_at_fit = np.minimum(self._news_at_fit, news)
        seen = history.label_counts()
        incomplete = (seen > 0).sum(axis=1) < self._n_states
        before = _widened(self._seen_at_fit, seen.shape[1])
        grown = ((seen > self._label_growths[:, None] * before) & (before < _MANY)).any(axis=1)
        told = news - self._news_at_fit >= history.n_actions
        afresh = played >= self._growths * self._played_at_fit
        due = incomplete & told | grown | afresh
        levels = np.flatnonzero(due)
        changed = [self._refit_level(history, h + 1, afresh=afresh[h]) for h in levels.tolist()]
        self._news_at_fit[due], self._played_at_fit[afresh] = news[due], played
        seen = history.label_counts()
        if (n_found := int((seen > 0).sum())) > self._n_found:
            self._tries_before = max(_TRIES, _FEWER * float(self._tries(history).max()))
            self._n_found, self._found_at = n_found, played
        self._seen_at_fit = np.where(due[:, None], seen, _widened(self._seen_at_fit, seen.shape[1]))
        self.decoder = LevelDecoder(self._decoders, history.n_labels)
        return any(changed)

    def refit_all(self, history: History) -> bool:
        """As `refit`, at all levels."""
        self._played_at_fit[:] = 0.0
        return self.refit(history)

    def fitted(
        self,
        rows: NDArray[np.generic],
        believed: Ints | None,
        seed: int,
        groups: NDArray[np.integer] | None = None,
    ) -> Decoder:
        from ..oracles.fitting import fit_if_clusters

        return fit_if_clusters(self._oracle, rows, seed, self._n_states, believed, groups)

    def samples(self, history: History) -> Iterator[tuple[NDArray[np.generic], Ints]]:
        for h in range(len(self._decoders)):
            labels = history.labels_at(h + 1).astype(np.int64)
            chosen = balanced_choice(labels, _SAMPLED, self._seeds)
            yield np.ascontiguousarray(history.observations[chosen, h]), labels[chosen]

    def believed_after(self, history: History) -> Ints:
        """Several times where the next level may have a state that is not told yet: so many observations
        tell. The longer nothing is found the more often, up to the root of the number of trajectories."""
        return np.where(history.labels_met()[1:] < self._n_states, self._tries(history).astype(np.int64), 1)

    def _tries(self, history: History) -> Floats:
        played, pairs = len(history.labels), np.maximum(history.labels_met()[:-1], 1) * history.n_actions
        waited = (played - self._found_at) / (_ROUNDS * self._tries_before * pairs)
        affordable = _AFFORDED * np.sqrt(played) / pairs
        return np.asarray(np.maximum(np.minimum(self._tries_before + waited, affordable), _TRIES))

    def _fitted_level(
        self, history: History, level: int, believed: Ints | None = None
    ) -> tuple[Decoder, Ints]:
        """A decoder for the observations of one level, which had the labels `believed` [n] so far, if any,
        and their labels [n]."""
        observations = np.ascontiguousarray(history.observations[:, level - 1])
        try:
            decoder = self.fitted(observations, believed, self._draw_seed(), history.came_from(level))
        except Exception as error:
            error.add_note(f"at level {level}")
            raise
        return decoder, decoder.decode(observations, level)

    def _refit_level(self, history: History, level: int, *, afresh: bool) -> bool:
        before = history.labels_at(level).astype(np.int64)
        decoder, labels = self._fitted_level(history, level, None if afresh else before)
        history.make_room(decoder.n_labels)
        names, agreement = history.relabel_level(level, labels)
        self._decoders[level - 1] = decoder.relabelled(names)
        growths = self._growths if afresh else self._label_growths
        growths[level - 1] = next_growth(growths[level - 1], agreement)
        if agreement < STABLE_AGREEMENT:
            self.last_change = len(history.labels)
        return not np.array_equal(before, names[labels])


def _widened(counts: Ints, n_labels: int) -> Ints:
    """Counts [H+1, K] of as many labels."""
    return np.pad(counts, ((0, 0), (0, n_labels - counts.shape[1])))


def _news(history: History) -> Floats:
    """The news of every level: [H+1]."""
    visits = history.visits()
    pieces = np.where(visits > 0, 1.0 + np.log(np.maximum(visits, 1)) / np.log(_NEWS), 0.0)
    first = history.n_actions * np.log1p(len(history.labels))
    return np.concatenate([[first], pieces.sum(axis=(1, 2))])
