"""A decoder for each level, where levels look different.

Deep levels show one state only until exploration gets there, so the oracle is fitted again at the levels that
have news. What is news at a level comes from the pairs of label and action of the level before. Where each of
them has been tried n times,

    news = sum over the pairs of 1 + log(n) / log(3/2)

counts how often the visits of some pair have grown by half: a pair that was taken a thousand times shows
nothing that it has not shown, one that was never taken may lead to a new state. The first level has no pairs
before it, and log(1 + trajectories) for each action counts there. The oracle is fitted again at a level that
has fewer labels than it may when as many news have come in as there are actions; and at any level when one of
its labels has half as many observations again, unless it had many, since of a few one learns little of what
they look like. An oracle that takes history goes on from the labels that it gave. It is fitted afresh when
the number of trajectories has grown by half. Both wait for more than a half where the last fit of their kind
has changed nothing.

Looks for news take time too, and most of them find none once all is known: they come after every batch of
trajectories while something is new, and ever later while nothing is.

The oracle is also told which pair came before each observation: a new state mostly follows one pair alone, so
few observations of it are enough.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.sampling import balanced_choice
from ..decoders.by_level import LevelDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints
from .history import History
from .level_decoding import (
    GROWTH,
    SEPARATE,
    STABLE_AGREEMENT,
    LabelledSample,
    LevelDecoding,
    next_growth,
)

_PARTS_OF_QUIET = 100
"""Where no label was new and no decoder has changed for a while, the next look for news comes after one such
part of that while: what is found late is late by so little."""
_NEWS_GROWTH = 1.5
"""A pair of label and action gives a piece of news each time that its visits have grown by this factor."""
_WELL_KNOWN = 500
"""A label with so many observations is no reason for another fit: more of them tell little."""
_LEAST_TRIES = 3
"""Lower limit on how often an action is tried before one believes that it leads to no new state."""
_ROUNDS_PER_TRY = 2
"""Without a new label, actions are tried once more each time that so many times the trajectories have been
played that trying every pair of a level takes."""
_AFFORDABLE = 6.0
"""Upper limit on the trajectories that tries may take, as a multiple of the square root of all. The levels
that wait for tries share them."""
_TRIES_AFTER_NEW_LABEL = 0.9
"""Once a new label is met, tries go on from this share of those that it took to find it."""
_SAMPLE_SIZE = 2**10
"""Upper limit on the observations in the sample of a level."""


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
        self._least_visits = np.zeros(n_levels - 1)
        self._counts_at_fit = np.zeros((n_levels, n_states), np.int64)
        self._growths, self._label_growths = np.full((2, n_levels), GROWTH)
        self._have_moved = np.ones(n_levels, np.bool_)
        self._n_labels_met = self._new_label_at = 0
        self._base_tries = float(_LEAST_TRIES)
        self.decoder: Decoder = LevelDecoder(self._decoders, n_states)

    def until_due(self, played: int) -> int:
        quiet = played - max(self._new_label_at, self.last_change)
        return max(self._batch, quiet // _PARTS_OF_QUIET)

    def refit(self, history: History) -> bool:
        played, visits = len(history.labels), history.visits()
        news, self._least_visits = _news(visits, played), _least_visits(visits)
        self._news_at_fit = np.minimum(self._news_at_fit, news)
        counts = history.label_counts()
        incomplete = (counts > 0).sum(axis=1) < self._n_states
        has_news = news - self._news_at_fit >= history.n_actions
        afresh = played >= self._growths * self._played_at_fit
        due = incomplete & has_news | self._labels_have_grown(counts) | afresh
        levels = np.flatnonzero(due)
        changed = [self._refit_level(history, h + 1, afresh=afresh[h]) for h in levels.tolist()]
        self._news_at_fit[due], self._played_at_fit[afresh] = news[due], played
        counts = history.label_counts()
        self._counts_at_fit = np.where(due[:, None], counts, self._widened_counts_at_fit(counts.shape[1]))
        self._note_new_labels(history, int((counts > 0).sum()))
        if levels.size or self.decoder.n_labels != history.n_labels:
            self.decoder = LevelDecoder(self._decoders, history.n_labels)
        return any(changed)

    def _labels_have_grown(self, counts: Ints) -> NDArray[np.bool_]:
        """Whether some label of each level that is not well known has many more observations than at the last
        fit; counts [H+1, n_labels] are those of now."""
        before = self._widened_counts_at_fit(counts.shape[1])
        grown = counts > self._label_growths[:, None] * before
        return np.asarray((grown & (before < _WELL_KNOWN)).any(axis=1))

    def _widened_counts_at_fit(self, n_labels: int) -> Ints:
        """The counts of the last fits, for as many labels as there is room for now: [H+1, n_labels]."""
        more = n_labels - self._counts_at_fit.shape[1]
        return np.pad(self._counts_at_fit, ((0, 0), (0, more))) if more else self._counts_at_fit

    def _note_new_labels(self, history: History, n_labels_met: int) -> None:
        """Begin the count of tries again where more labels have been met than ever."""
        if n_labels_met > self._n_labels_met:
            tries = _TRIES_AFTER_NEW_LABEL * float(self._tries(history).max())
            self._base_tries = max(_LEAST_TRIES, tries)
            self._n_labels_met, self._new_label_at = n_labels_met, len(history.labels)

    def refit_all(self, history: History) -> bool:
        """As `refit`, at all levels."""
        self._played_at_fit[:] = 0.0
        return self.refit(history)

    def fitted(
        self,
        rows: NDArray[np.generic],
        old_labels: Ints | None,
        seed: int,
        groups: NDArray[np.integer] | None = None,
    ) -> Decoder:
        from ..oracles.fitting import fit_if_clusters

        return fit_if_clusters(self._oracle, rows, seed, self._n_states, old_labels, groups)

    def samples(self, history: History) -> Iterator[LabelledSample]:
        for h in range(len(self._decoders)):
            labels = history.labels_at(h + 1)
            chosen = balanced_choice(labels, _SAMPLE_SIZE, self._seeds)
            rows = np.ascontiguousarray(history.observations[chosen, h])
            yield LabelledSample(rows, labels[chosen].astype(np.int64), bool(self._have_moved[h]))

    def believed_after(self, history: History) -> Ints:
        """Once where the next level has as many labels as it may. Elsewhere several times, since a new state
        takes several observations to be told from the others: the more often the longer no label is new, as
        long as all tries take few of the trajectories."""
        return np.where(history.labels_met()[1:] < self._n_states, self._tries(history).astype(np.int64), 1)

    def _tries(self, history: History) -> Floats:
        """How often actions are tried at each level [H] before what follows them is believed."""
        played, labels_met = len(history.labels), history.labels_met()
        pairs = np.maximum(labels_met[:-1], 1) * history.n_actions
        more_tries = (played - self._new_label_at) / (_ROUNDS_PER_TRY * self._base_tries * pairs)
        affordable = _AFFORDABLE * np.sqrt(played) / pairs
        tries = np.minimum(self._base_tries + more_tries, affordable)
        waiting = (labels_met[1:] < self._n_states) & (self._least_visits < tries)
        shared = affordable / max(np.count_nonzero(waiting), 1)
        return np.asarray(np.maximum(np.minimum(tries, shared), _LEAST_TRIES))

    def _fitted_level(self, history: History, level: int, old_labels: Ints | None) -> tuple[Decoder, Ints]:
        """A decoder for the observations of one level, which had `old_labels` [n] so far, if any, and
        their new labels [n]."""
        observations = np.ascontiguousarray(history.observations[:, level - 1])
        try:
            decoder = self.fitted(observations, old_labels, self._draw_seed(), history.came_from(level))
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
        moved = not np.array_equal(before, names[labels])
        if afresh or moved:
            self._have_moved[level - 1] = moved or self._played_at_fit[level - 1] == 0.0
        return moved


def _news(visits: Ints, played: int) -> Floats:
    """The news of every level [H+1], for visits [H, n_labels, A] in so many trajectories."""
    pieces = np.where(visits > 0, 1.0 + np.log(np.maximum(visits, 1)) / np.log(_NEWS_GROWTH), 0.0)
    first = visits.shape[2] * np.log1p(played)
    return np.concatenate([[first], pieces.sum(axis=(1, 2))])


def _least_visits(visits: Ints) -> Floats:
    """How often the rarest action of a label that was met at each level was taken: [H]."""
    was_met = visits.any(axis=2, keepdims=True)
    return np.asarray(np.where(was_met, visits, np.inf).min(axis=(1, 2)))
