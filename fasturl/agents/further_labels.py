"""Labels beyond the bound on states, where states have several looks.

A decoder has a label for each cluster of observations. The observations of one state may be of several
clusters, its looks: then there are more clusters than states, and if there is only one label for each state,
some label hides clusters of two states. Two labels for one state do no harm, so there may be more labels than
states.

Where each observation is a single symbol (one bit that is set), every symbol gets a label, if there may be so
many: any two symbols lie equally far apart, so that there are no clusters of symbols. Other observations are
split further: a label is split for as long as the test behind the warning `labels_that_split` finds two
clusters in it. Noise with long tails, or along a curve, would be split into ever more pieces, and labels for
those only cost trajectories. So a split needs two confirmations:

- Each label is split in one half of its observations and in the other, and the two splits must agree.
- Some level must show more labels than it may have states. Otherwise the clusters may be the same states,
  which look different at other levels.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._base.row_labels import numbered, that_occur
from .._base.sampling import random_choice
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import MAX_LABELS, Decoder
from ..learners.learner import Ints
from .clear_labels import may_be_two
from .label_matching import have_moved, moved_labels

_MOST_LOOKS = 8
"""Upper limit on the labels of clusters, as a multiple of the states that a level may have."""
_MODEL_NUMBERS = 2**25
"""Upper limit on the entries of a model of transitions, levels x labels x actions x next labels, which take
256 MB. The memory that a run is said to take is reckoned with one label for each state, so more labels must
not need much more."""
MOST_REFINED = 2**12
"""Upper limit on the observations that are split, both halves together, and that a decoder with further
labels is made from."""
_FEW = 64
"""Number of observations that are tested for being symbols before all are: these mostly show that they are
none."""
_LEAST_GROWTH = 2.0
"""Factor by which the number of trajectories must grow before the next search, after the first search that
found no labels to add. It doubles with each further one."""
_DECODED = 2**13
"""Upper limit on the observations from which the labels of a level are counted."""
_MISTAKEN = 0.01
"""A level has a label only if more than this share of its observations have it: fewer may be mistakes."""


def most_labels(n_states: int, horizon: int, n_actions: int) -> int:
    """Upper limit on the number of labels where a state may have several: as many as a decoder can have, and
    as a model of their transitions has memory for."""
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
    """The search for clusters that a decoder with at least n_states labels does not tell apart.

    Where the two halves of the observations disagree, the search is repeated at the next fit. Where it finds
    none or too many, it is repeated ever later. There are at most `most` labels.
    """

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
        """The given decoder, or a new one with a label for each cluster that is found inside its labels.

        decoder
            The decoder whose labels are split.
        rows
            Observations in which clusters are looked for: [m, D].
        trajectories
            Observations of some trajectories that were played: [n, H+1, D]. A new decoder is accepted only if
            some level of them then has more labels than states.
        played
            Number of trajectories so far, which says whether a search is due.
        generator
            Draws the observations that are split, and their halves.
        """
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
    """The greatest number of labels of a level in trajectories [n, H+1, D]. Labels that a level has by a few
    mistakes do not count."""
    some = trajectories[:: -(-trajectories[..., 0].size // _DECODED)]
    labels = decoder.decode(some.reshape(-1, some.shape[2])).reshape(some.shape[:2])
    counts = np.stack([np.bincount(column, minlength=decoder.n_labels) for column in labels.T])
    return int((counts > max(_MISTAKEN * len(some), 2.0)).sum(axis=1).max())


def _agreed_labels(
    rows: NDArray[np.generic], labels: Ints, most: int, generator: np.random.Generator
) -> Ints | None:
    """New labels 0, 1, ... [n] of observations [n, D], after each of their labels was split into the clusters
    on which two halves of its observations agree.

    None where the halves of some label disagree. Where there would be more than `most` labels, all new labels
    are `most`, which tells the caller that there are too many.
    """
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
    """The clusters inside one label: labels 0, 1, ... [n] of its observations, the rows `members` [n] of
    observations [m, D].

    Each half of the observations is split by itself. The result is

    - all 0 if either half is one cluster,
    - all `most` if either half is more than `most` clusters, which are too many,
    - otherwise the clusters of the first half, if those of the second agree, and None if they do not.
    """
    from ..oracles.refinement import parts_of_label, refined_decoder

    whole = np.zeros(members.size, np.int64)
    if not may_be_two(observations[members]):
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
