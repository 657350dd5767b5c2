"""PSRL, OPSRL and RLSVI: against their twins in plain Python, and by the length of the horizon."""

import time

import numpy as np
import pytest
from conftest import best_seconds, report, row
from naive import sampling
from naive.opsrl import OPSRL as NaiveOPSRL
from naive.psrl import PSRL as NaivePSRL
from naive.rlsvi import RLSVI as NaiveRLSVI

import fasturl as fu
from fasturl.learners.learner import Task

LEARNERS = {
    "psrl": (fu.PSRL(), NaivePSRL),
    "opsrl": (fu.OPSRL(), NaiveOPSRL),
    "opsrl, 8 samples": (fu.OPSRL(constants="experiments"), NaiveOPSRL),
    "rlsvi": (fu.RLSVI(), NaiveRLSVI),
}
HORIZON = 20
STEPS = 40_000
EPISODES = {"twin": 20, "compiled": 1_000}
HISTORY = 400
"""Trajectories that were learned from before the time is taken: 33 for each label and action of a level."""


def task_of(horizon, policy_rng):
    return Task(horizon, 3, 4, 1.0, 10**9, policy_rng)


def lock(horizon, episodes):
    """The lock of seed 0, and labels of who sees its latent states."""
    labels = np.tile(np.arange(3, dtype=np.uint8), (episodes, horizon + 1, 1))
    return fu.LockBernoulli(horizon, 0.2).instance(0).dynamics, labels


def history(horizon):
    """Random trajectories: labels, actions, rewards. Every action was taken at every label of every level, so
    that none of the draws of an episode is spared, however long the horizon is."""
    draw = np.random.default_rng(0)
    labels = draw.integers(3, size=(HISTORY, horizon + 1))
    actions = draw.integers(4, size=(HISTORY, horizon))
    rewards = np.zeros((HISTORY, horizon))
    rewards[:, -1] = draw.integers(2, size=HISTORY)
    return labels, actions, rewards


def compiled_episodes(learner, horizon, episodes):
    """A call that plays and learns from so many episodes, after the history."""
    dynamics, labels = lock(horizon, episodes)
    memory, dynamics_rng = learner.start(task_of(horizon, row([1, 2, 3, 4]))), row([5, 6, 7, 8])
    memory.replay(*history(horizon))
    assert (memory.tables.visits > 0).all()
    returns = np.empty(episodes)
    return lambda: memory.learn_episodes(dynamics, labels, dynamics_rng, returns)


@pytest.mark.parametrize("name", LEARNERS)
def test_twin(benchmark, reference_rates, name):
    learner, twin = LEARNERS[name]
    episodes = EPISODES["twin"]
    dynamics, labels = lock(HORIZON, episodes)
    memory = twin(learner, task_of(HORIZON, None))
    for labels_met, actions, rewards in zip(*history(HORIZON), strict=True):
        for h in range(HORIZON):
            memory.take_step(
                h, int(labels_met[h]), int(actions[h]), float(rewards[h]), int(labels_met[h + 1])
            )
    dynamics_rng, policy_rng, returns = [5, 6, 7, 8], [1, 2, 3, 4], np.empty(episodes)

    def learn():
        sampling.learn(memory, dynamics, labels, dynamics_rng, policy_rng, returns)

    benchmark.group = f"sampling learners: {name}, horizon {HORIZON}"
    benchmark.pedantic(learn, rounds=2)
    if seconds := best_seconds(benchmark):
        reference_rates[benchmark.group] = episodes * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[benchmark.group])


@pytest.mark.parametrize("name", LEARNERS)
def test_compiled(benchmark, reference_rates, name):
    benchmark.group = f"sampling learners: {name}, horizon {HORIZON}"
    episodes = EPISODES["compiled"]
    learn = compiled_episodes(LEARNERS[name][0], HORIZON, episodes)
    benchmark.pedantic(learn, rounds=10, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        rate = episodes * HORIZON / seconds
        report(benchmark, steps_per_second=rate)
        if benchmark.group in reference_rates:
            ratio = rate / reference_rates[benchmark.group]
            report(benchmark, ratio=ratio, must_reach=100)
            assert ratio >= 100


@pytest.mark.parametrize("name", LEARNERS)
def test_cost_of_a_level(benchmark, name):
    """An episode of ten times the levels takes at most twelve times as long.

    The two horizons take turns, and their time is that of the processor: what else the machine does meanwhile
    slows one of two long measurements more than the other.
    """
    benchmark.group = "sampling learners: by horizon"
    calls = {h: compiled_episodes(LEARNERS[name][0], h, STEPS // h) for h in (20, 200)}
    seconds = {h: [] for h in calls}

    def take_turns():
        for horizon, learn in calls.items():
            before = time.process_time()
            learn()
            seconds[horizon].append(time.process_time() - before)

    benchmark.pedantic(take_turns, rounds=10, warmup_rounds=1)
    if best_seconds(benchmark):
        short, long = (min(seconds[h]) / STEPS for h in calls)
        report(
            benchmark, nanoseconds_per_level=long * 1e9, growth_per_level=long / short, must_not_exceed=1.2
        )
        assert long / short <= 1.2
