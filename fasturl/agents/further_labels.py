"""Labels beyond the bound on states, where states have several looks.

A label is for one cluster, and a state may show now this look and now that one: there are then more clusters
than states, and with a label for each state some label hides parts of two. Labels that belong to one state do
no harm, so there may be more of them than states.

Where an observation is a single symbol, one bit of all, every symbol is a look and has a label, as long as
there may be so many: clusters of symbols mean nothing, since any two symbols lie equally far apart. Elsewhere
labels are split for as long as they look like several states by the rule of a warning. But noise with long
tails, or along a curve, falls apart into ever more pieces too, and labels for those only cost trajectories.
What tells is whether the pieces are there again in other observations: each label is split in one half of
them and in the other, and the two have to agree. And where levels look different, what looks different are
the same states at other levels: some level must have more labels than it may have states.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._base.row_labels import numbered, that_occur
from .._base.sampling import random_choice
from .._kernels import directions as _directions
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import MAX_LABELS, Decoder
from ..learners.learner import Ints
from .label_matching import have_moved, moved_labels

_MOST_LOOKS = 8
"""Upper limit on the labels of clusters, for each state that a level may have."""
_MODEL_NUMBERS = 2**25
"""Upper limit on the numbers of a model of transitions between the labels of a level and those of the next,
which take 256 MB: what a run is said to take beforehand is reckoned with one label for each state."""
MOST_REFINED = 2**12
"""Upper limit on the observations that both halves have together, which a decoder with further labels is made
from."""
_FEW = 64
"""Observations that mostly tell that they are no symbols."""
_LEAST_SCREENED, _SCREENED = 64, 512
"""Observations of a label that are looked at first, along one direction, if there are as many: see
`_may_be_two`. A few of one cluster often look like two."""
_APART = 2.9
"""Standard deviations between the two sides of the best cut from which on observations may be two clusters.
Those of a normal lie 2.66 apart."""
_LEAST_GROWTH = 2.0
"""Growth of the number of trajectories after which labels are looked for again where none was needed, the
first time; twice as much each time."""
_DECODED = 2**13
"""Upper limit on the observations that tell how many labels a level has."""
_MISTAKEN = 0.01
"""Share of a level's observations that may have a label by mistake."""


def most_labels(n_states: int, horizon: int, n_actions: int) -> int:
    """Upper limit on the labels of all observations, where states may have several: what a decoder can have,
    and a model of them has memory for."""
    return max(n_states, min(MAX_LABELS, math.isqrt(_MODEL_NUMBERS // (horizon * n_actions))))


def symbol_decoder(rows: NDArray[np.generic], n_states: int, most: int) -> Decoder | None:
    """A decoder with a label for each symbol that observations [n, D] show, where each shows one alone and
    there are more symbols than states; None elsewhere, and where they are more than `most`."""
    if not are_symbols(rows):
        return None
    symbols = np.flatnonzero(rows.any(axis=0))
    if not n_states < symbols.size <= most:
        return None
    return AffineDecoder(np.eye(rows.shape[1])[symbols], np.zeros(symbols.size))


def are_symbols(rows: NDArray[np.generic]) -> bool:
    """Whether each of the observations [n, D] is one bit of all."""
    return rows.dtype == np.uint8 and all(
        bool((part.sum(axis=1, dtype=np.int64) == 1).all()) for part in (rows[:_FEW], rows)
    )


class FurtherLabels:
    """The search for clusters that a decoder of n_states labels or more does not tell apart. It is made again
    at the next fit where halves of the observations disagree, and ever later where none or too many are
    needed. There are at most `most` labels."""

    def __init__(self, n_states: int, most: int) -> None:
        self._n_states, self._most = n_states, min(_MOST_LOOKS * n_states, most)
        self._next, self._growth = 0.0, _LEAST_GROWTH

    def added(
        self,
        decoder: Decoder,
        rows: NDArray[np.generic],
        trajectories: NDArray[np.generic],
        played: int,
        generator: np.random.Generator,
    ) -> Decoder:
        """A decoder with labels for such clusters, or this one where there are none. They are looked for in
        observations [m, D], and have to be looks in trajectories [n, H+1, D], some of those that were
        played."""
        from ..oracles.refinement import improves, refined_decoder

        if played < self._next:
            return decoder
        rows = rows[random_choice(len(rows), MOST_REFINED, generator)]
        labels = decoder.decode(rows)
        n_labels = that_occur(labels).size
        if n_labels < self._n_states:
            return decoder
        further = _agreed_labels(rows, labels, self._most, generator)
        if further is None:
            return decoder
        if n_labels < further.max() + 1 <= self._most and improves(rows, further, labels):
            candidate = refined_decoder(rows, further)
            if _most_at_a_level(candidate, trajectories) > self._n_states:
                return candidate
        self._next, self._growth = self._growth * played, 2.0 * self._growth
        return decoder


def _most_at_a_level(decoder: Decoder, trajectories: NDArray[np.generic]) -> int:
    """The greatest number of labels that a level has in trajectories [n, H+1, D], but for a few mistaken
    ones."""
    some = trajectories[:: -(-trajectories[..., 0].size // _DECODED)]
    labels = decoder.decode(some.reshape(-1, some.shape[2])).reshape(some.shape[:2])
    counts = np.stack([np.bincount(column, minlength=decoder.n_labels) for column in labels.T])
    return int((counts > max(_MISTAKEN * len(some), 2.0)).sum(axis=1).max())


def _agreed_labels(
    rows: NDArray[np.generic], labels: Ints, most: int, generator: np.random.Generator
) -> Ints | None:
    """Labels 0, 1, ... [n] of observations [n, D] after each of their labels was split into the clusters on
    which two halves of its observations agree; None where for some label they do not. They end where there
    are more than `most`."""
    names = that_occur(labels)
    further, n_labels = np.zeros_like(labels), 0
    for k, name in enumerate(names.tolist()):
        members, room = np.flatnonzero(labels == name), most - n_labels - (names.size - 1 - k)
        parts = _agreed_parts(rows, members, max(room, 1), generator)
        if parts is None:
            return None
        further[members] = n_labels + parts
        n_labels += int(parts.max()) + 1
        if parts.max() >= room:
            further[:] = most
            break
    return further


def _agreed_parts(
    observations: NDArray[np.generic], members: Ints, most: int, generator: np.random.Generator
) -> Ints | None:
    """Labels 0, 1, ... [n] of the clusters that one label falls apart into, whose `members` [n] are rows of
    the observations [m, D]: one where either half of them is one, more than `most` where either half is; None
    where they fall apart otherwise."""
    from ..oracles.refinement import parts_of_label, refined_decoder

    whole = np.zeros(members.size, np.int64)
    if not _may_be_two(observations[members[:: -(-members.size // _SCREENED)]]):
        return whole
    rows, is_first = observations[members], generator.random(members.size) < 0.5
    answers = []
    for half in (is_first, ~is_first):
        parts = parts_of_label(rows[half], most + 1, generator)
        if parts.max(initial=0) == 0:
            return whole
        if parts.max() >= most:
            return whole + most
        answers.append(refined_decoder(rows[half], parts).decode(rows))
    first, second = answers
    n_moved, sizes = moved_labels(first, second, most)
    if have_moved(n_moved, sizes).any():
        return None
    return numbered(first)


def _may_be_two(rows: NDArray[np.generic]) -> bool:
    """Whether observations [n, D] may be two clusters: those vary most along the line between their means,
    where the best cut leaves two sides that lie far apart. To look so takes a tenth of the time of a test."""
    from ..oracles.noise import leading_directions
    from ..oracles.projection import mean_of

    around_mean: NDArray[np.float32] = np.subtract(rows, mean_of(rows).astype(np.float32), dtype=np.float32)
    largest = max(around_mean.max(), -around_mean.min())
    if len(rows) < _LEAST_SCREENED or largest == 0.0:
        return False
    around_mean /= largest
    farthest = around_mean[np.einsum("nd,nd->n", around_mean, around_mean).argmax()]
    (direction,) = leading_directions(around_mean, farthest, np.ones((1, len(rows)), np.float32))
    return _directions.best_cut(np.sort((around_mean @ direction).astype(np.float64))) > _APART
