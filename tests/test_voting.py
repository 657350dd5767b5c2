"""Support vector classifiers vote as one point at a time does."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import normal
from strategies import DRAWS

from fasturl._kernels import voting
from fasturl._kernels.records import SupportVectors, voting_workspace

pytestmark = [pytest.mark.kernel, pytest.mark.bounds]


SIZES = st.tuples(
    st.integers(0, 3), st.integers(1, 3), st.integers(0, 3), st.integers(0, 4), st.integers(2, 4)
)
"""Episodes, coordinates, states, levels and classes."""


@hypothesis.example(np.random.default_rng(0), (1, 2, 1, 0, 2), 4)  # no observation
@hypothesis.given(DRAWS, SIZES, st.integers(1, 9))
def test_support_vector_labels_equal_their_reference(draw, sizes, points_at_once):
    episodes, n_axes, n_states, n_levels, n_classes = sizes
    starts = np.concatenate([[0], np.cumsum(draw.integers(1, 10, n_classes))])
    coefficients = draw.standard_normal((n_classes - 1, starts[-1]))
    coefficients[draw.random(coefficients.shape) < 0.3] = 0.0  # as of vectors that support other pairs
    classifier = SupportVectors(
        draw.standard_normal((n_axes, starts[-1])),
        starts,
        coefficients,
        draw.standard_normal(n_classes * (n_classes - 1) // 2) / 4,
        0.7,
    )
    workspace = voting_workspace(classifier, points_at_once)
    for scratch in workspace:
        scratch.fill(85)
    points = normal(draw, episodes, n_axes, n_states, n_levels)
    arguments = points, classifier, workspace, draw.permutation(n_classes).astype(np.uint8)
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    naive.support_vector_labels(*arguments, ref)
    voting.support_vector_labels(*arguments, comp)
    np.testing.assert_array_equal(ref, comp)


def test_a_sum_runs_through_both_classes_as_that_of_libsvm_does():
    """1e16 - 1e16 + 1, in this order: the two last alone would add up to -1e16."""
    classifier = SupportVectors(
        vectors=np.zeros((1, 3)),
        starts=np.array([0, 1, 3]),
        coefficients=np.array([[1e16, -1e16, 1.0]]),
        intercepts=np.array([-0.5]),
        gamma=1.0,
    )
    labels = np.empty((1, 1, 1), np.uint8)
    arguments = np.zeros((1, 1, 1, 1), np.float32), classifier, voting_workspace(classifier)
    voting.support_vector_labels(*arguments, np.arange(2, dtype=np.uint8), labels)
    assert labels.item() == 0
