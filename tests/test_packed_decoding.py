"""Scores and labels of packed bits: bit for bit those of a float32 sum over one observation, the last group
first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import packed_decoding
from fasturl._kernels.packed_rows import scratch_shape
from fasturl._kernels.records import PackedTables

pytestmark = pytest.mark.kernel


def small_integers(draw, *shape, kind=np.float32):
    """Weights whose sums float32 holds exactly, in any order."""
    return draw.integers(-50, 51, shape).astype(kind) / 4


GROUP_BITS = st.sampled_from([4, 8])
KINDS = st.sampled_from([np.float32, np.float64])


@hypothesis.settings(max_examples=20)
@hypothesis.given(DRAWS, st.integers(1, 5), st.integers(1, 70), GROUP_BITS, KINDS)
def test_packed_tables_equal_their_reference(draw, n_scores, dimension, bits, kind):
    weights, bias = (
        small_integers(draw, n_scores, dimension, kind=kind),
        small_integers(draw, n_scores, kind=kind),
    )
    shape = (-(-dimension // bits), 1 << bits, -(-n_scores // 4) * 4)
    ref, comp = (np.full(shape, np.nan, kind) for _ in range(2))
    naive.fill_packed_tables(weights, bias, ref)
    packed_decoding.fill_packed_tables(weights, bias, comp)
    np.testing.assert_array_equal(ref, comp)


N_LABELS = st.one_of(st.integers(1, 9), st.sampled_from([16, 33, 70]))
"""Fewer than a register of the machine holds, as many, and more than two hold."""
OBSERVED = st.tuples(st.sampled_from([1, 2, 18]), N_LABELS, st.integers(1, 3), st.integers(1, 3))
"""Episodes (one tile of them or two), labels, states, levels."""
N_BYTES = st.sampled_from([1, 3, 8, 9, 17])
CODE_BITS = st.sampled_from([0, 1, 3, 9, 64, 130, 200])
"""How many bits in front tell the states of a level apart."""


def bits_and_tables(draw, sizes, n_bytes, code_bits, bits, by_level):
    """Words that are the same in all states behind their first bits, and tables for each level or for all."""
    episodes, n_labels, n_states, n_levels = sizes
    shape = episodes, n_levels, n_states, -(-n_bytes // 8)
    words = draw.integers(2**64, size=shape, dtype=np.uint64)
    first_shared, in_word = divmod(code_bits, 64)
    words[..., first_shared + 1 :] = words[:, :, :1, first_shared + 1 :]
    if first_shared < shape[-1]:
        code = np.uint64((1 << in_word) - 1)
        words[..., first_shared] = words[..., first_shared] & code | words[:, :, :1, first_shared] & ~code
    n_tables, n_groups = n_levels if by_level else 1, n_bytes * 8 // bits
    tables = draw.standard_normal((n_tables, n_groups, 1 << bits, -(-n_labels // 4) * 4), np.float32)
    return words, tables


@hypothesis.given(DRAWS, OBSERVED, N_BYTES, CODE_BITS, GROUP_BITS, st.booleans(), st.integers(0, 3))
def test_packed_scores_equal_their_reference(draw, sizes, n_bytes, code_bits, bits, by_level, levels):
    """At all levels or the first ones."""
    words, tables = bits_and_tables(draw, sizes, n_bytes, code_bits, bits, by_level)
    episodes, n_labels, n_states, n_levels = sizes
    ref, comp = np.full((2, episodes, n_labels, n_states, min(levels, n_levels)), np.nan, np.float32)
    naive.packed_scores(words, tables, ref)
    packed_decoding.packed_scores(words, tables, comp)
    np.testing.assert_array_equal(ref, comp)


WEIGHTS = st.sampled_from([0.0, 1.0, 30.0])
"""How many times as much one group adds as the others do: at 30 it often decides."""


@hypothesis.given(DRAWS, OBSERVED, N_BYTES, CODE_BITS, GROUP_BITS, st.booleans(), WEIGHTS)
def test_packed_labels_equal_their_reference(draw, sizes, n_bytes, code_bits, bits, by_level, weight):
    words, scores = bits_and_tables(draw, sizes, n_bytes, code_bits, bits, by_level)
    scores[:, draw.integers(scores.shape[1])] *= np.float32(weight)
    np.round(scores, out=scores)  # for ties
    episodes, n_labels, n_states, n_levels = sizes
    scores[:, 0, :, n_labels:] = -np.inf
    tables = with_what_decides(scores)
    relabel = draw.permutation(n_labels).astype(np.uint8)
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    scratch = np.full(scratch_shape(n_states, scores.shape[3]), np.nan, np.float32)
    naive.packed_labels(words, tables, relabel, scratch, ref)
    packed_decoding.packed_labels(words, tables, relabel, scratch, comp)
    np.testing.assert_array_equal(ref, comp)


def with_what_decides(scores):
    """Tables of these scores."""
    n_tables, n_groups, n_values, n_scores = scores.shape
    deciding, decided = np.zeros(n_tables, np.uint64), np.zeros((n_tables, n_values), np.int16)
    ranges = np.full((3, n_groups + 1, n_scores), np.nan)
    for t in range(n_tables):
        deciding[t] = packed_decoding.find_deciding_group(scores[t], ranges, decided[t])
    return PackedTables(scores, deciding, decided)


@hypothesis.given(DRAWS, st.integers(1, 9), st.integers(1, 4), GROUP_BITS, st.integers(0, 7))
def test_deciding_groups_equal_their_reference(draw, n_groups, n_labels, bits, n_strong):
    """Integers, whose sums are exact in any order."""
    tables = draw.integers(-3, 4, (n_groups, 1 << bits, 4)).astype(np.float32)
    tables[draw.integers(n_groups)] *= np.float32(n_strong)
    tables[0, :, n_labels:] = -np.inf
    ranges = np.full((3, n_groups + 1, 4), np.nan)
    ref, comp = np.full((2, 1 << bits), 85, np.int16)
    group = naive.find_deciding_group(tables, ranges, ref)
    assert packed_decoding.find_deciding_group(tables, ranges, comp) == group
    if group < n_groups:
        np.testing.assert_array_equal(ref, comp)


SIZES = st.sampled_from([1e-30, 1.0, 1e7, 1e30])
"""How large numbers are to which the others are added: from 1e7 on they lose most of their digits."""


@hypothesis.settings(max_examples=20)
@hypothesis.given(DRAWS, SIZES, st.sampled_from([1.0, 3.0, 30.0]))
def test_no_rounding_undoes_what_a_group_decides(draw, size, weight):
    """All values of three groups of four bits, behind a bias of any size."""
    scores = draw.standard_normal((1, 3, 16, 4)).astype(np.float32)
    scores[0, draw.integers(3)] *= np.float32(weight)
    scores[0, 0] += np.float32(size) * draw.integers(-1, 2, 4).astype(np.float32)
    tables = with_what_decides(scores)
    words = np.arange(16**3, dtype=np.uint64).reshape(-1, 1, 1, 1)
    relabel, scratch = np.arange(4, dtype=np.uint8), np.empty(scratch_shape(1, 4), np.float32)
    ref, comp = np.full((2, len(words), 1, 1), 85, np.uint8)
    naive.packed_labels(words, tables, relabel, scratch, ref)
    packed_decoding.packed_labels(words, tables, relabel, scratch, comp)
    np.testing.assert_array_equal(ref, comp)


def test_a_code_in_front_decides():
    """The three bits of a code, beside weights of noise that are a hundredth of theirs."""
    weights = np.full((3, 23), 0.01) * np.array([[1], [-1], [0]])
    weights[:, :3] = np.eye(3)
    tables = np.empty((1, 3, 256, 4))
    packed_decoding.fill_packed_tables(weights, np.zeros(3), tables[0])
    tables = with_what_decides(tables.astype(np.float32))
    assert tables.deciding == [0]
    codes = np.arange(256) & 7
    for label, code in enumerate([1, 2, 4]):
        assert (tables.decided[0, codes == code] == label).all()


def test_no_group_decides_on_the_majority_of_all_bits():
    """States differ in three bits of the first group alone, so that the others are summed once."""
    tables = np.empty((1, 3, 256, 4))
    weights, bias = np.stack([np.ones(24), np.zeros(24)]), np.array([0.0, 12.0])
    packed_decoding.fill_packed_tables(weights, bias, tables[0])
    tables = with_what_decides(tables.astype(np.float32))
    assert tables.deciding == [3]
    bits = np.random.default_rng(0).integers(2, size=(20, 24))
    codes = np.array([[0, 0, 0], [1, 0, 1], [1, 1, 1]])
    words = np.empty((20, 1, 3, 1), np.uint64)
    for s, code in enumerate(codes):
        bits[:, :3] = code
        words[:, 0, s, 0] = bits @ (1 << np.arange(24))
    labels, scratch = np.full((20, 1, 3), 85, np.uint8), np.empty(scratch_shape(3, 4), np.float32)
    packed_decoding.packed_labels(words, tables, np.arange(2, dtype=np.uint8), scratch, labels)
    n_ones = bits[:, 3:].sum(axis=1)[:, None] + codes.sum(axis=1)
    np.testing.assert_array_equal(labels[:, 0], n_ones < 12)
