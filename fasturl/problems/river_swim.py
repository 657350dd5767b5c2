"""RiverSwim (Strehl and Littman, 2008), with the numbers of Osband, Russo and Van Roy (2013).

States 0 to S-1 lie along a river that flows to the left; episodes start in state 0. Action 0 swims with the
stream and always moves one state to the left. Action 1 swims against it:

    state        left    stays   right
    0            -       0.4     0.6
    1 to S-2     0.05    0.6     0.35
    S-1          0.4     0.6     -

Action 0 in state 0 pays 0.005, action 1 in state S-1 pays 1. Every seed meets the same river.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from .table_family import MOST_STATES, TableFamily, at_every_level
from .vector_tables import SharedInstance, VectorTables

LEFT, RIGHT = 0, 1
SMALL_REWARD = 0.005


@dataclass(frozen=True)
class RiverSwim(TableFamily):
    """A chain whose near end pays little at once and whose far end pays much, against the stream.

    Examples
    --------
    >>> import fasturl as fu
    >>> round(fu.RiverSwim().optimal_value(), 3)
    3.397
    """

    n_states: int = setting(
        6, least=2, limit=MOST_STATES, unit="states", help="Length of the river.", kw_only=True
    )

    n_actions = 2

    def _derive(self) -> None:
        # the far end is reached at level S at the earliest, and pays at most 1 from there on
        greatest = max(float(self.horizon - self.n_states + 1), SMALL_REWARD * self.horizon)
        checks.keep(self, max_states=self.n_states, max_return=greatest)

    @property
    def single_instance(self) -> bool:
        return self.draws_as(RiverSwim)

    def vector_tables(self, n_envs: int) -> VectorTables:
        if not self.single_instance:
            return super().vector_tables(n_envs)
        return SharedInstance(self.instance(), n_envs)

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        last = self.n_states - 1
        transitions = np.zeros((self.n_states, 2, self.n_states))
        rewards = np.zeros_like(transitions)
        for state in range(self.n_states):
            transitions[state, LEFT, max(state - 1, 0)] = 1.0
            transitions[state, RIGHT, state] = 0.6
        for state in range(1, last):
            transitions[state, RIGHT, state - 1] = 0.05
            transitions[state, RIGHT, state + 1] = 0.35
        transitions[0, RIGHT, :2] = 0.4, 0.6
        transitions[last, RIGHT, last - 1] = 0.4
        rewards[0, LEFT] = SMALL_REWARD
        rewards[last, RIGHT] = 1.0
        return at_every_level(transitions, self.horizon), at_every_level(rewards, self.horizon)
