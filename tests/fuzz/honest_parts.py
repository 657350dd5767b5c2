"""Honest parts of a user's, all for one small problem: two levels, states, actions and coordinates."""

from dataclasses import dataclass
from typing import Any

import numpy as np

import fasturl as fu
from fasturl.agents import Agent, LatentPolicy, Outcome
from fasturl.decoders import Decoder
from fasturl.problems.blocks import ObservationBlock
from fasturl.problems.emissions import Emission


class HonestEmission(Emission):
    """One-hot of the state, and some noise from its own generator."""

    def __init__(self):
        self.n_levels, self.n_states, self.dimension, self.discrete = 3, 2, 2, False

    def draw(self, rngs, episodes):
        noise = np.random.default_rng(rngs[0].tolist()).normal(scale=0.05, size=(episodes, 3, 1, 2))
        rngs[0, 0] += np.uint64(1)
        return ObservationBlock((np.eye(2) + noise).astype(np.float32))


class HonestEnvironment(fu.Environment):
    """The second action leads to the second state, which pays 1."""

    def __init__(self, emission=None):
        self.horizon, self.n_actions, self.max_states = 2, 2, 2
        self.reward_range, self.max_return = (0.0, 1.0), 2.0
        self.emission = emission or fu.emissions.Gaussian(np.eye(2), 0.05, n_levels=3)

    def draw(self, streams):
        transitions = np.zeros((2, 2, 2, 2))
        transitions[:, :, 0, 0] = transitions[:, :, 1, 1] = 1.0
        rewards = np.zeros((2, 2, 2, 2))
        rewards[..., 1] = 1.0
        return fu.BlockMDP(transitions, rewards, emission=self.emission)


class HonestDecoder(Decoder):
    def __init__(self):
        super().__init__(2)

    def table(self, block):
        return block.every_state().argmax(axis=-1).astype(np.uint8)

    def decode(self, X, level=1):
        return np.asarray(X).argmax(axis=1)


class HonestOracle:
    """The larger coordinate; a fitted one has a decoder where it was given one."""

    def __init__(self, decoder=None):
        self.n_states = 2
        if decoder is not None:
            self.decoder_ = decoder

    def __deepcopy__(self, memo):
        return self  # a copy would leave the lie behind

    def fit(self, X):
        return self

    def predict(self, X):
        return np.asarray(X).argmax(axis=1)


class HonestMemory:
    """Counts nothing, and always takes the second action."""

    def __init__(self, task):
        self.shape, self.n_actions = (task.horizon, task.n_labels), task.n_actions

    def policy(self):
        return np.ones(self.shape, np.int64)

    def update(self, labels, actions, rewards):
        pass

    def final_policy(self):
        return np.eye(self.n_actions)[self.policy()]


class HonestLearner:
    def __init__(self, memory=HonestMemory):
        self.memory = memory

    def start(self, task):
        return self.memory(task)


class HonestCompiled(fu.OracleQ):
    """Ours, started on a task of its own."""

    def start(self, task):
        return super().start(self.own_task(task))

    def own_task(self, task):
        return task


class HonestAgent(Agent):
    """Acts at random, and enters what it earned."""

    def play(self, game, ledger):
        ledger.enter(self.returns(game, ledger.left))
        return self.outcome()

    def returns(self, game, count):
        return game.play_random(count).returns

    def outcome(self):
        return Outcome(LatentPolicy(self.chances()), {"note": 1})

    def chances(self):
        return np.full((2, 2, 2), 0.5)

    def trajectories(self, description, episodes):
        return episodes


@dataclass(frozen=True)
class Part:
    """A kind of object, an honest one of it, and the members that can lie."""

    kind: str
    members: tuple[str, ...]
    into: Any
    """From what makes one, the parts of a problem into which it goes."""
    also_named: tuple[str, ...] = ()


SIZES = ("horizon", "n_actions", "max_states", "n_levels", "n_states", "states", "levels", "emission", "draw")
PARTS = (
    Part(
        "environment",
        ("horizon", "n_actions", "max_states", "reward_range", "max_return", "emission", "draw"),
        lambda spoil: {"environment": lambda: spoil(HonestEnvironment())},
        (*SIZES, "reward", "env", "instance", "observ"),
    ),
    Part(
        "emission",
        ("n_levels", "n_states", "dimension", "discrete", "draw", "bounds"),
        lambda spoil: {"environment": lambda: HonestEnvironment(spoil(HonestEmission()))},
        (*SIZES, "dimension", "observ"),
    ),
    Part(
        "decoder",
        ("n_labels", "table", "decode", "level_table", "relabel"),
        lambda spoil: {"oracle": lambda: HonestOracle(spoil(HonestDecoder()))},
        ("label",),
    ),
    Part(
        "oracle",
        ("n_states", "fit", "predict"),
        lambda spoil: {"oracle": lambda: spoil(HonestOracle())},
        ("label", "decoder"),
    ),
    Part(
        "memory",
        ("policy", "update", "final_policy"),
        lambda spoil: {"learner": lambda: HonestLearner(lambda task: spoil(HonestMemory(task)))},
        ("actions", "policy"),
    ),
    Part(
        "learner", ("start",), lambda spoil: {"learner": lambda: spoil(HonestLearner())}, ("memory", "policy")
    ),
    Part(
        "compiled",
        ("tables", "start", "own_task"),
        lambda spoil: {"learner": lambda: spoil(HonestCompiled())},
        ("Honest", "learner", "memory", "task", "policy_rng"),
    ),
    Part(
        "agent",
        ("play", "returns", "outcome", "chances", "trajectories"),
        lambda spoil: {"agent": lambda: spoil(HonestAgent())},
        ("policy", "diagnostics", "judge", "ledger"),
    ),
)
HONEST = {
    "environment": HonestEnvironment,
    "oracle": HonestOracle,
    "learner": HonestLearner,
    "agent": HonestAgent,
}
"""The parts of a problem."""
