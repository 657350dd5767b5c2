"""Random MDPs: from every state and action, the distribution of the next state is drawn uniformly from all
distributions, that is from Dirichlet(1, ..., 1), and the mean of a Bernoulli reward uniformly from [0, 1].

Tables are drawn once for all levels, or anew for each. Episodes start in state 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from .table_family import MOST_STATES, TableFamily


@dataclass(frozen=True)
class RandomMDP(TableFamily):
    """Tables drawn at random: many good policies, and hardly any that are worthless.

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.RandomMDP(n_states=4, n_actions=2, horizon=3).instance(7).transitions.shape
    (3, 4, 2, 4)
    """

    horizon: int = setting(
        10, least=1, limit=10**5, unit="levels", help="Number of levels that are acted in."
    )
    n_states: int = setting(
        5, least=1, limit=MOST_STATES, unit="states", help="Number of states of a level.", kw_only=True
    )
    n_actions: int = setting(3, least=1, limit=10**4, unit="actions", help="Number of actions.", kw_only=True)
    stationary: bool = setting(
        True, kw_only=True, help="Whether all levels have the same tables, or each has its own."
    )

    reward_draw = "bernoulli"

    def _derive(self) -> None:
        checks.keep(self, max_states=self.n_states)

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = (1 if self.stationary else self.horizon, self.n_states, self.n_actions)
        transitions = generator.dirichlet(np.ones(self.n_states), rows)
        means = np.repeat(generator.random(rows)[..., None], self.n_states, axis=3)
        repeats = self.horizon if self.stationary else 1
        return np.repeat(transitions, repeats, axis=0), np.repeat(means, repeats, axis=0)
