"""Scores and labels over blocks: bit for bit those of a float32 sum over one observation, the last coordinate
first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import N_INFORMATIVE, SIZES, normal, reals, rubbish
from strategies import DRAWS

from fasturl._kernels import decoding
from fasturl._kernels.records import QuadraticScores, RealObservations, SupportVectors, VotingWorkspace

pytestmark = pytest.mark.kernel


@hypothesis.given(DRAWS, SIZES, N_INFORMATIVE)
def test_quadratic_scores_equal_their_reference(draw, sizes, n_informative):
    observations, ref, comp = reals(draw, sizes, n_informative)
    _, _, n_labels, dimension, n_levels = sizes
    factors = np.triu(normal(draw, n_labels, dimension, dimension))
    factors += np.tril(np.full_like(factors, np.nan), -1)  # what is below the diagonal is never read
    mixture = QuadraticScores(factors, normal(draw, n_labels, dimension), normal(draw, n_labels))
    naive.quadratic_scores(observations, mixture, None, ref)
    decoding.quadratic_scores(observations, mixture, rubbish(observations.n_informative, n_levels), comp)
    np.testing.assert_array_equal(ref, comp)


def test_quadratic_scores_are_log_densities_up_to_a_constant():
    draw = np.random.default_rng(0)
    covariance = np.cov(draw.standard_normal((3, 20)))
    mean, x = draw.standard_normal((2, 3))
    factor = np.linalg.cholesky(np.linalg.inv(covariance)).T
    scores = np.empty((1, 1, 1, 1), np.float32)
    noise, blank = x.astype(np.float32).reshape(1, 3, 1), np.zeros((1, 3, 1), np.float32)
    factors, centres = factor.astype(np.float32)[None], (factor @ mean).astype(np.float32)[None]
    decoding.quadratic_scores(
        RealObservations(noise, blank, 0),
        QuadraticScores(factors, centres, np.zeros(1, np.float32)),
        rubbish(0, 1),
        scores,
    )
    assert scores.item() == pytest.approx(-(x - mean) @ np.linalg.inv(covariance) @ (x - mean) / 2, rel=1e-5)


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


@hypothesis.given(
    DRAWS, st.integers(1, 2), st.integers(1, 2), st.integers(2, 4), st.integers(1, 3), st.integers(1, 2)
)
def test_support_vector_labels_equal_their_reference(draw, episodes, n_states, n_classes, n_axes, n_levels):
    sizes = draw.integers(1, 10, n_classes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = n_classes * (n_classes - 1) // 2
    classifier = SupportVectors(
        draw.standard_normal((n_axes, starts[-1])),
        starts,
        draw.standard_normal((n_classes - 1, starts[-1])),
        draw.standard_normal(pairs) / 4,
        0.7,
    )
    arguments = (
        normal(draw, episodes, n_axes, n_states, n_levels),
        classifier,
        VotingWorkspace(np.full(starts[-1], np.nan), np.full(n_classes, 85)),
        draw.permutation(n_classes).astype(np.uint8),
    )
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    naive.support_vector_labels(*arguments, ref)
    decoding.support_vector_labels(*arguments, comp)
    np.testing.assert_array_equal(ref, comp)
