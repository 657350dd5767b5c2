"""Action values by (level, label): the memory that OracleQ and QLearning share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._kernels import tabular as _tabular
from .._kernels.records import Dynamics
from .learner import Floats, Ints, Labels, Stream, Task
from .rollouts import rollout


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
        self.policy_rng = task.policy_rng
        self.q = np.full((task.horizon, task.n_labels, task.n_actions), rules.initial, np.float64)
        self.visits = np.zeros(self.q.shape, np.int64)
        self.episode = 0

    @property
    def epsilon(self) -> float:
        """How often the coming episode's actions are random."""
        return float(self.epsilons[min(self.episode, self.epsilons.size - 1)])

    def policy(self) -> Ints:
        actions = np.empty(self.q.shape[:2], np.int64)
        _tabular.draw_policy(self.q, self.epsilon, self.policy_rng, actions)
        return actions

    def update(self, labels: Ints, actions: Ints, rewards: Floats) -> None:
        _tabular.update_trajectory(
            self.q, self.visits, labels, actions, rewards, self.rates, self.bonuses, self.cap
        )
        self.episode += 1

    def final_policy(self) -> Floats:
        best = self.q == self.q.max(axis=2, keepdims=True)
        return np.asarray(best / best.sum(axis=2, keepdims=True))

    def learn_episodes(
        self, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream, returns: Floats
    ) -> None:
        epsilons = self.epsilons[self.episode : self.episode + returns.size]
        _tabular.learn(
            dynamics,
            labels,
            self.q,
            self.visits,
            self.rates,
            self.bonuses,
            self.cap,
            epsilons,
            dynamics_rng,
            self.policy_rng,
            returns,
        )
        self.episode += returns.size

    def play_episodes(
        self, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream
    ) -> tuple[Ints, Ints, Floats]:
        return rollout(dynamics, labels, self.q, self.epsilon, dynamics_rng, self.policy_rng)
