"""Sums and squares of observations: kernels against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import moments

pytestmark = pytest.mark.kernel

KINDS = st.sampled_from([np.uint8, np.float32, np.float64])


def rows_of(draw, kind, *shape):
    return (
        draw.integers(2, size=shape).astype(kind)
        if kind is np.uint8
        else draw.normal(size=shape).astype(kind)
    )


@hypothesis.given(
    DRAWS,
    KINDS,
    st.integers(0, 20),
    st.integers(1, 4),
    st.integers(1, 9),
    st.integers(1, 3),
    st.integers(1, 3),
)
def test_sums_by_label_equal_their_reference(draw, kind, n, n_levels, dimension, n_labels, step):
    rows, labels = rows_of(draw, kind, n, n_levels, dimension), draw.integers(n_labels, size=(n, n_levels))
    centre, first = draw.normal(size=dimension), int(draw.integers(step))
    found = []
    for module in (naive.moments, moments):
        sums, sizes = np.full((n_levels, n_labels, dimension), np.nan), np.full((n_levels, n_labels), np.nan)
        squares = np.full(dimension, np.nan)
        module.sum_by_label(rows, labels, first, step, centre, sums, sizes, squares)
        found.append((sums, sizes, squares))
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", [np.uint16, np.int32])
@hypothesis.given(DRAWS, st.integers(0, 20), st.integers(1, 4), st.integers(1, 40), st.integers(1, 3))
def test_counts_by_label_equal_their_reference(kind, draw, n, n_levels, dimension, step):
    rows = draw.integers(256, size=(n, n_levels, dimension)).astype(np.uint8)
    labels, first, found = draw.integers(3, size=(n, n_levels)), int(draw.integers(step)), []
    for module in (naive.moments, moments):
        counts, sizes = np.full((n_levels, 3, dimension), 85, kind), np.full((n_levels, 3), np.nan)
        module.count_by_label(rows, labels, first, step, counts, sizes)
        found.append((counts, sizes))
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_array_equal(actual, expected)


@hypothesis.given(DRAWS, st.sampled_from([np.uint16, np.float64]), st.integers(1, 4), st.integers(1, 9))
def test_errors_around_other_means_equal_their_reference(draw, kind, n_levels, dimension):
    shape = n_levels, 3, dimension
    sums, other_sums = (draw.integers(50, size=shape).astype(kind) for _ in range(2))
    sizes, other_sizes = draw.integers(50, size=(2, n_levels, 3)).astype(float)
    priors = draw.random((n_levels, dimension))
    arguments = sums, sizes, priors, other_sums, other_sizes
    ref, comp = naive.moments.error_around(*arguments), moments.error_around(*arguments)
    assert comp == pytest.approx(ref, rel=1e-12, abs=1e-9)


@hypothesis.given(
    DRAWS, KINDS, st.integers(0, 20), st.integers(1, 9), st.sampled_from([np.float32, np.float64])
)
def test_standard_rows_equal_their_reference(draw, kind, n, dimension, precision):
    rows, out = rows_of(draw, kind, n, dimension), np.full((2, n, dimension), np.nan, precision)
    centre, scale = draw.normal(size=dimension), draw.uniform(0.5, 2.0, dimension)
    for module, z in zip((naive.moments, moments), out, strict=True):
        module.standardise(rows, centre.astype(precision), scale.astype(precision), z)
    near = 1e-6 if precision is np.float32 else 1e-12
    np.testing.assert_allclose(*out, rtol=near, atol=near)
