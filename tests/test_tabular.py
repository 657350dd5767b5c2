"""Schedules, choices of actions, and episodes of a fixed policy over label tables."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels import tabular
from fasturl._kernels.records import Trajectories

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below; the seeds are fixed."""

EPISODES = 6
EPSILONS = st.sampled_from([0.0, 0.3, 1.0])


def action_values(draw, sizes, n_labels):
    """Values with many ties, [H, X, A]."""
    horizon, _, n_actions = sizes
    return draw.integers(0, 3, (horizon, n_labels, n_actions)) / 2


def random_labels(draw, sizes, n_labels):
    """Labels that change from episode to episode, [E, H+1, S]."""
    horizon, n_states, _ = sizes
    return draw.integers(0, n_labels, (EPISODES, horizon + 1, n_states)).astype(np.uint8)


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
        module.jin_schedule(horizon, 3, 4, 1000, first, second, jin_rates, jin_bonuses)
        module.falling_epsilons(first, epsilons)
    np.testing.assert_array_equal(ref, comp)
    assert not np.isnan(ref).any()


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, EPSILONS)
def test_action_choices_equal_their_references(draw, sizes, n_labels, state, epsilon):
    policy_rng = row(state)
    for values in action_values(draw, sizes, n_labels).reshape(-1, sizes[2]):
        assert tabular.greedy(values, policy_rng) == naive.greedy(values, state)
        assert tabular.epsilon_greedy(values, epsilon, policy_rng) == naive.epsilon_greedy(
            values, epsilon, state
        )
        assert tabular.greatest(values) == max(values)
    assert policy_rng.tolist() == state


@hypothesis.given(DRAWS, SIZES, N_LABELS)
def test_greedy_chances_equal_their_reference(draw, sizes, n_labels):
    for values in action_values(draw, sizes, n_labels).reshape(-1, sizes[2]):
        ref, comp = np.full((2, sizes[2]), np.nan)
        naive.fill_greedy(values, ref)
        tabular.fill_greedy(values, comp)
        np.testing.assert_array_equal(ref, comp)
        assert ref.sum() == pytest.approx(1.0)


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, EPSILONS)
def test_draw_policy_equals_its_reference(draw, sizes, n_labels, state, epsilon):
    q, policy_rng = action_values(draw, sizes, n_labels), row(state)
    ref, comp = np.full((2, *q.shape[:2]), -1)
    naive.draw_policy(q, epsilon, state, ref)
    tabular.draw_policy(q, epsilon, policy_rng, comp)
    np.testing.assert_array_equal(ref, comp)
    assert policy_rng.tolist() == state


@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, GENERATORS, EPSILONS)
def test_rollout_equals_its_reference(draw, sizes, n_labels, dynamics_rng, policy_rng, epsilon):
    model, labels = dynamics(draw, *sizes), random_labels(draw, sizes, n_labels)
    q = action_values(draw, sizes, n_labels)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref, comp = blank(sizes[0]), blank(sizes[0])
    naive.rollout(model, labels, q, epsilon, dynamics_rng, policy_rng, ref)
    tabular.rollout(model, labels, q, epsilon, dynamics_row, policy_row, comp)
    assert_same(ref, comp)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


@pytest.mark.parametrize("tied", [(0, 1), (1, 3), (0, 2, 3), (0, 1, 2, 3)])
def test_ties_are_broken_uniformly(tied):
    values = np.zeros(4)
    values[list(tied)] = 1.0
    policy_rng = row([1, 2, 3, 4])
    counts = np.bincount([tabular.greedy(values, policy_rng)[0] for _ in range(5_000)], minlength=4)
    assert counts.sum() == counts[list(tied)].sum()
    assert stats.chisquare(counts[list(tied)]).pvalue > ALARM


def test_a_single_best_action_draws_nothing():
    policy_rng = row([1, 2, 3, 4])
    assert tabular.greedy(np.array([0.0, 2.0, 1.0]), policy_rng) == (1, 2.0)
    assert policy_rng.tolist() == [1, 2, 3, 4]


def test_epsilon_is_the_chance_of_a_uniform_action():
    """With epsilon 0.4 and four actions, the best one is taken with probability 0.7 and each other with
    0.1."""
    values, policy_rng = np.array([0.0, 0.0, 1.0, 0.0]), row([5, 6, 7, 8])
    counts = np.bincount(
        [tabular.epsilon_greedy(values, 0.4, policy_rng)[0] for _ in range(5_000)], minlength=4
    )
    assert stats.chisquare(counts, [500, 500, 3_500, 500]).pvalue > ALARM
