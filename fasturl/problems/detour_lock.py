"""The detour lock: the paper's combination lock with a state that nobody can reach often.

States 0 and 1 are good, state 2 is the detour, state 3 is dead and absorbing; episodes start in state 0. At
every level, for states 0 and 1 separately, one action leads to state 0 with probability 1-switch and to state
1 with probability switch, one the other way round, and all others to state 3. But with probability `reach` a
good action leads to the detour instead. There one action is right, and leads to either good state with
probability 1/2; all others lead to state 3. Actions are drawn for each seed. To be in state 0, 1 or 2 at
level H+1 pays Bernoulli(1/2):

    V* = 1/2,        P(detour at level h) <= reach for every policy and every level.

So `reach` is a bound on what the literature calls reachability, and reach -> 0 makes a Block MDP in which one
state of a level is reached with a probability as small as one likes. While H is large the detour counts all
the same: a policy that is right everywhere else, and as good as chance in the detour, loses about the share

    1 - (1 - reach (1 - 1/A))^H        of V*,

a quarter at H = 20, reach 0.02 and A = 4 actions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base.schema import setting
from .table_family import TableFamily

GOOD, DETOUR, DEAD = (0, 1), 2, 3
MEAN_REWARD = 0.5
"""The mean of what being alive at the end pays: V*, as some policy is alive for sure."""


@dataclass(frozen=True)
class DetourLock(TableFamily):
    """A combination lock whose good actions lead, once in a while, to a state with one right action.

    Examples
    --------
    >>> import fasturl as fu
    >>> round(fu.DetourLock(horizon=6, reach=0.01).optimal_value(), 6)
    0.5
    """

    n_actions: int = setting(4, least=2, limit=10**4, unit="actions", help="Number of actions.", kw_only=True)
    switch: float = setting(
        0.0,
        least=0,
        most=1,
        kw_only=True,
        help="Probability that a good action leads to the other good state.",
    )
    reach: float = setting(
        0.05,
        least=0,
        most=1,
        kw_only=True,
        help="Probability that a good action leads to the detour.",
    )

    max_states = 4
    max_return = 1.0
    reward_draw = "bernoulli"

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shape = (self.horizon, self.max_states, self.n_actions, self.max_states)
        transitions, rewards = np.zeros(shape), np.zeros(shape)
        transitions[..., DEAD] = 1.0
        no_detour = 1.0 - self.reach
        stays, moves = no_detour * (1.0 - self.switch), no_detour * self.switch
        for level in range(self.horizon):
            for state in GOOD:
                on, swapped = generator.permutation(self.n_actions)[:2]
                transitions[level, state, on] = [stays, moves, self.reach, 0.0]
                transitions[level, state, swapped] = [moves, stays, self.reach, 0.0]
            right = generator.integers(self.n_actions)
            transitions[level, DETOUR, right] = [0.5, 0.5, 0.0, 0.0]
        rewards[-1, :, :, :DEAD] = MEAN_REWARD
        return transitions, rewards
