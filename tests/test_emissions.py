"""Emissions: the distribution of what is seen, its independence, and blocks of any size showing the same."""

import numpy as np
import pytest
from scipy import stats
from test_emission import ALARM, familywise, moment_pvalue, two_sided

import fasturl as fu
from fasturl._base.checks import short_repr
from fasturl._base.streams import Streams
from fasturl.problems.emissions import LARGEST, Bernoulli, Categorical, Gaussian
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits

HORIZONS = [1, 2, 5, 20, 21, 31, 32, 33, 60, 61, 62, 64, 100, 130]
RNG = np.random.default_rng(0)
ROTATION = np.linalg.qr(RNG.standard_normal((5, 5)))[0]

EMISSIONS = {
    **{f"lock of bits, horizon {horizon}": LockBits(horizon) for horizon in HORIZONS},
    **{f"lock of reals, horizon {horizon}": fu.LockGaussian(horizon).emission for horizon in (1, 2, 20, 61)},
    "means that depend on the level": Gaussian(RNG.standard_normal((4, 2, 5)), 0.5, n_levels=4),
    "rotated means": Gaussian(np.eye(3, 5), 0.1, n_levels=4, rotation=ROTATION),
    "no noise": Gaussian(np.eye(3, 5), 0.0, n_levels=4),
    "bits of any frequency": Bernoulli(RNG.random((4, 2, 7)), n_levels=4),
    "bits in several words": Bernoulli(RNG.random((2, 130)), n_levels=3),
    "categories": Categorical(RNG.dirichlet(np.ones(5), (4, 3)), n_levels=4),
    "categories in several words": Categorical(RNG.dirichlet(np.ones(70), 2), n_levels=3),
}


def rngs(seed):
    return emission_rngs(Streams(seed))


def noise(seed, episodes, horizon=5):
    """Standard normals [E, L, D] as LockGaussian of deviation 1 has them."""
    block = Gaussian(np.zeros((1, horizon + 3)), 1.0, n_levels=horizon + 1).draw(rngs(seed), episodes)
    return block.observe(np.zeros((episodes, horizon + 1), np.int64))


def coins(seed, episodes, horizon):
    """Coins [E, L, H] of LockBernoulli."""
    return LockBits(horizon).draw(rngs(seed), episodes).every_state()[:, :, 0, 3:]


def correlation_pvalue(first, second=None):
    """Of the greatest among the correlations between columns of `first`, or between one of `first` and one of
    `second` (Bonferroni).

    Exact for one pair of normals. Of bits, with a few thousand, it is as good.
    """
    width = first.shape[1]
    every = np.corrcoef(first, second, rowvar=False)
    r = np.abs(every[np.triu_indices(width, 1)] if second is None else every[:width, width:])
    half = first.shape[0] / 2 - 1
    return r.size * 2 * stats.beta(half, half, loc=-1, scale=2).sf(r.max())


# --- blocks ---


@pytest.mark.parametrize("name", EMISSIONS)
def test_the_noise_of_an_episode_does_not_depend_on_the_size_of_blocks(name):
    emission, stream = EMISSIONS[name], rngs(1)
    whole = emission.draw(rngs(1), 23).every_state()
    parts = [emission.draw(stream, size).every_state() for size in (1, 5, 16, 1)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("name", EMISSIONS)
def test_what_is_seen_along_a_path_is_what_every_state_shows_there(name):
    emission = EMISSIONS[name]
    block = emission.draw(rngs(2), 9)
    states = np.random.default_rng(2).integers(emission.n_states, size=(9, emission.n_levels))
    every, seen = block.every_state(), block.observe(states)
    assert every.shape == (9, emission.n_levels, emission.n_states, emission.dimension)
    assert seen.dtype == every.dtype == (np.uint8 if emission.discrete else np.float32)
    for e, h in np.ndindex(*states.shape):
        np.testing.assert_array_equal(seen[e, h], every[e, h, states[e, h]])


@pytest.mark.parametrize("name", [name for name, emission in EMISSIONS.items() if emission.discrete])
def test_packed_bits_are_the_unpacked_ones(name):
    block = EMISSIONS[name].draw(rngs(3), 5)
    unpacked = block.every_state()
    for place in np.ndindex(*unpacked.shape[:3]):
        word = sum(int(part) << 64 * w for w, part in enumerate(block.words[place]))
        assert word == sum(int(bit) << j for j, bit in enumerate(unpacked[place]))


@pytest.mark.parametrize("name", EMISSIONS)
def test_blocks_hold_from_16_to_2048_episodes(name):
    assert 16 <= EMISSIONS[name].block_episodes <= 2048


# --- normals ---


def test_normals_have_the_moments_of_a_normal_distribution():
    """Over two million normals."""
    sample = noise(4, 55_000).ravel().astype(np.float64)
    assert familywise(*(moment_pvalue(sample, power) for power in (1, 2, 3, 4, 6))) > ALARM


def test_normals_follow_the_normal_distribution():
    """Kolmogorov and Smirnov, over a million."""
    assert stats.kstest(noise(5, 25_000).ravel(), "norm").pvalue > ALARM


@pytest.mark.parametrize("sigmas", [4.0, 4.5, 5.0])
@pytest.mark.parametrize("side", [-1, 1])
def test_tails_have_the_weight_of_normal_tails(sigmas, side):
    """Over 48 million normals: about 1,520 beyond 4 on either side, and 14 beyond 5."""
    beyond, count = 0, 0
    stream = rngs(6)
    emission = Gaussian(np.zeros((1, 24)), 1.0, n_levels=20)
    for _ in range(20):
        sample = emission.draw(stream, 5_000).noise
        beyond, count = beyond + int((side * sample > sigmas).sum()), count + sample.size
    assert count == 48_000_000
    assert stats.binomtest(beyond, count, stats.norm.sf(sigmas)).pvalue > ALARM


def test_coordinates_and_levels_are_independent():
    """Correlations between all 48 values of an episode, and between their magnitudes.

    A square is put in the place of a normal that is as rare: correlations of squares themselves have heavy
    tails of no known weight.
    """
    values = noise(7, 11_000).reshape(11_000, -1).astype(np.float64)
    magnitudes = stats.norm.isf(stats.chi2.sf(np.square(values), df=1))
    assert familywise(correlation_pvalue(values), correlation_pvalue(magnitudes)) > ALARM


def test_episodes_are_independent():
    """Values of an episode against all those of the next one, and against those of the one after."""
    values = noise(8, 10_002).reshape(10_002, -1)
    assert familywise(*(correlation_pvalue(values[:-lag], values[lag:]) for lag in (1, 2))) > ALARM


def test_neighbours_are_independent_beyond_correlation():
    """Chi-square on an 8 x 8 table of octiles, for neighbours in each direction."""
    octiles = (8 * stats.norm.cdf(noise(9, 11_000))).astype(int)
    pvalues = []
    for axis in range(3):
        n = octiles.shape[axis]
        table = np.zeros((8, 8))
        np.add.at(
            table,
            (octiles.take(range(0, n - 1, 2), axis).ravel(), octiles.take(range(1, n, 2), axis).ravel()),
            1,
        )
        pvalues.append(stats.chisquare(table.ravel()).pvalue)
    assert familywise(pvalues) > ALARM


@pytest.mark.parametrize("deviation", [0.1, 0.2])
def test_a_lock_of_reals_shows_its_state_in_three_coordinates_with_noise_on_all(deviation):
    """The mean and the variance of every coordinate at every level, in every state."""
    count = 27_000
    seen = fu.LockGaussian(20, noise=deviation).emission.draw(rngs(10), count).every_state()
    pvalues = []
    for state in range(3):
        units = (seen[:, :, state] - np.eye(3, 23)[state]) / deviation
        pvalues += [two_sided(stats.norm(scale=1 / np.sqrt(count)), units.mean(axis=0))]
        pvalues += [two_sided(stats.chi2(df=count), np.square(units).sum(axis=0))]
    assert familywise(*pvalues) > ALARM


def test_the_noise_is_the_same_in_every_state():
    seen = fu.LockGaussian(5, noise=0.1).emission.draw(rngs(11), 10).every_state()
    np.testing.assert_allclose(
        seen - np.eye(3, 8), np.repeat(seen[:, :, :1] - np.eye(3, 8)[:1], 3, axis=2), atol=2e-7
    )


# --- means ---


def test_without_noise_the_mean_of_the_level_and_state_is_seen():
    means = RNG.standard_normal((4, 3, 6))
    seen = Gaussian(means, 0.0, n_levels=4).draw(rngs(12), 2).every_state()
    np.testing.assert_array_equal(seen, np.broadcast_to(means.astype(np.float32), (2, 4, 3, 6)))


def test_a_rotation_turns_the_means():
    means = RNG.standard_normal((3, 5))
    seen = Gaussian(means, 0.0, n_levels=2, rotation=ROTATION).draw(rngs(13), 1).every_state()
    np.testing.assert_allclose(seen[0, 1], means @ ROTATION.T, atol=1e-6)


def test_noise_around_rotated_means_stays_equal_in_all_directions():
    count = 100_000
    seen = (
        Gaussian(np.eye(3, 5), 0.5, n_levels=1, rotation=ROTATION)
        .draw(rngs(14), count)
        .every_state()[:, 0, 1]
        .astype(np.float64)
    )
    squares = count * seen.var(axis=0) / 0.25
    assert familywise(two_sided(stats.chi2(df=count - 1), squares), correlation_pvalue(seen)) > ALARM


# --- bits ---


@pytest.mark.parametrize("horizon", HORIZONS)
def test_every_coin_of_a_lock_is_fair(horizon):
    count = 4_000
    heads = coins(15, count, horizon).sum(axis=0).ravel()
    statistic = (np.square(heads - count / 2) / (count / 4)).sum()
    assert stats.chi2.sf(statistic, df=heads.size) > ALARM


@pytest.mark.parametrize("horizon", [1, 5, 21, 32, 61, 62])
def test_coins_are_independent_between_coordinates_levels_and_episodes(horizon):
    """Correlations between all coins of the first levels of two successive episodes (up to 126 of each)."""
    count = 4_000
    values = coins(16, count + 1, horizon).reshape(count + 1, -1)[:, :126].astype(np.float64)
    assert correlation_pvalue(np.hstack([values[:-1], values[1:]])) > ALARM


@pytest.mark.parametrize("horizon", HORIZONS)
def test_a_lock_of_bits_shows_its_state_one_hot_and_the_same_coins_in_every_state(horizon):
    seen = LockBits(horizon).draw(rngs(17), 20).every_state()
    np.testing.assert_array_equal(seen[..., :3], np.broadcast_to(np.eye(3), (20, horizon + 1, 3, 3)))
    np.testing.assert_array_equal(seen[:, :, 1:, 3:], np.repeat(seen[:, :, :1, 3:], 2, axis=2))


def test_bits_have_their_frequencies():
    """Each of 4 x 2 x 7 frequencies by chi-square; 0 and 1 without exception."""
    frequencies = np.random.default_rng(18).uniform(
        0.02, 0.98, (4, 2, 7)
    )  # chi-square needs a few hundred of each kind
    frequencies[0, 0, :2] = [0.0, 1.0]
    count = 20_000
    ones = Bernoulli(frequencies, n_levels=4).draw(rngs(18), count).every_state().sum(axis=0)
    assert ones[0, 0, :2].tolist() == [0, count]
    inside = (frequencies > 0) & (frequencies < 1)
    variance = count * frequencies[inside] * (1 - frequencies[inside])
    assert (
        stats.chi2.sf(
            (np.square(ones[inside] - count * frequencies[inside]) / variance).sum(), df=inside.sum()
        )
        > ALARM
    )


def test_bits_are_independent_between_coordinates_levels_and_episodes():
    seen = (
        Bernoulli(np.full((1, 9), 0.3), n_levels=5)
        .draw(rngs(19), 20_001)
        .every_state()
        .reshape(20_001, -1)
        .astype(np.float64)
    )
    assert correlation_pvalue(np.hstack([seen[:-1], seen[1:]])) > ALARM


def test_categories_have_their_probabilities_and_are_seen_one_hot():
    chances = 0.02 + 0.88 * np.random.default_rng(20).dirichlet(
        np.ones(6), (3, 2)
    )  # chi-square needs each a few hundred times
    chances[0, 0] = [0.5, 0.0, 0.25, 0.25, 0.0, 0.0]
    count = 23_000
    seen = Categorical(chances, n_levels=3).draw(rngs(20), count).every_state()
    assert np.all(seen.sum(axis=3) == 1)
    pvalues = []
    for h, s in np.ndindex(3, 2):
        counts, possible = seen[:, h, s].sum(axis=0, dtype=np.int64), chances[h, s] > 0
        assert counts[~possible].sum() == 0
        pvalues.append(stats.chisquare(counts[possible], count * chances[h, s][possible]).pvalue)
    assert familywise(pvalues) > ALARM


def test_categories_of_different_levels_and_episodes_are_independent():
    symbols = (
        Categorical(np.full((1, 4), 0.25), n_levels=3)
        .draw(rngs(21), 22_001)
        .every_state()[:, :, 0]
        .argmax(axis=2)
    )
    pairs = (
        (symbols[:, 0], symbols[:, 1]),
        (symbols[:, 1], symbols[:, 2]),
        (symbols[:-1, 2], symbols[1:, 0]),
    )
    assert (
        familywise([stats.chisquare(np.bincount(4 * a + b, minlength=16)).pvalue for a, b in pairs]) > ALARM
    )


# --- bad input ---

TABLES = {"means": Gaussian, "frequencies": Bernoulli, "probabilities": Categorical}


def made(kind, table, n_levels=3):
    return kind(table, 0.1, n_levels=n_levels) if kind is Gaussian else kind(table, n_levels=n_levels)


@pytest.mark.parametrize("argument", TABLES)
@pytest.mark.parametrize(
    "table",
    [
        None,
        0.5,
        "x",
        ["a"],
        [[None]],
        [[1j, 0]],
        [[10**400, 0]],
        [[1], [0.5, 0.5]],
        [],
        [1.0],
        np.ones((0, 1)),
    ],
    ids=short_repr,
)
def test_what_is_no_table_is_refused(argument, table):
    with pytest.raises(
        ValueError, match=rf"^{argument} must (be an array of real numbers|have shape .*), got "
    ):
        made(TABLES[argument], table)


@pytest.mark.parametrize("argument", TABLES)
def test_a_table_of_other_levels_is_refused(argument):
    allowed = r"\[states, coordinates\] or \[3, states, coordinates\]"
    with pytest.raises(ValueError, match=rf"^{argument} must have shape {allowed}, got \(4, 2, 1\)$"):
        made(TABLES[argument], np.ones((4, 2, 1)))


@pytest.mark.parametrize("kind", TABLES.values())
@pytest.mark.parametrize("n_levels", [0, -1, 2.0, "3", None, True, [3], 10**400], ids=short_repr)
def test_another_number_of_levels_is_refused(kind, n_levels):
    with pytest.raises(ValueError, match=r"^n_levels must be an integer .*, got "):
        made(kind, np.ones((2, 1)), n_levels)


@pytest.mark.parametrize("horizon", [0, -1, 2.0, "3", None, True, [3], 10**400], ids=short_repr)
def test_a_lock_of_bits_refuses_other_horizons(horizon):
    with pytest.raises(ValueError, match=r"^horizon must be an integer .*, got "):
        LockBits(horizon)


@pytest.mark.parametrize(
    ("argument", "table", "allowed"),
    [
        ("means", [[np.nan, 0.0]], r"in \[-1e\+15, 1e\+15\]"),
        ("means", [[np.inf, 0.0]], r"in \[-1e\+15, 1e\+15\]"),
        ("means", [[-1e16, 0.0]], r"in \[-1e\+15, 1e\+15\]"),
        ("frequencies", [[0.5, 1.1]], r"in \[0, 1\]"),
        ("frequencies", [[-0.1, 0.5]], r"in \[0, 1\]"),
        ("frequencies", [[0.5, np.nan]], r"in \[0, 1\]"),
        ("probabilities", [[0.5, 0.4]], "probabilities that sum to 1 over symbols"),
        ("probabilities", [[1.5, -0.5]], "probabilities that sum to 1 over symbols"),
        ("probabilities", [[np.nan, 1.0]], "probabilities that sum to 1 over symbols"),
    ],
)
def test_a_table_with_entries_out_of_range_is_refused(argument, table, allowed):
    with pytest.raises(ValueError, match=rf"^{argument} must be {allowed}, got (-|\d|nan|entries)"):
        made(TABLES[argument], table)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, 1e16, "0.1", None, 10**400], ids=short_repr)
def test_other_noises_are_refused(noise):
    with pytest.raises(ValueError, match=r"^noise must be a number in \[0, 1e\+15\], got "):
        Gaussian(np.eye(2), noise, n_levels=3)


@pytest.mark.parametrize(
    "rotation",
    [1, "x", [[1]], np.eye(3), np.ones((2, 2)), np.eye(2) * 1j, [[1], [0, 1]], np.full((2, 2), 1e200)],
    ids=short_repr,
)
def test_what_is_no_rotation_is_refused(rotation):
    with pytest.raises(
        ValueError,
        match=r"(?s)^rotation must be an (array of real numbers|orthogonal matrix of shape \(2, 2\)), got ",
    ):
        Gaussian(np.eye(2), 0.1, n_levels=3, rotation=rotation)


def test_the_largest_noise_around_the_largest_means_is_finite_and_so_are_its_squares():
    seen = Gaussian(np.full((2, 9), LARGEST), LARGEST, n_levels=3).draw(rngs(22), 1_000).every_state()
    assert np.isfinite(np.square(seen).sum(axis=3)).all()


def test_a_model_refuses_an_emission_made_for_other_levels_or_states():
    lock = fu.LockBernoulli(3).instance(0)
    for emission in (LockBits(4), Gaussian(np.eye(2), 0.1, n_levels=4)):
        with pytest.raises(ValueError, match="emission must be made for 4 levels and 3 states, got"):
            fu.BlockMDP(lock.transitions, lock.rewards, emission=emission)
