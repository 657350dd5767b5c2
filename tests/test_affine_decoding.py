"""Affine scores and their labels: bit for bit those of a float32 sum over one observation, the last
coordinate first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import N_INFORMATIVE, normal, reals, rubbish
from strategies import DRAWS

from fasturl._kernels import affine_decoding
from fasturl._kernels.records import AffineScores

pytestmark = pytest.mark.kernel


SIZES = st.tuples(
    st.integers(0, 3), st.integers(1, 3), st.integers(1, 9), st.integers(1, 12), st.integers(1, 40)
)
"""Episodes, states, labels, coordinates and levels, for registers of every width and more than one turn."""
KINDS = st.tuples(st.booleans(), st.booleans())
"""Whether each level has weights and biases of its own, and whether |x|^2 counts."""


class Problem:
    """Observations, affine scores of them, and scratch for some of their levels."""

    def __init__(self, draw, sizes, n_informative, levels, kind):
        self.episodes, self.n_states, self.n_labels, dimension, n_levels = sizes
        self.observations, _, _ = reals(draw, sizes, n_informative)
        (by_level, is_bent), self.levels = kind, min(levels, n_levels)
        own = (n_levels,) if by_level else ()
        self.scores = AffineScores(
            normal(draw, self.n_labels, dimension, *own),
            normal(draw, self.n_labels, *own),
            normal(draw, self.n_labels * is_bent),
        )
        self.relabel = draw.integers(0, 256, self.n_labels).astype(np.uint8)
        self.tail = rubbish(self.n_labels + is_bent, 2 * self.levels)


def on_problems(test):
    """The sizes that matter beside those that are drawn."""
    for sizes, n_informative, levels, kind in [
        ((2, 3, 3, 23, 21), 3, 21, (False, False)),
        ((2, 1, 3, 2, 63), 0, 63, (False, True)),  # points in the plane
        ((1, 2, 5, 70, 37), 0, 37, (False, True)),  # coordinates in several turns
        ((1, 2, 5, 70, 37), 35, 20, (True, False)),
        ((2, 2, 6, 9, 150), 3, 150, (False, False)),  # more than some registers
        ((2, 2, 6, 9, 150), 3, 101, (True, True)),
        ((2, 2, 4, 5, 3), 5, 3, (False, True)),  # fewer levels than a register
        ((2, 2, 4, 5, 5), 2, 5, (True, True)),  # and as few as one of four has
    ]:
        test = hypothesis.example(np.random.default_rng(0), sizes, n_informative, levels, kind)(test)
    return hypothesis.given(DRAWS, SIZES, N_INFORMATIVE, st.integers(0, 40), KINDS)(test)


@on_problems
def test_affine_scores_equal_their_reference(draw, sizes, n_informative, levels, kind):
    given = Problem(draw, sizes, n_informative, levels, kind)
    shape = given.episodes, given.n_labels, given.n_states, given.levels
    ref, comp = np.full((2, *shape), np.nan, np.float32)
    naive.affine_scores(given.observations, given.scores, None, ref)
    affine_decoding.affine_scores(given.observations, given.scores, given.tail, comp)
    np.testing.assert_array_equal(ref, comp)


@on_problems
def test_affine_labels_equal_their_reference(draw, sizes, n_informative, levels, kind):
    given = Problem(draw, sizes, n_informative, levels, kind)
    ref, comp = np.full((2, given.episodes, given.levels, given.n_states), 255, np.uint8)
    naive.affine_labels(given.observations, given.scores, given.relabel, None, ref)
    affine_decoding.affine_labels(given.observations, given.scores, given.relabel, given.tail, comp)
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize("bias", [(0.0, 0.0, 0.0), (-np.inf, -np.inf, -np.inf)])
@pytest.mark.parametrize("n_levels", [1, 5, 21])
def test_the_first_of_equal_scores_gives_the_label(bias, n_levels):
    observations, _, _ = reals(np.random.default_rng(0), (2, 3, 3, 4, n_levels), 2)
    scores = AffineScores(np.zeros((3, 4), np.float32), np.array(bias, np.float32), np.empty(0, np.float32))
    labels = np.empty((2, n_levels, 3), np.uint8)
    tail = rubbish(3, 2 * n_levels)
    affine_decoding.affine_labels(observations, scores, np.array([7, 8, 9], np.uint8), tail, labels)
    assert (labels == 7).all()
