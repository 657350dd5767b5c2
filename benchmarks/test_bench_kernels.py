"""Each kernel beside its reference of tests/naive: the same arguments, the same work."""

import naive
import numpy as np
import pytest
from conftest import Work

import fasturl as fu
from fasturl._kernels import dynamics, planning, rng, tabular
from fasturl.agents import latent_labels
from fasturl.learners import Task

HORIZON, EPISODES = 20, 5_000
LUCK, CHOICE = [5, 6, 7, 8], [1, 2, 3, 4]
MODEL = fu.LockBernoulli(HORIZON, 0.2).instance(0)
LABELS = latent_labels(EPISODES, HORIZON, 3)


def block(dtype):
    return lambda stream: (stream(LUCK), np.empty(100_000, dtype))


def lock(stream):
    return stream(LUCK), 0.2, np.empty(4, np.int64), np.empty((1_000, 3, 4, 3))


def learning(learner):
    def arguments(stream):
        memory = learner.start(Task(HORIZON, 3, 4, 1.0, EPISODES, None))
        schedules = memory.rates, memory.bonuses, memory.cap, memory.epsilons
        return MODEL.dynamics, LABELS, memory.q, memory.visits, *schedules, stream(LUCK), stream(CHOICE), np.empty(EPISODES)

    return arguments


def episodes(stream):
    record = np.empty((EPISODES, HORIZON + 1), np.int64), np.empty((EPISODES, HORIZON), np.int64), np.empty((EPISODES, HORIZON))
    return MODEL.dynamics, LABELS, np.zeros((HORIZON, 3, 4)), 0.0, stream(LUCK), stream(CHOICE), *record


def trajectory(stream):
    """A long one, so that the cost of the call itself does not count."""
    horizon = 5_000
    labels, actions = np.arange(horizon + 1) % 3, np.arange(horizon) % 4
    tables = np.ones((horizon, 3, 4)), np.zeros((horizon, 3, 4), np.int64)
    return *tables, labels, actions, np.zeros(horizon), np.full(2, 0.3), np.zeros(2), 1.0


def every_row(stream):
    return np.zeros((2_000, 3, 4)), 0.1, stream(CHOICE), np.empty((2_000, 3), np.int64)


def plan(*policy):
    model = fu.LockBernoulli(1_000, 0.2).instance(0)
    return lambda stream: (model.transitions, model.rewards, *policy, np.empty((1_000, 3, 4)), np.empty((1_001, 3)))


WORK = {
    "rng: block of bits": Work(rng.fill_bits, naive.fill_bits, block(np.uint64), 100_000),
    "rng: block of uniforms": Work(rng.fill_uniforms, naive.fill_uniforms, block(np.float64), 100_000),
    "dynamics: lock": Work(dynamics.draw_lock, naive.draw_lock, lock, 1_000),
    "tabular: learn, OracleQ": Work(tabular.learn, naive.learn, learning(fu.OracleQ()), EPISODES * HORIZON),
    "tabular: learn, QLearning": Work(tabular.learn, naive.learn, learning(fu.QLearning()), EPISODES * HORIZON),
    "tabular: rollout": Work(tabular.rollout, naive.rollout, episodes, EPISODES * HORIZON),
    "tabular: update of a trajectory": Work(tabular.update_trajectory, naive.update_trajectory, trajectory, 5_000),
    "tabular: policy of an episode": Work(tabular.draw_policy, naive.draw_policy, every_row, 6_000),
    "planning: optimal values": Work(planning.optimal_q, naive.optimal_q, plan(), 12_000),
    "planning: policy values": Work(planning.policy_q, naive.policy_q, plan(np.full((1_000, 3, 4), 0.25)), 12_000),
}

MUST_REACH = {"tabular: learn, OracleQ": 500}


@pytest.mark.parametrize("name", WORK)
def test_reference(benchmark, reference_rates, name):
    WORK[name].time_reference(benchmark, reference_rates, name)


@pytest.mark.parametrize("name", WORK)
def test_kernel(benchmark, reference_rates, name):
    WORK[name].time_kernel(benchmark, reference_rates, name, MUST_REACH.get(name))
