"""Learners against each other: a stranger's copy of OracleQ beside ours, and replay beside learning."""

import time

import numpy as np
import pytest
from conftest import report
from own_oracleq import OwnOracleQ
from strategies import latent_labels

import fasturl as fu
from fasturl.learners.learner import Task
from fasturl.learners.playing import player_of

HORIZON, EPISODES = 20, 50_000
MODEL = fu.LockBernoulli(HORIZON, 0.2).instance(0)
LABELS = latent_labels(EPISODES, HORIZON, 3)
ROUNDS = 40


def fresh(learner):
    return learner.start(Task(HORIZON, 3, 4, 1.0, EPISODES, np.array([1, 2, 3, 4], np.uint64)))


def learn(memory):
    stream = np.array([5, 6, 7, 8], np.uint64)
    memory.learn_episodes(MODEL.dynamics, LABELS, stream, np.empty(EPISODES))


def seconds(work, argument):
    begin = time.perf_counter()
    work(argument)
    return time.perf_counter() - begin


def in_turns(first, second):
    """The best time of each of two pieces of work, (function, maker of its argument), taken in turns: what
    else the machine does disturbs both."""
    times = [[seconds(work, argument()) for work, argument in (first, second)] for _ in range(ROUNDS + 1)]
    return np.min(times[1:], axis=0)  # the first round compiles


@pytest.mark.parametrize("ours", [fu.OracleQ()], ids=["OracleQ"])
def test_a_copy_by_a_stranger(benchmark, ours):
    """The same million steps; indices and actions of the copy are checked."""
    benchmark.group = "learners: a stranger's copy of OracleQ"
    own, copied = benchmark.pedantic(
        in_turns, args=((learn, lambda: fresh(ours)), (learn, lambda: fresh(OwnOracleQ()))), rounds=1
    )
    steps = HORIZON * EPISODES
    report(benchmark, steps_per_second=steps / copied, ratio=own / copied, must_reach=0.9)
    assert own / copied >= 0.9


@pytest.mark.parametrize(
    "learner", [fu.OracleQ(), fu.QLearning(), OwnOracleQ()], ids=lambda one: type(one).__name__
)
def test_replay(benchmark, learner):
    """A million steps from their history, beside learning them while they are played."""
    benchmark.group = "learners: replay of a million steps"
    trajectories = player_of(fresh(learner)).explore(
        MODEL.dynamics, LABELS, np.array([5, 6, 7, 8], np.uint64)
    )
    learned, replayed = benchmark.pedantic(
        in_turns,
        args=(
            (learn, lambda: fresh(learner)),
            (lambda memory: memory.replay(*trajectories), lambda: fresh(learner)),
        ),
        rounds=1,
    )
    report(benchmark, replay_to_learning=replayed / learned, at_most=1.3)
    assert replayed / learned <= 1.3
