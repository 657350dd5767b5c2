"""Several numbers at a time: compiled to registers, they are what arrays are in plain Python."""

import operator
import os
import subprocess
import sys

import hypothesis
import hypothesis.strategies as st
import numba
import numpy as np
import pytest
from llvmlite import binding

from fasturl._kernels.compiling import fma, inlined, kernel
from fasturl._kernels.registers import (
    FOUR,
    apart,
    as_bytes,
    as_reals,
    full_like,
    interleave,
    read_four,
    read_one,
    read_wide,
    same_bits,
    side_by_side,
    square_roots,
    where_greater,
    wide,
    write_numbers,
    write_spread,
)

pytestmark = pytest.mark.kernel

N_WORDS = 2 * 16  # two registers of the widest machine
WORDS = st.lists(st.integers(0, 2**32 - 1), min_size=N_WORDS, max_size=N_WORDS).map(
    lambda words: np.array(words, np.uint32)
)
LONG_WORDS = st.lists(st.integers(0, 2**64 - 1), min_size=8, max_size=8).map(
    lambda words: np.array(words, np.uint64)
)
REALS = st.lists(st.floats(-1e6, 1e6, width=32), min_size=N_WORDS, max_size=N_WORDS).map(
    lambda numbers: np.array(numbers, np.float32)
)


@inlined
def work_on_reals(a, b, number, out):
    write_numbers(a + b, out[0], 0)
    write_numbers(a - number, out[1], 0)
    write_numbers(number * b, out[2], 0)
    write_numbers(fma(a, number, b), out[3], 0)
    write_numbers(fma(number, a, number), out[4], 0)
    write_numbers(square_roots(a * a), out[5], 0)
    write_numbers(full_like(a, number), out[6], 0)
    write_numbers(where_greater(a, b, b, a), out[7], 0)


@kernel
def work_on_four_reals(row, number, out):
    work_on_reals(read_four(row, 1), read_four(row, 5), number, out)
    return FOUR


@kernel
def work_on_wide_reals(row, number, out):
    work_on_reals(read_wide(row, 1), read_wide(row, 5), number, out)
    return wide()


@kernel
def work_on_one_real(row, number, out):
    work_on_reals(read_one(row, 1), read_one(row, 5), number, out)
    return 1


@pytest.mark.parametrize("work", [work_on_one_real, work_on_four_reals, work_on_wide_reals])
@hypothesis.given(REALS, st.floats(-1e3, 1e3, width=32))
def test_reals_are_computed_lane_by_lane(work, row, number):
    out, number = np.empty((8, N_WORDS), np.float32), np.float32(number)
    count = work(row, number, out)
    a, b, out = row[1 : 1 + count], row[5 : 5 + count], out[:, :count]
    with np.errstate(under="ignore"):
        np.testing.assert_array_equal(out[:3], [a + b, a - number, number * b])
        exact = a.astype(np.float64), np.float64(number), b.astype(np.float64)
        np.testing.assert_array_equal(out[3], (exact[0] * exact[1] + exact[2]).astype(np.float32))
        np.testing.assert_array_equal(out[4], (exact[0] * exact[1] + exact[1]).astype(np.float32))
        np.testing.assert_array_equal(out[5], np.sqrt(a * a))
        np.testing.assert_array_equal(out[6], number)
        np.testing.assert_array_equal(out[7], np.where(a > b, b, a))


@inlined
def work_on_words(a, b, word, out):
    write_numbers(a + b, out[0], 0)
    write_numbers(a - word, out[1], 0)
    write_numbers(a * b, out[2], 0)
    write_numbers(a & word, out[3], 0)
    write_numbers(word | a, out[4], 0)
    write_numbers(a ^ b, out[5], 0)


@inlined
def work_on_bits(a, b, out, reals):
    write_numbers(a << np.uint32(3), out[6], 0)
    write_numbers(b >> np.uint32(7), out[7], 0)
    write_numbers(same_bits(same_bits(a, np.float32), np.uint32), out[8], 0)
    write_numbers(same_bits(same_bits(b, np.int32) >> np.int32(7), np.uint32), out[9], 0)
    write_numbers(as_reals(a), reals[0], 0)
    write_numbers(as_reals(same_bits(a, np.int32)), reals[1], 0)


@kernel
def work_on_four_words(row, word, out, reals):
    work_on_words(read_four(row, 1), read_four(row, 4), word, out)
    work_on_bits(read_four(row, 1), read_four(row, 4), out, reals)
    return FOUR


@kernel
def work_on_wide_words(row, word, out, reals):
    work_on_words(read_wide(row, 1), read_wide(row, 4), word, out)
    work_on_bits(read_wide(row, 1), read_wide(row, 4), out, reals)
    return wide()


def results_of_words(a, b, word):
    return [a + b, a - word, a * b, a & word, word | a, a ^ b]


@pytest.mark.parametrize("work", [work_on_four_words, work_on_wide_words])
@hypothesis.given(WORDS, st.integers(0, 2**32 - 1))
def test_words_are_computed_lane_by_lane(work, row, word):
    out, reals, word = np.empty((10, N_WORDS), np.uint32), np.empty((2, N_WORDS), np.float32), np.uint32(word)
    count = work(row, word, out, reals)
    a, b = row[1 : 1 + count], row[4 : 4 + count]
    np.testing.assert_array_equal(out[:6, :count], results_of_words(a, b, word))
    np.testing.assert_array_equal(
        out[6:, :count], [a << np.uint32(3), b >> np.uint32(7), a, (b.view(np.int32) >> 7).view(np.uint32)]
    )
    np.testing.assert_array_equal(
        reals[:, :count], [a.astype(np.float32), a.view(np.int32).astype(np.float32)]
    )


@kernel
def work_on_long_words(row, word, out):
    a = side_by_side(row[1], row[2], row[3], row[4])
    b = read_four(row, 4)
    work_on_words(a, b, word, out)
    write_numbers(a << np.uint64(35), out[6], 0)
    write_numbers(b >> np.uint64(41), out[7], 0)
    out[8, 0], out[8, 1], out[8, 2], out[8, 3] = apart(a)


@hypothesis.given(LONG_WORDS, st.integers(0, 2**64 - 1))
def test_words_of_64_bits_are_computed_lane_by_lane(row, word):
    out, word = np.empty((9, 4), np.uint64), np.uint64(word)
    work_on_long_words(row, word, out)
    a, b = row[1:5], row[4:]
    shifted = [a << np.uint64(35), b >> np.uint64(41)]
    np.testing.assert_array_equal(out, [*results_of_words(a, b, word), *shifted, a])


@kernel
def interleave_wide(row, out):
    first, second = interleave(read_wide(row, 0), read_wide(row, wide()))
    write_numbers(first, out, 0)
    write_numbers(second, out, wide())
    return wide()


@kernel
def interleave_four(row, out):
    first, second = interleave(read_four(row, 0), read_four(row, 4))
    write_numbers(first, out, 0)
    write_numbers(second, out, 4)
    return FOUR


@pytest.mark.parametrize(("work", "kind"), [(interleave_wide, np.float32), (interleave_four, np.uint64)])
def test_numbers_of_two_are_interleaved(work, kind):
    row, out = np.arange(N_WORDS, dtype=kind), np.empty(N_WORDS, kind)
    count = work(row, out)
    np.testing.assert_array_equal(out[: 2 * count : 2], row[:count])
    np.testing.assert_array_equal(out[1 : 2 * count : 2], row[count : 2 * count])


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
def test_numbers_of_two_kinds_are_not_interleaved():
    @kernel
    def work(row, words):
        return interleave(read_four(row, 0), read_four(words, 0))

    with pytest.raises(numba.TypingError):
        work(np.zeros(4, np.float32), np.zeros(4, np.uint32))


@kernel
def spread_bytes(row, step, out):
    write_spread(as_bytes(read_four(row, 1)), out, 2, step)


@hypothesis.given(st.lists(st.integers(0, 255), min_size=8, max_size=8), st.integers(1, 5))
def test_numbers_are_spread_over_a_row_as_bytes(numbers, step):
    out, expected = np.zeros((2, 20), np.uint8)
    spread_bytes(np.array(numbers, np.float32), step, out)
    expected[2 : 2 + 4 * step : step] = numbers[1:5]
    np.testing.assert_array_equal(out, expected)


NUMBERS_OF = """
import sys
import numpy as np
import fasturl
from fasturl._kernels.affine_decoding import affine_labels
from fasturl._kernels.emission import fill_normals, fill_words
from fasturl._kernels.records import AffineScores, RealObservations

rngs = np.arange(1, 17, dtype=np.uint64).reshape(4, 4)
normals, words = np.empty((3, 2, 44), np.float32), np.empty((2, 5, 4), np.uint64)
fill_normals(rngs, np.empty((2, 44), np.float32), np.float32(0.5), normals)
fill_words(rngs, words)
results = [normals, words, rngs]
draw = np.random.default_rng(0)
for n_levels in (3, 7, 21, 40, 150):
    noise, means = draw.normal(size=(4, 9, n_levels)), draw.normal(size=(2, 9, n_levels))
    means[:, 5:] = 0.0
    observations = RealObservations(noise.astype(np.float32), means.astype(np.float32), 5)
    weights, bent = draw.normal(size=(2, 5, 9)).astype(np.float32)
    scores = AffineScores(weights, np.zeros(5, np.float32), np.ascontiguousarray(bent[:, 0]))
    labels = np.empty((4, n_levels, 2), np.uint8)
    tail = np.empty((6, 2 * n_levels), np.float32)
    affine_labels(observations, scores, np.arange(5, dtype=np.uint8), tail, labels)
    results.append(labels)
sys.stdout.write("".join(result.tobytes().hex() for result in results))
"""


def numbers_of(**settings):
    """Those of another process with these settings in its environment."""
    run = [sys.executable, "-c", NUMBERS_OF]
    environment = {**os.environ, **settings}
    return subprocess.run(run, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def numbers_of_this_machine():
    return numbers_of()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="plain Python has no registers")
@pytest.mark.parametrize("features", ["", "+avx,+avx2,+fma"])
def test_registers_of_any_width_give_the_same_numbers(features, numbers_of_this_machine, tmp_path):
    """44 pairs of normals leave some over of registers of eight and of sixteen."""
    host = binding.get_host_cpu_features().flatten()
    if not set(filter(None, features.split(","))) <= set(host.split(",")):
        pytest.skip(f"this machine has no {features}")
    narrow = {"NUMBA_CPU_FEATURES": features, "NUMBA_CPU_NAME": "generic", "FASTURL_CACHE_DIR": str(tmp_path)}
    assert numbers_of(**narrow) == numbers_of_this_machine


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize(
    "operation", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift]
)
def test_reals_have_no_bits_to_work_on(operation):
    @kernel
    def work(row):
        write_numbers(operation(read_four(row, 0), read_four(row, 4)), row, 0)

    with pytest.raises(numba.TypingError):
        work(np.zeros(8, np.float32))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
def test_words_have_no_roots():
    @kernel
    def take_root(row):
        write_numbers(square_roots(read_four(row, 0)), row, 0)

    @kernel
    def multiply_and_add(row):
        write_numbers(fma(read_four(row, 0), read_four(row, 0), read_four(row, 4)), row, 0)

    for work in (take_root, multiply_and_add):
        with pytest.raises(numba.TypingError):
            work(np.zeros(8, np.uint32))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize("other", [np.float64(1.0), np.int32(1), 1])
def test_numbers_of_two_kinds_are_refused(other):
    @kernel
    def work(row, other):
        write_numbers(read_four(row, 0) * other, row, 0)

    with pytest.raises(numba.TypingError):
        work(np.zeros(8, np.float32), other)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="it is the compiler that refuses")
@pytest.mark.parametrize(
    "row", [np.zeros(16, np.float32)[::2], np.zeros(8), np.zeros(8, np.int8), np.zeros((2, 8), np.float32)]
)
def test_rows_with_gaps_or_of_other_kinds_are_refused(row):
    with pytest.raises(numba.TypingError, match=r"a row must be of float32, .* uint8 without gaps"):
        move_numbers(row, 0, 4)


@kernel
def move_numbers(row, source, target):
    write_numbers(read_four(row, source), row, target)


@pytest.mark.bounds
@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="indices are not checked in this pass")
@pytest.mark.parametrize(("source", "target"), [(5, 0), (-1, 0), (0, 5), (0, -4)])
def test_four_entries_beyond_a_row_are_refused(source, target):
    with pytest.raises(IndexError):
        move_numbers(np.zeros(8, np.float32), source, target)


@pytest.mark.bounds
@pytest.mark.skipif(not numba.config.BOUNDSCHECK, reason="indices are not checked in this pass")
def test_numbers_spread_beyond_a_row_are_refused():
    with pytest.raises(IndexError):
        spread_bytes(np.zeros(8, np.float32), 6, np.zeros(20, np.uint8))
