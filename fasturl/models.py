"""Block MDPs: the tables, their checks, and exact values by backward induction.

A `BlockMDP` is one model. `LockBernoulli` and `LockGaussian` are families: the action labels of the
combination lock are drawn anew for each seed, and `env.instance(seed)` is the lock that this seed meets.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import validation
from ._kernels import dynamics as _dynamics
from ._kernels import planning as _planning
from .emissions import LANES, Emission, Gaussian, LockBits, cumulative
from .emissions import CEmission as CEmission
from .records import Dynamics
from .streams import Streams

Floats = NDArray[np.float64]

LARGEST_REWARD = 1e100
"""Sums and squares of such rewards are finite."""
LONGEST = 10**7
"""Horizon of a lock: the tables of so many levels take ten gigabytes."""


class Environment(ABC):
    """What an agent can be trained on: fixed sizes, and an instance for each seed."""

    name: str
    horizon: int
    n_actions: int
    n_states: tuple[int, ...]
    """Number of latent states at each of the levels 1..H+1."""
    emission: Emission | None
    """How latent states look; None where they can only be seen as they are."""

    @abstractmethod
    def draw(self, streams: Streams) -> BlockMDP:
        """The model that a run with these streams meets."""

    def instance(self, seed: int = 0) -> BlockMDP:
        """The model that a run with this seed meets."""
        return self.draw(Streams(validation.seed("seed", seed)))

    def optimal_value(self, seed: int = 0) -> float:
        """V*: the greatest expected return of any policy, exact."""
        return self.instance(seed)._optimal_value()

    def policy_value(self, policy: ArrayLike, seed: int = 0) -> float:
        """The expected return of a policy on latent states, exact.

        `policy` is an integer array [H, S] of actions or a float array [H, S, A] of probabilities, S being
        the largest number of states of a level.
        """
        return self.instance(seed)._policy_value(policy)

    def optimal_policy(self, seed: int = 0) -> NDArray[np.int64]:
        """An optimal action for each (level, state), as an array [H, S]."""
        return np.asarray(self.instance(seed)._optimal_tables()[0].argmax(axis=2), dtype=np.int64)

    def parameters(self) -> dict[str, float | None]:
        """What identifies the environment besides its name, for tables and files."""
        return {"horizon": self.horizon}


class BlockMDP(Environment):
    """A Block MDP whose latent tables the user gives.

    transitions
        Array [H, S, A, S'] of probabilities, or, where levels differ in their number of states, a sequence
        of H arrays [S_h, A, S_(h+1)].
    rewards
        Mean reward of each transition: an array [H, S, A, S'], or [H, S, A] for rewards on (state, action); where levels differ, a
        sequence of H arrays [S_h, A, S_(h+1)] or [S_h, A]. Within a level, an axis of length 1 stands for all: [H, 1, 1, S'] are
        rewards on the next state.
    reward_draw
        "bernoulli": rewards are 0 or 1 with the given means, drawn at levels where a mean is strictly
        between 0 and 1; "deterministic": the reward is the mean itself.
    start
        The state at level 1, or a distribution over its states.
    emission
        How latent states look, for agents that do not see them: one of `fasturl.emissions`, made for H+1 levels and the
        largest number of states of a level.
    """

    name = "block-mdp"

    def __init__(
        self,
        transitions: ArrayLike | Sequence[ArrayLike],
        rewards: ArrayLike | Sequence[ArrayLike],
        *,
        reward_draw: str = "bernoulli",
        start: int | ArrayLike = 0,
        emission: Emission | None = None,
    ) -> None:
        levels = _levels("transitions", transitions)
        if not levels:
            raise ValueError("transitions must have at least one level, got none")
        for h, table in enumerate(levels):
            if table.ndim != 3 or 0 in table.shape:
                raise ValueError(f"transitions at level {h + 1} must have shape [states, actions, next states], got {table.shape}")
        self.horizon = len(levels)
        self.n_actions = levels[0].shape[1]
        self.n_states = (*(table.shape[0] for table in levels), levels[-1].shape[2])
        for h, table in enumerate(levels):
            expected = (self.n_states[h], self.n_actions, self.n_states[h + 1])
            if table.shape != expected:
                raise ValueError(f"transitions at level {h + 1} must have shape {expected}, got {table.shape}")
            levels[h] = validation.probabilities(f"transitions at level {h + 1}", table, "next states")
        self.reward_draw = validation.choice("reward_draw", reward_draw, ("bernoulli", "deterministic"))
        size = max(self.n_states)
        self.transitions = np.zeros((self.horizon, size, self.n_actions, size))
        self.transitions[..., 0] = 1.0  # rows of states that a level does not have: never visited
        for h, table in enumerate(levels):
            self.transitions[h, : table.shape[0]] = 0.0
            self.transitions[h, : table.shape[0], :, : table.shape[2]] = table
        self.rewards = self._reward_table(rewards)
        self.start = self._start(start)
        if not (emission is None or isinstance(emission, Emission)):
            raise ValueError(f"emission must be None or one of fasturl.emissions such as Gaussian, got {validation.shown(emission)}")
        self._finish(emission)

    @classmethod
    def _trusted(cls, transitions: Floats, rewards: Floats, emission: Emission | None) -> BlockMDP:
        """A model of tables [H, S, A, S] that need no checks, with Bernoulli rewards and state 0 at the start."""
        model = cls.__new__(cls)
        model.horizon, size, model.n_actions, _ = transitions.shape
        model.n_states = (size,) * (model.horizon + 1)
        model.reward_draw = "bernoulli"
        model.transitions, model.rewards, model.start = transitions, rewards, np.eye(size)[0]
        model._finish(emission)
        return model

    def _finish(self, emission: Emission | None) -> None:
        self.emission = emission and emission.sized(self.horizon + 1, self.transitions.shape[1])
        for table in (self.transitions, self.rewards, self.start):
            table.setflags(write=False)
        self.dynamics = Dynamics(
            start=cumulative(self.start),
            transitions=cumulative(self.transitions),
            rewards=self.rewards,
            random_rewards=self._random_levels(),
        )

    def draw(self, streams: Streams) -> BlockMDP:
        return self

    @property
    def max_return(self) -> float:
        """The greatest return that can be ahead at any level: where optimism starts.

        It is ahead at the first level unless there are rewards below 0.
        """
        reached = self.reachable
        drawn = self.reward_draw == "bernoulli"
        return float(_planning.greatest_return(self.transitions, self.rewards, drawn, reached, np.empty(reached.shape)))

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Which states some policy can reach at each level: [H+1, S]."""
        reached = np.empty((self.horizon + 1, self.transitions.shape[1]), np.bool_)
        _planning.reachable(self.start, self.transitions, reached)
        return reached

    def _reward_table(self, rewards: ArrayLike | Sequence[ArrayLike]) -> Floats:
        table = np.zeros_like(self.transitions)
        given = [level.astype(np.float64) for level in _levels("rewards", rewards)]
        if len(given) != self.horizon:
            raise ValueError(f"rewards must have {self.horizon} levels as transitions have, got {len(given)}")
        for h, level in enumerate(given):
            shape = (self.n_states[h], self.n_actions, self.n_states[h + 1])
            try:
                if level.ndim not in (2, 3):
                    raise ValueError
                means = np.broadcast_to(level[..., None] if level.ndim == 2 else level, shape)
            except ValueError:
                allowed = f"{shape[:2]} or {shape}, or a 1 in place of any of these numbers"
                raise ValueError(f"rewards at level {h + 1} must have shape {allowed}, got {level.shape}") from None
            fine = np.abs(means) <= LARGEST_REWARD
            if not fine.all():
                raise ValueError(f"rewards at level {h + 1} must be finite and at most {LARGEST_REWARD:g} in size, got {means[~fine][0]}")
            if self.reward_draw == "bernoulli" and (means.min() < 0 or means.max() > 1):
                raise ValueError(
                    f"rewards at level {h + 1} must be in [0, 1] when reward_draw='bernoulli', got {means.min():g}..{means.max():g}"
                )
            table[h, : shape[0], :, : shape[2]] = means
        return table

    def _random_levels(self) -> NDArray[np.bool_]:
        if self.reward_draw == "deterministic":
            return np.zeros(self.horizon, np.bool_)
        return np.asarray(((self.rewards > 0) & (self.rewards < 1)).any(axis=(1, 2, 3)))

    def _start(self, start: int | ArrayLike) -> Floats:
        distribution = np.zeros(self.transitions.shape[1])
        if not validation.are_several(start):
            distribution[validation.integer("start", start, least=0, most=self.n_states[0] - 1)] = 1.0
            return distribution
        given = validation.real_array("start", start)
        if given.shape != (self.n_states[0],):
            raise ValueError(f"start must be a state or {self.n_states[0]} probabilities, got {validation.shown(start)}")
        distribution[: given.size] = validation.probabilities("start", given, "states")
        return distribution

    def _optimal_tables(self) -> tuple[Floats, Floats]:
        q = np.empty(self.transitions.shape[:3])
        values = np.empty((self.horizon + 1, self.transitions.shape[1]))
        _planning.optimal_q(self.transitions, self.rewards, q, values)
        return q, values

    def _optimal_value(self) -> float:
        return float(self.start @ self._optimal_tables()[1][0])

    def _policy_value(self, policy: ArrayLike) -> float:
        chances = policy_table(policy, self.horizon, self.transitions.shape[1], self.n_actions)
        values = np.empty((self.horizon + 1, self.transitions.shape[1]))
        _planning.policy_q(self.transitions, self.rewards, chances, np.empty_like(chances), values)
        return float(self.start @ values[0])


class _Lock(Environment):
    """The combination lock of Du et al. (2019): three states a level, four actions, V* = 1/2.

    States 0 and 1 are alive, state 2 is dead and absorbing. At each level, for states 0 and 1 separately, one
    action leads to state 0 with probability 1-switch and to state 1 with probability switch, one the other way
    round, and two to state 2. Being alive at level H+1 pays Bernoulli(1/2).
    """

    n_actions = 4

    def __init__(self, horizon: int, switch: float) -> None:
        self.horizon = validation.integer("horizon", horizon, least=1, limit=LONGEST)
        self.switch = validation.real("switch", switch, least=0, most=1)
        self.n_states = (3,) * (self.horizon + 1)

    def draw(self, streams: Streams) -> BlockMDP:
        transitions = np.empty((self.horizon, 3, self.n_actions, 3))
        _dynamics.draw_lock(streams.row("lock"), self.switch, np.empty(self.n_actions, np.int64), transitions)
        rewards = np.zeros((self.horizon, 3, self.n_actions, 3))
        rewards[-1, :, :, :2] = 0.5
        return BlockMDP._trusted(transitions, rewards, self.emission)

    def parameters(self) -> dict[str, float | None]:
        return super().parameters() | {"switch": self.switch}

    def __repr__(self) -> str:
        inside = ", ".join(f"{key}={value}" for key, value in self.parameters().items())
        return f"{type(self).__name__}({inside})"


class LockBernoulli(_Lock):
    """A lock seen through bits: the one-hot code of the latent state, then H fair coins."""

    name = "lock-bernoulli"

    def __init__(self, horizon: int, switch: float = 0.0) -> None:
        super().__init__(horizon, switch)
        self.emission = LockBits(self.horizon)


class LockGaussian(_Lock):
    """A lock seen through reals: the one-hot code of the latent state, then H zeros, all plus N(0, noise^2)."""

    name = "lock-gaussian"

    def __init__(self, horizon: int, switch: float = 0.0, noise: float = 0.1) -> None:
        super().__init__(horizon, switch)
        self.emission = Gaussian(np.eye(3, self.horizon + 3), noise, n_levels=self.horizon + 1)
        self.noise = self.emission.noise

    def parameters(self) -> dict[str, float | None]:
        return super().parameters() | {"noise": self.noise}


def emission_lanes(streams: Streams) -> NDArray[np.uint64]:
    """The emission stream as the generators that `Emission.draw` takes."""
    return streams.rows("emission", LANES)


def policy_table(policy: ArrayLike, horizon: int, n_states: int, n_actions: int) -> Floats:
    """A policy as probabilities [H, S, A], from actions [H, S] or from probabilities."""
    given = validation.real_array("policy", policy)
    if given.shape == (horizon, n_states) and np.issubdtype(given.dtype, np.integer):
        if given.min() < 0 or given.max() >= n_actions:
            raise ValueError(f"policy must hold actions from 0 to {n_actions - 1}, got {given.min()}..{given.max()}")
        return np.asarray(np.eye(n_actions)[given])
    if given.shape == (horizon, n_states, n_actions) and np.issubdtype(given.dtype, np.floating):
        return np.ascontiguousarray(validation.probabilities("policy", given, "actions"))
    raise ValueError(
        f"policy must be an integer array of shape {(horizon, n_states)} or a float array of shape "
        f"{(horizon, n_states, n_actions)}, got {given.dtype} of shape {given.shape}"
    )


def _levels(name: str, tables: ArrayLike | Sequence[ArrayLike]) -> list[NDArray[Any]]:
    if not validation.are_several(tables):
        raise ValueError(f"{name} must be an array or a sequence of arrays, one for each level, got {validation.shown(tables)}")
    return [validation.real_array(f"{name} at level {h}", table) for h, table in enumerate(tables, start=1)]
