"""Labels from scores."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import normal, rubbish
from strategies import DRAWS

from fasturl._kernels import decoding

pytestmark = pytest.mark.kernel


@hypothesis.given(DRAWS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(0, 3))
def test_mixtures_of_units_equal_their_reference(draw, episodes, n_states, n_labels, n_levels):
    scores, mixing = (
        normal(draw, episodes, n_labels, n_states, n_levels),
        normal(draw, n_labels, n_labels + 1, 3),
    )
    mixing[n_labels // 2 + 1 :, -1] = -np.inf  # labels that are not possible
    (ref_units, comp_units), (ref, comp) = (
        (scores.copy(), scores.copy()),
        (rubbish(*scores.shape) for _ in range(2)),
    )
    naive.mix_units(ref_units, mixing, ref)
    decoding.mix_units(comp_units, mixing, comp)
    np.testing.assert_allclose(ref_units, comp_units, rtol=1e-6)
    np.testing.assert_allclose(ref, comp, rtol=1e-5, atol=1e-5)


@hypothesis.given(
    DRAWS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 3), st.integers(0, 3)
)
def test_best_labels_equal_their_reference(draw, episodes, n_states, n_labels, n_levels, levels):
    size = (episodes, n_labels, n_states * min(levels, n_levels))
    scores = draw.integers(3, size=size).astype(np.float32)  # with many ties
    scores[:, n_labels // 2 + 1 :] -= np.inf  # and labels that are not possible
    relabel = draw.permutation(n_labels).astype(np.uint8)
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    naive.best_labels(scores, relabel, ref)
    decoding.best_labels(scores, relabel, comp)
    np.testing.assert_array_equal(ref, comp)


def test_among_equal_scores_the_first_label_is_best():
    labels = np.empty((1, 1, 1), np.uint8)
    decoding.best_labels(
        np.array([1, 2, 2, 0], np.float32).reshape(1, 4, 1), np.array([10, 11, 12, 13], np.uint8), labels
    )
    assert labels.item() == 11
