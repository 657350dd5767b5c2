"""The generator: known outputs, equality with its reference, and the distributions of what it draws."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import GENERATORS, LANES, row

from fasturl._kernels import rng

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below. The seeds are fixed, so a test that passes keeps passing
until the code changes."""

KNOWN = [
    41943041,
    58720359,
    3588806011781223,
    3591011842654386,
    9228616714210784205,
    9973669472204895162,
    14011001112246962877,
    12406186145184390807,
    15849039046786891736,
    10450023813501588000,
]
"""First outputs of the authors' reference implementation of xoshiro256++ from the state 1, 2, 3, 4."""


def generator(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def uniforms(seed, count):
    out = np.empty(count)
    rng.fill_uniforms(generator(seed), out)
    return out


def test_the_reference_gives_the_published_outputs():
    stream = [1, 2, 3, 4]
    assert [naive.next_bits(stream) for _ in KNOWN] == KNOWN


def test_the_kernel_gives_the_published_outputs():
    out = np.empty(len(KNOWN), np.uint64)
    rng.fill_bits(row([1, 2, 3, 4]), out)
    assert out.tolist() == KNOWN


@hypothesis.given(GENERATORS)
def test_next_bits_equals_its_reference(state):
    stream = row(state)
    for _ in range(5):
        ref = naive.next_bits(state)
        comp = rng.next_bits(stream)
        assert comp == ref
        assert stream.tolist() == state


@hypothesis.given(GENERATORS)
def test_uniform_equals_its_reference(state):
    stream = row(state)
    for _ in range(5):
        ref = naive.uniform(state)
        comp = rng.uniform(stream)
        assert comp == ref
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, st.integers(1, 2**32 - 1))
def test_below_equals_its_reference(state, bound):
    stream = row(state)
    for _ in range(5):
        ref = naive.below(state, bound)
        comp = rng.below(stream, bound)
        assert comp == ref
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, st.integers(0, 20))
def test_blocks_equal_their_references(state, count):
    stream = row(state)
    for fill, dtype in (("fill_bits", np.uint64), ("fill_uniforms", np.float64)):
        ref, comp = np.zeros((2, count), dtype)
        getattr(naive, fill)(state, ref)
        getattr(rng, fill)(stream, comp)
        np.testing.assert_array_equal(ref, comp)
    assert stream.tolist() == state


@hypothesis.given(LANES, st.integers(0, 20))
def test_lanes_equal_their_reference(states, count):
    rngs = row(states)
    ref, comp = np.zeros((2, count, 4), np.uint64)
    naive.fill_bits_in_lanes(states, ref)
    rng.fill_bits_in_lanes(rngs, comp)
    np.testing.assert_array_equal(ref, comp)
    assert rngs.tolist() == states


@hypothesis.given(GENERATORS, st.integers(0, 12))
def test_shuffle_equals_its_reference(state, count):
    stream = row(state)
    ref, comp = np.arange(count), np.arange(count)
    naive.shuffle(state, ref)
    rng.shuffle(stream, comp)
    np.testing.assert_array_equal(ref, comp)
    assert stream.tolist() == state


def test_a_block_is_the_same_draws_in_one_call_or_in_many():
    stream, whole, pieces = generator(0), np.empty(10, np.uint64), np.empty(10, np.uint64)
    rng.fill_bits(generator(0), whole)
    rng.fill_bits(stream, pieces[:3])
    rng.fill_bits(stream, pieces[3:])
    np.testing.assert_array_equal(whole, pieces)


def test_the_greatest_uniform_is_below_one_and_the_smallest_is_zero():
    zero_then_nothing = row([0, 1, 0, 0])  # a + d = 0: the first output is 0
    assert rng.uniform(zero_then_nothing) == 0.0
    all_ones = row([2**64 - 1, 1, 0, 1])  # a + d wraps to 0, so the first output is a: 64 ones
    assert rng.uniform(all_ones) == 1.0 - 2.0**-53


def test_below_one_is_zero_and_still_draws():
    stream = generator(0)
    assert rng.below(stream, 1) == 0
    assert stream.tolist() != generator(0).tolist()


def test_below_rejects_words_that_would_be_one_too_many():
    """With 3 outcomes 2^32 mod 3 = 1 word is too many: the word 0."""
    zero_first = [0, 1, 0, 0]
    stream, after = row(zero_first), row(zero_first)
    drawn = rng.below(stream, 3)
    rng.next_bits(after)  # the rejected word
    assert drawn == rng.below(after, 3)
    assert stream.tolist() == after.tolist()


def test_uniforms_follow_the_uniform_distribution():
    assert stats.kstest(uniforms(1, 20_000), "uniform").pvalue > ALARM


def test_each_bit_is_a_fair_coin():
    out = np.empty(20_000, np.uint64)
    rng.fill_bits(generator(2), out)
    ones = np.array([(out >> np.uint64(bit) & np.uint64(1)).sum() for bit in range(64)])
    assert stats.chi2.sf(((ones - out.size / 2) ** 2 / (out.size / 4)).sum(), df=64) > ALARM


@pytest.mark.parametrize("bound", [2, 3, 4, 5, 7, 10, 100])
def test_below_is_uniform(bound):
    stream = generator(bound)
    counts = np.bincount([rng.below(stream, bound) for _ in range(5_000)], minlength=bound)
    assert stats.chisquare(counts).pvalue > ALARM


def test_below_has_no_modulo_bias():
    """At this bound, scaling without rejection hits every third outcome twice as often as the others."""
    stream = generator(3)
    counts = np.bincount([rng.below(stream, 3 * 2**30) % 3 for _ in range(5_000)], minlength=3)
    assert stats.chisquare(counts).pvalue > ALARM


def test_shuffles_are_uniform_over_all_permutations():
    stream, counts = generator(4), {}
    for _ in range(5_000):
        items = np.arange(4)
        rng.shuffle(stream, items)
        counts[tuple(items)] = counts.get(tuple(items), 0) + 1
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > ALARM


@pytest.mark.parametrize("lag", [0, 1, 2])
@pytest.mark.parametrize("seed", [0, 1, 2, 1_000_000])
def test_generators_of_neighbouring_seeds_are_independent(seed, lag):
    """Chi-square on an 8 x 8 table of pairs, one from seed n and one from seed n+1 some draws later."""
    count = 20_000
    pairs = (8 * np.stack([uniforms(seed, count)[: count - lag], uniforms(seed + 1, count)[lag:]])).astype(
        int
    )
    table = np.bincount(8 * pairs[0] + pairs[1], minlength=64).reshape(8, 8)
    assert stats.chi2_contingency(table).pvalue > ALARM


def test_consecutive_draws_are_independent():
    values = (8 * uniforms(5, 20_000)).astype(int)
    table = np.bincount(8 * values[:-1] + values[1:], minlength=64).reshape(8, 8)
    assert stats.chi2_contingency(table).pvalue > ALARM
