"""Scores and labels of packed bits: bit for bit those of a float32 sum over one observation, the last group
first."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import packed_decoding

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


OBSERVED = st.tuples(st.sampled_from([1, 2, 18]), st.integers(1, 9), st.integers(1, 3), st.integers(1, 3))
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


@hypothesis.given(DRAWS, OBSERVED, N_BYTES, CODE_BITS, GROUP_BITS, st.booleans())
def test_packed_labels_equal_their_reference(draw, sizes, n_bytes, code_bits, bits, by_level):
    words, tables = bits_and_tables(draw, sizes, n_bytes, code_bits, bits, by_level)
    np.round(tables, out=tables)  # for ties
    episodes, n_labels, n_states, n_levels = sizes
    tables[:, 0, :, n_labels:] = -np.inf
    relabel = draw.permutation(n_labels).astype(np.uint8)
    ref, comp = np.full((2, episodes, n_levels, n_states), 85, np.uint8)
    greatest = np.full(n_states, np.nan, np.float32)
    naive.packed_labels(words, tables, relabel, greatest, ref)
    packed_decoding.packed_labels(words, tables, relabel, greatest, comp)
    np.testing.assert_array_equal(ref, comp)
