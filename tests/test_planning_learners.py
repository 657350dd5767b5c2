"""UCBVI, R-MAX and UCB-Bernstein beside their slow twins of tests/naive, bit for bit, on random MDPs."""

import naive
import numpy as np
import pytest
from strategies import dynamics, latent_labels, row

import fasturl as fu
from fasturl.learners.bounds import return_range
from fasturl.learners.compiled import CompiledMemory
from fasturl.learners.learner import Task
from fasturl.learners.model import greatest_ahead

pytestmark = pytest.mark.kernel

EPISODES = 120
SIZES = [(1, 1, 2), (4, 3, 2), (3, 2, 4)]
"""Horizon, labels, actions."""
POLICY_RNG, DYNAMICS_RNG = [1, 2, 3, 4], [5, 6, 7, 8]

UCBVIS = [
    fu.UCBVI(bonus=bonus, constants=constants, scale=scale, planning=planning, replan=replan)
    for bonus in ("hoeffding", "bernstein")
    for constants, scale in (("paper", None), ("paper", 1e-3), ("practical", None))
    for planning in ("full", "trajectory")
    for replan in ("episode", "doubling")
]
RMAXES = [
    fu.RMax(known_after, model, planning)
    for known_after in (1, 3)
    for model in ("frozen", "learning")
    for planning in ("full", "trajectory")
]
UCBQS = [
    fu.UCBQBernstein(constants, c1, c2)
    for constants, c1, c2 in (("paper", 1.0, 1.0), ("paper", 1e-4, 1e-2), ("practical", 0.5, 1.0))
]
LEARNERS = [*UCBVIS, *RMAXES, *UCBQS]


def task_of(sizes, episodes=EPISODES, reward_range=(0.0, 1.0), max_return=None):
    horizon, n_labels, n_actions = sizes
    most = horizon * reward_range[1] if max_return is None else max_return
    return Task(horizon, n_labels, n_actions, most, episodes, row(POLICY_RNG), reward_range)


def twin_of(learner, task):
    sizes, caps = (task.horizon, task.n_labels, task.n_actions), greatest_ahead(task).tolist()
    if isinstance(learner, fu.RMax):
        return naive.rmax.RMax(sizes, caps, learner)
    kind = naive.ucbvi.UCBVI if isinstance(learner, fu.UCBVI) else naive.ucbq_bernstein.UCBQBernstein
    return kind(sizes, caps, return_range(task), task.episodes, learner)


def assert_same_tables(first: CompiledMemory, second: CompiledMemory):
    for name, one, other in zip(first.tables._fields, first.tables, second.tables, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_learning_equals_the_slow_twin(learner, sizes):
    """All values, the returns, and the randomness that was used up. The twin backs up everything whenever it
    plans, so this also holds that what is left out of a plan had not changed."""
    horizon, n_labels, _ = sizes
    draw = np.random.default_rng(sum(sizes))
    world, labels = dynamics(draw, *sizes), latent_labels(EPISODES, horizon, n_labels)
    memory = learner.start(task_of(sizes))
    twin, policy_rng, dynamics_rng = twin_of(learner, memory.task), POLICY_RNG.copy(), DYNAMICS_RNG.copy()
    dynamics_row, (ref, comp) = row(DYNAMICS_RNG), np.empty((2, EPISODES))
    naive.slow_learners.learn(twin, world, labels, dynamics_rng, policy_rng, ref)
    memory.learn_episodes(world, labels, dynamics_row, comp)
    np.testing.assert_array_equal(twin.q, memory.tables.q)
    np.testing.assert_array_equal(np.array(twin.values)[: len(memory.tables.values)], memory.tables.values)
    np.testing.assert_array_equal(ref, comp)
    assert memory.task.policy_rng.tolist() == policy_rng
    assert dynamics_row.tolist() == dynamics_rng


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_replaying_trajectories_is_learning_them_in_that_order(learner):
    sizes = 4, 3, 2
    world, labels = dynamics(np.random.default_rng(1), *sizes), latent_labels(EPISODES, 4, 3)
    learned, stepwise, replayed = (learner.start(task_of(sizes)) for _ in range(3))
    learned.learn_episodes(world, labels, row(DYNAMICS_RNG), np.empty(EPISODES))
    dynamics_row, episodes = row(DYNAMICS_RNG), []
    for e in range(EPISODES):
        states, actions, rewards = stepwise.play_episodes(world, labels[e : e + 1], dynamics_row)
        stepwise.update(states[0], actions[0], rewards[0])
        episodes.append((states[0], actions[0], rewards[0]))
    replayed.replay(*(np.array(part) for part in zip(*episodes, strict=True)))
    assert_same_tables(learned, stepwise)
    assert_same_tables(learned, replayed)


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_memory_that_has_grown_knows_what_it_knew(learner):
    """New labels are as good as can be, and the old ones go on as if nothing had happened."""
    sizes = 4, 3, 2
    world, labels = dynamics(np.random.default_rng(2), *sizes), latent_labels(EPISODES, 4, 3)
    memory = learner.start(task_of(sizes)._replace(most_labels=5))
    memory.learn_episodes(world, labels[:60], row(DYNAMICS_RNG), np.empty(60))
    grown = memory.grown(5)
    np.testing.assert_array_equal(grown.tables.q[:, :3], memory.tables.q)
    caps = np.tile(memory.tables.caps[:4, None, None], (1, 2, 2))
    np.testing.assert_array_equal(grown.tables.q[:, 3:], caps)
    policy_row = memory.task.policy_rng.copy()
    memory.learn_episodes(world, labels[60:], row(DYNAMICS_RNG), np.empty(60))
    grown.task.policy_rng[:] = policy_row
    grown.learn_episodes(world, labels[60:], row(DYNAMICS_RNG), np.empty(60))
    np.testing.assert_array_equal(grown.tables.q[:, :3], memory.tables.q)


@pytest.mark.parametrize("learner", [fu.UCBVI(), fu.UCBVI(constants="paper"), *UCBQS], ids=repr)
def test_other_units_of_reward_change_nothing(learner):
    """Rewards of 0 and 4 instead of 0 and 1: every value is four times what it was, exactly."""
    sizes = 4, 3, 2
    world = dynamics(np.random.default_rng(3), *sizes)
    one = learner.start(task_of(sizes))
    states, actions, rewards = one.play_episodes(world, latent_labels(EPISODES, 4, 3), row(DYNAMICS_RNG))
    four = learner.start(task_of(sizes, reward_range=(0.0, 4.0)))
    one.replay(states, actions, rewards)
    four.replay(states, actions, 4 * rewards)
    np.testing.assert_allclose(four.tables.q, 4 * one.tables.q, rtol=1e-12)
