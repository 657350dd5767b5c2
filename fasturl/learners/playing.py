"""Whole episodes over label tables: learning, exploring with a memory, and playing a fixed policy.

A memory of a user's own is asked for policies and told trajectories. It is never handed `dynamics`, the
tables that it plays on.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._base.origin import in_method
from .._kernels import rng as _rng
from .._kernels import tabular as _tabular
from .._kernels.records import Dynamics, ObservationKeys, Trajectories, blank_trajectories
from ..problems.emissions import cumulative
from .compiled import CompiledMemory
from .learner import Floats, Ints, LabelTable, Memory, Stream, check_policy
from .rollouts import returns_of, rollout


class MemoryPlayer(Protocol):
    """Plays whole episodes with one memory, whose policy it follows, or teaches it finished ones."""

    def check_room(self, horizon: int, n_labels: int, n_actions: int) -> None:
        """ValueError where the memory cannot hold what it would learn in such episodes."""

    def explore(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream) -> Trajectories:
        """Play one episode for each row of `labels` [E, H+1, S] without learning."""

    def learn(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats) -> None:
        """Play and learn one episode for each entry of `returns`, seeing a row of `labels` [E, H+1, S]."""

    def learn_on_states(self, dynamics: Dynamics, dynamics_rng: Stream, returns: Floats) -> None:
        """Play and learn one episode for each entry of `returns`, seeing the latent states themselves."""

    def learn_in_view(
        self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats
    ) -> Trajectories:
        """As `learn`, and return what happened."""

    def take_in(self, labels: NDArray[np.integer], actions: NDArray[np.integer], rewards: Floats) -> None:
        """Let a memory learn from finished trajectories in their order: labels [E, H+1], actions [E, H]
        and rewards [E, H]."""


def player_of(memory: Memory) -> MemoryPlayer:
    """The player for a memory of this kind. Nothing else asks which kind it is."""
    return _CompiledPlayer(memory) if isinstance(memory, CompiledMemory) else _EpisodicPlayer(memory)


class _CompiledPlayer:
    """Plays in compiled loops. Methods are called by the class: one that somebody has put in their place on
    the object would be handed `dynamics`."""

    def __init__(self, memory: CompiledMemory) -> None:
        self._memory = memory

    def check_room(self, horizon: int, n_labels: int, n_actions: int) -> None:
        CompiledMemory.check_room(self._memory, horizon, n_labels, n_actions)

    def explore(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream) -> Trajectories:
        return CompiledMemory.play_episodes(self._memory, dynamics, labels, dynamics_rng)

    def learn(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats) -> None:
        CompiledMemory.learn_episodes(self._memory, dynamics, labels, dynamics_rng, returns)

    def learn_on_states(self, dynamics: Dynamics, dynamics_rng: Stream, returns: Floats) -> None:
        horizon, n_states, _, _ = dynamics.transitions.shape
        self.learn(dynamics, state_labels(1, horizon, n_states), dynamics_rng, returns)

    def learn_in_view(
        self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats
    ) -> Trajectories:
        return CompiledMemory.learn_episodes_in_view(self._memory, dynamics, labels, dynamics_rng, returns)

    def take_in(self, labels: NDArray[np.integer], actions: NDArray[np.integer], rewards: Floats) -> None:
        CompiledMemory.take_in(self._memory, labels, actions, rewards)


class _EpisodicPlayer:
    """Plays one episode at a time with a memory of a user's own."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory

    def check_room(self, horizon: int, n_labels: int, n_actions: int) -> None:
        """Nothing: each policy is checked when it is played."""

    def explore(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream) -> Trajectories:
        horizon, _, n_actions, _ = dynamics.transitions.shape
        # the memory may have room for labels that no observation of these episodes gets
        n_labels = int(labels.max(initial=0)) + 1
        policy_rng = np.zeros(4, np.uint64)  # a policy of zeros and ones has no ties, so nothing is drawn
        episodes = [blank_trajectories(0, horizon)]
        for e in range(labels.shape[0]):
            policy = check_policy(self._memory, horizon, n_labels, n_actions, or_more=True)
            one_hot = np.eye(n_actions)[policy]
            episodes.append(rollout(dynamics, labels[e : e + 1], one_hot, 0.0, dynamics_rng, policy_rng))
        return _joined(episodes)

    def learn(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats) -> None:
        self.learn_in_view(dynamics, labels, dynamics_rng, returns)

    def learn_on_states(self, dynamics: Dynamics, dynamics_rng: Stream, returns: Floats) -> None:
        horizon, n_states, _, _ = dynamics.transitions.shape
        labels = state_labels(1, horizon, n_states)
        for e in range(returns.size):
            self.learn(dynamics, labels, dynamics_rng, returns[e : e + 1])

    def learn_in_view(
        self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats
    ) -> Trajectories:
        episodes = [blank_trajectories(0, dynamics.transitions.shape[0])]
        for e in range(returns.size):
            episode = self.explore(dynamics, labels[e : e + 1], dynamics_rng)
            states = episode.states[0]
            labels_met = labels[e, np.arange(states.size), states].astype(np.int64)
            # copies: what a memory does to them is no part of what happened
            self._update(labels_met, episode.actions[0].copy(), episode.rewards[0].copy())
            episodes.append(episode)
        trajectories = _joined(episodes)
        returns[:] = returns_of(trajectories.rewards)
        return trajectories

    def take_in(self, labels: NDArray[np.integer], actions: NDArray[np.integer], rewards: Floats) -> None:
        for e in range(len(labels)):
            self._update(labels[e].astype(np.int64), actions[e].astype(np.int64), rewards[e].copy())

    def _update(self, labels: Ints, actions: Ints, rewards: Floats) -> None:
        with in_method("update", self._memory):
            self._memory.update(labels, actions, rewards)


def _joined(parts: list[Trajectories]) -> Trajectories:
    return Trajectories(
        states=np.concatenate([part.states for part in parts]),
        actions=np.concatenate([part.actions for part in parts]),
        rewards=np.concatenate([part.rewards for part in parts]),
    )


def learn_observations(
    memory: CompiledMemory,
    dynamics: Dynamics,
    words: NDArray[np.uint64],
    keys: ObservationKeys,
    dynamics_rng: Stream,
    returns: Floats,
) -> None:
    """As `learn` of a player, where a label is the row of an observation among the keys: words
    [E, H+1, S, W]."""
    CompiledMemory.learn_observations(memory, dynamics, words, keys, dynamics_rng, returns)


def state_labels(episodes: int, horizon: int, n_states: int) -> LabelTable:
    """The label table [E, H+1, S] of an agent that sees the latent states themselves."""
    kind: type[Any] = np.uint8 if n_states <= 256 else np.int32
    table = np.empty((episodes, horizon + 1, n_states), kind)
    table.reshape(episodes, -1)[:] = np.tile(np.arange(n_states), horizon + 1)
    return table


def draw_policy(chances: Floats, policy_rng: Stream) -> Ints:
    """An action for each level and label, drawn from the probabilities [H, n_labels, A]."""
    actions = np.empty(chances.shape[:2], np.int64)
    if _only_ties(chances):
        _tabular.draw_policy(chances, 0.0, policy_rng, actions)
        return actions
    uniforms = np.empty(actions.size)
    _rng.fill_uniforms(policy_rng, uniforms)
    return np.asarray((cumulative(chances) <= uniforms.reshape(*actions.shape, 1)).sum(axis=2))


def play_policy(
    dynamics: Dynamics, labels: LabelTable, chances: Floats, dynamics_rng: Stream, policy_rng: Stream
) -> Trajectories:
    """Play a policy of probabilities [H, n_labels, A], an episode for each row of `labels` [E, H+1, S]."""
    if _only_ties(chances):
        return rollout(dynamics, labels, chances, 0.0, dynamics_rng, policy_rng)
    # a level is met once in an episode, so its action can be drawn for every state beforehand, and serve as
    # the label there
    horizon, _, n_actions = chances.shape
    levels = np.arange(horizon)[:, None]
    actions = np.stack([draw_policy(chances, policy_rng)[levels, rows] for rows in labels[:, :horizon]])
    return rollout(
        dynamics,
        actions.astype(np.int32),
        np.tile(np.eye(n_actions), (horizon, 1, 1)),
        0.0,
        dynamics_rng,
        policy_rng,
    )


def _only_ties(chances: Floats) -> bool:
    """Whether in each row all actions that can be taken are equally likely: playing greedily with random ties
    then does the same."""
    return bool(((chances == 0) | (chances == chances.max(axis=2, keepdims=True))).all())
