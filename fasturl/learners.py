"""Tabular learners on (level, label), and the small protocol that any other learner can offer.

A learner is a description with one method, `start(task)`, that returns a fresh memory. A memory has

    policy() -> int array [H, n_labels]      the action for each (level, label) in the coming episode, which may never be fed to update
    update(labels, actions, rewards)         one trajectory: int [H+1], int [H], float [H]
    final_policy() -> float array [H, n_labels, A]   what has been learned: a probability for each action, equal ones for ties

`OracleQ` and `QLearning` share one memory, `QTable`, whose episodes run inside a compiled loop; the memory of
any other learner is driven one episode at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from . import validation
from ._kernels import rng as _rng
from ._kernels import tabular as _tabular
from .emissions import cumulative
from .records import Dynamics

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.uint8] | NDArray[np.int32]
Stream = NDArray[np.uint64]


class Task(NamedTuple):
    """What a learner is told before the first episode."""

    horizon: int
    n_labels: int
    n_actions: int
    max_return: float
    episodes: int
    """At most so many are fed to the learner: URL spends some on its decoder."""
    choice: Stream
    """The stream that the agent's own randomness comes from."""

    def generator(self) -> np.random.Generator:
        """A NumPy generator, for learners written in Python: another one at each call, since its seed is drawn from `choice`."""
        words = np.empty(4, np.uint64)
        _rng.fill_bits(self.choice, words)
        return np.random.default_rng(words)


class Memory(Protocol):
    def policy(self) -> Ints: ...
    def update(self, labels: Ints, actions: Ints, rewards: Floats) -> None: ...
    def final_policy(self) -> Floats: ...


class Learner(Protocol):
    def start(self, task: Task) -> Memory: ...


class Rules(NamedTuple):
    """How action values start and are updated, and how often actions are random (see `_kernels.tabular`)."""

    initial: float
    rates: Floats
    """By number of visits, which counts from 1."""
    bonuses: Floats
    cap: float
    epsilons: Floats
    """By episode."""


class QTable:
    """Action values [H, n_labels, A] with a visit count each."""

    def __init__(self, rules: Rules, task: Task) -> None:
        self.initial, self.rates, self.bonuses, self.cap, self.epsilons = rules
        self.choice = task.choice
        self.q = np.full((task.horizon, task.n_labels, task.n_actions), rules.initial)
        self.visits = np.zeros(self.q.shape, np.int64)
        self.episode = 0

    @property
    def epsilon(self) -> float:
        """How often the coming episode's actions are random."""
        return float(self.epsilons[min(self.episode, self.epsilons.size - 1)])

    def policy(self) -> Ints:
        actions = np.empty(self.q.shape[:2], np.int64)
        _tabular.draw_policy(self.q, self.epsilon, self.choice, actions)
        return actions

    def update(self, labels: Ints, actions: Ints, rewards: Floats) -> None:
        _tabular.update_trajectory(self.q, self.visits, labels, actions, rewards, self.rates, self.bonuses, self.cap)
        self.episode += 1

    def final_policy(self) -> Floats:
        best = self.q == self.q.max(axis=2, keepdims=True)
        return np.asarray(best / best.sum(axis=2, keepdims=True))

    def learn(self, dynamics: Dynamics, labels: Labels, luck: Stream, returns: Floats) -> None:
        epsilons = self.epsilons[self.episode : self.episode + returns.size]
        _tabular.learn(dynamics, labels, self.q, self.visits, self.rates, self.bonuses, self.cap, epsilons, luck, self.choice, returns)
        self.episode += returns.size


LEARNING_RATE = 0.3
FAILURE_PROBABILITY = 0.05


@dataclass(frozen=True)
class OracleQ:
    """Optimistic Q-learning with a Hoeffding bonus (Jin et al., 2018).

    Q starts at the maximal return. The constant form has a fixed learning rate and the bonus
    confidence * sqrt(H / t) at the t-th visit. The theoretical form, schedule="jin", has the rate (H+1)/(H+t)
    and the bonus confidence * sqrt(H^3 log(S A T / p) / t), where T is the number of steps and p the
    failure probability.
    """

    learning_rate: float | None = None
    """Constant form only; LEARNING_RATE if not given."""
    confidence: float = 1e-3
    """Scale of the exploration bonus."""
    schedule: str = "constant"
    """"constant" or "jin"."""
    failure_probability: float | None = None
    """Theoretical form only: p; FAILURE_PROBABILITY if not given."""

    def __post_init__(self) -> None:
        validation.choice("schedule", self.schedule, ("constant", "jin"))
        if self.learning_rate is not None:
            validation.keep(self, learning_rate=validation.real("learning_rate", self.learning_rate, least=0, most=1, open_left=True))
            if self.schedule == "jin":
                raise ValueError(f"learning_rate must be left out when schedule='jin', which sets its own, got {self.learning_rate}")
        if self.failure_probability is not None:
            chance = validation.real("failure_probability", self.failure_probability, least=0, most=1, open_left=True, open_right=True)
            validation.keep(self, failure_probability=chance)
            if self.schedule == "constant":
                raise ValueError(f"failure_probability must be left out when schedule='constant', which has no use for it, got {chance}")
        validation.keep(self, confidence=validation.real("confidence", self.confidence, least=0))

    def start(self, task: Task) -> QTable:
        return QTable(self.rules(task), task)

    def rules(self, task: Task) -> Rules:
        rates, bonuses = np.empty((2, task.episodes + 1))
        if self.schedule == "constant":
            rate = LEARNING_RATE if self.learning_rate is None else self.learning_rate
            _tabular.constant_schedule(task.horizon, rate, self.confidence, rates, bonuses)
        else:
            failure = self.failure_probability or FAILURE_PROBABILITY
            _tabular.jin_schedule(task.horizon, task.n_labels, task.n_actions, self.confidence, failure, rates, bonuses)
        return Rules(task.max_return, rates, bonuses, task.max_return, np.zeros(task.episodes))


@dataclass(frozen=True)
class QLearning:
    """Tabular Q-learning that starts at 0 and explores epsilon-greedily.

    Epsilon falls linearly from 1 to 0.01 over the first `exploration_fraction` of the episodes.
    """

    learning_rate: float = 0.1
    exploration_fraction: float = 0.5

    def __post_init__(self) -> None:
        for name in ("learning_rate", "exploration_fraction"):
            validation.keep(self, **{name: validation.real(name, getattr(self, name), least=0, most=1, open_left=True)})

    def start(self, task: Task) -> QTable:
        return QTable(self.rules(task), task)

    def rules(self, task: Task) -> Rules:
        rates, bonuses = np.empty((2, task.episodes + 1))
        epsilons = np.empty(task.episodes)
        _tabular.constant_schedule(task.horizon, self.learning_rate, 0.0, rates, bonuses)
        _tabular.falling_epsilons(self.exploration_fraction, epsilons)
        return Rules(0.0, rates, bonuses, np.inf, epsilons)


def start(learner: Learner, task: Task) -> Memory:
    """A fresh memory of the learner, or an error that says what it lacks."""
    memory = learner.start(task)
    missing = [name for name in ("policy", "update", "final_policy") if not callable(getattr(memory, name, None))]
    if missing:
        raise ValueError(
            f"start of {type(learner).__name__} must return an object with policy, update and final_policy, "
            f"got {type(memory).__name__} without {' and '.join(missing)}"
        )
    return memory


def learn(memory: Memory, dynamics: Dynamics, labels: Labels, luck: Stream, returns: Floats) -> None:
    """Play and learn one episode for each entry of `returns`, seeing `labels` [E, H+1, S]."""
    if isinstance(memory, QTable):
        memory.learn(dynamics, labels, luck, returns)
        return
    for e in range(returns.size):
        states, actions, rewards = explore(memory, dynamics, labels[e : e + 1], luck)
        seen = labels[e, np.arange(states.shape[1]), states[0]].astype(np.int64)
        memory.update(seen, actions[0], rewards[0])
        returns[e] = rewards[0].cumsum()[-1]  # added in order, as the compiled loop does


def explore(memory: Memory, dynamics: Dynamics, labels: Labels, luck: Stream) -> tuple[Ints, Ints, Floats]:
    """Play one episode for each row of `labels` with the memory's current policy, without learning.

    Returns states [E, H+1], actions [E, H] and rewards [E, H].
    """
    if isinstance(memory, QTable):
        return rollout(dynamics, labels, memory.q, memory.epsilon, luck, memory.choice)
    horizon, _, n_actions, _ = dynamics.transitions.shape
    met = int(labels.max()) + 1  # the memory may have room for labels that no observation of these episodes gets
    unused = np.zeros(4, np.uint64)  # a policy of zeros and ones has no ties, so nothing is drawn
    chosen = (check_policy(memory, horizon, met, n_actions, or_more=True) for _ in range(labels.shape[0]))
    played = [rollout(dynamics, labels[e : e + 1], np.eye(n_actions)[policy], 0.0, luck, unused) for e, policy in enumerate(chosen)]
    states, actions, rewards = (np.concatenate(parts) for parts in zip(*played, strict=True))
    return states, actions, rewards


def check_policy(memory: Memory, horizon: int, n_labels: int, n_actions: int, *, or_more: bool = False) -> Ints:
    """The policy that a memory offers, or an error that says what is wrong with it.

    It is for `n_labels` labels, or for more where those are only the labels that are met.
    """
    policy = np.asarray(memory.policy())
    fits = policy.ndim == 2 and policy.shape[0] == horizon and (policy.shape[1] == n_labels or (or_more and policy.shape[1] > n_labels))
    if not fits or not np.issubdtype(policy.dtype, np.integer):
        size = f"[{horizon}, {n_labels}{' or more' if or_more else ''}]"
        raise ValueError(f"policy() must give an integer array {size}, got {policy.dtype} of shape {policy.shape}")
    if policy.min() < 0 or policy.max() >= n_actions:
        raise ValueError(f"policy() must give actions from 0 to {n_actions - 1}, got {policy.min()}..{policy.max()}")
    return policy.astype(np.int64)


def draw_policy(chances: Floats, choice: Stream) -> Ints:
    """An action for each level and label, drawn from the probabilities [H, n_labels, A]."""
    actions = np.empty(chances.shape[:2], np.int64)
    if _only_ties(chances):
        _tabular.draw_policy(chances, 0.0, choice, actions)
        return actions
    luck = np.empty(actions.size)
    _rng.fill_uniforms(choice, luck)
    return np.asarray((cumulative(chances) <= luck.reshape(*actions.shape, 1)).sum(axis=2))


def play_policy(dynamics: Dynamics, labels: Labels, chances: Floats, luck: Stream, choice: Stream) -> tuple[Ints, Ints, Floats]:
    """Play a policy of probabilities [H, n_labels, A]: states [E, H+1], actions [E, H], rewards [E, H]."""
    if _only_ties(chances):
        return rollout(dynamics, labels, chances, 0.0, luck, choice)
    # a level is met once in an episode, so its action can be drawn for every state beforehand, and be what is seen there
    horizon, _, n_actions = chances.shape
    levels = np.arange(horizon)[:, None]
    drawn = np.stack([draw_policy(chances, choice)[levels, seen] for seen in labels[:, :horizon]])
    return rollout(dynamics, drawn.astype(np.int32), np.tile(np.eye(n_actions), (horizon, 1, 1)), 0.0, luck, choice)


def _only_ties(chances: Floats) -> bool:
    """Whether in each row all actions that can be taken are equally likely: playing greedily with random ties then does the same."""
    return bool(((chances == 0) | (chances == chances.max(axis=2, keepdims=True))).all())


def rollout(dynamics: Dynamics, labels: Labels, q: Floats, epsilon: float, luck: Stream, choice: Stream) -> tuple[Ints, Ints, Floats]:
    """Play epsilon-greedily in q [H, n_labels, A], ties at random: states [E, H+1], actions [E, H], rewards [E, H]."""
    episodes, horizon = labels.shape[0], q.shape[0]
    states = np.empty((episodes, horizon + 1), np.int64)
    actions = np.empty((episodes, horizon), np.int64)
    rewards = np.empty((episodes, horizon))
    _tabular.rollout(dynamics, labels, np.ascontiguousarray(q), epsilon, luck, choice, states, actions, rewards)
    return states, actions, rewards
