"""Episodes for agents that a user wrote: what such an agent hands to a loop is checked before the loop runs.

The loops take labels for positions and check nothing. Our own agents hand over tables that were checked when
they were made, and play `Episodes` as they are. What the episodes of a user's agent have paid is kept, and
compared with what the agent has entered in its ledger.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import checks
from .._base.origin import is_ours
from .._base.streams import Streams
from .._kernels.records import ObservationKeys
from .._kernels.records import Trajectories as Record
from ..learners import checked_tables
from ..learners.compiled import CompiledMemory
from ..learners.learner import Floats, LabelTable, Memory, Stream
from ..learners.playing import player_of
from ..problems.block_mdp import BlockMDP, policy_table
from ..problems.blocks import Block
from ..problems.description import Description
from .game import Episodes, Trajectories
from .rows import Rows

_ROUNDING = 1e-6
"""Share of the largest return by which a return may differ from the one that was paid: rewards may be added
up in any order, as float32 too."""


class CheckedEpisodes(Episodes):
    """As `Episodes`; ValueError for tables, streams and arrays that do not fit them.

    paid
        Where the returns of episodes are kept that were played.
    """

    def __init__(
        self, instance: BlockMDP, streams: Streams, count: int, block: Block | None, paid: Rows
    ) -> None:
        super().__init__(instance, streams, count, block)
        self._paid = paid

    def play_policy(self, labels: LabelTable, chances: Floats, policy_rng: Stream) -> Trajectories:
        table = self._label_table(labels)
        policy = self._policy("chances", chances, self._dynamics.transitions.shape[0], table)
        return super().play_policy(table, policy, checked_tables.stream(policy_rng))

    def play_towards(self, labels: LabelTable, reach: Floats, level: int, policy_rng: Stream) -> Trajectories:
        table, horizon = self._label_table(labels), self._dynamics.transitions.shape[0]
        first = checks.integer("level", level, least=1, most=horizon)
        policies = checks.real_array("reach", reach)
        if policies.ndim != 4 or len(policies) == 0:
            raise ValueError(
                f"reach must have shape [policies, {first - 1}, labels, actions], got {policies.shape}"
            )
        checked = np.stack([self._policy("reach", policy, first - 1, table) for policy in policies])
        return super().play_towards(table, checked, first, checked_tables.stream(policy_rng))

    def play_rows(self, keys: ObservationKeys, chances: Floats, policy_rng: Stream, returns: Floats) -> None:
        self._check_keys(keys)
        horizon, _, n_actions, _ = self._dynamics.transitions.shape
        levels, rows = horizon if keys.level_in_tables else 1, int(keys.table.size[0])
        columns = max(rows, *checks.array("policy", chances).shape[1:2], 1)
        policy = policy_table(chances, levels, columns, n_actions)
        super().play_rows(keys, policy, checked_tables.stream(policy_rng), self._returns(returns))
        self._paid.add(returns)

    def explore(self, memory: Memory, labels: LabelTable) -> Trajectories:
        return super().explore(memory, self._labels_for(memory, labels))

    def learn(self, memory: Memory, labels: LabelTable, returns: Floats) -> None:
        super().learn(memory, self._labels_for(memory, labels), self._returns(returns))
        self._paid.add(returns)

    def learn_in_view(self, memory: Memory, labels: LabelTable) -> Trajectories:
        return super().learn_in_view(memory, self._labels_for(memory, labels))

    def learn_on_states(self, memory: Memory, returns: Floats) -> None:
        horizon, n_states, n_actions, _ = self._dynamics.transitions.shape
        player_of(memory).check_room(horizon, n_states, n_actions)
        super().learn_on_states(memory, self._returns(returns))
        self._paid.add(returns)

    def learn_observations(self, memory: CompiledMemory, keys: ObservationKeys, returns: Floats) -> None:
        self._check_keys(keys)
        table, horizon = keys.table, self._dynamics.transitions.shape[0]
        rows, level_known = table.keys.shape[0], keys.level_in_key or keys.level_in_tables
        needed = self.count * (horizon if level_known else horizon + 1)
        room, n_observations = rows - int(table.size[0]), 2.0**self._observed.dimension
        n_keys = n_observations * horizon if keys.level_in_key else n_observations
        if room < needed and rows < n_keys:
            raise ValueError(
                f"keys must have room for {needed} observations of {self.count} episodes, got room for {room}"
            )
        super().learn_observations(memory, keys, self._returns(returns))
        self._paid.add(returns)

    def part(self, first: int, end: int) -> Episodes:
        begin = checks.integer("first", first, least=0, most=self.count)
        return super().part(begin, checks.integer("end", end, least=begin, most=self.count))

    def _trajectories(
        self, labels: LabelTable, record: Record, returns: Floats | None = None
    ) -> Trajectories:
        trajectories = super()._trajectories(labels, record, returns)
        self._paid.add(trajectories.returns)
        for payments in (trajectories.rewards, trajectories.returns):
            payments.flags.writeable = False
        return trajectories

    def _label_table(self, labels: Any) -> LabelTable:
        horizon, n_states = self._dynamics.transitions.shape[:2]
        shape = self.count, horizon + 1, n_states
        table = checks.array("labels", labels)
        if table.dtype.kind not in "iu" or table.shape != shape:
            raise ValueError(
                f"labels must be integers of shape {list(shape)}, got {table.dtype} of shape "
                f"{list(table.shape)}"
            )
        if table.size and table.min() < 0:
            raise ValueError(f"labels must be 0 or more, got {table.min()}")
        return table

    def _labels_for(self, memory: Memory, labels: Any) -> LabelTable:
        table = self._label_table(labels)
        horizon, _, n_actions, _ = self._dynamics.transitions.shape
        player_of(memory).check_room(horizon, _n_labels(table), n_actions)
        return table

    def _policy(self, name: str, chances: Any, levels: int, labels: LabelTable) -> Floats:
        """Probabilities for every label of the table, or for more."""
        policy, n_actions = checks.real_array(name, chances), self._dynamics.transitions.shape[2]
        n_labels = _n_labels(labels)
        fits = policy.ndim == 3 and (policy.shape[0], policy.shape[2]) == (levels, n_actions)
        if not fits or policy.shape[1] < n_labels:
            raise ValueError(
                f"{name} must have shape [{levels}, {n_labels} or more, {n_actions}], "
                f"got {list(policy.shape)}"
            )
        return np.ascontiguousarray(checks.probabilities(name, policy, "actions"))

    def _returns(self, returns: Any) -> Floats:
        required = f"an array of float64 with an entry for each of {self.count} episodes that can be written"
        if not isinstance(returns, np.ndarray):
            raise ValueError(f"returns must be {required}, got none")
        fits = returns.dtype == np.float64 and returns.shape == (self.count,)
        if not (fits and returns.flags.writeable):
            raise ValueError(f"returns must be {required}, got {returns.dtype} of shape {returns.shape}")
        return returns

    def _check_keys(self, keys: Any) -> None:
        table = keys.table
        n_words = self._words.shape[3]
        if table.keys.ndim != 2 or table.keys.shape[1] != 1 + n_words:
            raise ValueError(
                f"keys must have {1 + n_words} words for observations of {self._observed.dimension} bits, "
                f"got shape {table.keys.shape}"
            )
        slots = table.slots.size
        if slots <= table.keys.shape[0] or slots & (slots - 1):
            raise ValueError(
                f"slots of keys must be a power of two above the {table.keys.shape[0]} rows, got {slots}"
            )


class PaidReturns:
    """What the episodes of one run have paid, in the order in which they were played. It is kept for agents
    that a user wrote; our own pay nothing for it."""

    def __init__(self, agent: object) -> None:
        self._owner, self._kept = f"play of {type(agent).__name__}", not is_ours(type(agent))
        self._returns = Rows((), np.dtype(np.float64))

    def episodes(self, instance: BlockMDP, streams: Streams, count: int, block: Block | None) -> Episodes:
        """Episodes for the agent: one that a user wrote has all that it hands over checked."""
        if not self._kept:
            return Episodes(instance, streams, count, block)
        return CheckedEpisodes(instance, streams, count, block, self._returns)

    def check(self, entered: Floats, known: Description) -> None:
        """ValueError where these are not the returns [trajectories] that were paid."""
        if not self._kept:
            return
        paid = self._returns.rows
        if paid.size != entered.size:
            raise ValueError(
                f"{self._owner} must play each episode that it begins once, got {paid.size} played of "
                f"{entered.size} that it began"
            )
        largest_return = known.horizon * max(map(abs, known.reward_range))
        wrong = ~(np.abs(entered - paid) <= _ROUNDING * largest_return)
        if wrong.any():
            first = int(wrong.argmax())
            raise ValueError(
                f"{self._owner} must enter in its ledger what each trajectory has paid, in the order in "
                f"which they were played, got {entered[first]:g} for trajectory {first + 1}, which paid "
                f"{paid[first]:g}"
            )


def _n_labels(labels: LabelTable) -> int:
    """Labels from 0 on that a table has."""
    return int(labels.max(initial=0)) + 1
