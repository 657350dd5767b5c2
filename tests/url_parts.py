"""An oracle and a learner that a user might write, and how the tests of URL compare runs."""

import numpy as np

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.game import Game
from fasturl.agents.ledger import Ledger

SHORT = fu.LockBernoulli(3, 0.2)


class Perfect:
    """An oracle that reads the one-hot code of a lock, under names that change from fit to fit."""

    def __init__(self):
        self.n_states, self.fits = 3, 0

    def fit(self, X):
        self.fits += 1
        self.names = np.roll(np.arange(3), self.fits)
        return self

    def predict(self, X):
        return self.names[np.asarray(X)[:, :3].argmax(axis=1)]


class Explorer:
    """A learner that is none of ours: counts, and prefers what it has tried least; its final policy follows
    mean returns."""

    def start(self, task):
        return ExplorerMemory(task)


class ExplorerMemory:
    def __init__(self, task):
        self.tried = np.zeros((task.horizon, task.n_labels, task.n_actions))
        self.won = np.zeros_like(self.tried)
        self.draw = task.generator()
        self.trajectories = []

    def policy(self):
        return (self.tried + self.draw.random(self.tried.shape)).argmin(axis=2)

    def update(self, labels, actions, rewards):
        self.trajectories.append((labels, actions, rewards))
        for h, (label, action) in enumerate(zip(labels[:-1], actions, strict=True)):
            self.tried[h, label, action] += 1
            self.won[h, label, action] += rewards.sum()

    def final_policy(self):
        return np.eye(self.tried.shape[2])[(self.won / np.maximum(self.tried, 1)).argmax(axis=2)]


def same(first, second, rows=slice(None)):
    """Bit for bit, wall times apart."""
    np.testing.assert_array_equal(first.average_reward, second.average_reward[rows])
    np.testing.assert_array_equal(first.values, second.values[rows])


def play(env, agent, episodes, streams, tick=lambda _: None):
    """What an agent hands over at the end of a run, and the ledger of the run: as `train` plays it, without
    the verdict."""
    ledger = Ledger(episodes, agent.trajectories(env.describe(), episodes), tick)
    game = Game(env.draw_checked(streams), streams, latent=agent.sees_latent_states)
    return agent.play(game, ledger), ledger


def returns(env, agent, episodes, seed):
    """The return of every trajectory of a run."""
    return play(env, agent, episodes, Streams(seed))[1].returns
