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

pytestmark = pytest.mark.kernel


SIZES = st.tuples(
    st.integers(0, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(2, 4)
)
"""Episodes, coordinates, states, levels and classes."""


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
