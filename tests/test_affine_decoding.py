"""Affine scores and their labels: bit for bit those of a float32 sum over one observation, the last
coordinate first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import N_INFORMATIVE, SIZES, normal, reals, rubbish
from strategies import DRAWS

from fasturl._kernels import affine_decoding
from fasturl._kernels.records import AffineScores

pytestmark = pytest.mark.kernel


@hypothesis.given(DRAWS, SIZES, N_INFORMATIVE)
@hypothesis.example(
    np.random.default_rng(0), (2, 1, 3, 2, 5), 0
)  # points in the plane have a loop of their own
@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 9, 5), 3)  # and so has the code of a lock
def test_affine_scores_equal_their_reference(draw, sizes, n_informative):
    observations, ref, comp = reals(draw, sizes, n_informative)
    _, _, n_labels, dimension, n_levels = sizes
    weights, bias = normal(draw, n_labels, dimension), normal(draw, n_labels)
    naive.affine_scores(observations, weights, bias, None, ref)
    affine_decoding.affine_scores(observations, weights, bias, rubbish(n_labels, n_levels), comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, SIZES, N_INFORMATIVE, st.integers(0, 4))
@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 9, 5), 3, 4)  # the code of a lock has its own loop
@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 9, 5), 4, 4)
@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 9, 5), 9, 4)
def test_level_affine_scores_equal_their_reference(draw, sizes, n_informative, levels):
    observations, ref, comp = reals(draw, sizes, n_informative)
    _, _, n_labels, dimension, n_levels = sizes
    ref, comp = (np.ascontiguousarray(scores[..., : min(levels, n_levels)]) for scores in (ref, comp))
    weights, bias = normal(draw, n_labels, dimension, n_levels), normal(draw, n_labels, n_levels)
    naive.level_affine_scores(observations, weights, bias, None, ref)
    affine_decoding.level_affine_scores(observations, weights, bias, rubbish(n_labels, comp.shape[3]), comp)
    np.testing.assert_array_equal(ref, comp)


LABELLED_SIZES = st.tuples(
    st.integers(0, 3), st.integers(1, 3), st.integers(1, 9), st.integers(1, 12), st.integers(1, 40)
)
"""As `SIZES`, with levels for registers of every width and scores for more than one turn."""


def labelled(draw, sizes, n_informative, levels, by_level):
    """The labels of the first levels, by the reference and by the kernel."""
    episodes, n_states, n_labels, dimension, n_levels = sizes
    observations, _, _ = reals(draw, sizes, n_informative)
    own = (n_levels,) if by_level else ()
    scores = AffineScores(normal(draw, n_labels, dimension, *own), normal(draw, n_labels, *own))
    relabel = draw.integers(0, 256, n_labels).astype(np.uint8)
    ref, comp = np.full((2, episodes, min(levels, n_levels), n_states), 255, np.uint8)
    tail = rubbish(n_labels, 2 * ref.shape[1])
    naive.affine_labels(observations, scores, relabel, None, ref)
    affine_decoding.affine_labels(observations, scores, relabel, tail, comp)
    return ref, comp


@hypothesis.given(DRAWS, LABELLED_SIZES, N_INFORMATIVE, st.integers(0, 40), st.booleans())
@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 23, 21), 3, 21, False)
@hypothesis.example(np.random.default_rng(0), (1, 2, 5, 70, 37), 0, 37, False)  # coordinates in several turns
@hypothesis.example(np.random.default_rng(0), (1, 2, 5, 70, 37), 35, 20, True)
@hypothesis.example(np.random.default_rng(0), (2, 2, 6, 9, 150), 3, 150, False)  # more than some registers
@hypothesis.example(np.random.default_rng(0), (2, 2, 6, 9, 150), 3, 101, True)
@hypothesis.example(np.random.default_rng(0), (2, 2, 4, 5, 3), 5, 3, False)  # fewer levels than a register
def test_affine_labels_equal_their_reference(draw, sizes, n_informative, levels, by_level):
    np.testing.assert_array_equal(*labelled(draw, sizes, n_informative, levels, by_level))


@pytest.mark.parametrize("bias", [(0.0, 0.0, 0.0), (-np.inf, -np.inf, -np.inf)])
@pytest.mark.parametrize("n_levels", [1, 5, 21])
def test_the_first_of_equal_scores_gives_the_label(bias, n_levels):
    observations, _, _ = reals(np.random.default_rng(0), (2, 3, 3, 4, n_levels), 2)
    scores = AffineScores(np.zeros((3, 4), np.float32), np.array(bias, np.float32))
    labels = np.empty((2, n_levels, 3), np.uint8)
    tail = rubbish(3, 2 * n_levels)
    affine_decoding.affine_labels(observations, scores, np.array([7, 8, 9], np.uint8), tail, labels)
    assert (labels == 7).all()
