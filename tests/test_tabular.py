"""Action policy_rng, updates and whole training loops over label tables."""

import copy
from types import SimpleNamespace

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels import tabular
from fasturl._kernels.records import ActionValues, LearningRules, Trajectories

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below; the seeds are fixed."""

EPISODES = 6
EPSILONS = st.sampled_from([0.0, 0.3, 1.0])
CAPS = st.sampled_from([1.0, np.inf])


def tables(draw, sizes, n_labels, cap=1.0):
    """Arguments of the learning loops: values with many ties, labels that change from episode to episode."""
    horizon, n_states, n_actions = sizes
    return SimpleNamespace(
        dynamics=dynamics(draw, *sizes),
        labels=draw.integers(0, n_labels, (EPISODES, horizon + 1, n_states)).astype(np.uint8),
        values=ActionValues(
            draw.integers(0, 3, (horizon, n_labels, n_actions)) / 2,
            np.zeros((horizon, n_labels, n_actions), np.int64),
        ),
        rules=LearningRules(
            draw.random(EPISODES + 1),
            draw.random(EPISODES + 1) / 10,
            cap,
            draw.choice([0.0, 0.3, 1.0], EPISODES),
        ),
    )


def blank(horizon):
    """Trajectories full of rubbish."""
    return Trajectories(
        np.full((EPISODES, horizon + 1), -1),
        np.full((EPISODES, horizon), -1),
        np.full((EPISODES, horizon), np.nan),
    )


def assert_same(ref, comp):
    """Records whose arrays are equal."""
    for expected, computed in zip(ref, comp, strict=True):
        np.testing.assert_array_equal(expected, computed)


N_LABELS = st.integers(1, 4)
SHARES = st.floats(0.001, 1.0)


@hypothesis.given(st.integers(1, 200), SHARES, SHARES, st.integers(1, 20))
def test_schedules_equal_their_references(horizon, first, second, episodes):
    """`first` and `second` are a rate and a confidence, a confidence and a chance of failure, a share of the
    episodes."""
    ref, comp = np.full((2, 5, episodes + 1), np.nan)
    for module, (rates, bonuses, jin_rates, jin_bonuses, epsilons) in ((naive, ref), (tabular, comp)):
        module.constant_schedule(horizon, first, second, rates, bonuses)
        module.jin_schedule(horizon, 3, 4, first, second, jin_rates, jin_bonuses)
        module.falling_epsilons(first, epsilons)
    np.testing.assert_array_equal(ref, comp)
    assert not np.isnan(ref).any()


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, EPSILONS)
def test_action_choices_equal_their_references(draw, sizes, n_labels, state, epsilon):
    q, policy_rng = tables(draw, sizes, n_labels).values.q, row(state)
    for h in range(q.shape[0]):
        for x in range(n_labels):
            assert tabular.greedy(q, h, x, policy_rng) == naive.greedy(q, h, x, state)
            assert tabular.epsilon_greedy(q, h, x, epsilon, policy_rng) == naive.epsilon_greedy(
                q, h, x, epsilon, state
            )
    assert policy_rng.tolist() == state


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, EPSILONS)
def test_draw_policy_equals_its_reference(draw, sizes, n_labels, state, epsilon):
    q, policy_rng = tables(draw, sizes, n_labels).values.q, row(state)
    ref, comp = np.full((2, *q.shape[:2]), -1)
    naive.draw_policy(q, epsilon, state, ref)
    tabular.draw_policy(q, epsilon, policy_rng, comp)
    np.testing.assert_array_equal(ref, comp)
    assert policy_rng.tolist() == state


@hypothesis.given(DRAWS, SIZES, N_LABELS, CAPS)
def test_update_equals_its_reference(draw, sizes, n_labels, cap):
    ref = tables(draw, sizes, n_labels, cap)
    comp = copy.deepcopy(ref)
    horizon, n_actions = sizes[0], sizes[2]
    for _ in range(EPISODES):
        entry = int(draw.integers(horizon)), int(draw.integers(n_labels)), int(draw.integers(n_actions))
        target = float(draw.random())
        naive.update(ref.values, *entry, target, ref.rules)
        tabular.update(comp.values, *entry, target, comp.rules)
    assert_same(ref.values, comp.values)


@hypothesis.given(DRAWS, SIZES, N_LABELS, CAPS)
def test_update_trajectory_equals_its_reference(draw, sizes, n_labels, cap):
    ref = tables(draw, sizes, n_labels, cap)
    comp = copy.deepcopy(ref)
    horizon, n_actions = sizes[0], sizes[2]
    for _ in range(EPISODES):
        trajectory = (
            draw.integers(n_labels, size=horizon + 1),
            draw.integers(n_actions, size=horizon),
            draw.random(horizon),
        )
        naive.update_trajectory(ref.values, *trajectory, ref.rules)
        tabular.update_trajectory(comp.values, *trajectory, comp.rules)
    assert_same(ref.values, comp.values)


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, GENERATORS, CAPS)
def test_learn_equals_playing_each_episode_to_its_end_and_then_updating(
    draw, sizes, n_labels, dynamics_rng, policy_rng, cap
):
    ref, ref_returns = tables(draw, sizes, n_labels, cap), np.empty(EPISODES)
    comp, comp_returns = copy.deepcopy(ref), np.empty(EPISODES)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)

    def arguments(t):
        return t.dynamics, t.labels, t.values, t.rules

    naive.learn(*arguments(ref), dynamics_rng, policy_rng, ref_returns)
    tabular.learn(*arguments(comp), dynamics_row, policy_row, comp_returns)
    np.testing.assert_array_equal(ref_returns, comp_returns)
    assert_same(ref.values, comp.values)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, GENERATORS, EPSILONS)
def test_rollout_equals_its_reference(draw, sizes, n_labels, dynamics_rng, policy_rng, epsilon):
    given, horizon = tables(draw, sizes, n_labels), sizes[0]
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref, comp = blank(horizon), blank(horizon)
    naive.rollout(given.dynamics, given.labels, given.values.q, epsilon, dynamics_rng, policy_rng, ref)
    tabular.rollout(given.dynamics, given.labels, given.values.q, epsilon, dynamics_row, policy_row, comp)
    assert_same(ref, comp)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


def learn(t, dynamics_rng, policy_rng):
    returns = np.empty(t.rules.epsilons.size)
    tabular.learn(t.dynamics, t.labels, t.values, t.rules, dynamics_rng, policy_rng, returns)
    return returns


@hypothesis.given(DRAWS, SIZES, GENERATORS, st.lists(GENERATORS, min_size=2, max_size=2))
def test_the_luck_that_episodes_use_up_does_not_depend_on_the_actions(draw, sizes, dynamics_rng, policy_rngs):
    """So two agents with the same seed meet the same luck in the same episode."""
    given = tables(draw, sizes, sizes[1])
    given.rules.epsilons[:] = 1.0
    after = []
    for policy_rng in policy_rngs:
        stream = row(dynamics_rng)
        learn(copy.deepcopy(given), stream, row(policy_rng))
        after.append(stream.tolist())
    stream = row(dynamics_rng)
    horizon = sizes[0]
    q, record = given.values.q, blank(horizon)
    tabular.rollout(given.dynamics, given.labels, q, 0.0, stream, row(policy_rngs[0]), record)
    assert after[0] == after[1] == stream.tolist()


@hypothesis.given(DRAWS, SIZES, GENERATORS, GENERATORS, st.integers(1, EPISODES - 1))
def test_learning_in_blocks_is_learning_in_one_go(draw, sizes, dynamics_rng, policy_rng, cut):
    whole = tables(draw, sizes, sizes[1])
    blocks = copy.deepcopy(whole)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref = learn(whole, row(dynamics_rng), row(policy_rng))
    comp = []
    for part in (slice(cut), slice(cut, None)):
        block = SimpleNamespace(**vars(blocks))
        block.labels = blocks.labels[part]
        block.rules = blocks.rules._replace(epsilons=blocks.rules.epsilons[part])
        comp.extend(learn(block, dynamics_row, policy_row))
    np.testing.assert_array_equal(ref, comp)
    assert_same(whole.values, blocks.values)


@pytest.mark.parametrize("tied", [(0, 1), (1, 3), (0, 2, 3), (0, 1, 2, 3)])
def test_ties_are_broken_uniformly(tied):
    q = np.zeros((1, 1, 4))
    q[0, 0, list(tied)] = 1.0
    policy_rng = row([1, 2, 3, 4])
    counts = np.bincount([tabular.greedy(q, 0, 0, policy_rng)[0] for _ in range(5_000)], minlength=4)
    assert counts.sum() == counts[list(tied)].sum()
    assert stats.chisquare(counts[list(tied)]).pvalue > ALARM


def test_a_single_best_action_draws_nothing():
    policy_rng = row([1, 2, 3, 4])
    assert tabular.greedy(np.array([[[0.0, 2.0, 1.0]]]), 0, 0, policy_rng) == (1, 2.0)
    assert policy_rng.tolist() == [1, 2, 3, 4]


def test_epsilon_is_the_chance_of_a_uniform_action():
    """With epsilon 0.4 and four actions, the best one is taken with probability 0.7 and each other with
    0.1."""
    q, policy_rng = np.array([[[0.0, 0.0, 1.0, 0.0]]]), row([5, 6, 7, 8])
    counts = np.bincount(
        [tabular.epsilon_greedy(q, 0, 0, 0.4, policy_rng)[0] for _ in range(5_000)], minlength=4
    )
    assert stats.chisquare(counts, [500, 500, 3_500, 500]).pvalue > ALARM


def test_one_update_is_the_one_worked_out_by_hand():
    """Q = 0.5, third visit: 0.75 x 0.5 + 0.25 x (1 + 0.2) = 0.675."""
    values = ActionValues(np.full((1, 1, 1), 0.5), np.full((1, 1, 1), 2))
    rules = LearningRules(np.array([0, 1, 1, 0.25]), np.array([0, 0, 0, 0.2]), 1.0, np.zeros(1))
    tabular.update(values, 0, 0, 0, 1.0, rules)
    assert values.q[0, 0, 0] == pytest.approx(0.675)
    assert values.visits[0, 0, 0] == 3


def test_values_never_exceed_the_cap():
    values = ActionValues(np.ones((1, 1, 1)), np.zeros((1, 1, 1), np.int64))
    tabular.update(values, 0, 0, 0, 1.0, LearningRules(np.ones(2), np.ones(2), 1.0, np.zeros(1)))
    assert values.q[0, 0, 0] == 1.0


def test_the_value_after_the_last_level_is_zero():
    values = ActionValues(np.ones((1, 2, 1)), np.zeros((1, 2, 1), np.int64))
    rules = LearningRules(np.ones(2), np.zeros(2), 1.0, np.zeros(1))
    tabular.update_trajectory(values, np.array([0, 1]), np.array([0]), np.array([0.25]), rules)
    assert values.q[0, :, 0].tolist() == [0.25, 1.0]
