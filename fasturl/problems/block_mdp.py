"""Block MDPs as tables: their checks, and exact values by backward induction.

With p[h, s, a, s'] the transition probabilities and r[h, s, a, s'] the mean rewards,

    Q[h, s, a] = sum over s' of p[h, s, a, s'] (r[h, s, a, s'] + V[h+1, s']),   V[H+1] = 0,

where V[h, s] is the maximum over actions for the optimal value, and the mean under a policy for the value of
that policy.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.origin import is_ours
from .._base.streams import Streams
from .._kernels import planning as _planning
from .._kernels.records import FIXED_REWARDS, NO_REWARDS, RANDOM_REWARDS, SIZE_ONE, Dynamics
from .blocks import Block, Rngs
from .checked_blocks import BlockSize, draw_block
from .description import LARGEST_REWARD, ObservationSpace, checked_max_return, checked_reward_range
from .emissions import Emission, cumulative, refuse_emission
from .environment import Environment
from .vector_tables import SharedInstance, VectorTables

Floats = NDArray[np.float64]


class BlockMDP(Environment):
    """A Block MDP whose latent tables the user gives.

    transitions
        Array [H, S, A, S'] of probabilities, or, where levels differ in their number of states, a sequence
        of H arrays [S_h, A, S_(h+1)].
    rewards
        Mean reward of each transition: an array [H, S, A, S'], or [H, S, A] for rewards on (state, action);
        where levels differ, a sequence of H arrays [S_h, A, S_(h+1)] or [S_h, A]. Within a level, an axis of
        length 1 stands for all: [H, 1, 1, S'] are rewards on the next state.
    reward_draw
        "bernoulli": rewards are 0 or 1 with the given means, drawn at levels where a mean is strictly
        between 0 and 1; "deterministic": the reward is the mean itself. Or sizes, in the shapes that
        `rewards` may have: rewards are 0 or their size, with means between the two. A size of 0.1 beside a
        mean of 0.05 is a reward of 0.1 with probability 1/2.
    start
        The state at level 1, or a distribution over its states.
    emission
        How observations are drawn, for agents that do not see latent states: one of
        `fasturl.problems.emissions`, made for H+1 levels and the largest number of states of a level.
    max_states
        The bound on the number of states of a level that agents are told; the largest number itself if not
        given.
    reward_range
        The least and the greatest reward that agents are told; if not given, 0 and 1 for "bernoulli", and
        those of the table for "deterministic".
    max_return
        The greatest return that can be ahead at any level, which agents are told; if not given, that of the
        luckiest episode that the tables allow.

    Examples
    --------
    >>> import fasturl as fu
    >>> coin = fu.BlockMDP(transitions=[[[[1.0], [1.0]]]], rewards=[[[0.5, 0.25]]])  # two actions, one level
    >>> coin.optimal_value(), coin.describe().n_actions
    (0.5, 2)
    """

    emission: Emission | None
    _fixed = frozenset(
        {
            *("horizon", "n_actions", "n_states", "emission", "dynamics"),
            *("start", "transitions", "rewards", "reward_draw", "reward_sizes"),
        }
    )
    """What cannot be changed once it is made: kernels trust it."""

    def __setattr__(self, name: str, value: object) -> None:
        if name in self._fixed and "dynamics" in vars(self):
            raise AttributeError(f"{name} of a {type(self).__name__} cannot be changed: make another one")
        super().__setattr__(name, value)

    def __init__(
        self,
        transitions: ArrayLike | Sequence[ArrayLike],
        rewards: ArrayLike | Sequence[ArrayLike],
        *,
        reward_draw: str | ArrayLike | Sequence[ArrayLike] = "bernoulli",
        start: int | ArrayLike = 0,
        emission: Emission | None = None,
        max_states: int | None = None,
        reward_range: tuple[float, float] | None = None,
        max_return: float | None = None,
    ) -> None:
        levels = _levels("transitions", transitions)
        if not levels:
            raise ValueError("transitions must have at least one level, got none")
        for h, table in enumerate(levels):
            if table.ndim != 3 or 0 in table.shape:
                raise ValueError(
                    f"transitions at level {h + 1} must have shape [states, actions, next states], "
                    f"got {table.shape}"
                )
        self.horizon = len(levels)
        self.n_actions = levels[0].shape[1]
        self.n_states = (*(table.shape[0] for table in levels), levels[-1].shape[2])
        for h, table in enumerate(levels):
            expected = (self.n_states[h], self.n_actions, self.n_states[h + 1])
            if table.shape != expected:
                raise ValueError(
                    f"transitions at level {h + 1} must have shape {expected}, got {table.shape}"
                )
            levels[h] = checks.probabilities(f"transitions at level {h + 1}", table, "next states")
        sized = checks.are_several(reward_draw)
        draw = "bernoulli" if sized else reward_draw
        self.reward_draw = checks.choice("reward_draw", draw, ("bernoulli", "deterministic"))
        size = max(self.n_states)
        self.transitions = np.zeros((self.horizon, size, self.n_actions, size))
        self.transitions[..., 0] = 1.0  # rows of states that a level does not have: never visited
        for h, table in enumerate(levels):
            self.transitions[h, : table.shape[0]] = 0.0
            self.transitions[h, : table.shape[0], :, : table.shape[2]] = table
        self.rewards = self._reward_table("rewards", rewards)
        self.reward_sizes = self._reward_sizes(reward_draw) if sized else SIZE_ONE
        self._check_means()
        self.start = self._start(start)
        if not (emission is None or isinstance(emission, Emission)):
            refuse_emission(emission)
        self.max_states = size if max_states is None else checks.integer("max_states", max_states, least=size)
        self.reward_range = self._reward_range(reward_range)
        if max_return is None:
            self.max_return = self._luckiest_return()
        else:
            self.max_return = checked_max_return(max_return, self.horizon, self.reward_range)
        self._finish(emission)

    @classmethod
    def _trusted(
        cls,
        transitions: Floats,
        rewards: Floats,
        emission: Emission | None,
        *,
        reward_draw: str = "bernoulli",
        reward_sizes: Floats = SIZE_ONE,
        start: Floats | None = None,
    ) -> BlockMDP:
        """An instance of tables [H, S, A, S] that need no checks; `start` has S probabilities, or state 0 is
        the start. Its range of rewards is the one that its family declares."""
        instance = cls.__new__(cls)
        instance.horizon, size, instance.n_actions, _ = transitions.shape
        instance.n_states, instance.max_states = (size,) * (instance.horizon + 1), size
        instance.reward_draw, instance.reward_sizes = reward_draw, reward_sizes
        instance.transitions, instance.rewards = transitions, rewards
        instance.start = np.eye(size)[0] if start is None else start
        instance._finish(emission)
        return instance

    def _finish(self, emission: Emission | None) -> None:
        self.emission = emission and emission.sized(self.horizon + 1, self.transitions.shape[1])
        dynamics = Dynamics(
            start=cumulative(self.start),
            transitions=cumulative(self.transitions),
            rewards=self.rewards,
            reward_kinds=self._reward_kinds(),
            reward_sizes=self.reward_sizes,
        )
        for table in (self.transitions, self.start, *dynamics):
            table.setflags(write=False)
        self.dynamics = dynamics

    def draw(self, streams: Streams) -> BlockMDP:
        return self

    def instance(self, seed: int = 0) -> BlockMDP:
        if not is_ours(type(self)):
            return super().instance(seed)
        checks.seed("seed", seed)
        return self  # checked when it was made

    def draw_block(self, rngs: Rngs, episodes: int, observations: ObservationSpace | None = None) -> Block:
        """The observations of the next episodes for every state, from the generators of the emission stream.

        ValueError where the block does not fit the tables, or shows other `observations` than an agent was
        told of.
        """
        assert self.emission is not None
        horizon, n_states = self.dynamics.transitions.shape[:2]
        space = observations or self.emission.observation_space
        return draw_block(self.emission, rngs, episodes, BlockSize(horizon + 1, n_states, space))

    @property
    def single_instance(self) -> bool:
        return self.draws_as(BlockMDP)

    def vector_tables(self, n_envs: int) -> VectorTables:
        return SharedInstance(self, n_envs) if self.single_instance else super().vector_tables(n_envs)

    def declared_by(self, family: Environment) -> BlockMDP:
        """This instance with what its family declares; ValueError where it shows or pays something else. Its
        sizes are compared by `Environment.draw_checked`."""
        if family is self:
            return self
        declared = family.describe()
        draws = f"draw of {type(family).__name__} must give"
        observations = self.emission and self.emission.observation_space
        if declared.observations not in (None, observations):
            raise ValueError(
                f"{draws} observations of {declared.observations} as declared, got {observations or 'none'}"
            )
        (low, high), (least, greatest) = self.reward_range, declared.reward_range
        if low < least or high > greatest:
            raise ValueError(
                f"{draws} rewards in the reward_range {declared.reward_range} that it declares, "
                f"got rewards from {low:g} to {high:g}"
            )
        instance = copy.copy(self)
        instance.max_states, instance.reward_range = declared.max_states, declared.reward_range
        instance.max_return = family.max_return
        return instance

    def settings(self) -> dict[str, Any]:
        return {"horizon": self.horizon}

    @property
    def reachable(self) -> NDArray[np.bool_]:
        """Which states some policy can reach at each level: [H+1, S]."""
        reached = np.empty((self.horizon + 1, self.transitions.shape[1]), np.bool_)
        _planning.reachable(self.start, self.transitions, reached)
        return reached

    def _reward_table(self, name: str, rewards: ArrayLike | Sequence[ArrayLike]) -> Floats:
        """Numbers of each transition as a table [H, S, A, S], from all the shapes that users may give."""
        table = np.zeros_like(self.transitions)
        levels = [level.astype(np.float64) for level in _levels(name, rewards)]
        if len(levels) != self.horizon:
            raise ValueError(f"{name} must have {self.horizon} levels as transitions have, got {len(levels)}")
        for h, level in enumerate(levels):
            shape = (self.n_states[h], self.n_actions, self.n_states[h + 1])
            try:
                if level.ndim not in (2, 3):
                    raise ValueError
                entries = np.broadcast_to(level[..., None] if level.ndim == 2 else level, shape)
            except ValueError:
                allowed = f"{shape[:2]} or {shape}, or a 1 in place of any of these numbers"
                raise ValueError(
                    f"{name} at level {h + 1} must have shape {allowed}, got {level.shape}"
                ) from None
            fine = np.abs(entries) <= LARGEST_REWARD
            if not fine.all():
                raise ValueError(
                    f"{name} at level {h + 1} must be finite and at most {LARGEST_REWARD:g} in size, "
                    f"got {entries[~fine][0]}"
                )
            table[h, : shape[0], :, : shape[2]] = entries
        return table

    def _reward_sizes(self, sizes: ArrayLike | Sequence[ArrayLike]) -> Floats:
        table = self._reward_table("reward_draw", sizes)
        for h, (n, m) in enumerate(itertools.pairwise(self.n_states)):
            if not table[h, :n, :, :m].all():
                raise ValueError(f"reward_draw at level {h + 1} must hold sizes other than 0, got 0")
        table[table == 0] = 1.0  # of states that a level does not have
        return table

    def _check_means(self) -> None:
        """Means of random rewards lie between 0 and the size of the reward."""
        if self.reward_draw == "deterministic":
            return
        for h in range(self.horizon):
            means, sizes = self.rewards[h], self.reward_sizes[h % len(self.reward_sizes)]
            chances = means / sizes
            if chances.min() < 0 or chances.max() > 1:
                plain = self.reward_sizes is SIZE_ONE
                allowed = "in [0, 1] when reward_draw='bernoulli'" if plain else "between 0 and their sizes"
                raise ValueError(
                    f"rewards at level {h + 1} must be {allowed}, got {means.min():g}..{means.max():g}"
                )

    def _reward_range(self, declared: tuple[float, float] | None) -> tuple[float, float]:
        if declared is None:
            if self.reward_draw == "bernoulli":
                return min(0.0, float(self.reward_sizes.min())), max(0.0, float(self.reward_sizes.max()))
            sizes = zip(self.rewards, self.n_states, self.n_states[1:], strict=False)
            means = [table[:n, :, :m] for table, n, m in sizes]
            return min(float(level.min()) for level in means), max(float(level.max()) for level in means)
        return checked_reward_range(declared, self._ends_of_payments())

    def _ends_of_payments(self) -> tuple[float, float]:
        """The least and the greatest reward that some episode is paid."""
        payments = []
        for h, states in enumerate(self._reached_states()):
            possible = (self.transitions[h] > 0) & states[:, None, None]
            worst, best = self._payments(h)
            payments.append((worst[possible].min(), best[possible].max()))
        least, greatest = zip(*payments, strict=True)
        return float(min(least)), float(max(greatest))

    def _payments(self, h: int) -> tuple[Floats, Floats]:
        """The least and the greatest reward of each transition at a level, counted from 0: [S, A, S] each."""
        means = self.rewards[h]
        if self.reward_draw == "deterministic":
            return means, means
        sizes = self.reward_sizes[h % len(self.reward_sizes)]
        # a reward that is not always paid may be 0, and one that is ever paid has its size
        paid, unpaid = np.where(means != 0, sizes, 0.0), np.where(means != sizes, 0.0, sizes)
        return np.minimum(paid, unpaid), np.maximum(paid, unpaid)

    def _reached_states(self) -> list[NDArray[np.bool_]]:
        """Which states some policy can reach at each level that is acted in: [S] each."""
        reached = [self.start > 0]
        for table in self.transitions[:-1] > 0:
            reached.append(table[reached[-1]].any(axis=(0, 1)))
        return reached

    def _luckiest_return(self) -> float:
        """The greatest return that can be ahead at any level, within the range of rewards: where rewards are
        losses, it is that of the last steps alone."""
        least, greatest = self.reward_range
        reached = self._reached_states()
        ahead, most = np.zeros(self.transitions.shape[1]), -np.inf
        for h in reversed(range(self.horizon)):
            returns = np.clip(self._payments(h)[1], least, greatest) + ahead
            ahead = np.where(self.transitions[h] > 0, returns, -np.inf).max(axis=(1, 2))
            most = max(most, float(ahead[reached[h]].max()))
        return most

    def _reward_kinds(self) -> NDArray[np.uint8]:
        kinds = np.where(self.rewards.any(axis=(1, 2, 3)), FIXED_REWARDS, NO_REWARDS)
        if self.reward_draw == "bernoulli":
            in_between = (self.rewards != 0) & (self.rewards != self.reward_sizes)
            kinds[in_between.any(axis=(1, 2, 3))] = RANDOM_REWARDS
        return kinds.astype(np.uint8)

    def _start(self, start: int | ArrayLike) -> Floats:
        distribution = np.zeros(self.transitions.shape[1])
        if not checks.are_several(start):
            distribution[checks.integer("start", start, least=0, most=self.n_states[0] - 1)] = 1.0
            return distribution
        chances = checks.real_array("start", start)
        if chances.shape != (self.n_states[0],):
            raise ValueError(
                f"start must be a state or {self.n_states[0]} probabilities, got {checks.short_repr(start)}"
            )
        distribution[: chances.size] = checks.probabilities("start", chances, "states")
        return distribution

    def _optimal_tables(self) -> tuple[Floats, Floats]:
        q = np.empty(self.transitions.shape[:3])
        values = np.empty((self.horizon + 1, self.transitions.shape[1]))
        _planning.optimal_q(self.transitions, self.rewards, q, values)
        return q, values

    def _optimal_value(self) -> float:
        return float(self.start @ self._optimal_tables()[1][0])

    def _policy_tables(self, chances: Floats) -> tuple[Floats, Floats]:
        q, values = np.empty_like(chances), np.empty((self.horizon + 1, self.transitions.shape[1]))
        _planning.policy_q(self.transitions, self.rewards, chances, q, values)
        return q, values

    def _policy_value(self, policy: ArrayLike) -> float:
        chances = policy_table(policy, self.horizon, self.transitions.shape[1], self.n_actions)
        return float(self.start @ self._policy_tables(chances)[1][0])


def policy_table(
    policy: ArrayLike, horizon: int, n_states: int, n_actions: int, *, name: str = "policy"
) -> Floats:
    """A policy as probabilities [H, S, A], from actions [H, S] or from probabilities."""
    table = checks.real_array(name, policy)
    if table.shape == (horizon, n_states) and np.issubdtype(table.dtype, np.integer):
        if table.min() < 0 or table.max() >= n_actions:
            raise ValueError(
                f"{name} must hold actions from 0 to {n_actions - 1}, got {table.min()}..{table.max()}"
            )
        return np.asarray(np.eye(n_actions)[table])
    if table.shape == (horizon, n_states, n_actions) and np.issubdtype(table.dtype, np.floating):
        return np.ascontiguousarray(checks.probabilities(name, table, "actions"))
    raise ValueError(
        f"{name} must be an integer array of shape {(horizon, n_states)} or a float array of shape "
        f"{(horizon, n_states, n_actions)}, got {table.dtype} of shape {table.shape}"
    )


def _levels(name: str, tables: ArrayLike | Sequence[ArrayLike]) -> list[NDArray[Any]]:
    if not checks.are_several(tables):
        raise ValueError(
            f"{name} must be an array or a sequence of arrays, one for each level, "
            f"got {checks.short_repr(tables)}"
        )
    return [checks.real_array(f"{name} at level {h}", table) for h, table in enumerate(tables, start=1)]
