"""Linear maps of noise, against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import linear_maps

pytestmark = pytest.mark.kernel

LEVELS = st.integers(1, 9) | st.sampled_from([15, 16, 17, 31, 33, 40])
"""From fewer than a register holds to some pairs of registers and a rest."""


@pytest.mark.bounds
@hypothesis.given(DRAWS, st.integers(0, 3), LEVELS, st.integers(0, 6), st.integers(0, 3))
def test_mapped_rows_equal_their_reference_to_the_bit(draw, episodes, n_levels, n_rows, unused):
    rows = draw.standard_normal((episodes, n_rows + unused, n_levels), np.float32)
    matrix = draw.standard_normal((4, n_rows), np.float32) * (draw.random((4, n_rows)) < 0.7)
    ref, comp = np.full((2, episodes, 4, n_levels), 85, np.float32)
    naive.mapped_rows(rows, matrix.astype(np.float32), ref)
    linear_maps.mapped_rows(rows, matrix.astype(np.float32), comp)
    np.testing.assert_array_equal(comp, ref)


@hypothesis.given(DRAWS, st.integers(0, 3), st.integers(1, 5), st.integers(0, 5), st.integers(0, 3))
def test_hadamard_rows_equal_their_reference(draw, episodes, n_levels, doublings, unused):
    size = 2**doublings
    n_rows = int(draw.integers(0, size + 1))
    rows = draw.standard_normal((episodes, n_rows + unused, n_levels), np.float32)
    ref, comp = np.full((2, episodes, size * n_levels), 85, np.float32)
    naive.hadamard_rows(rows, n_rows, ref)
    linear_maps.hadamard_rows(rows, n_rows, comp)
    np.testing.assert_allclose(comp, ref, rtol=1e-5, atol=1e-5)
