"""Arrays that grow by rows, and drop every second one."""

import hypothesis
import hypothesis.strategies as st
import numpy as np

from fasturl.agents.rows import Rows


@hypothesis.given(st.lists(st.integers(0, 40), max_size=6), st.integers(1, 70))
def test_rows_are_those_that_were_added(sizes, capacity):
    rows, expected = Rows((2,), np.dtype(np.int64), capacity), np.arange(2 * sum(sizes)).reshape(-1, 2)
    for last, size in zip(np.cumsum(sizes), sizes, strict=True):
        rows.add(expected[last - size : last])
    np.testing.assert_array_equal(rows.rows, expected)


@hypothesis.given(st.integers(0, 300), st.integers(0, 20))
def test_every_second_row_stays_and_more_can_be_added(n, n_more):
    rows, numbers = Rows((), np.dtype(np.int64)), np.arange(n + n_more)
    rows.add(numbers[:n])
    rows.thin()
    np.testing.assert_array_equal(rows.rows, numbers[:n:2])
    rows.add(numbers[n:])
    np.testing.assert_array_equal(rows.rows, np.concatenate([numbers[:n:2], numbers[n:]]))
