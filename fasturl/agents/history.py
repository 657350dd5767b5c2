"""The trajectories of a run, so that they can be labelled anew and learned from again when a decoder changes.

Labels, actions and rewards of all of them are kept. Observations take most of the memory, so there is a
limit: where it is reached, those of every second trajectory are dropped, and from then on half as many of the
new ones keep theirs. A trajectory without observations keeps the labels that it was given last, and labels of
a new decoder are named after those of the old one, so they go on to mean the same.

On a long lock most observations are of one state, and to drop whole trajectories would lose most of the few
observations of the others. So single observations of rare labels are kept beside (`RareObservations`).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._kernels import labels as _labels
from ..learners.learner import Floats, Ints, Learner, Memory, start
from ..learners.playing import player_of
from ..problems.description import Description
from .game import Game, Trajectories
from .label_matching import match_labels
from .rare_observations import MOST_RARE_BYTES, RareObservations
from .rows import Rows

MOST_BYTES = 2**29
"""Upper limit on the memory that observations take, 512 MB."""


class History:
    """What has happened so far, with room for so many trajectories, and for more where they come.

    labels, actions, rewards
        Arrays [trajectories, H+1], [trajectories, H] and [trajectories, H].
    observations
        Array [n, H+1, D], of the n trajectories whose observations are kept; these have the numbers
        `observed` [n], and `observed_labels` [n, H+1].
    rare
        Single observations of rare labels; `rare_labels` [m] are theirs.
    most_observations
        Upper limit on the observations that are kept, besides that on the bytes that they take.
    keeps_rare
        Whether a label means the same at all levels, so that rare ones are worth keeping.
    """

    def __init__(self, horizon: int, n_labels: int, n_actions: int, trajectories: int = 64) -> None:
        self.n_labels, self.n_actions = n_labels, n_actions
        self.most_observations: int | None = None
        self.keeps_rare = False
        self.rare = RareObservations()
        self._labels = Rows((horizon + 1,), np.dtype(np.uint8), trajectories)
        self._actions = Rows((horizon,), np.min_scalar_type(n_actions - 1), trajectories)
        self._rewards = Rows((horizon,), np.dtype(np.float64), trajectories)
        self._observed = Rows((), np.dtype(np.int64))
        self._capacity = trajectories
        self._observations: Rows | None = None
        self._observed_share = 1.0
        """Share of new trajectories whose observations are kept."""
        self._label_counts: Ints | None = None
        """How many observations of each label are kept; None until somebody asks, and where labels have
        changed since."""
        self._n_steps_counted = self._n_labels_counted = 0
        """How many trajectories are counted in each of the two tables below."""
        self._visits = self._counts_by_level = np.zeros(0, np.int64)

    @property
    def labels(self) -> NDArray[np.integer]:
        return self._labels.rows

    @property
    def actions(self) -> NDArray[np.integer]:
        return self._actions.rows

    @property
    def rewards(self) -> Floats:
        rewards: Floats = self._rewards.rows
        return rewards

    @property
    def observations(self) -> NDArray[np.generic]:
        assert self._observations is not None
        return self._observations.rows

    @property
    def observed(self) -> Ints:
        numbers: Ints = self._observed.rows
        return numbers

    @property
    def observed_labels(self) -> NDArray[np.integer]:
        return np.asarray(self.labels[self.observed])

    def labels_at(self, level: int) -> NDArray[np.integer]:
        """The labels of the observations of one level, 1 to H + 1: [n]."""
        return np.asarray(self.labels[self.observed, level - 1])

    def came_from(self, level: int) -> Ints | None:
        """The pair of label and action before each observation of a level, 1 to H + 1, as the number
        label * n_actions + action: [n]; None for the first level."""
        if level == 1:
            return None
        actions = self.actions[self.observed, level - 2]
        return np.asarray(self.labels_at(level - 1).astype(np.int64) * self.n_actions + actions)

    def add(self, trajectories: Trajectories) -> None:
        """Keep trajectories that were played."""
        first = len(self.labels)
        trajectories.labels_into(self._labels.room(len(trajectories.actions)))
        self._actions.add(trajectories.actions)
        self._rewards.add(trajectories.rewards)
        n_observed = int(np.ceil(self._observed_share * len(trajectories.actions)))
        self._observed.add(np.arange(first, first + n_observed))
        self._add_observations(trajectories, n_observed)
        if self._label_counts is not None:
            counts = self._counts_of(self.labels[first : first + n_observed])
            self._label_counts = self._label_counts + counts
        if self.keeps_rare and n_observed < len(trajectories.actions):
            self._keep_rare(trajectories, n_observed, first)
        while len(self.observations) > self._most_of(self.observations):
            self._thin()

    def _add_observations(self, trajectories: Trajectories, count: int) -> None:
        """Keep those of the first `count` trajectories."""
        if self._observations is not None:
            trajectories.observe_into(self._observations.room(count))
            return
        observations = trajectories.observations(count)
        # twice the limit: some more are added before the first are dropped
        capacity = min(self._capacity, 2 * self._most_of(observations))
        self._observations = Rows(observations.shape[1:], observations.dtype, capacity)
        self._observations.add(observations)

    def _keep_rare(self, trajectories: Trajectories, first: int, first_number: int) -> None:
        """Keep what is rare in the trajectories from `first` on, whose observations are not kept as a
        whole."""
        if self._label_counts is None:
            counts = self._counts_of(self.observed_labels)
            self._label_counts = counts + self._counts_of(self.rare_labels)
        n_before, dimension = len(self.rare), self.observations.shape[-1]
        self.rare.keep_of_trajectories(trajectories, first, first_number, self._label_counts, dimension)
        if len(self.rare) > n_before:
            self._label_counts = self._label_counts + self._counts_of(self.rare_labels[n_before:])

    def _thin(self) -> None:
        """Drop the observations of every second trajectory that has any."""
        assert self._observations is not None
        self._label_counts = None
        if self.keeps_rare:
            numbers_to_keep, numbers_to_drop = self.observed[::2], self.observed[1::2]
            counts = self._counts_of(self.labels[numbers_to_keep]) + self._counts_of(self.rare_labels)
            self.rare.keep_of_rows(
                self._observations.rows[1::2], self.labels[numbers_to_drop], numbers_to_drop, counts
            )
        self._observations.thin()
        self._observed.thin()
        self._observed_share /= 2

    def _counts_of(self, labels: NDArray[np.integer]) -> Ints:
        counts = np.empty(self.n_labels, np.int64)
        _labels.count_labels(labels.ravel(), np.array([0, labels.size]), counts[None])
        return counts

    @property
    def rare_labels(self) -> NDArray[np.integer]:
        trajectories, levels = self.rare.cells.T
        return np.asarray(self.labels[trajectories, levels])

    def set_rare_labels(self, labels: NDArray[np.integer]) -> None:
        """Give the rare observations these labels [m]."""
        trajectories, levels = self.rare.cells.T
        self.labels[trajectories, levels] = labels
        self._forget_counts()

    def _most_of(self, observations: NDArray[np.generic]) -> int:
        """Upper limit on the trajectories of such observations [n, H+1, D] that are kept."""
        most = _most_rows(observations)
        if self.most_observations is not None:
            most = min(most, self.most_observations // observations.shape[1])
        return max(most, 1)

    def make_room(self, n_labels: int) -> None:
        """Raise `n_labels` to the labels that a decoder has, where these are more."""
        self.n_labels = max(n_labels, self.n_labels)
        self._forget_counts()

    def set_labels(self, labels: NDArray[np.integer]) -> None:
        """Give all observations these labels [n, H+1]."""
        self.labels[self.observed] = labels
        self._forget_counts()

    def relabel(self, labels: NDArray[np.integer]) -> tuple[NDArray[np.uint8], float]:
        """Give all observations other labels [n, H+1], named after the old ones. Returns the new names, and
        how well the two agree (see `match_labels`)."""
        names, agreement = match_labels(self.observed_labels.ravel(), labels.ravel(), self.n_labels)
        self.set_labels(names[labels])
        return names, agreement

    def relabel_level(self, level: int, labels: Ints) -> tuple[NDArray[np.uint8], float]:
        """As `relabel`, for the observations of one level, 1 to H + 1: labels [n]."""
        names, agreement = match_labels(self.labels_at(level), labels, self.n_labels)
        self.labels[self.observed, level - 1] = names[labels]
        self._forget_counts()
        return names, agreement

    def _forget_counts(self) -> None:
        """Labels have changed, or their number has."""
        self._label_counts = None
        self._n_steps_counted = self._n_labels_counted = 0

    def visits(self) -> Ints:
        """How often each action was taken at each level and label: [H, n_labels, A]."""
        if self._n_steps_counted == 0:
            self._visits = np.zeros((self.actions.shape[1], self.n_labels, self.n_actions), np.int64)
        new = slice(self._n_steps_counted, None)
        _labels.count_visits(self.labels[new], self.actions[new], self._visits)
        self._n_steps_counted = len(self.labels)
        return self._visits.copy()

    def label_counts(self) -> Ints:
        """How often each label occurs at each level: [H+1, n_labels]."""
        if self._n_labels_counted == 0:
            self._counts_by_level = np.zeros((self.labels.shape[1], self.n_labels), np.int64)
        _labels.count_by_level(self.labels[self._n_labels_counted :], self._counts_by_level)
        self._n_labels_counted = len(self.labels)
        return self._counts_by_level.copy()

    def labels_met(self) -> Ints:
        """How many labels occur at each level: [H+1]."""
        return np.asarray((self.label_counts() > 0).sum(axis=1))

    def learned(
        self, learner: Learner, game: Game, episodes: int, believed_after: Ints | None = None
    ) -> Memory:
        """A fresh memory of the learner that has learned from all trajectories, under their present labels;
        `believed_after` is that of its task."""
        task = game.task(self.n_labels, episodes)._replace(believed_after=believed_after)
        memory = start(learner, task)
        if len(self.rewards):
            player_of(memory).take_in(self.labels, self.actions, self.rewards)
        return memory


def _most_rows(observations: NDArray[np.generic]) -> int:
    """How many such trajectories of observations [n, H+1, D] there is memory for, 1 at least."""
    return max(MOST_BYTES // (math.prod(observations.shape[1:]) * observations.itemsize), 1)


def observation_bytes(known: Description, trajectories: int) -> int:
    """The memory that all observations of so many trajectories take."""
    assert known.observations is not None
    coordinate_bytes = 1 if known.observations.discrete else 4
    return trajectories * (known.horizon + 1) * known.observations.dimension * coordinate_bytes


def history_bytes(known: Description, trajectories: int) -> float:
    """About the memory that a history of so many trajectories takes: of observations no more than the limit,
    of labels, actions and rewards all."""
    levels, action_bytes = known.horizon + 1, np.min_scalar_type(known.n_actions - 1).itemsize
    observations = observation_bytes(known, trajectories)
    rare_observations = MOST_RARE_BYTES if observations > MOST_BYTES else 0
    steps = trajectories * (levels + (8 + action_bytes) * known.horizon)
    return min(MOST_BYTES, observations) + rare_observations + steps
