"""Rows that become columns, four by four in registers."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from real_observations import normal, rubbish
from strategies import DRAWS

from fasturl._kernels import turning

pytestmark = [pytest.mark.kernel, pytest.mark.bounds]


@hypothesis.given(DRAWS, st.integers(0, 40), st.integers(0, 20))
def test_transpose_equals_its_reference(draw, n, dimension):
    rows = normal(draw, n, dimension)
    ref, comp = rubbish(dimension, n), rubbish(dimension, n)
    naive.turning.transpose(rows, ref)
    turning.transpose(rows, comp)
    np.testing.assert_array_equal(ref, comp)
