"""Backward induction."""

import hypothesis
import naive
import numpy as np
import pytest
from strategies import DRAWS, SIZES, chances, mdp

from fasturl._kernels.planning import occupancy, optimal_q, policy_q, reachable

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
    for ref, comp in zip(
        solve(naive.policy_q, *tables, policy), solve(policy_q, *tables, policy), strict=True
    ):
        np.testing.assert_array_equal(ref, comp)


def reach(kernel, start, transitions):
    reached = np.ones((transitions.shape[0] + 1, transitions.shape[1]), np.bool_)
    kernel(start, transitions, reached)
    return reached


def beginnings(draw, n_states):
    start = chances(draw, n_states)
    start.setflags(write=False)
    return start


@hypothesis.given(DRAWS, SIZES)
def test_reachable_equals_its_reference(draw, sizes):
    transitions, start = mdp(draw, *sizes)[0], beginnings(draw, sizes[1])
    np.testing.assert_array_equal(
        reach(naive.reachable, start, transitions), reach(reachable, start, transitions)
    )


@hypothesis.given(DRAWS, SIZES)
def test_occupancy_equals_its_reference_and_is_a_distribution_at_each_level(draw, sizes):
    transitions, start, policy = mdp(draw, *sizes)[0], beginnings(draw, sizes[1]), chances(draw, *sizes)
    ref, comp = np.full((2, *sizes[:2]), np.nan)
    naive.occupancy(start, transitions, policy, ref)
    occupancy(start, transitions, policy, comp)
    np.testing.assert_array_equal(ref, comp)
    np.testing.assert_allclose(comp.sum(axis=1), 1.0)


def two_roads():
    """Two levels, two states, two actions. From state 0: a sure 0.4, or a half chance of going where 1 is
    paid next."""
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


def test_what_can_be_reached_is_what_was_worked_out_by_hand():
    """From state 1 only state 0 can be reached."""
    transitions, _ = two_roads()
    everywhere = reach(reachable, np.array([1.0, 0.0]), transitions)
    np.testing.assert_array_equal(everywhere, [[True, False], [True, True], [True, False]])
    aside = reach(reachable, np.array([0.0, 1.0]), transitions)
    np.testing.assert_array_equal(aside, [[False, True], [True, False], [True, False]])
