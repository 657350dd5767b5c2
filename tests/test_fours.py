"""Four numbers at a time: compiled to vector registers, they are what arrays are in plain Python."""

import operator

import hypothesis
import hypothesis.strategies as st
import numba
import numpy as np
import pytest

from fasturl._kernels.compiling import fma, kernel
from fasturl._kernels.fours import as_reals, read_four, same_bits, square_roots, write_four

pytestmark = pytest.mark.kernel

WORDS = st.lists(st.integers(0, 2**32 - 1), min_size=8, max_size=8).map(
    lambda words: np.array(words, np.uint32)
)
REALS = st.lists(st.floats(-1e6, 1e6, width=32), min_size=8, max_size=8).map(
    lambda numbers: np.array(numbers, np.float32)
)


@kernel
def work_on_reals(row, number, out):
    a, b = read_four(row, 0), read_four(row, 4)
    write_four(a + b, out[0], 0)
    write_four(a - number, out[1], 0)
    write_four(number * b, out[2], 0)
    write_four(fma(a, number, b), out[3], 0)
    write_four(fma(number, a, number), out[4], 0)
    write_four(square_roots(a * a), out[5], 0)


@hypothesis.given(REALS, st.floats(-1e3, 1e3, width=32))
def test_reals_are_computed_lane_by_lane(row, number):
    out, number = np.empty((6, 4), np.float32), np.float32(number)
    work_on_reals(row, number, out)
    a, b = row[:4], row[4:]
    with np.errstate(under="ignore"):
        expected = [a + b, a - number, number * b]
        np.testing.assert_array_equal(out[:3], expected)
        exact = a.astype(np.float64), np.float64(number), b.astype(np.float64)
        np.testing.assert_array_equal(out[3], (exact[0] * exact[1] + exact[2]).astype(np.float32))
        np.testing.assert_array_equal(out[4], (exact[0] * exact[1] + exact[1]).astype(np.float32))
        np.testing.assert_array_equal(out[5], np.sqrt(a * a))


@kernel
def work_on_words(row, word, out, reals):
    a, b = read_four(row, 1), read_four(row, 4)
    write_four(a + b, out[0], 0)
    write_four(a - word, out[1], 0)
    write_four(a * b, out[2], 0)
    write_four(a & word, out[3], 0)
    write_four(a ^ b, out[4], 0)
    write_four(a << np.uint32(3), out[5], 0)
    write_four(as_reals(a), reals[0], 0)
    write_four(as_reals(same_bits(a, np.int32)), reals[1], 0)
    write_four(same_bits(same_bits(a, np.float32), np.uint32), out[6], 0)


@hypothesis.given(WORDS, st.integers(0, 2**32 - 1))
def test_words_are_computed_lane_by_lane(row, word):
    out, reals = np.empty((7, 4), np.uint32), np.empty((2, 4), np.float32)
    word = np.uint32(word)
    work_on_words(row, word, out, reals)
    a, b = row[1:5], row[4:]
    expected = [a + b, a - word, a * b, a & word, a ^ b, a << np.uint32(3), a]
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(reals, [a.astype(np.float32), a.view(np.int32).astype(np.float32)])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize("operation", [operator.and_, operator.xor, operator.lshift])
def test_reals_have_no_bits_to_work_on(operation):
    @kernel
    def work(row):
        write_four(operation(read_four(row, 0), read_four(row, 4)), row, 0)

    with pytest.raises(numba.TypingError):
        work(np.zeros(8, np.float32))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize("other", [np.float64(1.0), np.int32(1), 1])
def test_numbers_of_two_kinds_are_refused(other):
    @kernel
    def work(row, other):
        write_four(read_four(row, 0) * other, row, 0)

    with pytest.raises(numba.TypingError):
        work(np.zeros(8, np.float32), other)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize(
    "row", [np.zeros(16, np.float32)[::2], np.zeros(8), np.zeros(8, np.uint8), np.zeros((2, 8), np.float32)]
)
def test_rows_with_gaps_or_of_other_kinds_are_refused(row):
    with pytest.raises(numba.TypingError, match="a row must be of float32, int32 or uint32 without gaps"):
        move_four(row, 0, 4)


@kernel
def move_four(row, source, target):
    write_four(read_four(row, source), row, target)


@pytest.mark.bounds
@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="indices are not checked in this pass")
@pytest.mark.parametrize(("source", "target"), [(5, 0), (-1, 0), (0, 5), (0, -4)])
def test_four_entries_beyond_a_row_are_refused(source, target):
    with pytest.raises(IndexError):
        move_four(np.zeros(8, np.float32), source, target)
