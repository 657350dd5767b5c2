"""Single observations of labels that few observations are kept of.

A decoder in D dimensions wants about as many observations of a state as there are dimensions, and a state
that is met twice in a trajectory of a thousand levels has few among those of a hundred trajectories, however
many were played. How many are kept depends on the dimension and on the number of labels, and not on how many
trajectories were played.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..learners.learner import Ints
from .game import Trajectories
from .rows import Rows

MOST_RARE_BYTES = 2**26
"""Upper limit on the memory that they take, 64 MB."""
_PER_DIMENSION = 2
"""Observations of a label that are enough, for each dimension."""


class RareObservations:
    """Observations [m, D], and the trajectory and level that each was met at, cells [m, 2]."""

    def __init__(self) -> None:
        self._observations: Rows | None = None
        self._cells = Rows((2,), np.dtype(np.int64))

    def __len__(self) -> int:
        return len(self._cells.rows)

    @property
    def observations(self) -> NDArray[np.generic]:
        assert self._observations is not None
        return self._observations.rows

    @property
    def cells(self) -> Ints:
        cells: Ints = self._cells.rows
        return cells

    def keep_of_trajectories(
        self, trajectories: Trajectories, first: int, first_number: int, counts: Ints, dimension: int
    ) -> None:
        """Keep what is rare in the trajectories from `first` on, where `counts` [n_labels] observations of
        each label are kept already; trajectory 0 of them is number `first_number` of the run."""
        rare = _is_rare(counts, dimension)
        if not rare.any():
            return
        rare_episodes, rare_levels = np.nonzero(rare[trajectories.labels[first:]])
        for level in np.unique(rare_levels):
            episodes = first + rare_episodes[rare_levels == level]
            self._keep(
                trajectories.observations_at(int(level) + 1)[episodes],
                np.stack([first_number + episodes, np.full(episodes.size, level)], axis=1),
            )

    def keep_of_rows(
        self,
        observations: NDArray[np.generic],
        labels: NDArray[np.integer],
        numbers: Ints,
        counts: Ints,
    ) -> None:
        """Keep what is rare in observations [n, H+1, D] with labels [n, H+1] of trajectories that have these
        numbers [n] in the run; `counts` is as in `keep_of_trajectories`."""
        rare = _is_rare(counts, observations.shape[-1])
        if not rare.any():
            return
        rows, levels = np.nonzero(rare[labels])
        self._keep(observations[rows, levels], np.stack([numbers[rows], levels], axis=1))

    def _keep(self, observations: NDArray[np.generic], cells: Ints) -> None:
        if self._observations is None:
            self._observations = Rows(observations.shape[1:], observations.dtype)
        room = MOST_RARE_BYTES // (observations.shape[1] * observations.itemsize) - len(self)
        self._observations.add(observations[: max(room, 0)])
        self._cells.add(cells[: max(room, 0)])


def _is_rare(counts: Ints, dimension: int) -> NDArray[np.bool_]:
    return np.asarray(counts < _PER_DIMENSION * dimension)
