"""The rich combination lock, the benchmark of the field after the paper (Misra et al., 2020; Zhang et al.,
2022): more actions than the paper's locks, rewards that lead astray, and looks that depend on the level.

Three states a level: 0 and 1 are good, 2 is dead and absorbing; episodes start in 0 or 1, with probability
1/2 each. At every level each good state has one good action, drawn uniformly for each seed, which leads to
the other good state with probability `switch` and else stays. Every other action leads to state 2 and pays
0.1 with probability 1/2. The good action of the last level pays 1, so that

    V* = 1,

while a policy that knows nothing meets 0.05 at once and the prize with probability A^-H. Rewards that are
"sparse" leave out the 0.1 of bad actions; those that are "dense" pay it for each good action before the last
instead, and V* = 1 + 0.1 (H - 1).

An observation is a vector of d coordinates, d being the smallest power of two that is at least H + 4: the
one-hot code of the state in coordinates 0 to 2, that of the level in the next H + 1, plus N(0, noise^2) on
coordinates 0 to H + 2, multiplied by Sylvester's Hadamard matrix. As bits it is the two codes, then H fair
coins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base import checks
from .._base.schema import refuse_without_effect, setting
from .._base.streams import Streams
from .block_mdp import BlockMDP
from .code_words import Appearance, rich_emission
from .emissions import LARGEST, Bernoulli, Emission
from .environment import Environment

N_STATES, DEAD = 3, 2
SMALL_REWARD, PRIZE = 0.1, 1.0
ANTI_SHAPED, SPARSE, DENSE = "anti-shaped", "sparse", "dense"
RICH, BERNOULLI = "rich", "bernoulli"


@dataclass(frozen=True)
class RichLock(Environment):
    """A combination lock with many actions, rewards for the wrong ones, and rotated observations.

    Examples
    --------
    >>> import fasturl as fu
    >>> lock = fu.RichLock(horizon=6)
    >>> lock.optimal_value(), lock.describe().observations.dimension
    (1.0, 16)
    """

    horizon: int = setting(
        20, least=1, limit=5_000, unit="levels", help="Number of levels that are acted in."
    )
    n_actions: int = setting(10, least=2, limit=10**4, unit="actions", help="Number of actions.")
    switch: float = setting(
        0.5, least=0, most=1, help="Probability that a good action leads to the other good state."
    )
    noise: float = setting(
        0.1, least=0, most=LARGEST, help="Standard deviation of the noise of reals; bits have none."
    )
    reward: str = setting(
        ANTI_SHAPED,
        choices=(ANTI_SHAPED, SPARSE, DENSE),
        kw_only=True,
        help="Beside the prize, 0.1 half the time for bad actions, nothing, or 0.1 for good actions.",
    )
    emission: str = setting(
        RICH, choices=(RICH, BERNOULLI), kw_only=True, help="Reals, or the same code words as bits."
    )
    rotation: bool = setting(True, kw_only=True, help="Whether reals are multiplied by the Hadamard matrix.")

    max_states = N_STATES

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.emission == BERNOULLI:
            condition = f"emission={BERNOULLI!r}, which has no use for it"
            refuse_without_effect(self, ("noise", "rotation"), condition)
        dense = SMALL_REWARD * (self.horizon - 1) if self.reward == DENSE else 0.0
        checks.keep(self, max_return=PRIZE + dense, _resolved_emission=self._made_emission())

    @property
    def resolved_emission(self) -> Emission:
        emission: Emission = vars(self)["_resolved_emission"]
        return emission

    def draw(self, streams: Streams) -> BlockMDP:
        levels, shape = np.arange(self.horizon), (self.horizon, N_STATES, self.n_actions, N_STATES)
        transitions, rewards, sizes = np.zeros(shape), np.zeros(shape), np.ones(shape)
        transitions[..., DEAD] = 1.0
        good_actions = streams.generator("instance").integers(self.n_actions, size=(self.horizon, 2))
        for state, other in ((0, 1), (1, 0)):
            good = good_actions[:, state]
            transitions[levels, state, good] = 0.0
            transitions[levels, state, good, state] = 1.0 - self.switch
            transitions[levels, state, good, other] = self.switch
        if self.reward == ANTI_SHAPED:
            rewards[:, :DEAD, :, DEAD], sizes[:, :DEAD, :, DEAD] = SMALL_REWARD / 2, SMALL_REWARD
        elif self.reward == DENSE:
            rewards[:, :DEAD, :, :DEAD] = SMALL_REWARD
        rewards[-1, :DEAD, :, :DEAD] = PRIZE
        return BlockMDP._trusted(
            transitions,
            rewards,
            self.resolved_emission,
            reward_draw="bernoulli" if self.reward == ANTI_SHAPED else "deterministic",
            reward_sizes=sizes,
            start=np.array([0.5, 0.5, 0.0]),
        )

    def _made_emission(self) -> Emission:
        n_levels = self.horizon + 1
        if self.emission == RICH:
            appearance = Appearance(N_STATES, n_levels, None, self.noise, levels_differ=True)
            return rich_emission(appearance, rotated=self.rotation)
        frequencies = np.zeros((n_levels, N_STATES, N_STATES + n_levels + self.horizon))
        levels, states = np.ogrid[:n_levels, :N_STATES]
        frequencies[levels, states, states] = 1.0
        frequencies[levels, states, N_STATES + levels] = 1.0
        frequencies[..., N_STATES + n_levels :] = 0.5
        return Bernoulli(frequencies, n_levels=n_levels)
