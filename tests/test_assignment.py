"""The best assignment of rows to columns."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from strategies import DRAWS

from fasturl.agents.label_matching import best_columns

pytestmark = pytest.mark.kernel


def total(gains, columns):
    assert len(set(columns.tolist())) == len(columns)
    return sum(gains[i, column] for i, column in enumerate(columns))


@hypothesis.given(
    DRAWS, st.integers(0, 4), st.integers(0, 2), st.sampled_from(["counts", "shares", "both signs"])
)
def test_nothing_gains_more(draw, n_rows, more, kind):
    """Counts have ties, so that totals are compared."""
    shape = n_rows, n_rows + more
    gains = {
        "counts": draw.integers(4, size=shape),
        "shares": draw.random(shape),
        "both signs": draw.normal(size=shape),
    }[kind]
    ref = np.empty(n_rows, np.int64)
    naive.assignment.assign(gains, ref)
    assert total(gains, best_columns(gains)) == pytest.approx(total(gains, ref), abs=1e-12)


@pytest.mark.parametrize("shape", [(1, 40), (30, 30), (60, 200)])
def test_many_rows_gain_what_scipy_finds(shape):
    gains = np.random.default_rng(5).normal(size=shape)
    _, columns = linear_sum_assignment(gains, maximize=True)
    np.testing.assert_array_equal(best_columns(gains), columns)


def test_counts_in_the_millions_are_compared_exactly():
    most = 2**50
    gains = np.array([[most, most - 1], [most - 1, most - 3]])
    assert best_columns(gains).tolist() == [1, 0]
