"""One decoder for all levels: observations of each level help to decode all others.

The oracle is refitted when the number of trajectories has grown by a factor of 1.5. Where the new decoder
agrees with the old one, the factor doubles before the next fit, up to 4: fits that change nothing become
rare, and yet a state that turns up late is found. The present decoder stays where a fit finds the same
clusters again and has no more observations than the decoder came from, so that borders would be no better.
Where the labels are so clear that no fit could tell anything new, a quick look takes its place
(`clear_labels`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.row_labels import numbered, that_occur
from .._base.sampling import balanced_choice
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Ints
from .clear_labels import are_clear
from .further_labels import MOST_REFINED, FurtherLabels, are_symbols, symbol_decoder
from .history import History
from .label_matching import labels_differ
from .level_decoding import GROWTH, MOST_GROWTH, POOLED, LabelledSample, LevelDecoding, next_growth
from .telling_directions import LEFT_BY_BETTER, Steps, View, depend_on_actions

_MOST_FITTED = 2**15
"""Upper limit on the observations that a decoder is fitted on."""
_MOST_FITTED_NUMBERS = 2**24
"""Upper limit on the numbers that those observations hold (observations x coordinates)."""
_FEW_MOVED = 1e-4
"""Labels hardly overlap if two successive decoders disagree on at most this share of all observations. Then
few observations lie near a border, and fewer are enough for a fit: as many as the greatest of the next three
limits says."""
_ENOUGH = 2**12
"""Observations of a fit where labels hardly overlap, at least."""
_ENOUGH_PER_COORDINATE = 2**4
"""Observations of such a fit for each coordinate, at least."""
_ENOUGH_PER_STATE = 2**10
"""Observations of such a fit for each state that a level may have, at least."""
_DECODED_AT_ONCE = 2**14
"""Upper limit on the observations that are decoded in one call, since a decoder may make a copy of them."""
_MOST_KEPT, _MOST_KEPT_CLEAR = 2**17, 2**16
"""Upper limits on the observations that are kept for later fits: where borders between labels matter, and
where labels are clear."""
_MOST_GROWTH_CLEAR = 16.0
"""Growth of the number of trajectories after which clear labels are looked at again, at most."""
_MOST_UNFITTED = 2**10
"""However clear labels are, the oracle is fitted again when the number of trajectories has grown by this
factor."""
_SAMPLE_SIZE = 2**12
"""Upper limit on the observations that tell whether labels are clear, and of those with which labels are
tested at the end of a run."""


class HistoryFit(NamedTuple):
    """The result of a fit on the observations of a history.

    decoder
        The fitted decoder, or the present one where that stays.
    labels
        The labels that the decoder gives to the observations of whole trajectories: [n, H+1].
    n_rows
        Number of observations that the decoder was fitted on, as an upper limit: the sample that is drawn is
        about as large. A later fit replaces the decoder only if it has more, or finds other clusters.
    view
        The directions along which the oracle saw observations; None where it saw them as they are.
    """

    decoder: Decoder
    labels: NDArray[np.integer]
    n_rows: int
    view: View | None = None


class PooledDecoding(LevelDecoding):
    """One decoder for all levels. It may have up to `most_labels` labels where a state may have several; with
    None there is one label for each state."""

    levels = POOLED
    most_observations = _MOST_KEPT
    keeps_rare = True

    def __init__(
        self,
        oracle: Any,
        n_states: int,
        seeds: np.random.Generator,
        batch: int,
        *,
        most_labels: int | None = None,
    ) -> None:
        super().__init__(oracle, n_states, seeds)
        self._most_labels = most_labels
        self._further_labels = None if most_labels is None else FurtherLabels(n_states, most_labels)
        self.decoder: Decoder = ConstantDecoder(n_states)
        self._next, self._growth = batch, GROWTH
        self._n_rows, self._share_moved, self._fitted_at = 0, 1.0, 0
        self._view: View | None = None
        self._noise_labels: NDArray[np.uint8] = np.zeros((0, 1), np.uint8)

    @property
    def _fitted(self) -> bool:
        return self._n_rows > 0

    def until_due(self, played: int) -> int:
        return max(self._next - played, 1)

    def refit(self, history: History) -> bool:
        if self._fitted and len(history.labels) < self._next:
            return False
        before = history.observed_labels
        old_labels = np.concatenate([before.ravel(), history.rare_labels]) if self._fitted else None
        confirmed = old_labels is not None and self._is_confirmed(history, old_labels, before)
        self.most_observations = _MOST_KEPT_CLEAR if confirmed else _MOST_KEPT
        if confirmed:
            self._share_moved = 0.0
            self._wait(1.0, history, _MOST_GROWTH_CLEAR)
            return False
        fit = self._fit_on_history(history, old_labels, further=self._further_labels)
        if fit.decoder is self.decoder:
            self._share_moved = 0.0
            self._wait(1.0, history)
            return False
        history.make_room(fit.decoder.n_labels)
        names, agreement = history.relabel(fit.labels)
        self.adopt(fit, names, agreement, history)
        after = names[fit.labels]
        self._share_moved = float(np.mean(before != after))
        if labels_differ(before.ravel(), after.ravel(), history.n_labels):
            self.last_change = len(history.labels)
        return self._share_moved > 0.0

    def _is_confirmed(
        self, history: History, old_labels: NDArray[np.integer], labels: NDArray[np.integer]
    ) -> bool:
        """Whether the present decoder need not be fitted again: its labels [m] of all observations, and
        [n, H+1] of those of whole trajectories, are clear, and have to do with what was done."""
        if not self._may_be_clear or len(history.labels) > _MOST_UNFITTED * self._fitted_at:
            return False
        chosen = balanced_choice(old_labels, _SAMPLE_SIZE, self._seeds)
        rows = _chosen_rows(_observation_parts(history), chosen)
        return are_clear(rows, old_labels[chosen], self._n_states) and depend_on_actions(labels, history)

    @property
    def _may_be_clear(self) -> bool:
        """Whether the oracle looks for clusters with centres, in observations as they are."""
        return self._view is None and bool(getattr(self._oracle, "clusters_have_centres", False))

    def fitted_on_history(self, history: History) -> HistoryFit:
        """A fit on all observations of the history, also where their labels came from other decoders."""
        if not self._fitted:
            return self._fit_on_history(history, None, self._further_labels)
        old_labels = [_decoded(self.decoder, part) for part in _observation_parts(history)]
        return self._fit_on_history(history, np.concatenate(old_labels), self._further_labels)

    def _fit_on_history(
        self, history: History, old_labels: NDArray[np.integer] | None, further: FurtherLabels | None
    ) -> HistoryFit:
        """A fit on a sample of all observations, single ones of rare labels included.

        history
            The observations.
        old_labels
            The labels that the present decoder gives to all of them: [m]; None before the first fit.
        further
            The search for labels beyond one for each state, None where there is none.
        """
        self._fitted_at = len(history.labels)
        seed = self._draw_seed()
        if self._view is not None:
            fit = self._fit_along_directions(Steps(history, self._noise_labels), history, seed)
            if fit is not None:
                return fit
        fit = self._fit_as_they_are(history, old_labels, further, seed)
        return self._better_along_directions(fit, history, seed) or fit

    def _fit_as_they_are(
        self,
        history: History,
        old_labels: NDArray[np.integer] | None,
        further: FurtherLabels | None,
        seed: int,
    ) -> HistoryFit:
        parts, generator = _observation_parts(history), np.random.default_rng(seed)
        most = self._n_fitted(history.observations.shape[-1])
        n_rows = min(sum(map(len, parts)), most)
        if old_labels is None:
            chosen = balanced_choice(np.zeros(len(parts[0]), np.uint8), most, generator)
            rows = _chosen_rows(parts, chosen)
            decoder = self.fitted(rows, None, seed)
        else:
            chosen = balanced_choice(old_labels, most, generator)
            rows = _chosen_rows(parts, chosen)
            # more observations than the present decoder had may draw better borders
            present = self.decoder if self._n_rows >= n_rows else None
            decoder = self.fitted(rows, old_labels[chosen].astype(np.int64), seed, present)
        if further is not None:
            found = decoder
            decoder = further.added(found, rows, history.observations, len(history.labels), generator)
            if decoder is not found:
                n_rows = min(n_rows, MOST_REFINED)
        if old_labels is not None and decoder is self.decoder:
            labels, n_rows = old_labels[: len(parts[0])], self._n_rows
        else:
            labels = _decoded(decoder, parts[0])
        return HistoryFit(decoder, labels.reshape(history.observations.shape[:2]), n_rows)

    def _better_along_directions(self, fit: HistoryFit, history: History, seed: int) -> HistoryFit | None:
        """A fit along the directions that have to do with what was done, where this one may have found
        clusters of noise and explains less."""
        if not getattr(self._oracle, "clusters_have_centres", False):
            return None
        n_found = that_occur(fit.labels.ravel()).size
        if n_found <= self._n_states and depend_on_actions(fit.labels, history):
            return None
        steps = Steps(history, history.labels)
        if are_symbols(_observation_parts(history)[0]):
            return None
        other = self._fit_along_directions(steps, history, seed)
        if other is None:
            return None
        unexplained = [steps.unexplained(steps.of_history(labels)) for labels in (other.labels, fit.labels)]
        if unexplained[0] >= LEFT_BY_BETTER * unexplained[1]:
            return None
        self._noise_labels = np.array(history.labels)
        return other

    def _fit_along_directions(self, steps: Steps, history: History, seed: int) -> HistoryFit | None:
        """A fit along the directions that have to do with what was done: labels show more of them, until
        there are no more. None where there are none, or all observations are alike along them."""
        # those in which means of so many states can differ; along one alone, others would lie behind them
        most = max(self._n_states - 1, 2)
        view = self._view  # stays if none shows more: what is no longer tried is no longer seen to matter
        seen = steps.view(None if view is None else steps.labels, most)
        if seen is not None and seen.shows_more_than(view):
            view = seen
        if view is None:
            return None
        while True:
            fit = self._fit_in_view(view, history, seed)
            wider = steps.view(steps.labels_by(fit.decoder), most)
            if wider is None or wider.n_directions <= view.n_directions:
                return None if isinstance(fit.decoder, ConstantDecoder) else fit
            view = wider

    def _fit_in_view(self, view: View, history: History, seed: int) -> HistoryFit:
        from ..oracles.refinement import refined_decoder

        self.fits += 1  # with the seed of the fit that it is compared with
        parts, most = _observation_parts(history), self._n_fitted(history.observations.shape[-1])
        old_labels = np.zeros(sum(map(len, parts)), np.uint8)
        if self._view is not None:
            old_labels = np.concatenate([history.observed_labels.ravel(), history.rare_labels])
        chosen = balanced_choice(old_labels, most, np.random.default_rng(seed))
        rows = view.rows(_chosen_rows(parts, chosen))
        old_names = None if self._view is None else old_labels[chosen].astype(np.int64)
        names = numbered(self.fitted(rows, old_names, seed).decode(rows))
        decoder: Decoder = ConstantDecoder(self._n_states)
        if names.max() > 0:  # scores that are affine in the rows are so in the observations
            decoder = view.decoder(refined_decoder(rows, names))
        labels = _decoded(decoder, parts[0]).reshape(history.observations.shape[:2])
        return HistoryFit(decoder, labels, len(rows), view)

    def _n_fitted(self, dimension: int) -> int:
        """Upper limit on the observations, of so many coordinates each, that a decoder is fitted on."""
        most = min(_MOST_FITTED, _MOST_FITTED_NUMBERS // dimension)
        enough = max(_ENOUGH, _ENOUGH_PER_COORDINATE * dimension, _ENOUGH_PER_STATE * self._n_states)
        return min(most, enough) if self._share_moved <= _FEW_MOVED else most

    def fitted(
        self,
        rows: NDArray[np.generic],
        old_labels: Ints | None,
        seed: int,
        present: Decoder | None = None,
    ) -> Decoder:
        from ..oracles.refinement import fit_and_refine

        if self._most_labels is not None:
            symbols = symbol_decoder(rows, self._n_states, self._most_labels)
            if symbols is not None:
                return symbols
        return fit_and_refine(self._oracle, rows, old_labels, seed, self._n_states, present)

    def samples(self, history: History) -> Iterator[LabelledSample]:
        observations, labels = history.observations, history.observed_labels.ravel()
        chosen = balanced_choice(labels, _SAMPLE_SIZE, self._seeds)
        rows = observations.reshape(-1, observations.shape[-1])[chosen]
        if self._view is not None:
            rows = self._view.rows(rows)
        clear = self._may_be_clear and are_clear(rows, labels[chosen], self._n_states)
        yield LabelledSample(rows, labels[chosen].astype(np.int64), self._share_moved > 0.0, clear)

    def adopt(self, fit: HistoryFit, names: NDArray[np.uint8], agreement: float, history: History) -> None:
        """Make the decoder of a fit the present one.

        fit
            The fit.
        names
            The new name of each label of its decoder.
        agreement
            The share of observations on which it agrees with the decoder before, that of the worst label.
        history
            The history, whose rare observations get its labels.
        """
        self.decoder, self._n_rows, self._view = fit.decoder.relabelled(names), fit.n_rows, fit.view
        self.n_directions = 0 if fit.view is None else fit.view.n_directions
        self._share_moved = 1.0  # as long as nobody has compared the two
        if len(history.rare):
            history.set_rare_labels(_decoded(self.decoder, history.rare.observations))
        self._wait(agreement, history)

    def _wait(self, agreement: float, history: History, most_growth: float = MOST_GROWTH) -> None:
        """Set when the next fit is due, given the agreement of the last decoder with the one before, and the
        greatest factor by which the number of trajectories may grow until then."""
        self._growth = next_growth(self._growth, agreement, most_growth)
        self._next = math.ceil(self._growth * len(history.labels))


def _observation_parts(history: History) -> list[NDArray[np.generic]]:
    """The observations of whole trajectories [n, D], and the rare ones [m, D] where there are any."""
    rows = history.observations.reshape(-1, history.observations.shape[-1])
    return [rows, history.rare.observations] if len(history.rare) else [rows]


def _chosen_rows(parts: list[NDArray[np.generic]], chosen: NDArray[np.int64] | slice) -> NDArray[np.generic]:
    """The chosen rows of several arrays [n, D], counted as if these were one. They are not put together where
    not all rows are chosen, since they may be large."""
    if isinstance(chosen, slice):
        return np.concatenate(parts) if len(parts) > 1 else parts[0]
    starts = np.cumsum([0, *(len(part) for part in parts[:-1])])
    pieces = np.split(chosen, np.searchsorted(chosen, starts[1:]))
    return np.concatenate(
        [part[piece - start] for part, piece, start in zip(parts, pieces, starts, strict=True)]
    )


def _decoded(decoder: Decoder, rows: NDArray[np.generic]) -> Ints:
    """The labels of rows [n, D]: [n]."""
    pieces = [rows[first : first + _DECODED_AT_ONCE] for first in range(0, len(rows), _DECODED_AT_ONCE)]
    return np.concatenate([decoder.decode(piece) for piece in pieces])
