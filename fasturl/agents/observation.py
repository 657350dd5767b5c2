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
from .._kernels.records import HashTable, ObservationKeys
from ..learners.compiled import MOST_BYTES, CompiledLearner, table_bytes
from ..learners.learner import Floats, Learner, Task
from ..problems.block_mdp import BlockMDP
from ..problems.description import Description
from .agent import Agent, Outcome
from .evaluation import EPISODES, Verdict, mean_and_error
from .game import Game
from .ledger import Ledger

_MOST_BITS = 62
_FIRST_BYTES = 2**24
"""Tables of at most so many bytes have room for all observations from the start; larger ones grow with those
that are met."""


@dataclass(frozen=True)
class ObservationAgent(Agent):
    """A compiled learner, such as OracleQ or QLearning, on (level, observation).

    A learner that plans has a model of every pair of observations, so it is for few different ones. The
    number S of states in the bonus of schedule="jin" is that of all bit strings, and 2^62 where there are
    more: an integer of the kernels holds no more, and the bonus, which grows with the square root of log S,
    is less than it should be.
    """

    learner: Learner

    @property
    def name(self) -> str:
        return name_of("learner", self.learner) + "-obs"

    def check(self, description: Description) -> None:
        if not isinstance(self.learner, CompiledLearner):
            raise ValueError(
                "agent must be a compiled learner, such as OracleQ or QLearning, when sees='observation', "
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
        assert isinstance(self.learner, CompiledLearner)
        most_labels = 2.0 ** min(known.observations.dimension, _MOST_BITS)
        task = game.task(1, ledger.episodes)._replace(
            most_labels=most_labels, levels_apart=self.learner.plans_by_level
        )
        task = task._replace(n_labels=ledger.left * known.horizon)
        if table_bytes(self.learner, task) > _FIRST_BYTES:
            task = task._replace(n_labels=known.horizon)
        rows = _Rows(self.learner, task, -(-known.observations.dimension // 64))
        while ledger.left:
            count = min(game.block_episodes, ledger.left, rows.room_for_episodes())
            episodes = game.begin(count)
            with ledger.entry(count) as returns:
                episodes.learn_observations(rows.memory, rows.keys, returns)
        return Outcome(
            ObservationPolicy(rows.keys, rows.memory.final_policy()), {"observations_met": rows.size}
        )


@dataclass(frozen=True)
class ObservationPolicy:
    """A policy on the rows of observations: the likeliest action, and a random one where an observation has
    no row."""

    keys: ObservationKeys
    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        game = Game(instance, streams)
        returns = np.empty(EPISODES)
        size = game.block_episodes
        for part in (returns[first : first + size] for first in range(0, EPISODES, size)):
            game.begin(part.size).play_rows(self.keys, self.chances, game.policy_rng, part)
        return Verdict(*mean_and_error(returns))


class _Rows:
    """A row for each observation that was met, and the learner's memory of them; both grow between blocks of
    episodes."""

    def __init__(self, learner: CompiledLearner, task: Task, n_words: int) -> None:
        self._task = task
        self.memory = learner.start(task)
        self.keys = self._keys(task.n_labels, n_words)

    @property
    def size(self) -> int:
        """Rows in use."""
        return int(self.keys.table.size[0])

    def room_for_episodes(self) -> int:
        """How many episodes there is room for, after growing where there is none for one."""
        horizon, rows = self._task.horizon, self.keys.table.keys.shape[0]
        if rows - self.size < horizon:
            rows = max(self.size + horizon, 2 * rows)
            self._grow(rows)
        return int((rows - self.size) // horizon)

    def _grow(self, rows: int) -> None:
        learner, old = self.memory.learner, self.keys.table
        needed = table_bytes(learner, self._task._replace(n_labels=rows))
        if needed > MOST_BYTES:
            raise ValueError(
                f"the tables of {type(learner).__name__} for {rows:,} observations would take "
                f"{needed / 2**30:.0f} gigabytes, and {MOST_BYTES // 2**30} are allowed: choose fewer "
                "episodes, or a learner that keeps no model"
            )
        self.memory = self.memory.grown(rows)
        keys = self._keys(rows, old.keys.shape[1] - 1)
        keys.table.keys[: self.size] = old.keys[: self.size]
        keys.table.size[0] = self.size
        _hashing.rehash(keys.table)
        self.keys = keys

    def _keys(self, rows: int, n_words: int) -> ObservationKeys:
        table = HashTable(
            slots=np.full(1 << max(1, 2 * rows - 1).bit_length(), -1, np.int32),
            keys=np.empty((rows, 1 + n_words), np.uint64),
            size=np.zeros(1, np.int64),
        )
        # tables with levels know the level already
        return ObservationKeys(table, not self._task.levels_apart, self._task.levels_apart)
