"""The baselines that take every raw observation for a state: OracleQ-obs and QLearning-obs.

There are 2^H observations of each latent state, nearly every one is new, and so nearly nothing is learned: that is what
the baselines show. Rows are kept for the observations met, in a hash table that grows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._kernels import hashing as _hashing
from .agents import Agent, Outcome, Tick, learner_name
from .emissions import BitBlock
from .evaluation import EPISODES
from .learners import Learner, OracleQ, QLearning, Rules, Task
from .models import BlockMDP, Environment, emission_lanes
from .records import HashTable
from .streams import Streams

_MOST_BITS = 62


@dataclass(frozen=True)
class ObservationAgent(Agent):
    """OracleQ or QLearning on (level, observation).

    The number S of states in the bonus of schedule="jin" is that of all bit strings, and 2^62 where there are more: an integer of the
    kernels holds no more, and the bonus, which grows with the square root of log S, is less than it should be.
    """

    learner: Learner

    @property
    def name(self) -> str:
        return f"{learner_name(self.learner)}-obs"

    def check(self, env: Environment) -> None:
        if not isinstance(self.learner, OracleQ | QLearning):
            raise ValueError(f"agent must be OracleQ or QLearning when sees='observation', got {self.learner!r}")
        if env.emission is None:
            raise ValueError("env must have an emission when sees='observation': without one there is nothing to see")
        if not env.emission.discrete:
            raise ValueError(
                f"sees='observation' needs an environment with discrete observations, got {env.name}: "
                "a table cannot hold infinitely many observations"
            )

    def play(self, env: Environment, streams: Streams, episodes: int, tick: Tick) -> Outcome:
        assert isinstance(self.learner, OracleQ | QLearning)
        model = env.draw(streams)
        assert model.emission is not None
        n_observations = 2 ** min(model.emission.dimension, _MOST_BITS)
        choice = streams.row("policy")
        rules = self.learner.rules(Task(model.horizon, n_observations, model.n_actions, model.max_return, episodes, choice))
        table = _GrowingTable(rules.initial, -(-model.emission.dimension // 64), model.n_actions)
        returns = np.empty(episodes)
        size = model.emission.block_episodes
        for first in range(0, episodes, size):
            part = returns[first : first + size]
            table.make_room(part.size * model.horizon)
            self._learn(model, table, rules, streams, first, part)
            tick(part.size)
        values = self._evaluate(model, table, streams.evaluation())
        error = float(values.std(ddof=1) / np.sqrt(values.size))
        return Outcome(returns, float(values.mean()), error, {"observations_met": table.size})

    @staticmethod
    def _learn(model: BlockMDP, table: _GrowingTable, rules: Rules, streams: Streams, first: int, returns: NDArray[np.float64]) -> None:
        _hashing.learn(
            model.dynamics,
            _words(model, streams, returns.size),
            table.arrays,
            rules.rates,
            rules.bonuses,
            rules.cap,
            rules.epsilons[first : first + returns.size],
            streams.row("dynamics"),
            streams.row("policy"),
            returns,
        )

    @staticmethod
    def _evaluate(model: BlockMDP, table: _GrowingTable, streams: Streams) -> NDArray[np.float64]:
        assert model.emission is not None
        returns = np.empty(EPISODES)
        size = model.emission.block_episodes
        for first in range(0, EPISODES, size):
            part = returns[first : first + size]
            words = _words(model, streams, part.size)
            _hashing.play(model.dynamics, words, table.arrays, streams.row("dynamics"), streams.row("policy"), part)
        return returns


def _words(model: BlockMDP, streams: Streams, episodes: int) -> NDArray[np.uint64]:
    assert model.emission is not None
    block = model.emission.draw(emission_lanes(streams), episodes)
    assert isinstance(block, BitBlock)
    return block.words


class _GrowingTable:
    """The arrays of `_kernels.hashing`, grown between blocks of episodes."""

    def __init__(self, initial: float, n_words: int, n_actions: int) -> None:
        self.initial = initial
        self.arrays = self._empty(0, n_words, n_actions)

    @property
    def size(self) -> int:
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
            q=np.full((rows, 1, n_actions), self.initial),
            visits=np.zeros((rows, 1, n_actions), np.int32),
            size=np.zeros(1, np.int64),
        )
