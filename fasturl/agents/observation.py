"""The baselines that take every raw observation for a state: OracleQ-obs and QLearning-obs.

There are 2^H observations of each latent state, nearly every one is new, and so nearly nothing is learned:
that is what the baselines show. Rows are kept for the observations met, in a hash table that grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base import checks
from .._base.names import name_of
from .._base.parts import part_in_words
from .._base.streams import Streams
from .._kernels import hashing as _hashing
from .._kernels.records import HashTable, LearningRules
from ..learners.learner import Learner
from ..learners.q_table import Rules
from ..problems.block_mdp import BlockMDP
from ..problems.description import Description
from .agent import Agent, Outcome
from .evaluation import EPISODES, Verdict, mean_and_error
from .game import Game
from .ledger import Ledger

_MOST_BITS = 62


@dataclass(frozen=True)
class ObservationAgent(Agent):
    """A learner with a table of action values, such as OracleQ or QLearning, on (level, observation).

    The number S of states in the bonus of schedule="jin" is that of all bit strings, and 2^62 where there are
    more: an integer of the kernels holds no more, and the bonus, which grows with the square root of log S,
    is less than it should be.
    """

    learner: Learner

    @property
    def name(self) -> str:
        return name_of("learner", self.learner) + "-obs"

    def check(self, description: Description) -> None:
        if not callable(getattr(self.learner, "rules", None)):
            raise ValueError(
                "agent must be a learner with rules, such as OracleQ or QLearning, when sees='observation', "
                f"got {checks.short_repr(self.learner)}"
            )
        if description.observations is None:
            raise ValueError(
                "env must have an emission when sees='observation': without one there is nothing to see"
            )
        if not description.observations.discrete:
            raise ValueError(
                "sees='observation' needs an environment with discrete observations, got one with real ones: "
                "a table cannot hold infinitely many observations"
            )

    def components(self) -> list[tuple[str, Any]]:
        return [("learner", self.learner)]

    def described_settings(self) -> dict[str, Any]:
        return {"learner": part_in_words("learner", self.learner)}

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        assert known.observations is not None
        n_observations = 2 ** min(known.observations.dimension, _MOST_BITS)
        task = game.task(n_observations, ledger.episodes)
        rules: Rules = self.learner.rules(task)  # type: ignore[attr-defined]  # checked above
        table = _GrowingTable(rules.initial, -(-known.observations.dimension // 64), known.n_actions)
        while ledger.left:
            count = min(game.block_episodes, ledger.left)
            table.make_room(count * known.horizon)
            self._learn(game, table, rules, ledger, count)
        return Outcome(ObservationPolicy(table.arrays), {"observations_met": table.size})

    @staticmethod
    def _learn(game: Game, table: _GrowingTable, rules: Rules, ledger: Ledger, count: int) -> None:
        episodes = game.begin(count)
        words, policy_rng = episodes.words(), game.policy_rng
        epsilons = rules.epsilons[ledger.played : ledger.played + count]
        learning = LearningRules(rules.rates, rules.bonuses, rules.cap, epsilons)
        with ledger.entry(count) as returns:
            episodes.walk(
                lambda dynamics, rng: _hashing.learn(
                    dynamics, words, table.arrays, learning, rng, policy_rng, returns
                )
            )


@dataclass(frozen=True)
class ObservationPolicy:
    """The greedy policy of a table of observations; actions are random where an observation has no row."""

    table: HashTable

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        game = Game(instance, streams)
        returns = np.empty(EPISODES)
        size = game.block_episodes
        for part in (returns[first : first + size] for first in range(0, EPISODES, size)):
            self._play(game, part)
        return Verdict(*mean_and_error(returns))

    def _play(self, game: Game, returns: np.ndarray) -> None:
        episodes = game.begin(returns.size)
        words, policy_rng = episodes.words(), game.policy_rng
        episodes.walk(
            lambda dynamics, rng: _hashing.play(dynamics, words, self.table, rng, policy_rng, returns)
        )


class _GrowingTable:
    """The arrays of `_kernels.hashing`, grown between blocks of episodes."""

    def __init__(self, initial: float, n_words: int, n_actions: int) -> None:
        self.initial = initial
        self.arrays = self._empty(0, n_words, n_actions)

    @property
    def size(self) -> int:
        """Rows in use."""
        return int(self.arrays.size[0])

    def make_room(self, count: int) -> None:
        """See that `count` more rows fit."""
        old, needed = self.arrays, self.size + count
        if needed <= old.keys.shape[0]:
            return
        new = self._empty(max(needed, 2 * old.keys.shape[0]), old.keys.shape[1] - 1, old.q.shape[2])
        for before, after in ((old.keys, new.keys), (old.q, new.q), (old.visits, new.visits)):
            after[: self.size] = before[: self.size]
        new.size[0] = self.size
        _hashing.rehash(new)
        self.arrays = new

    def _empty(self, rows: int, n_words: int, n_actions: int) -> HashTable:
        return HashTable(
            slots=np.full(1 << max(1, 2 * rows - 1).bit_length(), -1, np.int32),
            keys=np.empty((rows, 1 + n_words), np.uint64),
            q=np.full((rows, 1, n_actions), self.initial, np.float64),
            visits=np.zeros((rows, 1, n_actions), np.int32),
            size=np.zeros(1, np.int64),
        )
