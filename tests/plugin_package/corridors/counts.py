"""A learner: it counts what follows what, and plans with a bonus for what it has seldom tried."""

from dataclasses import dataclass

import numpy as np

import fasturl as fu


@dataclass(frozen=True)
class Counts(fu.Declared):
    """Optimistic value iteration on the counts of transitions, after every `plan_every` episodes."""

    bonus: float = fu.setting(0.3, least=0, search=fu.Range(0.03, 3.0), help="Bonus of an action tried once.")
    plan_every: int = fu.setting(5, least=1, unit="episodes", help="How often a new policy is planned.")

    def start(self, task):
        return CountsMemory(self, task)


class CountsMemory:
    def __init__(self, learner, task):
        self.learner, self.rng, self.cap = learner, task.generator(), task.max_return
        shape = (task.horizon, task.n_labels, task.n_actions)
        self.transitions = np.zeros((*shape, task.n_labels))
        self.rewards = np.zeros(shape)
        self.q = np.full(shape, self.cap)
        self.updates = 0

    def policy(self):
        ties = 1e-9 * self.rng.random(self.q.shape)
        return (self.q + ties).argmax(axis=2)

    def update(self, labels, actions, rewards):
        levels = np.arange(len(actions))
        self.transitions[levels, labels[:-1], actions, labels[1:]] += 1
        self.rewards[levels, labels[:-1], actions] += rewards
        self.updates += 1
        if self.updates % self.learner.plan_every == 0:
            self.q = self._plan(self.learner.bonus)

    def final_policy(self):
        q = self._plan(0.0)
        best = q == q.max(axis=2, keepdims=True)
        return best / best.sum(axis=2, keepdims=True)

    def _plan(self, bonus):
        visits = self.transitions.sum(axis=3)
        tried = np.maximum(visits, 1)
        q = np.empty_like(self.q)
        values = np.zeros(q.shape[1])
        for h in reversed(range(q.shape[0])):
            ahead = (self.rewards[h] + self.transitions[h] @ values) / tried[h]
            unknown = self.cap if bonus else 0.0
            q[h] = np.where(visits[h] > 0, np.minimum(self.cap, ahead + bonus / np.sqrt(tried[h])), unknown)
            values = q[h].max(axis=1)
        return q
