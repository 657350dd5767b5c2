"""What trajectories say of values: kernels against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import hindsight

pytestmark = pytest.mark.kernel


@hypothesis.given(DRAWS, st.integers(0, 30), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_gains_equal_their_reference(draw, n, horizon, n_labels, n_actions):
    labels = draw.integers(n_labels, size=(n, horizon + 1)).astype(np.uint8)
    actions = draw.integers(n_actions, size=(n, horizon)).astype(np.uint8)
    rewards, values = draw.normal(size=(n, horizon)), draw.normal(size=n_labels)
    for level in range(horizon):
        visits, gains = np.full((2, n_labels, n_actions), -1), np.full((2, n_labels, n_actions), np.nan)
        naive.hindsight.level_gains(labels, actions, rewards, level, values, visits[0], gains[0])
        hindsight.level_gains(labels, actions, rewards, level, values, visits[1], gains[1])
        np.testing.assert_array_equal(*visits)
        np.testing.assert_allclose(*gains, rtol=1e-12, atol=1e-12)


@hypothesis.given(DRAWS, st.integers(0, 30), st.integers(1, 4))
def test_least_returns_equal_their_reference(draw, n, horizon):
    rewards, least = draw.normal(size=(n, horizon)), np.full((2, horizon), np.nan)
    naive.hindsight.least_returns(rewards, least[0])
    hindsight.least_returns(rewards, least[1])
    np.testing.assert_allclose(*least, rtol=1e-12, atol=1e-12)
