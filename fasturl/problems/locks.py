"""The paper's combination locks (Du et al., 2019; Feng et al., 2020): three states a level, four actions, V*
= 1/2.

States 0 and 1 are alive, state 2 is dead and absorbing. At each level, for states 0 and 1 separately, one
action leads to state 0 with probability 1-switch and to state 1 with probability switch, one the other way
round, and two to state 2. Being alive at level H+1 pays Bernoulli(1/2). The action labels are drawn anew for
each seed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base import checks
from .._base.schema import setting
from .._base.streams import Streams
from .._kernels import dynamics as _dynamics
from .._kernels import emission as _emission
from .block_mdp import BlockMDP
from .blocks import BitBlock, Stream
from .emissions import Emission, Gaussian, raw_words
from .environment import Environment

LONGEST = 10**7
"""Horizon of a lock: the tables of so many levels take ten gigabytes."""
N_STATES, N_ACTIONS = 3, 4


@dataclass(frozen=True)
class Lock(Environment):
    """What the locks share: their tables."""

    horizon: int = setting(
        20, least=1, limit=LONGEST, unit="levels", help="Number of levels that are acted in."
    )
    switch: float = setting(
        0.0, least=0, most=1, help="Probability that a good action leads to the other live state."
    )

    n_actions = N_ACTIONS
    max_states = N_STATES
    max_return = 1.0

    def draw(self, streams: Streams) -> BlockMDP:
        shape = (self.horizon, N_STATES, N_ACTIONS, N_STATES)
        transitions, rewards = np.empty(shape), np.zeros(shape)
        _dynamics.draw_lock(streams.row("instance"), self.switch, np.empty(N_ACTIONS, np.int64), transitions)
        rewards[-1, :, :, :2] = 0.5
        return BlockMDP._trusted(transitions, rewards, self.emission)


@dataclass(frozen=True)
class LockBernoulli(Lock):
    """A lock seen through bits: the one-hot code of the latent state, then H fair coins.

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.LockBernoulli(horizon=10, switch=0.2).optimal_value()
    0.5
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        checks.keep(self, emission=LockBits(self.horizon))


@dataclass(frozen=True)
class LockGaussian(Lock):
    """A lock seen through reals: the one-hot code of the latent state, then H zeros, all plus N(0, noise^2).

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.LockGaussian(horizon=10, noise=0.2).emission.dimension
    13
    """

    noise: float = setting(0.1, least=0, most=1e15, help="Standard deviation of every coordinate.")

    def __post_init__(self) -> None:
        super().__post_init__()
        means = np.eye(N_STATES, self.horizon + N_STATES)
        checks.keep(self, emission=Gaussian(means, self.noise, n_levels=self.horizon + 1))


class LockBits(Emission):
    """The one-hot code of the latent state in three bits, then a fair coin for each of the H levels."""

    discrete = True
    n_states = 3

    def __init__(self, horizon: int) -> None:
        self.n_levels = checks.integer("horizon", horizon, least=1) + 1
        self.dimension = self.n_levels + 2

    def draw(self, lanes: Stream, episodes: int) -> BitBlock:
        horizon, n_words = self.n_levels - 1, -(-self.dimension // 64)
        draws = -(-self.n_levels // max(1, 64 // horizon)) if n_words == 1 else self.n_levels * n_words
        raw = raw_words(lanes, episodes, draws)
        words = np.empty((episodes, self.n_levels, 3, n_words), np.uint64)
        _emission.lock_words(raw, horizon, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return 3 * self.n_levels * 8 * -(-self.dimension // 64)
