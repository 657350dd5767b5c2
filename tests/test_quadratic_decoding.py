"""Quadratic scores: bit for bit those of a float32 sum over one observation, the last coordinate first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import N_INFORMATIVE, normal, reals, rubbish
from strategies import DRAWS

from fasturl._kernels import quadratic_decoding
from fasturl._kernels.records import QuadraticScores, RealObservations

pytestmark = [pytest.mark.kernel, pytest.mark.bounds]

SIZES = st.tuples(
    st.integers(0, 2), st.integers(1, 3), st.integers(1, 3), st.integers(1, 8), st.integers(0, 40)
)
"""Episodes, states, labels, coordinates and levels, for registers of every width and more than one turn."""


@hypothesis.example(np.random.default_rng(0), (2, 3, 3, 8, 6), 3)
@hypothesis.example(np.random.default_rng(0), (1, 2, 2, 4, 101), 4)
@hypothesis.given(DRAWS, SIZES, N_INFORMATIVE)
def test_quadratic_scores_equal_their_reference(draw, sizes, n_informative):
    observations, ref, comp = reals(draw, sizes, n_informative)
    _, _, n_labels, dimension, n_levels = sizes
    factors = np.triu(normal(draw, n_labels, dimension, dimension))
    factors += np.tril(np.full_like(factors, np.nan), -1)  # what is below the diagonal is never read
    mixture = QuadraticScores(factors, normal(draw, n_labels, dimension), normal(draw, n_labels))
    naive.quadratic_scores(observations, mixture, None, ref)
    tail = rubbish(observations.n_informative, n_levels)
    quadratic_decoding.quadratic_scores(observations, mixture, tail, comp)
    np.testing.assert_array_equal(ref, comp)


def test_quadratic_scores_are_log_densities_up_to_a_constant():
    draw = np.random.default_rng(0)
    covariance = np.cov(draw.standard_normal((3, 20)))
    mean, x = draw.standard_normal((2, 3))
    factor = np.linalg.cholesky(np.linalg.inv(covariance)).T
    scores = np.empty((1, 1, 1, 1), np.float32)
    noise, blank = x.astype(np.float32).reshape(1, 3, 1), np.zeros((1, 3, 1), np.float32)
    factors, centres = factor.astype(np.float32)[None], (factor @ mean).astype(np.float32)[None]
    quadratic_decoding.quadratic_scores(
        RealObservations(noise, blank, 0),
        QuadraticScores(factors, centres, np.zeros(1, np.float32)),
        rubbish(0, 1),
        scores,
    )
    assert scores.item() == pytest.approx(-(x - mean) @ np.linalg.inv(covariance) @ (x - mean) / 2, rel=1e-5)
