"""Backward induction."""

import itertools

import hypothesis
import naive
import numpy as np
import pytest
from strategies import DRAWS, SIZES, chances, mdp

from fasturl._kernels.planning import optimal_q, policy_q

pytestmark = pytest.mark.kernel


def solve(kernel, *tables):
    horizon, n_states, n_actions, _ = tables[0].shape
    q, values = np.full((horizon, n_states, n_actions), np.nan), np.full((horizon + 1, n_states), np.nan)
    kernel(*tables, q, values)
    return q, values


@hypothesis.given(DRAWS, SIZES)
def test_optimal_q_equals_its_reference(draw, sizes):
    tables = mdp(draw, *sizes)
    for ref, comp in zip(solve(naive.optimal_q, *tables), solve(optimal_q, *tables), strict=True):
        np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, SIZES)
def test_policy_q_equals_its_reference(draw, sizes):
    tables = mdp(draw, *sizes)
    policy = chances(draw, *sizes)
    for ref, comp in zip(solve(naive.policy_q, *tables, policy), solve(policy_q, *tables, policy), strict=True):
        np.testing.assert_array_equal(ref, comp)


def two_roads():
    """Two levels, two states, two actions. From state 0: a sure 0.4, or a half chance of going where 1 is paid next."""
    transitions, rewards = np.zeros((2, 2, 2, 2)), np.zeros((2, 2, 2, 2))
    transitions[0, 0, 0, 0], rewards[0, 0, 0, 0] = 1.0, 0.4
    transitions[0, 0, 1] = [0.5, 0.5]
    transitions[0, 1, :, 0] = 1.0
    transitions[1, :, :, 0] = 1.0
    rewards[1, 1, 1, 0] = 1.0
    for table in (transitions, rewards):
        table.setflags(write=False)
    return transitions, rewards


def test_the_optimal_values_of_a_small_mdp_are_those_worked_out_by_hand():
    q, values = solve(optimal_q, *two_roads())
    np.testing.assert_array_equal(q, [[[0.4, 0.5], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_array_equal(values, [[0.5, 0.0], [0.0, 1.0], [0.0, 0.0]])


def test_the_values_of_the_uniform_policy_are_those_worked_out_by_hand():
    q, values = solve(policy_q, *two_roads(), np.full((2, 2, 2), 0.5))
    np.testing.assert_allclose(q, [[[0.4, 0.25], [0.0, 0.0]], [[0.0, 0.0], [0.0, 1.0]]])
    np.testing.assert_allclose(values, [[0.325, 0.0], [0.0, 0.5], [0.0, 0.0]])


@hypothesis.settings(max_examples=20)
@hypothesis.given(DRAWS)
def test_the_optimal_value_is_the_greatest_over_all_policies(draw):
    tables = mdp(draw, 2, 2, 2)
    best = np.max(
        [solve(policy_q, *tables, np.eye(2)[np.reshape(actions, (2, 2))])[1] for actions in itertools.product(range(2), repeat=4)],
        axis=0,
    )
    np.testing.assert_allclose(solve(optimal_q, *tables)[1], best)
