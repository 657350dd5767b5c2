"""What trajectories say of values: kernels against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import hindsight

pytestmark = pytest.mark.kernel


STEPS = st.integers(1, 3).flatmap(lambda step: st.tuples(st.integers(0, step - 1), st.just(step)))
"""The first of some trajectories, and how many lie between two of them."""


@hypothesis.given(
    DRAWS,
    st.integers(0, 30),
    STEPS,
    st.integers(1, 4),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_counts_of_outcomes_equal_their_reference(draw, n, chosen, horizon, n_labels, n_actions, before):
    labels = draw.integers(n_labels, size=(n, horizon + 1)).astype(np.uint8)
    actions = draw.integers(n_actions, size=(n, horizon)).astype(np.uint8)
    rewards, first_level = draw.normal(size=(n, horizon)), min(before, horizon - 1)
    shape, found = (horizon - first_level, n_labels, n_actions), []
    for module in (naive.hindsight, hindsight):
        out = np.full(shape, np.nan), np.full((*shape, n_labels), np.nan)
        module.count_outcomes(labels, actions, rewards, *chosen, first_level, *out)
        found.append(out)
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


@hypothesis.given(DRAWS, st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_plans_equal_their_reference_to_the_last_bit(draw, n_levels, n_labels, n_actions):
    """Some actions were never taken, and whole numbers make ties."""
    shape = n_levels, n_labels, n_actions
    followers = draw.integers(0, 3, (*shape, n_labels)).astype(np.float64) * draw.integers(0, 2, (*shape, 1))
    gains, worst = draw.integers(-2, 3, shape).astype(np.float64), draw.integers(-3, 0, n_levels) / 2
    ahead = draw.normal(size=n_labels)
    for plan in ("best_actions", "policy_values"):
        policies = np.tile(draw.integers(n_actions, size=(n_levels, n_labels)), (2, 1, 1))
        values = np.full((2, n_levels + 1, n_labels), np.nan)
        values[:, -1] = ahead
        for module, policy, of_policy in zip((naive.hindsight, hindsight), policies, values, strict=True):
            getattr(module, plan)(gains, followers, worst, policy, of_policy)
        np.testing.assert_array_equal(*policies)
        np.testing.assert_array_equal(*values)


@hypothesis.given(DRAWS, st.integers(0, 30), STEPS, st.integers(1, 4))
def test_least_returns_equal_their_reference(draw, n, chosen, horizon):
    rewards, least = draw.normal(size=(n, horizon)), np.full((2, horizon), np.nan)
    naive.hindsight.least_returns(rewards, *chosen, least[0])
    hindsight.least_returns(rewards, *chosen, least[1])
    np.testing.assert_allclose(*least, rtol=1e-12, atol=1e-12)


@hypothesis.given(DRAWS, st.integers(0, 30), st.integers(1, 40))
def test_returns_equal_their_reference_to_the_last_bit(draw, n, horizon):
    rewards, returns = draw.normal(size=(n, horizon)), np.full((2, n), np.nan)
    naive.hindsight.add_rewards(rewards, returns[0])
    hindsight.add_rewards(rewards, returns[1])
    np.testing.assert_array_equal(*returns)
