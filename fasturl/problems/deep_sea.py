"""DeepSea of bsuite (Osband et al., 2020): a grid of N by N cells, N being the horizon.

An episode starts in the upper left cell and goes down a row at every step; the latent state is the column. In
each column one of the two actions moves to the right and the other to the left, as far as the grid goes.
Which is which is drawn for every column and seed; bsuite draws it for every cell. Each move to the right
costs cost / N, and the one out of the lower right cell finds the treasure, which pays 1. One of 2^N sequences
of actions gets there:

    V* = 1 - cost.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from .table_family import TableFamily, at_every_level


@dataclass(frozen=True)
class DeepSea(TableFamily):
    """A grid in which all actions but one sequence miss the treasure, and each right one costs a little.

    Examples
    --------
    >>> import fasturl as fu
    >>> round(fu.DeepSea(horizon=8).optimal_value(), 6)
    0.99
    """

    horizon: int = setting(
        10, least=1, limit=1_000, unit="levels", help="Number of rows, and of columns, of the grid."
    )
    cost: float = setting(
        0.01, least=0, most=1, kw_only=True, help="What all moves of the way to the treasure cost together."
    )

    n_actions = 2
    max_return = 1.0

    def _derive(self) -> None:
        checks.keep(self, max_states=self.horizon, reward_range=(-self.cost / self.horizon, 1.0))

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        size, columns = self.horizon, np.arange(self.horizon)
        right = generator.integers(2, size=size)
        transitions = np.zeros((size, 2, size))
        transitions[columns, right, np.minimum(columns + 1, size - 1)] = 1.0
        transitions[columns, 1 - right, np.maximum(columns - 1, 0)] = 1.0
        rewards = np.zeros_like(transitions)
        rewards[columns, right] = -self.cost / size
        every_reward = at_every_level(rewards, size)
        every_reward[-1, -1, right[-1]] += 1.0
        return at_every_level(transitions, size), every_reward
