"""Learners that draw a sample before each episode, beside their slow twins: the same draws, the same bits."""

import dataclasses

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from naive import sampling
from naive.opsrl import OPSRL as NaiveOPSRL
from naive.psrl import PSRL as NaivePSRL
from naive.rlsvi import RLSVI as NaiveRLSVI
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

import fasturl as fu
from fasturl.learners.learner import Task

pytestmark = pytest.mark.kernel

EPISODES = 12


LEARNERS = {
    "psrl": (fu.PSRL(), NaivePSRL),
    "psrl-small-priors": (fu.PSRL(transition_prior=None, reward_alpha=0.1, reward_beta=0.5), NaivePSRL),
    "opsrl": (fu.OPSRL(), NaiveOPSRL),
    "opsrl-three-samples": (fu.OPSRL(samples=3, n0=2.0, r0=0.8), NaiveOPSRL),
    "opsrl-experiments": (fu.OPSRL(constants="experiments"), NaiveOPSRL),
    "opsrl-theorem": (fu.OPSRL(constants="theorem", samples=2), NaiveOPSRL),
    "opsrl-inflated": (fu.OPSRL(samples=3, n0=0.5, r0=2.0, kappa=2.0, shared_optimism=False), NaiveOPSRL),
    "opsrl-no-optimism": (fu.OPSRL(samples=1, n0=0.0, shared_optimism=False), NaiveOPSRL),
    "rlsvi": (fu.RLSVI(), NaiveRLSVI),
    "rlsvi-wide": (fu.RLSVI(sigma=2.0, ridge=0.1), NaiveRLSVI),
}
IN_TURN = {
    f"{name}-trajectory": (dataclasses.replace(learner, planning="trajectory"), twin)
    for name, (learner, twin) in LEARNERS.items()
}
EVERY_LEARNER = LEARNERS | IN_TURN
NAMES = st.sampled_from(sorted(EVERY_LEARNER))
RANGES = st.sampled_from([((0.0, 1.0), 1.0), ((0.0, 1.0), 5.0), ((-1.0, 2.0), 10.0)])
N_LABELS = st.integers(1, 4)


def task_of(sizes, n_labels, reward_range, max_return, policy_rng):
    horizon, _, n_actions = sizes
    return Task(horizon, n_labels, n_actions, max_return, EPISODES, policy_rng, reward_range)


def random_labels(draw, sizes, n_labels):
    """Labels that change from episode to episode, as a decoder that errs gives them."""
    return draw.integers(0, n_labels, (EPISODES, sizes[0] + 1, sizes[1])).astype(np.uint8)


@hypothesis.given(NAMES, DRAWS, SIZES, N_LABELS, RANGES, GENERATORS, GENERATORS)
def test_episodes_equal_those_of_the_twin(name, draw, sizes, n_labels, limits, dynamics_rng, policy_rng):
    learner, twin = EVERY_LEARNER[name]
    tables, labels = dynamics(draw, *sizes), random_labels(draw, sizes, n_labels)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref = twin(learner, task_of(sizes, n_labels, *limits, policy_rng))
    comp = learner.start(task_of(sizes, n_labels, *limits, policy_row))
    ref_returns, comp_returns = np.empty((2, EPISODES))
    sampling.learn(ref, tables, labels, dynamics_rng, policy_rng, ref_returns)
    comp.learn_episodes(tables, labels, dynamics_row, comp_returns)
    np.testing.assert_array_equal(ref_returns, comp_returns)
    np.testing.assert_array_equal(ref.q, comp.tables.q)
    np.testing.assert_array_equal(ref.values, comp.tables.values)
    assert policy_row.tolist() == policy_rng
    chances = np.zeros_like(comp.tables.q)
    for (h, x), actions in ref.best_actions().items():
        chances[h, x, actions] = 1 / len(actions)
    np.testing.assert_array_equal(chances, comp.final_policy())


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_replay_is_learning_in_that_order(name):
    """Also in blocks, and after a policy was drawn: playing leaves what was learned as it is."""
    draw, sizes = np.random.default_rng(5), (4, 3, 2)
    task = task_of(sizes, 3, (0.0, 1.0), 4.0, row([1, 2, 3, 4]))
    trajectories = (
        draw.integers(3, size=(EPISODES, 5)),
        draw.integers(2, size=(EPISODES, 4)),
        draw.random((EPISODES, 4)),
    )
    whole, single = (LEARNERS[name][0].start(task._replace(policy_rng=row([1, 2, 3, 4]))) for _ in range(2))
    whole.replay(*trajectories)
    for one in zip(*trajectories, strict=True):
        single.policy()
        single.final_policy()
        single.update(*one)
    np.testing.assert_array_equal(whole.tables.visits, single.tables.visits)
    np.testing.assert_array_equal(whole.final_policy(), single.final_policy())
    for memory in (whole, single):
        memory.task.policy_rng[:] = [5, 6, 7, 8]
    np.testing.assert_array_equal(whole.policy(), single.policy())
    np.testing.assert_array_equal(whole.tables.q, single.tables.q)


@pytest.mark.parametrize("name", sorted(IN_TURN))
def test_along_trajectories_replay_is_learning_in_that_order_and_playing_changes_nothing(name):
    """Samples are drawn when an episode is learned from, and kept: acting on them draws ties alone."""
    draw = np.random.default_rng(6)
    task = task_of((4, 3, 2), 3, (0.0, 1.0), 4.0, row([1, 2, 3, 4]))
    trajectories = draw.integers(3, size=(12, 5)), draw.integers(2, size=(12, 4)), draw.random((12, 4))
    whole, single = (IN_TURN[name][0].start(task._replace(policy_rng=row([1, 2, 3, 4]))) for _ in range(2))
    whole.replay(*trajectories)
    for one in zip(*trajectories, strict=True):
        stream = single.task.policy_rng.copy()
        single.policy()
        single.task.policy_rng[:] = stream
        single.update(*one)
    for first, second in zip(whole.tables, single.tables, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", sorted(IN_TURN))
def test_along_trajectories_a_label_keeps_its_sample_until_it_is_met_or_has_its_turn(name):
    """Three labels of one level were met. Label 0 is met again and again: it is drawn each time, and so is
    the next of the three; the third keeps what it has."""
    task = task_of((1, 3, 2), 3, (0.0, 1.0), 1.0, row([1, 2, 3, 4]))
    memory = IN_TURN[name][0].start(task._replace(episodes=18))
    for label in (0, 1, 2):
        for action in (0, 1, 0, 1):
            memory.update([label, 0], [action], [0.5])
    for turn in range(6):
        before = memory.tables.q[0].copy()
        whose = int(memory.tables.met_labels[0, memory.tables.turn[0]])
        memory.update([0, 0], [turn % 2], [0.5])
        drawn = {int(label) for label in np.flatnonzero((memory.tables.q[0] != before).any(axis=1))}
        assert drawn <= {0, whose}
        assert 0 in drawn
        assert whose in drawn


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_nothing_is_drawn_from_but_the_policy_stream_and_learning_draws_nothing(name):
    task = task_of((3, 2, 2), 2, (0.0, 1.0), 3.0, row([1, 2, 3, 4]))
    memory = LEARNERS[name][0].start(task)
    memory.update([0, 1, 0, 1], [0, 1, 0], [0.0, 1.0, 0.5])
    memory.final_policy()
    assert task.policy_rng.tolist() == [1, 2, 3, 4]
    memory.policy()
    assert task.policy_rng.tolist() != [1, 2, 3, 4]


@pytest.mark.parametrize("name", sorted(EVERY_LEARNER))
def test_rewards_outside_of_their_declared_range_and_a_range_of_one_point_do_no_harm(name):
    for reward_range in ((0.0, 1.0), (0.5, 0.5)):
        memory = EVERY_LEARNER[name][0].start(task_of((2, 2, 2), 2, reward_range, 2.0, row([1, 2, 3, 4])))
        memory.update([0, 1, 0], [0, 1], [-3.0, 7.0])
        memory.policy()
        assert np.isfinite(memory.tables.q).all()
        np.testing.assert_allclose(memory.final_policy().sum(axis=2), 1.0)
