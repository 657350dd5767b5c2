"""Learners beside their slow twins of tests/naive, UCBVI beside NumPy, and plans as horizons grow."""

import naive
import numpy as np
import pytest
from conftest import best_seconds, report, row
from strategies import latent_labels

import fasturl as fu
from fasturl.learners.bounds import return_range
from fasturl.learners.learner import Task
from fasturl.learners.model import greatest_ahead, least_ahead

HORIZON = 20
POLICY_RNG, DYNAMICS_RNG = [1, 2, 3, 4], [5, 6, 7, 8]
LEARNERS = {
    "PooledUCBVI": fu.PooledUCBVI(),
    "UCBVI": fu.UCBVI(),
    "UCBVI along trajectories": fu.UCBVI(planning="trajectory"),
    "UCBVI when counts double": fu.UCBVI(replan="doubling"),
    "R-MAX": fu.RMax(),
    "UCB-Bernstein": fu.UCBQBernstein(),
}
TWIN_EPISODES, EPISODES = 500, 5_000


def lock_task(horizon, episodes):
    return Task(horizon, 3, 4, 1.0, episodes, row(POLICY_RNG))


def lock_dynamics(horizon):
    return fu.LockBernoulli(horizon, 0.2).instance(0).dynamics


def twin_of(learner):
    """The slow learner that does the same in so many episodes as the compiled one is told of."""
    task = lock_task(HORIZON, EPISODES)
    sizes, caps = (HORIZON, 3, 4), greatest_ahead(task).tolist()
    if isinstance(learner, fu.RMax):
        return naive.rmax.RMax(sizes, caps, learner)
    if isinstance(learner, fu.PooledUCBVI):
        return naive.pooled_ucbvi.PooledUCBVI(sizes, caps, least_ahead(task).tolist(), learner)
    kind = naive.ucbvi.UCBVI if isinstance(learner, fu.UCBVI) else naive.ucbq_bernstein.UCBQBernstein
    return kind(sizes, caps, return_range(task), EPISODES, learner)


def arguments_of_compiled(learner, horizon, episodes):
    memory = learner.start(lock_task(horizon, episodes))
    labels = latent_labels(episodes, horizon, 3)
    return memory, (lock_dynamics(horizon), labels, row(DYNAMICS_RNG), np.empty(episodes))


def time_compiled(benchmark, learner, horizon, episodes, rounds=10):
    """Seconds of the fastest round of learning from scratch."""

    def fresh():
        memory, arguments = arguments_of_compiled(learner, horizon, episodes)
        return (memory, *arguments), {}

    def learn(memory, *arguments):
        memory.learn_episodes(*arguments)

    benchmark.pedantic(learn, setup=fresh, rounds=rounds, warmup_rounds=1)
    return best_seconds(benchmark)


@pytest.mark.parametrize("name", LEARNERS)
def test_slow_twin(benchmark, reference_rates, name):
    benchmark.group = f"learner: {name}"

    def fresh():
        labels = latent_labels(TWIN_EPISODES, HORIZON, 3)
        rngs = DYNAMICS_RNG.copy(), POLICY_RNG.copy()
        return (twin_of(LEARNERS[name]), lock_dynamics(HORIZON), labels, *rngs, np.empty(TWIN_EPISODES)), {}

    benchmark.pedantic(naive.slow_learners.learn, setup=fresh, rounds=2)
    if seconds := best_seconds(benchmark):
        reference_rates[benchmark.group] = TWIN_EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[benchmark.group])


@pytest.mark.parametrize("name", LEARNERS)
def test_compiled(benchmark, reference_rates, name):
    """The same first episodes as the twin's, and as many more: where plans are made when something becomes
    known there are fewer of them later."""
    benchmark.group = f"learner: {name}"
    if seconds := time_compiled(benchmark, LEARNERS[name], HORIZON, TWIN_EPISODES):
        rate = TWIN_EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=rate)
        if benchmark.group in reference_rates:
            ratio = rate / reference_rates[benchmark.group]
            report(benchmark, ratio=ratio, must_reach=100)
            assert ratio >= 100


class NumpyUCBVI:
    """UCBVI with the practical Bernstein bonus, vectorised over states and actions, as one writes it with
    NumPy."""

    def __init__(self, horizon, n_states, n_actions, episodes):
        self.horizon = horizon
        shape = horizon, n_states, n_actions
        self.visits, self.rewards, self.squares = np.zeros((3, *shape))
        self.transitions = np.zeros((*shape, n_states))
        self.q, self.values = np.ones(shape), np.ones((horizon + 1, n_states))
        self.values[-1] = 0.0
        self.log = np.log(5 * n_states * n_actions * episodes * horizon / 0.05)

    def learn(self, labels, actions, rewards):
        for h, (x, a, r) in enumerate(zip(labels, actions, rewards, strict=False)):
            self.visits[h, x, a] += 1
            self.rewards[h, x, a] += r
            self.squares[h, x, a] += r * r
            self.transitions[h, x, a, labels[h + 1]] += 1
        for h in reversed(range(self.horizon)):
            n = np.maximum(self.visits[h], 1.0)
            p, r, values = self.transitions[h] / n[..., None], self.rewards[h] / n, self.values[h + 1]
            mean = p @ values
            spread = np.sqrt(np.maximum(p @ values**2 - mean**2, 0.0))
            spread += np.sqrt(np.maximum(self.squares[h] / n - r**2, 0.0))
            bonus = 0.3 * (np.sqrt(2 * self.log / n) * spread + self.log / (self.horizon * n))
            self.q[h] = np.where(self.visits[h] > 0, np.minimum(r + mean + bonus, 1.0), 1.0)
            self.values[h] = self.q[h].max(axis=1)


NUMPY_GROUP = "UCBVI: a full plan after every episode"


def test_ucbvi_in_numpy(benchmark, reference_rates):
    """The time of its planning alone: it is handed finished trajectories."""
    benchmark.group = NUMPY_GROUP
    memory, (dynamics, labels, dynamics_rng, _) = arguments_of_compiled(fu.UCBVI(), HORIZON, TWIN_EPISODES)
    states, actions, rewards = memory.play_episodes(dynamics, labels, dynamics_rng)

    def learn():
        learner = NumpyUCBVI(HORIZON, 3, 4, TWIN_EPISODES)
        for e in range(TWIN_EPISODES):
            learner.learn(states[e], actions[e], rewards[e])

    benchmark.pedantic(learn, rounds=2)
    if seconds := best_seconds(benchmark):
        reference_rates[NUMPY_GROUP] = TWIN_EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=reference_rates[NUMPY_GROUP])


def test_ucbvi_compiled(benchmark, reference_rates):
    """Playing included."""
    benchmark.group = NUMPY_GROUP
    if seconds := time_compiled(benchmark, fu.UCBVI(), HORIZON, TWIN_EPISODES):
        rate = TWIN_EPISODES * HORIZON / seconds
        report(benchmark, steps_per_second=rate)
        if NUMPY_GROUP in reference_rates:
            ratio = rate / reference_rates[NUMPY_GROUP]
            report(benchmark, ratio=ratio, must_reach=50)
            assert ratio >= 50


PLANNERS = {
    "UCBVI": fu.UCBVI(),
    "UCBVI along trajectories": fu.UCBVI(planning="trajectory"),
    "R-MAX along trajectories": fu.RMax(planning="trajectory"),
}
"""Those that plan after every episode."""
PLANNED_STEPS = 40_000


def steady_replay(learner, horizon, episodes):
    """A memory that has tried everything, and trajectories that it can go on learning from, drawn at random
    so that no label is rare."""
    draw = np.random.default_rng(0)
    task = lock_task(horizon, 2 * episodes)._replace(max_return=float(horizon))  # so that no value is capped
    memory = learner.start(task)
    trajectories = (
        draw.integers(3, size=(episodes, horizon + 1)),
        draw.integers(4, size=(episodes, horizon)),
        draw.random((episodes, horizon)),
    )
    memory.replay(*trajectories)
    return (memory, *trajectories), {}


@pytest.mark.parametrize("horizon", [20, 200])
@pytest.mark.parametrize("name", PLANNERS)
def test_growth_of_planning_with_the_horizon(benchmark, reference_rates, name, horizon):
    """Cost of an episode and level, when every label is met and every value changes."""
    benchmark.group = f"planning: {name}"
    episodes = PLANNED_STEPS // horizon
    benchmark.pedantic(
        lambda memory, *trajectories: memory.replay(*trajectories),
        setup=lambda: steady_replay(PLANNERS[name], horizon, episodes),
        rounds=10,
        warmup_rounds=1,
    )
    if seconds := best_seconds(benchmark):
        rate = reference_rates[name, horizon] = PLANNED_STEPS / seconds
        report(benchmark, steps_per_second=rate)
        if (name, 20) in reference_rates and horizon == 200:
            growth = reference_rates[name, 20] / rate
            report(benchmark, ratio_to_horizon_20=growth, must_reach=1.2)
            assert growth <= 1.2
