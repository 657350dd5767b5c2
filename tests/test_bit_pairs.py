"""How often bits are set together: kernels against their references, and against a product of matrices."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import bit_pairs
from fasturl.oracles.projection import bits_together


@pytest.mark.kernel
@hypothesis.given(DRAWS, st.integers(0, 40), st.integers(1, 20), st.integers(0, 2))
def test_stacked_bits_equal_their_reference(draw, n, dimension, room):
    rows = draw.integers(2, size=(n, dimension)).astype(np.uint8)
    ref, comp = np.full((2, -(-n // 8) + room, dimension), 85, np.uint8)
    naive.bit_pairs.stack_bits(rows, ref)
    bit_pairs.stack_bits(rows, comp)
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.kernel
@hypothesis.given(DRAWS, st.integers(1, 12), st.integers(0, 5))
def test_counts_of_pairs_equal_their_reference(draw, dimension, n_words):
    columns = draw.integers(2**64, size=(dimension, n_words), dtype=np.uint64)
    ref, comp = np.full((2, dimension, dimension), np.nan)
    naive.bit_pairs.count_together(columns, ref)
    bit_pairs.count_together(columns, comp)
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.kernel
@hypothesis.given(DRAWS, st.integers(1, 60), st.integers(1, 9))
def test_the_greatest_dependence_equals_its_reference(draw, n, dimension):
    bits = (draw.random((n, dimension)) < draw.random(dimension)).astype(np.float64)
    together = bits.T @ bits
    ref, comp = (module.greatest_dependence(together, n) for module in (naive.bit_pairs, bit_pairs))
    assert comp == pytest.approx(ref, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("n", [1, 7, 64, 1000])
@pytest.mark.parametrize("dimension", [1, 23, 130])
@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64, np.bool_])
def test_bits_that_are_set_together_are_a_product_of_matrices(n, dimension, kind):
    bits = np.random.default_rng(0).integers(2, size=(n, dimension))
    np.testing.assert_array_equal(bits_together(bits.astype(kind)), bits.T @ bits)
