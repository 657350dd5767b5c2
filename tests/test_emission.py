"""Noise in blocks: equality with the references, and the distributions of small samples (large ones are in
test_emissions.py)."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import DRAWS, LANES, row

from fasturl._kernels import emission
from fasturl._kernels.records import RealObservations

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each case of a statistical test, here and in test_emissions.py, however many things it
looks at; the seeds are fixed."""

HORIZONS = [1, 2, 5, 20, 21, 31, 32, 33, 60, 61, 62, 64, 100, 125, 126, 130]
"""From many levels in one raw word to several words in one observation."""


def rngs(seed):
    return np.random.SeedSequence(seed).generate_state(16, np.uint64).reshape(4, 4)


def familywise(*pvalues):
    """How surprising the most surprising of them all is (Bonferroni): below ALARM with a probability of at
    most ALARM."""
    every = np.concatenate([np.ravel(some) for some in pvalues])
    return every.min() * every.size


def moment_pvalue(sample, power):
    """Of the average power of standard normals, by the distribution of Pearson's type III with its mean,
    variance and skewness.

    High powers are so skewed that the tails of their average are not yet normal at 10,000; this is exact for
    the first two powers.
    """
    first, second, third = (stats.norm.moment(power * k) for k in (1, 2, 3))
    variance = second - first**2
    skewness = (third - 3 * first * second + 2 * first**3) / variance**1.5
    average = stats.pearson3(skewness / np.sqrt(sample.size), first, np.sqrt(variance / sample.size))
    return two_sided(average, np.mean(sample**power))


def two_sided(distribution, value):
    return 2 * np.minimum(distribution.cdf(value), distribution.sf(value))


def normals(seed, episodes, pairs, deviation=1.0, fill=emission.fill_normals):
    """float32[E, 2, pairs] from a kernel or its reference."""
    out = np.full((episodes, 2, pairs), np.nan, np.float32)
    fill(seed, np.empty((2, pairs), np.float32), np.float32(deviation), out)
    return out


def draws_of_a_lock(horizon):
    """Raw words that an episode needs, rounded up to whole rows of rngs as the object layer does."""
    n_words = -(-(horizon + 3) // 64)
    count = -(-(horizon + 1) // max(1, 64 // horizon)) if n_words == 1 else (horizon + 1) * n_words
    return -(-count // 4) * 4, n_words


def both(name, *arguments, shape, dtype=np.uint64):
    """What the reference and the kernel of that name make of the same arguments, in arrays full of
    rubbish."""
    ref, comp = (np.full(shape, 85, dtype) for _ in range(2))
    getattr(naive, name)(*arguments, ref)
    getattr(emission, name)(*arguments, comp)
    return ref, comp


# --- normals ---


@hypothesis.given(LANES, st.integers(0, 3), st.integers(1, 6), st.sampled_from([0.0, 0.1, 1.0, 3.0]))
def test_normals_equal_their_reference_to_the_precision_of_float32(states, episodes, quads, deviation):
    """Off by a few units in the last place of the squared radius: it is that square which the logarithm
    gives."""
    streams = row(states)
    ref = normals(states, episodes, 4 * quads, deviation, naive.fill_normals)
    comp = normals(streams, episodes, 4 * quads, deviation)
    squares = np.square(ref.astype(np.float64)).sum(axis=1, keepdims=True)
    allowed = (
        1e-6 * deviation
        + 1e-6 * np.sqrt(squares)
        + 3e-7 * deviation**2 / np.maximum(np.sqrt(squares), 1e-3 * deviation + 1e-30)
    )
    assert np.all(np.abs(comp - ref) <= allowed)
    assert streams.tolist() == states


@hypothesis.given(LANES, st.integers(0, 4), st.integers(0, 4), st.integers(1, 6))
def test_blocks_of_any_size_have_the_same_normals(states, first, second, quads):
    """The bits of an episode are drawn while those of the one before are in use, in a block alone."""
    together, apart = row(states), row(states)
    whole = normals(together, first + second, 4 * quads)
    parts = [normals(apart, episodes, 4 * quads) for episodes in (first, second)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    np.testing.assert_array_equal(together, apart)


def test_the_greatest_radius_is_that_of_the_smallest_uniform():
    """32 zero bits stand for u = 2^-33: the radius is sqrt(66 log 2), beyond 6.7."""
    zeros_first = row([[0, 1, 0, 0]] * 4)
    out = normals(zeros_first, 1, 8)
    np.testing.assert_allclose(np.hypot(out[0, 0], out[0, 1]), np.sqrt(66 * np.log(2)), rtol=1e-6)


def test_the_smallest_radius_is_zero_and_not_a_root_of_a_negative_number():
    """32 one bits stand for a uniform that float32 rounds to 1."""
    ones_first = row([[2**64 - 1, 1, 0, 1]] * 4)
    assert np.all(normals(ones_first, 1, 8) == 0.0)


def normals_of(radius_bits, angle_bits):
    """The normals float32[2, n] that these bits uint32[n] stand for; of generators nobody asks anything."""
    bits = np.stack(np.broadcast_arrays(radius_bits, angle_bits)).view(np.float32)
    out, generators = np.full_like(bits, np.nan), rngs(0)
    emission.make_normals(bits, np.float32(1.0), out, generators, np.empty_like(bits), False)
    np.testing.assert_array_equal(generators, rngs(0))
    return out


def test_radii_near_zero_are_never_nan():
    """The 2,000 greatest uniforms below 1 that float32 knows, 2^-24 apart."""
    top = np.uint32(2**32 - 1) - np.uint32(256) * np.arange(2_000, dtype=np.uint32)
    radii = normals_of(top, np.uint32(0))[1]
    expected = np.sqrt(
        -2 * np.log(np.minimum(1.0, (top.astype(np.float64) + 0.5).astype(np.float32) / 2.0**32))
    )
    np.testing.assert_allclose(radii, expected, atol=1e-6, rtol=1e-4)


def test_angles_go_round_the_whole_circle():
    angles = (np.arange(64, dtype=np.uint64) * 2**26 + 2**25).astype(np.uint32)
    sines, cosines = normals_of(np.uint32(2**30), angles).astype(np.float64)
    turns = np.sort(np.arctan2(cosines, sines))
    np.testing.assert_allclose(np.diff(turns), 2 * np.pi / 64, atol=1e-5)


def test_no_deviation_gives_zeros():
    assert np.all(normals(rngs(0), 3, 8, 0.0) == 0.0)


def test_the_deviation_scales_the_same_draws():
    np.testing.assert_allclose(
        normals(rngs(1), 5, 40, 0.2), np.float32(0.2) * normals(rngs(1), 5, 40), rtol=2e-6, atol=1e-7
    )


def test_normals_follow_the_normal_distribution():
    """Kolmogorov and Smirnov on 12,000, and four moments."""
    sample = normals(rngs(2), 10, 600).ravel().astype(np.float64)
    assert (
        familywise(
            stats.kstest(sample, "norm").pvalue, *(moment_pvalue(sample, power) for power in (1, 2, 3, 4))
        )
        > ALARM
    )


def test_the_two_normals_of_a_pair_are_independent():
    first, second = (
        stats.norm.cdf(half) for half in normals(rngs(3), 10, 500).transpose(1, 0, 2).reshape(2, -1)
    )
    table = np.histogram2d(first, second, bins=4, range=[[0, 1], [0, 1]])[0]
    assert stats.chisquare(table.ravel()).pvalue > ALARM


@hypothesis.given(LANES, st.integers(1, 5), st.integers(0, 5))
def test_normals_do_not_depend_on_the_size_of_blocks(states, episodes, cut):
    streams = row(states)
    whole = normals(row(states), episodes, 8)
    parts = [normals(streams, count, 8) for count in (min(cut, episodes), episodes - min(cut, episodes))]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


# --- raw words ---


@hypothesis.given(LANES, st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))
def test_words_equal_their_reference_in_one_block_or_in_two(states, count, episodes, more):
    streams, again = row(states), row(states)
    ref, comp, parts = np.full((3, episodes + more, count, 4), 85, np.uint64)
    naive.fill_words(states, ref)
    emission.fill_words(streams, comp)
    emission.fill_words(again, parts[:episodes])
    emission.fill_words(again, parts[episodes:])
    np.testing.assert_array_equal(ref, comp)
    np.testing.assert_array_equal(ref, parts)
    assert streams.tolist() == again.tolist() == states


# --- bits ---


@pytest.mark.parametrize("horizon", HORIZONS)
def test_lock_words_equal_their_reference(horizon):
    episodes = 3
    draws, n_words = draws_of_a_lock(horizon)
    raw = np.empty((episodes, draws // 4, 4), np.uint64)
    emission.fill_words(rngs(horizon), raw)
    ref, comp = both(
        "lock_words", raw.reshape(episodes, draws), horizon, shape=(episodes, horizon + 1, 3, n_words)
    )
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize("horizon", HORIZONS)
def test_a_lock_shows_its_state_in_three_bits_and_the_same_coins_in_every_state(horizon):
    draws, n_words = draws_of_a_lock(horizon)
    raw = np.random.default_rng(horizon).integers(2**64, size=(2, draws), dtype=np.uint64)
    words = np.full((2, horizon + 1, 3, n_words), 85, np.uint64)
    emission.lock_words(raw, horizon, words)
    bits = np.empty((2 * (horizon + 1) * 3, 64 * n_words), np.uint8)
    emission.unpack(words.reshape(-1, n_words), bits)
    bits = bits.reshape(2, horizon + 1, 3, -1)
    np.testing.assert_array_equal(bits[..., :3], np.broadcast_to(np.eye(3), (2, horizon + 1, 3, 3)))
    np.testing.assert_array_equal(bits[:, :, 1:, 3:], np.repeat(bits[:, :, :1, 3:], 2, axis=2))
    assert not bits[..., horizon + 3 :].any()


@pytest.mark.parametrize("horizon", [1, 5, 21, 32, 61])
def test_no_two_coins_of_an_episode_share_a_raw_bit(horizon):
    """Turning one raw bit turns at most one coin, and every coin is turned by some raw bit."""
    draws, n_words = draws_of_a_lock(horizon)
    blank, turned = np.empty((2, 1, horizon + 1, 3, n_words), np.uint64)
    emission.lock_words(np.zeros((1, draws), np.uint64), horizon, blank)
    changed = 0
    for word in range(draws):
        for bit in range(64):
            raw = np.zeros((1, draws), np.uint64)
            raw[0, word] = np.uint64(1) << np.uint64(bit)
            emission.lock_words(raw, horizon, turned)
            ones = [int(w).bit_count() for w in (turned ^ blank)[0, :, 0, 0]]
            assert sum(ones) <= 1
            changed += sum(ones)
        if draws * horizon > 400 and word >= 2:
            return  # the words are alike: three of them say enough where there are many
    assert changed == horizon * (horizon + 1)


@hypothesis.given(DRAWS, st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 3, 63, 64, 65, 130]))
def test_bernoulli_words_equal_their_reference(draw, n_levels, n_states, dimension):
    thresholds = draw.integers(0, 2**32, (n_levels, n_states, dimension), dtype=np.uint64)
    thresholds[draw.random(thresholds.shape) < 0.2] = 0
    thresholds[draw.random(thresholds.shape) < 0.2] = 2**32
    halves = draw.integers(0, 2**32, (2, n_levels * dimension + dimension % 2), dtype=np.uint32)
    ref, comp = both(
        "bernoulli_words", halves, thresholds, shape=(2, n_levels, n_states, -(-dimension // 64))
    )
    np.testing.assert_array_equal(ref, comp)


def test_a_bernoulli_bit_of_frequency_zero_is_never_set_and_one_of_frequency_one_always():
    thresholds = np.array([[[0, 2**32]]], np.uint64)
    halves = np.array([[0, 0], [2**32 - 1, 2**32 - 1]], np.uint32)
    out = np.empty((2, 1, 1, 1), np.uint64)
    emission.bernoulli_words(halves, thresholds, out)
    assert out.ravel().tolist() == [0b10, 0b10]


@hypothesis.given(DRAWS, st.integers(1, 3), st.integers(1, 3), st.sampled_from([1, 2, 7, 64, 65, 130]))
def test_categorical_words_equal_their_reference(draw, n_levels, n_states, n_symbols):
    chances = draw.random((n_levels, n_states, n_symbols)) * (
        draw.random((n_levels, n_states, n_symbols)) < 0.7
    )
    chances[..., -1] += 0.01
    cumulative = np.cumsum(chances / chances.sum(axis=2, keepdims=True), axis=2)
    cumulative[..., -1] = 1.0
    raw = draw.integers(2**64, size=(3, n_levels + 1), dtype=np.uint64)
    raw[0, 0], raw[-1, -2] = 0, 2**64 - 1
    ref, comp = both("categorical_words", raw, cumulative, shape=(3, n_levels, n_states, -(-n_symbols // 64)))
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize("dimension", [1, 24, 63, 64, 65, 128, 133])
def test_packing_and_unpacking_equal_their_references_and_undo_each_other(dimension):
    bits = np.random.default_rng(dimension).integers(0, 2, (5, dimension), dtype=np.uint8)
    ref, comp = both("pack", bits, shape=(5, -(-dimension // 64)))
    np.testing.assert_array_equal(ref, comp)
    ref_bits, comp_bits = both("unpack", comp, shape=(5, dimension), dtype=np.uint8)
    np.testing.assert_array_equal(ref_bits, comp_bits)
    np.testing.assert_array_equal(comp_bits, bits)


@hypothesis.given(DRAWS, st.integers(0, 3), st.integers(1, 4), st.integers(1, 3), st.integers(1, 130))
def test_observe_bits_equals_its_reference(draw, episodes, n_levels, n_states, dimension):
    shape = episodes, n_levels, n_states, -(-dimension // 64)
    words = draw.integers(2**64, size=shape, dtype=np.uint64)
    states = draw.integers(n_states, size=(episodes, n_levels))
    ref, comp = both("observe_bits", words, states, shape=(episodes, n_levels, dimension), dtype=np.uint8)
    np.testing.assert_array_equal(ref, comp)


# --- reals ---


@pytest.mark.bounds
@hypothesis.given(
    DRAWS, st.integers(0, 3), st.integers(1, 9), st.integers(1, 3), st.integers(1, 9), st.integers(0, 3)
)
def test_observe_reals_equals_its_reference(draw, episodes, n_levels, n_states, dimension, unused):
    noise = draw.standard_normal((episodes, dimension + unused, n_levels), np.float32)
    means = draw.standard_normal((n_states, dimension, n_levels), np.float32)
    n_informative = int(draw.integers(dimension + 1))
    means[:, n_informative:] = 0.0
    states = draw.integers(n_states, size=(episodes, n_levels))
    observations = RealObservations(noise, means, n_informative)
    ref, comp = both(
        "observe_reals", observations, states, shape=(episodes, n_levels, dimension), dtype=np.float32
    )
    np.testing.assert_array_equal(ref, comp)
