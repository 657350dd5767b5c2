"""One decoder for all levels or one for each: decided from the observations, again and again.

All levels are decoded alike at first. If that is right, what a label looks like does not depend on the level.
So each half of the trajectories is predicted from the other, an observation by the mean of those that have
its label, of all levels or of its own level, and the squared errors of the two are compared:

    levels look alike         the mean of all levels is the better one, since it rests on more observations;
    levels look different     the mean of the level is, by more than the noise of one of the D coordinates.

In the second case clusters may be missing, or levels may really look different: each level is decoded by
itself, and those labels have to predict better too, by as much, or else one decoder stays. A mean of few
observations is drawn towards that of all labels: as if it had been seen once more.

The question is asked whenever the decoder of all levels is fitted, and where levels are decoded by themselves
when the number of trajectories has grown by half.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints
from .history import History
from .level_decoding import LevelDecoding
from .pooled_decoding import PooledDecoding
from .separate_decoding import SeparateDecoding

_GROWTH = 1.5
"""Growth of the number of trajectories after which levels that are decoded by themselves are compared with a
decoder for all."""


class ChosenDecoding(LevelDecoding):
    """The better one of two ways to decode."""

    def __init__(self, pooled: PooledDecoding, separate: SeparateDecoding) -> None:
        self._pooled, self._separate = pooled, separate
        self._now: PooledDecoding | SeparateDecoding = pooled
        self._switched_at = self._compared_at = 0

    @property
    def decoder(self) -> Decoder:  # type: ignore[override]
        return self._now.decoder

    @property
    def fits(self) -> int:  # type: ignore[override]
        return self._pooled.fits + self._separate.fits

    @property
    def last_change(self) -> int:  # type: ignore[override]
        return max(self._now.last_change, self._switched_at)

    @property
    def most_observations(self) -> int | None:  # type: ignore[override]
        return self._now.most_observations

    @property
    def levels(self) -> str:
        return self._now.levels

    def until_due(self, played: int) -> int:
        return self._now.until_due(played)

    def refit(self, history: History) -> bool:
        played, fits = len(history.labels), self._pooled.fits
        changed = self._now.refit(history)
        if self._now is self._pooled:
            compare = self._pooled.fits > fits and self._levels_matter(history)
        else:
            compare = played >= _GROWTH * self._compared_at
        return (self._compare(history) if compare else False) or changed

    def _levels_matter(self, history: History) -> bool:
        return _differ(unexplained(history.observations, history.observed_labels, self._pooled.n_labels))

    def _compare(self, history: History) -> bool:
        """Decode in the other way too, and keep the better one; returns whether it is another now."""
        kept, played = history.observed_labels, len(history.labels)
        self._compared_at = played
        if self._now is self._pooled:
            together = kept
            self._separate.refit_all(history)
            apart = history.observed_labels
        else:
            decoder, together = self._pooled.fitted(history)
            apart = kept
        observations, n_labels = history.observations, self._pooled.n_labels
        errors = Unexplained(
            unexplained(observations, together, n_labels).together,
            unexplained(observations, apart, n_labels).apart,
            observations.shape[-1],
        )
        better = self._separate if _differ(errors) else self._pooled
        if better is self._now:
            history.set_labels(kept)
            return False
        if better is self._pooled:
            names, agreement = history.relabel(together)
            self._pooled.adopt(decoder.relabelled(names), agreement, played)
        self._now, self._switched_at = better, played
        return True


class Unexplained(NamedTuple):
    """Sums of squared errors: where labels mean the same at all levels, and where they do not."""

    together: float
    apart: float
    dimension: int


def _differ(errors: Unexplained) -> bool:
    return errors.together - errors.apart > errors.together / errors.dimension


def unexplained(observations: NDArray[np.generic], labels: NDArray[np.integer], n_labels: int) -> Unexplained:
    """The errors of labels [n, H+1] of observations [n, H+1, D], each half of the n trajectories being
    predicted from the other."""
    centre = observations[0].mean(axis=0, dtype=np.float64).astype(np.float32)
    halves = [_sums(observations[half::2], labels[half::2], n_labels, centre) for half in (0, 1)]
    together = apart = 0.0
    for known, tested in (halves, halves[::-1]):
        of_all = _Sums(known.rows.sum(axis=0), known.sizes.sum(axis=0), known.squares)
        everything = of_all.rows.sum(axis=0) / max(of_all.sizes.sum(), 1.0)
        of_level = (known.rows.sum(axis=1) + everything) / (known.sizes.sum(axis=1)[:, None] + 1.0)
        together += tested.error(of_all.means(everything)[None])
        apart += tested.error(known.means(of_level[:, None]))
    return Unexplained(together, apart, observations.shape[-1])


class _Sums(NamedTuple):
    """Sums [..., D] and numbers [...] of observations with each label, and the sum of all squares."""

    rows: Floats
    sizes: Floats
    squares: float

    def means(self, of_more: Floats) -> Floats:
        """The mean of each label, if that of more observations had been seen once besides."""
        return np.asarray((self.rows + of_more) / (self.sizes[..., None] + 1.0))

    def error(self, means: Floats) -> float:
        """The sum of squared distances from the means [..., D] of the labels."""
        products = np.einsum("lkd,lkd->", self.rows, np.broadcast_to(means, self.rows.shape))
        return float(self.squares - 2.0 * products + np.sum(self.sizes * np.square(means).sum(axis=-1)))


def _sums(
    observations: NDArray[np.generic], labels: Ints | NDArray[np.integer], n_labels: int, centre: NDArray[np.float32]
) -> _Sums:
    """The sums of every level: [H+1, K, D] and [H+1, K]."""
    each = np.eye(n_labels, dtype=np.float32)
    rows, sizes, squares = [], [], 0.0
    for h in range(observations.shape[1]):
        level = observations[:, h] - centre
        members = each[labels[:, h]]
        rows.append(members.T @ level)
        sizes.append(members.sum(axis=0))
        squares += float(np.einsum("nd,nd->", level, level, dtype=np.float64))
    return _Sums(np.stack(rows).astype(np.float64), np.stack(sizes).astype(np.float64), squares)
