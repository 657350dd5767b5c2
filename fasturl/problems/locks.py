"""The paper's combination locks (Du et al., 2019; Feng et al., 2020): three states a level, four actions, V*
= 1/2.

States 0 and 1 are alive, state 2 is dead and absorbing. At each level, for states 0 and 1 separately, one
action leads to state 0 with probability 1-switch and to state 1 with probability switch, one the other way
round, and two to state 2. Being alive at level H+1 pays Bernoulli(1/2). The action labels are drawn anew for
each seed.

In vector environments a lock is a byte for each level, state and action, which says where the action leads:
on, on with the live states swapped, or out. The tables of thousands of locks stay in the cache of the
processor.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base import checks
from .._base.schema import setting
from .._base.streams import Streams
from .._kernels import dynamics as _dynamics
from .._kernels import emission as _emission
from .._kernels import vector as _vector
from .._kernels.records import RANDOM_REWARDS, Coins, Players, SharedTables
from .block_mdp import BlockMDP
from .blocks import BitBlock, Rngs
from .buffers import Actions, Floats, Mask, ObservationBuffer, Observations
from .emissions import N_RNGS, Emission, Gaussian, cumulative, raw_words
from .environment import Environment
from .vector_tables import VectorTables, read_only

LONGEST = 10**7
"""Upper limit on the horizon of a lock: the tables of so many levels take ten gigabytes."""
N_STATES, N_ACTIONS = 3, 4
OPTIMAL_VALUE = 0.5
"""Of every lock: some policy stays alive for sure, and being alive at the end pays Bernoulli(1/2)."""


@dataclass(frozen=True)
class Lock(Environment):
    """What the locks share: their latent side."""

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
        return BlockMDP._trusted(transitions, rewards, self.resolved_emission)

    def optimal_value(self, seed: int = 0) -> float:
        checks.seed("seed", seed)
        return OPTIMAL_VALUE if self.draws_as(Lock) else super().optimal_value(seed)

    def vector_tables(self, n_envs: int) -> VectorTables:
        return LockTables(self, n_envs) if self.draws_as(Lock) else super().vector_tables(n_envs)


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
    """The one-hot code of the latent state in three bits, then a fair coin for each of the H levels.

    horizon
        Number of levels that are acted in; observations have horizon + 3 bits.

    Examples
    --------
    >>> LockBits(horizon=10).dimension
    13
    """

    discrete = True
    independent_levels = True
    n_states = N_STATES

    def __init__(self, horizon: int) -> None:
        self.n_levels = checks.integer("horizon", horizon, least=1) + 1
        self.dimension = self.n_levels + 2

    def draw(self, rngs: Rngs, episodes: int) -> BitBlock:
        raw = raw_words(rngs, episodes, self._n_draws)
        words = np.empty((episodes, self.n_levels, N_STATES, self.n_words), np.uint64)
        _emission.lock_words(raw, self.n_levels - 1, words)
        return BitBlock(words, self.dimension)

    def observation_buffer(self, n_envs: int) -> ObservationBuffer:
        if type(self).draw is not LockBits.draw:
            return super().observation_buffer(n_envs)
        return LockCoins(self, n_envs)

    @property
    def n_words(self) -> int:
        """Words of 64 bits that an observation takes."""
        return -(-self.dimension // 64)

    @property
    def levels_per_word(self) -> int:
        """How many levels take their coins from one word of the stream."""
        return max(1, 64 // (self.n_levels - 1)) if self.n_words == 1 else 1

    @property
    def _n_draws(self) -> int:
        """Words of the stream that an episode takes."""
        return -(-self.n_levels * self.n_words // self.levels_per_word)

    def _episode_bytes(self) -> int:
        return N_STATES * self.n_levels * 8 * self.n_words


class LockTables(VectorTables):
    """The locks of N environments: `ways` uint8[H, N, 3, 4] says where each action leads."""

    def __init__(self, lock: Lock, n_envs: int) -> None:
        dynamics = lock.draw(Streams(0)).dynamics  # start and rewards are the same for all seeds
        shape = (lock.horizon, 1, N_STATES, N_ACTIONS, N_STATES)
        on, swapped = 1.0 - lock.switch, lock.switch
        self._lock = lock
        self._chances = np.array([[on, swapped, 0.0], [swapped, on, 0.0], [0.0, 0.0, 1.0]])
        self._rngs, self._order = np.zeros((n_envs, 4), np.uint64), np.empty(N_ACTIONS, np.int64)
        self.emissions = [lock.resolved_emission] * n_envs
        self.optimal_values = np.full(n_envs, OPTIMAL_VALUE)
        self.arrays = SharedTables(
            start=dynamics.start.reshape(1, N_STATES),
            outcomes=read_only(cumulative(self._chances)),
            ways=np.zeros((lock.horizon, n_envs, N_STATES, N_ACTIONS), np.uint8),
            rewards=dynamics.rewards.reshape(shape),
            random_rewards=read_only(dynamics.reward_kinds.reshape(lock.horizon, 1) == RANDOM_REWARDS),
        )

    def seed(self, index: int, streams: Streams) -> None:
        self._rngs[index] = streams.row("instance")

    def draw(self, mask: Mask) -> None:
        _vector.draw_locks(self._rngs, mask, self._order, self.arrays.ways)

    def instance(self, index: int) -> BlockMDP:
        transitions, rewards = self._chances[self.arrays.ways[:, index]], self.arrays.rewards[:, 0]
        return BlockMDP._trusted(transitions, rewards, self._lock.resolved_emission).declared_by(self._lock)


class LockCoins(ObservationBuffer):
    """Holds the coins of the running episodes as words of the stream, and unpacks those of a level behind the
    code of the state when an observation is shown: int8[N, H + 3]."""

    def __init__(self, emission: LockBits, n_envs: int) -> None:
        levels, n_words, share = np.arange(emission.n_levels), emission.n_words, emission.levels_per_word
        raw = np.zeros((n_envs, -(-emission._n_draws // N_RNGS), N_RNGS), np.uint64)
        self._coins = Coins(
            raw=raw,
            words=raw.reshape(n_envs, -1),
            first=levels // share * n_words,
            shift=(levels % share * (emission.n_levels - 1)).astype(np.uint64),
            room=np.uint64(N_STATES if n_words == 1 else 0),
        )
        self._shape = n_envs, emission.dimension

    def empty(self) -> Observations:
        return np.empty(self._shape, np.int8)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Observations) -> None:
        _vector.begin_bits(tables, players, mask, self._coins, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Observations,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_bits(tables, players, actions, self._coins, out, rewards, ended)
