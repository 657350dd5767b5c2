"""The bidirectional lock (after Agarwal, Henaff, Kakade and Sun, 2020): the first action chooses one of two
combination locks, of which the worse is as hard to open as the better.

State 0 is the start. In it, a half of the actions, drawn for each seed, leads into the first lock, the others
into the second. A lock has two good states, 1 and 2 in the first and 3 and 4 in the second, and state 5 is
dead for both. At every level, each good state has one good action, drawn uniformly for each seed, which leads
to the other good state of its lock with probability `switch` and else stays; the other actions are dead. A
good action of the last level pays 5 in the first lock and 2 in the second:

    V* = 5.

The locks of the paper also charge 1/H for each good step; here all other rewards are 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base.schema import setting
from .table_family import TableFamily

START, DEAD = 0, 5
PRIZES = (5.0, 2.0)
"""What the end of each lock pays."""


@dataclass(frozen=True)
class BidirectionalLock(TableFamily):
    """Two combination locks, one of which pays more; the first action chooses.

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.BidirectionalLock(horizon=6).optimal_value()
    5.0
    """

    horizon: int = setting(
        20, least=2, limit=10**5, unit="levels", help="Number of levels: a choice, then those of the locks."
    )
    n_actions: int = setting(
        10, least=2, limit=10**4, unit="actions", help="Number of actions.", kw_only=True
    )
    switch: float = setting(
        0.5,
        least=0,
        most=1,
        kw_only=True,
        help="Probability that a good action leads to the other good state.",
    )

    max_states = 6
    max_return = PRIZES[0]
    reward_range = (0.0, PRIZES[0])

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shape = (self.horizon, self.max_states, self.n_actions, self.max_states)
        transitions, rewards = np.zeros(shape), np.zeros(shape)
        transitions[..., DEAD] = 1.0
        order = generator.permutation(self.n_actions)
        for lock, actions in enumerate(np.array_split(order, len(PRIZES))):
            first = 1 + 2 * lock
            transitions[0, START, actions] = np.eye(self.max_states)[first]
            for good, other in ((first, first + 1), (first + 1, first)):
                levels = np.arange(1, self.horizon)
                right = generator.integers(self.n_actions, size=self.horizon - 1)
                transitions[levels, good, right] = 0.0
                transitions[levels, good, right, good] = 1.0 - self.switch
                transitions[levels, good, right, other] = self.switch
            rewards[-1, first : first + 2, :, first : first + 2] = PRIZES[lock]
        return transitions, rewards
