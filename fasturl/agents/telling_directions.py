"""The directions of observations that have to do with what was done, for where noise has clusters too.

An oracle looks for clusters, and some may be of noise alone: a coin that changes an observation more than a
state does. No observation by itself tells the ones from the others, but what came before and after it does.
Noise depends on nothing that was done, and nothing that follows depends on it. So observations are compared
where the difference between two groups is due to their states:

- at one level, those that different labels and actions led to;
- at one level, with one action, those that different labels and rewards followed.

Let the observations z of covariance I be divided into strata s, within which groups g are compared, of n_g
observations with the mean m_g. In a direction in which noise alone differs,

    B = sum over g of n_g m_g m_g' - sum over s of n_s m_s m_s'

has the eigenvalues of a Wishart matrix, of as many degrees of freedom f as there are groups less strata, and
the largest of them is about (sqrt(f) + sqrt(D))^2 (Marchenko and Pastur, 1967). The directions of greater
ones are those in which the means of states differ, and an oracle that sees these alone finds states.

Each label that is found so tells more of what came before and after, so directions are looked for again until
there are no more.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._base.row_labels import numbered
from .._kernels import labels as _labels
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints
from .doubts import followers
from .history import History

_MOST_COMPARED = 2**15
"""Upper limit on the observations that are compared."""
_MOST_NUMBERS = 2**22
"""Upper limit on the numbers that these observations have: observations x coordinates."""
_LEAST_COUNTED = 2**9
"""Trajectories that tell whether labels depend on actions, if there are as many."""
_MOST_ENTRIES = 2**22
"""Upper limit on the entries of a table of labels by action and level."""
_ROWS_PER_COORDINATE = 32
"""Observations that there must be for each coordinate, to tell how noise varies from one to the other."""
_LEAST_OF_GROUP = 8
"""Lower limit on the observations of a group that is compared: one far outlier would make it differ."""
_CLEARLY = 1.5
"""Factor by which the eigenvalue of a direction must be greater than the largest that noise is likely to
have."""
_ERROR_RATE = 1e-6
"""Bound on the probability that labels which do not depend on actions are taken to do so."""
LEFT_BY_BETTER = 0.5
"""Labels are better than others if what they leave unexplained is less than this share of what the others
do."""


def depend_on_actions(labels: NDArray[np.integer], history: History) -> bool:
    """Whether labels [m, H+1] of the trajectories of a history that have observations depend, at some level,
    on the actions before them."""
    from scipy.special import chdtrc

    n_levels, n_labels, n_actions = labels.shape[1] - 1, int(labels.max()) + 1, history.n_actions
    if n_levels * n_labels * n_actions > _MOST_ENTRIES:
        return True  # nobody can tell
    chosen = slice(None, None, -(-len(labels) // max(_MOST_COMPARED // labels.shape[1], _LEAST_COUNTED)))
    actions = history.actions[history.observed[chosen]]
    counts = np.zeros((n_levels, n_labels, n_actions), np.int64)
    _labels.count_visits(np.ascontiguousarray(labels[chosen, 1:], np.uint8), actions, counts)
    by_action, by_label = counts.sum(axis=1, keepdims=True), counts.sum(axis=2, keepdims=True)
    expected = by_action * by_label / len(actions)
    ratios = np.where(counts > 0, counts, 1.0) / np.where(counts > 0, expected, 1.0)
    likelihood_ratios = 2.0 * (counts * np.log(ratios)).sum(axis=(1, 2))
    freedom = ((by_action > 0).sum(axis=(1, 2)) - 1) * ((by_label > 0).sum(axis=(1, 2)) - 1)
    chances = chdtrc(np.maximum(freedom, 1), np.maximum(likelihood_ratios, 0.0))
    return bool(chances.min() < _ERROR_RATE / n_levels)


class View(NamedTuple):
    """Observations along some directions: matrix (x - centre)."""

    matrix: Floats  # [R, D]
    centre: Floats  # [D]
    evidence: float  # the least eigenvalue of B along them

    @property
    def n_directions(self) -> int:
        return len(self.matrix)

    def shows_more_than(self, other: View | None) -> bool:
        """Whether it has more directions than the other one, or has as many and knows them better."""
        if other is None:
            return True
        return bool((self.n_directions, self.evidence) > (other.n_directions, other.evidence))

    def rows(self, observations: NDArray[np.generic]) -> NDArray[np.float32]:
        """Observations [n, D] along these directions: [n, R]."""
        around_centre = np.subtract(observations, self.centre, dtype=np.float32)
        return np.asarray(around_centre @ self.matrix.T.astype(np.float32))

    def decoder(self, of_rows: Decoder) -> Decoder:
        """The decoder of observations that gives them the labels of their rows, which are affine."""
        if not isinstance(of_rows, AffineDecoder):
            return of_rows  # one label for all
        assert of_rows.weights_and_bias is not None
        weights, bias = (table.astype(np.float64) for table in of_rows.weights_and_bias)
        return AffineDecoder(weights @ self.matrix, bias - weights @ (self.matrix @ self.centre))


class Groups(NamedTuple):
    """Groups of rows that are compared within strata.

    rows, groups, strata
        The numbers of the rows [n], and of the group and the stratum that each is in [n].
    """

    rows: Ints
    groups: Ints
    strata: Ints

    @classmethod
    def of(cls, rows: Ints, strata: Ints, outcomes: Ints) -> Groups:
        """Rows [n] of these strata [n], which are compared by their outcomes [n]; without the groups of few
        rows."""
        _, groups, sizes = np.unique(
            strata * (int(outcomes.max(initial=0)) + 1) + outcomes, return_inverse=True, return_counts=True
        )
        many = sizes[groups] >= _LEAST_OF_GROUP
        numbers = (np.unique(array[many], return_inverse=True)[1] for array in (groups, strata))
        return cls(rows[many], *numbers)

    @property
    def freedom(self) -> int:
        return int(self.groups.max(initial=-1) - self.strata.max(initial=-1))

    def scatter(self, z: NDArray[np.float32]) -> Floats:
        """B of the head of this file for rows z [n, D]: [D, D]."""
        return _scatter(z[self.rows], self.groups) - _scatter(z[self.rows], self.strata)


def _scatter(z: NDArray[np.float32], groups: Ints) -> Floats:
    """The sum over groups of n_g m_g m_g'."""
    from ..oracles.projection import sums_of

    sums = sums_of(z, groups, int(groups.max(initial=0)) + 1)
    means = sums.rows / np.sqrt(np.maximum(sums.sizes, 1.0))[:, None]
    return np.asarray(means.T @ means)


class Steps:
    """The steps of some trajectories of a history, as many as are compared.

    history
        The history.
    noise_labels
        The labels [k, H+1] that the learner acted on in the first k trajectories, where these may be of
        noise.
    """

    def __init__(self, history: History, noise_labels: NDArray[np.integer]) -> None:
        n_levels, self._dimension = history.observations.shape[1:]
        most = max(min(_MOST_COMPARED, _MOST_NUMBERS // self._dimension), n_levels)
        self._chosen = slice(None, None, -(-len(history.observed) * n_levels // most))
        numbers = history.observed[self._chosen]
        self._observations = history.observations[self._chosen].reshape(-1, self._dimension)
        self.labels = history.labels[numbers].astype(np.int64)
        self._noise = np.zeros_like(self.labels)  # 0 where labels are of states, and else 1 + label
        n_of_noise = int(np.searchsorted(numbers, len(noise_labels)))
        self._noise[:n_of_noise] = noise_labels[numbers[:n_of_noise]]
        self._noise[:n_of_noise] += 1
        self._actions, self._n_actions = history.actions[numbers].astype(np.int64), history.n_actions
        self._rewards = history.rewards[numbers]

    def labels_by(self, decoder: Decoder) -> Ints:
        """The labels [n, H+1] that a decoder gives to the observations."""
        return np.asarray(decoder.decode(self._observations)).reshape(self.labels.shape)

    def of_history(self, labels: NDArray[np.integer]) -> Ints:
        """Those of labels [m, H+1] of all trajectories with observations that are of these [n, H+1]."""
        return labels[self._chosen].astype(np.int64)

    @without_false_alarms
    def view(self, labels: Ints | None, most: int) -> View | None:
        """The directions in which observations differ by what came before and after, `most` of them at most;
        None where there are none, or too few observations to tell how noise varies from one coordinate to the
        other. There may be labels [n, H+1] that are states."""
        if len(self._observations) < _ROWS_PER_COORDINATE * self._dimension:
            return None
        values, directions = self._directions(labels)
        if not values.size:
            return None
        n_directions = min(values.size, most)
        matrix = directions[:n_directions] @ self._whitening
        return View(matrix, self._centre, float(values[n_directions - 1]))

    @without_false_alarms
    def unexplained(self, labels: Ints) -> float:
        """How much observations differ by what came before and after that is not due to their labels
        [n, H+1]: the sum over the directions in which they clearly do."""
        from ..oracles.projection import sums_of

        numbers = numbered(labels.ravel())
        means = sums_of(self._rows, numbers, int(numbers.max()) + 1).means.astype(np.float32)
        scatter, freedom = self._scatter(None, self._rows - means[numbers])
        _, directions = self._directions(None)
        along = np.einsum("rd,de,re->r", directions, scatter, directions)
        return float(along[along > self._most_by_noise(freedom)].sum())

    @cached_property
    def _rows(self) -> NDArray[np.float32]:
        """The observations in coordinates in which they vary as much in one direction as in any other."""
        from ..oracles.likelihoods import CentredRows

        sphered = CentredRows(self._observations).sphered(np.zeros(len(self._observations), np.int64))
        assert sphered.matrix is not None
        self._whitening, self._centre = sphered.matrix, sphered.centre.astype(np.float64)
        return sphered.rows

    def _directions(self, labels: Ints | None) -> tuple[Floats, Floats]:
        """The eigenvalues of B of the head of this file that are greater than those of noise, the greatest
        first, and their directions: [R] and [R, D]."""
        scatter, freedom = self._scatter(labels, self._rows)
        values, vectors = np.linalg.eigh(scatter)
        clear = values > self._most_by_noise(freedom)
        return values[clear][::-1], vectors[:, clear].T[::-1]

    def _scatter(self, labels: Ints | None, rows: NDArray[np.float32]) -> tuple[Floats, int]:
        """B of the head of this file for rows [n, D], and its degrees of freedom."""
        groups = self._groups(labels)
        scatters = np.stack([one.scatter(rows) for one in groups])
        return scatters.sum(axis=0), sum(one.freedom for one in groups)

    def _most_by_noise(self, freedom: int) -> float:
        """Upper limit on the eigenvalues of B in a direction in which noise alone differs."""
        return _CLEARLY * (math.sqrt(freedom) + math.sqrt(self._dimension)) ** 2

    def _groups(self, labels: Ints | None) -> list[Groups]:
        """The observations by what came before, and by what came after."""
        states = np.zeros_like(self.labels) if labels is None else labels
        rows, levels = np.arange(states.size).reshape(states.shape), np.arange(states.shape[1])
        # noise that was acted on goes with actions
        strata = levels * (int(self._noise.max()) + 1) + self._noise
        pairs = states[:, :-1] * self._n_actions + self._actions
        before = Groups.of(
            rows[:, 1:].ravel(),
            strata[:, :-1].ravel(),
            pairs.ravel(),
        )
        after = Groups.of(
            rows[:, :-1].ravel(),
            (strata[:, :-1] * self._n_actions + self._actions).ravel(),
            followers(states[:, 1:], self._rewards).ravel(),
        )
        return [before, after]
