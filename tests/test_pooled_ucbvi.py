"""Optimistic planning with standard errors that the pairs of a level share."""

import dataclasses
import math

import naive
import numpy as np
import pytest
from strategies import dynamics, latent_labels, row

import fasturl as fu
from fasturl.learners.learner import Task
from fasturl.learners.model import greatest_ahead, least_ahead

pytestmark = pytest.mark.kernel

EPISODES = 120
POLICY_RNG, DYNAMICS_RNG = [1, 2, 3, 4], [5, 6, 7, 8]
LEARNERS = [
    fu.PooledUCBVI(),
    fu.PooledUCBVI(deviations=0.5, novelty=0.0, pooled_visits=1.0),
    fu.PooledUCBVI(deviations=0.0, novelty=2.0, pooled_visits=0.0),
]
LEARNERS += [dataclasses.replace(learner, planning="trajectory") for learner in LEARNERS]


def task_of(sizes, reward_range=(0.0, 1.0), max_return=None, episodes=EPISODES):
    most = sizes[0] * reward_range[1] if max_return is None else max_return
    return Task(*sizes, most, episodes, row(POLICY_RNG), reward_range)


@pytest.mark.parametrize("sizes", [(1, 1, 2), (4, 3, 2), (3, 2, 4)], ids=str)
@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
@pytest.mark.parametrize("believed_after", [None, [3, 1, 0, 5]], ids=str)
def test_learning_equals_the_slow_twin(learner, sizes, believed_after):
    """All values, the final policy, the returns, and the randomness that was used up."""
    world, labels = dynamics(np.random.default_rng(sum(sizes)), *sizes), latent_labels(EPISODES, *sizes[:2])
    if believed_after is not None:
        believed_after = np.array(believed_after[: sizes[0]])
    memory = learner.start(task_of(sizes)._replace(believed_after=believed_after))
    bounds = greatest_ahead(memory.task).tolist(), least_ahead(memory.task).tolist()
    twin = naive.pooled_ucbvi.PooledUCBVI(sizes, *bounds, learner, believed_after)
    dynamics_rng, policy_rng, dynamics_row = DYNAMICS_RNG.copy(), POLICY_RNG.copy(), row(DYNAMICS_RNG)
    ref, comp = np.empty((2, EPISODES))
    naive.slow_learners.learn(twin, world, labels, dynamics_rng, policy_rng, ref)
    memory.learn_episodes(world, labels, dynamics_row, comp)
    np.testing.assert_array_equal(twin.q, memory.tables.q)
    np.testing.assert_array_equal(twin.values, memory.tables.values)
    np.testing.assert_array_equal(ref, comp)
    assert memory.task.policy_rng.tolist() == policy_rng
    final_q = np.array(twin.final_q())
    best = final_q == final_q.max(axis=2, keepdims=True)
    np.testing.assert_array_equal(memory.final_policy(), best / best.sum(axis=2, keepdims=True))


@pytest.mark.parametrize("planning", ["full", "trajectory"])
def test_replaying_trajectories_is_learning_them_in_that_order(planning):
    sizes = 4, 3, 2
    world, labels = dynamics(np.random.default_rng(1), *sizes), latent_labels(EPISODES, 4, 3)
    learned, replayed = (fu.PooledUCBVI(planning=planning).start(task_of(sizes)) for _ in range(2))
    dynamics_row, episodes = row(DYNAMICS_RNG), []
    for e in range(EPISODES):
        episodes.append(learned.play_episodes(world, labels[e : e + 1], dynamics_row))
        learned.update(*(part[0] for part in episodes[-1]))
    replayed.replay(*(np.concatenate(part) for part in zip(*episodes, strict=True)))
    for one, other in zip(learned.tables, replayed.tables, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("planning", ["full", "trajectory"])
def test_a_memory_that_has_grown_knows_what_it_knew(planning):
    """New labels are as good as can be, and the old ones go on as if nothing had happened."""
    sizes = 4, 3, 2
    world, labels = dynamics(np.random.default_rng(2), *sizes), latent_labels(EPISODES, 4, 3)
    memory = fu.PooledUCBVI(planning=planning).start(task_of(sizes)._replace(most_labels=5))
    memory.learn_episodes(world, labels[:60], row(DYNAMICS_RNG), np.empty(60))
    grown = memory.grown(5)
    stream = memory.task.policy_rng.copy()
    memory.learn_episodes(world, labels[60:], row(DYNAMICS_RNG), np.empty(60))
    grown.task.policy_rng[:] = stream
    grown.learn_episodes(world, labels[60:], row(DYNAMICS_RNG), np.empty(60))
    np.testing.assert_array_equal(grown.tables.q[:, :3], memory.tables.q)
    caps = np.tile(memory.tables.caps[:4, None, None], (1, 2, 2))
    np.testing.assert_array_equal(grown.tables.q[:, 3:], caps)


def pulls(memory, *arms_and_rewards):
    for arm, reward in arms_and_rewards:
        memory.update([0, 0], [arm], [reward])
    return memory.tables.q[0, 0]


def test_the_bonus_after_three_pulls_by_hand():
    """Arm 0 paid 1 and 0, arm 1 paid 0. Their variances are 1/4 and 0, so the level's is 2/4 / (1 + 0) = 1/2,
    and the shared ones are (2/4 + 4/2) / 6 and (0 + 4/2) / 5. Two bonuses come on top of the means 1/2 and
    0."""
    memory = fu.PooledUCBVI(deviations=0.1, novelty=0.2, pooled_visits=4).start(task_of((1, 1, 3)))
    q = pulls(memory, (0, 1.0), (0, 0.0), (1, 0.0))
    first = 0.5 + 0.1 * math.sqrt(2.5 / 6 * math.log(1 + 3 / 2) / 2) + 0.2 / 2
    second = 0.1 * math.sqrt(2 / 5 * math.log(1 + 3) / 1) + 0.2
    assert q.tolist() == pytest.approx([first, second, 1.0])


def test_where_nothing_is_random_one_visit_all_but_settles_a_pair():
    memory = fu.PooledUCBVI(novelty=0.1).start(task_of((1, 1, 2)))
    assert pulls(memory, (0, 0.25), (1, 0.0)).tolist() == pytest.approx([0.35, 0.1])


def test_a_pair_is_worth_the_most_until_it_was_tried_as_often_as_it_takes_to_believe():
    memory = fu.PooledUCBVI(novelty=0.1).start(task_of((1, 1, 2))._replace(believed_after=np.array([3])))
    assert pulls(memory, (0, 0.25), (0, 0.25), (1, 0.0)).tolist() == [1.0, 1.0]
    assert pulls(memory, (0, 0.25)).tolist() == pytest.approx([0.25 + 0.1 / 3, 1.0])


@pytest.mark.parametrize(
    "believed_after", [[1], [1, 2], [[1, 2, 3]], [1.5, 2.0, 3.0], [np.nan] * 3, "abc", 3]
)
def test_visits_to_believe_that_a_kernel_could_not_read_are_refused(believed_after):
    with pytest.raises(
        ValueError, match=r"^believed_after must be 3 whole numbers, one for each level, got "
    ):
        fu.PooledUCBVI().start(task_of((3, 2, 2))._replace(believed_after=believed_after))


def test_values_lie_between_the_bounds_whatever_the_rewards():
    """Losses: returns of a step lie in [-3, -1], so the novelty of a first visit is a share of 2."""
    memory = fu.PooledUCBVI(novelty=0.25).start(task_of((1, 1, 2), (-3.0, -1.0)))
    assert memory.tables.q.tolist() == [[[-1.0, -1.0]]]
    assert pulls(memory, (0, -3.0)).tolist() == pytest.approx([-2.5, -1.0])


def test_along_trajectories_a_label_that_looked_settled_is_raised_when_its_turn_comes():
    """Label 0 paid nothing once, and nothing random had been seen: its bonus is the novelty. Then label 1
    pays now this and now that, so that the level has a variance, and label 0 gets its share of it although
    nobody goes there."""
    task = task_of((1, 2, 1))
    memory = fu.PooledUCBVI(novelty=0.1, planning="trajectory").start(task)
    memory.update([0, 0], [0], [0.0])
    assert memory.tables.q[0, 0].tolist() == pytest.approx([0.1])
    for reward in (1.0, 0.0, 1.0, 0.0):
        memory.update([1, 0], [0], [reward])
    pooled = 4 * 0.25 / 3
    raised = 1.7 * math.sqrt(4 * pooled / 5 * math.log(2)) + 0.1
    assert memory.tables.q[0, 0].tolist() == pytest.approx([raised])


def test_what_was_never_tried_is_not_part_of_the_final_policy():
    memory = fu.PooledUCBVI().start(task_of((1, 2, 2)))
    pulls(memory, (1, 0.5))
    assert memory.final_policy().tolist() == [[[0.0, 1.0], [0.5, 0.5]]]


@pytest.mark.parametrize("field", ["deviations", "novelty", "pooled_visits"])
@pytest.mark.parametrize("value", [-1, 1e300])
def test_settings_outside_their_range_are_refused(field, value):
    with pytest.raises(ValueError, match=rf"^{field} must be a number in \[0, 1e\+50\], got "):
        fu.PooledUCBVI(**{field: value})
