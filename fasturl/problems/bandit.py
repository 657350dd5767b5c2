"""Bandits: one state at each level, and arms whose rewards are coins.

The best arm pays 1 with probability `best`, every other with probability `best - gap`. Which arm is the best
is drawn for each seed, and is the same at all levels; V* = H best. After n pulls of each of two arms their
means differ by the gap and a noise of sqrt(2 best (1 - best) / n): two arms of close means are what a learner
gets wrong that takes bad luck for bad arms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from .table_family import LONGEST, TableFamily


@dataclass(frozen=True)
class Bandit(TableFamily):
    """Arms that pay 1 or nothing, one of which is better than the others.

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.Bandit(best=0.6, gap=0.1).optimal_value()
    0.6
    """

    horizon: int = setting(1, least=1, limit=LONGEST, unit="levels", help="Number of pulls of an episode.")
    n_actions: int = setting(2, least=1, limit=10**4, unit="arms", help="Number of arms.", kw_only=True)
    best: float = setting(0.6, least=0, most=1, help="Probability that the best arm pays.", kw_only=True)
    gap: float = setting(
        0.1, least=0, most=1, help="How much less likely every other arm pays.", kw_only=True
    )

    max_states = 1
    reward_draw = "bernoulli"

    def _derive(self) -> None:
        if self.gap > self.best:
            raise ValueError(f"gap must be at most best = {self.best}, got {self.gap}")
        checks.keep(self, max_return=float(self.horizon))

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        shape = self.horizon, 1, self.n_actions, 1
        means = np.full(shape, self.best - self.gap)
        means[:, 0, generator.integers(self.n_actions)] = self.best
        return np.ones(shape), means
