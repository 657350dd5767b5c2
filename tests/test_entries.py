"""Entries of tables by their place in memory, against indexing as usual."""

import hypothesis
import numba
import numpy as np
import pytest
from hypothesis import strategies as st
from numba import njit

from fasturl._kernels.compiling import OPTIONS
from fasturl._kernels.entries import fetch_ahead, get_entry, place_of, row_at, set_entry, small_product

pytestmark = pytest.mark.kernel

KINDS = st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_])
SHAPES = st.tuples(*[st.integers(1, 5)] * 3)


@njit(**OPTIONS)
def read(table, place):
    return get_entry(table, place)


@njit(**OPTIONS)
def write(table, place, value):
    set_entry(table, place, value)


@njit(**OPTIONS)
def total_of_row(table, place):
    total = 0.0
    for value in row_at(table, place):
        total += value
    return total


@njit(**OPTIONS)
def ask_for(table, place):
    fetch_ahead(table, place)


@njit(**OPTIONS)
def place(table, i, j):
    return place_of(table, i, j)


@hypothesis.given(st.data(), KINDS, SHAPES)
def test_an_entry_is_the_one_that_indices_find(data, kind, shape):
    table = np.random.default_rng(0).integers(0, 100, shape).astype(kind)
    i, j, k = (data.draw(st.integers(0, size - 1)) for size in shape)
    found = place(table, i, j) + np.uint64(k)
    assert read(table, found) == table[i, j, k]
    assert total_of_row(table, place(table, i, j)) == table[i, j].sum()
    changed = table.copy()
    changed[i, j, k] = 1
    write(table, found, kind(1))
    np.testing.assert_array_equal(table, changed)


def test_a_row_may_have_gaps():
    row = np.arange(20.0).reshape(5, 4)[:, 1]
    assert [read(row, np.uint64(i)) for i in range(5)] == row.tolist()
    write(row, np.uint64(3), -1.0)
    assert row[3] == -1.0


def test_in_a_table_of_four_axes_the_place_is_the_number_of_a_row():
    table = np.zeros((2, 3, 4, 5))
    assert place(table, 1, 2) == (1 * 3 + 2) * 4


@hypothesis.given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_products_of_small_numbers_are_exact(one, other):
    assert int(small_product(one, other)) == one * other


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="NumPy finds entries of any table")
def test_a_table_with_gaps_is_refused():
    with pytest.raises(numba.TypingError, match="no gaps"):
        read(np.zeros((4, 4))[:, ::2], np.uint64(0))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize("function", [read, total_of_row, ask_for])
def test_a_place_between_two_entries_is_refused(function):
    with pytest.raises(numba.TypingError, match="a place must be a whole number, got float64"):
        function(np.zeros(4), 1.5)


def test_places_are_checked_in_functions_whose_indices_are():
    checked = njit(**OPTIONS, boundscheck=True)(lambda table, place: get_entry(table, place))
    assert checked(np.arange(4.0), np.uint64(3)) == 3.0
    with pytest.raises(IndexError):
        checked(np.arange(4.0), np.uint64(4))


def test_a_row_is_checked_as_a_whole_there():
    checked = njit(**OPTIONS, boundscheck=True)(lambda table, place: row_at(table, place)[np.uint64(2)])
    table = np.arange(12.0).reshape(2, 2, 3)
    assert [checked(table, np.uint64(place)) for place in (0, 9)] == [2.0, 11.0]
    for beyond in (10, 12, 2**63, 2**64 - 1):
        with pytest.raises(IndexError):
            checked(table, np.uint64(beyond))
    with pytest.raises(IndexError):
        checked(table[:0], np.uint64(0))


def test_asking_for_a_place_changes_nothing():
    table = np.arange(5.0)
    ask_for(table, np.uint64(3))
    np.testing.assert_array_equal(table, np.arange(5.0))
