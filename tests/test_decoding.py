"""Scores and labels over blocks: bit for bit those of a float32 sum over one observation, the last coordinate
first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import decoding

pytestmark = pytest.mark.kernel

SIZES = st.tuples(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 12), st.integers(1, 4)
)
"""Episodes, states, labels, coordinates, levels."""
HEADS = st.integers(0, 12)


def reals(draw, sizes, head):
    """Noise with coordinates that nobody reads, means that are zero from `head` on, and scores full of
    rubbish, twice."""
    episodes, n_states, n_labels, dimension, n_levels = sizes
    head = min(head, dimension)
    noise = draw.standard_normal((episodes, dimension + 2, n_levels), np.float32)
    noise[:, dimension:] = np.nan
    means = draw.standard_normal((n_states, dimension, n_levels), np.float32)
    means[:, head:] = 0
    return (
        noise,
        means,
        head,
        *(np.full((episodes, n_labels, n_states, n_levels), np.nan, np.float32) for _ in range(2)),
    )


def normal(draw, *shape):
    return draw.standard_normal(shape, np.float32)


@hypothesis.given(DRAWS, SIZES, HEADS)
@hypothesis.example(
    np.random.default_rng(0), (2, 1, 3, 2, 5), 0
)  # points in the plane have a loop of their own
def test_affine_scores_equal_their_reference(draw, sizes, head):
    noise, means, head, ref, comp = reals(draw, sizes, head)
    _, _, n_labels, dimension, n_levels = sizes
    weights, bias = normal(draw, n_labels, dimension), normal(draw, n_labels)
    scratch = np.full((n_labels, n_levels), np.nan, np.float32)
    naive.affine_scores(noise, means, head, weights, bias, None, ref)
    decoding.affine_scores(noise, means, head, weights, bias, scratch, comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, SIZES, HEADS)
def test_add_squares_equals_its_reference(draw, sizes, head):
    noise, means, head, ref, comp = reals(draw, sizes, head)
    curvature = normal(draw, sizes[2])
    ref[:] = comp[:] = normal(draw, *ref.shape)
    naive.add_squares(noise, means, head, curvature, None, ref)
    decoding.add_squares(noise, means, head, curvature, np.full((2, sizes[4]), np.nan, np.float32), comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, SIZES, HEADS)
def test_quadratic_scores_equal_their_reference(draw, sizes, head):
    noise, means, head, ref, comp = reals(draw, sizes, head)
    _, _, n_labels, dimension, n_levels = sizes
    factors = np.triu(normal(draw, n_labels, dimension, dimension))
    factors += np.tril(np.full_like(factors, np.nan), -1)  # what is below the diagonal is never read
    centres, bias = normal(draw, n_labels, dimension), normal(draw, n_labels)
    scratch = np.full((head + 2, n_levels), np.nan, np.float32)
    naive.quadratic_scores(noise, means, head, factors, centres, bias, None, ref)
    decoding.quadratic_scores(noise, means, head, factors, centres, bias, scratch, comp)
    np.testing.assert_array_equal(ref, comp)


def test_quadratic_scores_are_log_densities_up_to_a_constant():
    draw = np.random.default_rng(0)
    covariance = np.cov(draw.standard_normal((3, 20)))
    mean, x = draw.standard_normal((2, 3))
    factor = np.linalg.cholesky(np.linalg.inv(covariance)).T
    scores = np.empty((1, 1, 1, 1), np.float32)
    decoding.quadratic_scores(
        x.astype(np.float32).reshape(1, 3, 1),
        np.zeros((1, 3, 1), np.float32),
        0,
        factor.astype(np.float32)[None],
        (factor @ mean).astype(np.float32)[None],
        np.zeros(1, np.float32),
        np.empty((2, 1), np.float32),
        scores,
    )
    assert scores.item() == pytest.approx(-(x - mean) @ np.linalg.inv(covariance) @ (x - mean) / 2, rel=1e-5)


@hypothesis.given(
    DRAWS,
    st.integers(1, 2),
    st.integers(1, 2),
    st.integers(1, 9),
    st.sampled_from([1, 3, 8, 9, 17]),
    st.integers(1, 3),
)
def test_byte_scores_equal_their_reference(draw, episodes, n_states, n_labels, n_bytes, n_levels):
    words = draw.integers(2**64, size=(episodes, n_levels, n_states, -(-n_bytes // 8)), dtype=np.uint64)
    tables = normal(draw, n_bytes, 256, -(-n_labels // 4) * 4)
    ref, comp = np.full((2, episodes, n_labels, n_states, n_levels), np.nan, np.float32)
    naive.byte_scores(words, tables, ref)
    decoding.byte_scores(words, tables, comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, st.integers(1, 3), st.integers(1, 3), st.integers(1, 5), st.integers(1, 3))
def test_best_labels_equal_their_reference(draw, episodes, n_states, n_labels, n_levels):
    scores = draw.integers(3, size=(episodes, n_labels, n_states * n_levels)).astype(
        np.float32
    )  # with many ties
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
    sizes = draw.integers(1, 4, n_classes)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    pairs = n_classes * (n_classes - 1) // 2
    arguments = (
        normal(draw, episodes, n_axes, n_states, n_levels),
        draw.standard_normal((starts[-1], n_axes)),
        starts,
        draw.standard_normal((n_classes - 1, starts[-1])),
        draw.standard_normal(pairs) / 4,
        0.7,
        np.full(starts[-1], np.nan),
        np.full(n_classes, 85),
        draw.permutation(n_classes).astype(np.uint8),
    )
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    naive.support_vector_labels(*arguments, ref)
    decoding.support_vector_labels(*arguments, comp)
    np.testing.assert_array_equal(ref, comp)
