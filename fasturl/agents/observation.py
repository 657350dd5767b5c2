"""The baselines that take every raw observation for a state: OracleQ-obs and QLearning-obs.

A state is an observation, whatever its level: an agent that sees observations alone is not told the level.
There are 2^H observations of each latent state of a lock, so that long locks show nearly every one once, and
short ones show the same observation at several levels, where different actions are right. That is what the
baselines show. Nor does an agent that is not told the level know which observation is the last. As in the
published program, its value counts as what lies ahead if it was acted in before, at whatever level; if it was
not, nothing lies ahead, and its row starts at 0. With `level_in_key` neither happens: every (level,
observation) is a state of its own, and what follows the last action is never acted in.

Rows are kept for the observations met, in a hash table that grows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base import checks
from .._base.names import name_of
from .._base.parts import part_in_words
from .._base.schema import setting
from .._base.streams import Streams
from .._kernels import hashing as _hashing
from .._kernels.records import HashTable, ObservationKeys
from ..learners.compiled import CompiledLearner
from ..learners.learner import Floats, Learner, Task, check_learner
from ..learners.table_bytes import MOST_BYTES, TableBytes
from ..problems.block_mdp import BlockMDP
from ..problems.description import Description
from .agent import Agent, Outcome
from .evaluation import EPISODES, GLANCE_EPISODES, GLANCE_RETURNS, Glance, Verdict, mean_and_error
from .game import Game
from .ledger import Ledger

_MOST_BITS = 62
"""The number of labels that a learner is told is at most 2 to this power, which an int64 holds."""
_FIRST_BYTES = 2**27
"""Upper limit on the bytes of the rows that tables start with; they grow when more are needed."""


@dataclass(frozen=True)
class ObservationAgent(Agent):
    """A compiled learner, such as OracleQ or QLearning, on observations.

    A learner that plans backwards from the last level counts levels itself: an observation is one label, and
    the plan has a value for it at each level. It has a model of every pair of observations, so it is for few
    different ones.

    The number S of states in the bonus of schedule="jin" is that of all bit strings, and 2^62 where there are
    more: an integer of the kernels holds no more, and the bonus, which grows with the square root of log S,
    is less than it should be.

    learner
        The learner.

    Examples
    --------
    >>> import fasturl as fu
    >>> ObservationAgent(fu.QLearning()).name
    'qlearning-obs'
    """

    offers_policies = True

    learner: Learner
    level_in_key: bool | None = setting(
        None,
        none="false, or true for a learner that plans by level",
        kw_only=True,
        help="Whether the agent is told the level, so that an observation is another state at each level.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_learner(self.learner)

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
        if self.level_in_key is False and self.learner.plans_by_level:
            raise ValueError(
                f"level_in_key must be true for {type(self.learner).__name__}, whose plan is by level, "
                "got False"
            )

    def components(self) -> list[tuple[str, Any]]:
        return [("learner", self.learner)]

    def described_settings(self) -> dict[str, Any]:
        return {"learner": part_in_words("learner", self.learner), **super().described_settings()}

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        assert known.observations is not None
        assert isinstance(self.learner, CompiledLearner)
        task, n_bits = game.task(1, ledger.episodes), known.observations.dimension
        rows = _Rows(self.learner, task, n_bits, level_in_key=bool(self.level_in_key))
        while ledger.left:
            count = ledger.next_block(min(game.block_episodes, rows.room_for_episodes()))
            episodes = game.begin(count)
            with ledger.entry(count) as returns:
                episodes.learn_observations(rows.memory, rows.keys, returns)
            ledger.offer(rows.policy)
        return Outcome(rows.policy(), {"observations_met": rows.size})


@dataclass(frozen=True)
class ObservationPolicy:
    """A policy on the rows of observations: the likeliest action, and a random one where an observation has
    no row."""

    keys: ObservationKeys
    chances: Floats

    def judge(self, instance: BlockMDP, streams: Streams) -> Verdict:
        return Verdict(*mean_and_error(self._play(instance, streams, EPISODES)))

    def glance(self, instance: BlockMDP, streams: Streams) -> Glance:
        returns = self._play(instance, streams, GLANCE_EPISODES)
        return Glance(float(returns.mean()), returns[:GLANCE_RETURNS])

    def _play(self, instance: BlockMDP, streams: Streams, episodes: int) -> Floats:
        """The returns of so many episodes."""
        game = Game(instance, streams)
        returns = np.empty(episodes)
        size = game.block_episodes
        for part in (returns[first : first + size] for first in range(0, episodes, size)):
            game.begin(part.size).play_rows(self.keys, self.chances, game.policy_rng, part)
        return returns


class _Rows:
    """A row for each observation that was met, and the learner's memory of them; both grow between blocks of
    episodes.

    n_bits
        Of an observation.
    level_in_key
        Whether an observation has a row of its own at each level.
    n_rows
        How many there are at first: as many as the episodes can fill, if not given, or as are cheap.
    """

    def __init__(
        self,
        learner: CompiledLearner,
        task: Task,
        n_bits: int,
        *,
        level_in_key: bool = False,
        n_rows: int | None = None,
    ) -> None:
        by_level = learner.plans_by_level
        self._level_in_key = level_in_key and not by_level  # tables with levels know the level already
        level_known = level_in_key or by_level
        # where the level is not known, what follows the last action has a row too
        self._rows_of_episode = task.horizon if level_known else task.horizon + 1
        self._most_rows: int = 2**n_bits * (task.horizon if self._level_in_key else 1)
        self._n_words = -(-n_bits // 64)
        self._task = task._replace(
            most_labels=2.0 ** min(n_bits, _MOST_BITS),
            levels_apart=by_level,
            levels_per_label=1 if level_known else task.horizon,
        )
        self._bytes = TableBytes(learner, self._task)
        rows = self._first_rows() if n_rows is None else n_rows
        self.memory = learner.start(self._task._replace(n_labels=rows))
        self.keys = self._keys(rows)

    @property
    def size(self) -> int:
        """Rows in use."""
        return int(self.keys.table.size[0])

    def policy(self) -> ObservationPolicy:
        """What has been learned by now."""
        return ObservationPolicy(self.keys, self.memory.final_policy())

    def room_for_episodes(self) -> int:
        """How many episodes there is room for, after growing where there is none for one."""
        rows = self.keys.table.keys.shape[0]
        if rows < self._most_rows and rows - self.size < self._rows_of_episode:
            rows = min(max(self.size + self._rows_of_episode, 2 * rows), self._most_rows)
            self._grow(rows)
        if rows == self._most_rows:
            return self._task.episodes
        return int(rows - self.size) // self._rows_of_episode

    def _first_rows(self) -> int:
        least = min(self._rows_of_episode, self._most_rows)
        rows = min(self._rows_of_episode * self._task.episodes, self._most_rows)
        while rows > least and self._bytes.of(rows) - self._bytes.of(least) > _FIRST_BYTES:
            rows = max(rows // 2, least)
        return rows

    def _grow(self, rows: int) -> None:
        learner, old = self.memory.learner, self.keys.table
        needed = self._bytes.of(rows)
        if needed > MOST_BYTES:
            raise ValueError(
                f"the tables of {type(learner).__name__} for {rows:,} observations would take "
                f"{needed / 2**30:.0f} gigabytes, and {MOST_BYTES // 2**30} are allowed: choose fewer "
                "episodes, or a learner that keeps no model"
            )
        self.memory = self.memory.grown(rows)
        keys = self._keys(rows)
        keys.table.keys[: self.size] = old.keys[: self.size]
        keys.table.size[0] = self.size
        _hashing.rehash(keys.table)
        self.keys = keys

    def _keys(self, rows: int) -> ObservationKeys:
        table = HashTable(
            slots=np.full(1 << max(1, 2 * rows - 1).bit_length(), -1, np.int32),
            keys=np.empty((rows, 1 + self._n_words), np.uint64),
            size=np.zeros(1, np.int64),
        )
        return ObservationKeys(table, self._level_in_key, self._task.levels_apart)
