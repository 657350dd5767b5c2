"""Variates: layers of the ziggurats, equality with references, laws, and parameters at the edge of floats."""

import hashlib
import math
from decimal import Decimal

import hypothesis
import hypothesis.strategies as st
import naive
import numba
import numpy as np
import pytest
from scipy import special, stats
from strategies import GENERATORS, filling, filling_rows, row

from fasturl._kernels import rng, variates
from fasturl._kernels.compiling import inlined

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below. The seeds are fixed, so a test that passes keeps passing
until the code changes."""
SIGMAS = stats.norm.isf(ALARM / 2)
"""How many standard errors a mean may be off at that rate."""
COUNT = 5_000 if numba.config.DISABLE_JIT else 200_000
"""Draws of a statistical test. Uncompiled, they are slow, and the first of the very same draws."""
MANY = COUNT if numba.config.DISABLE_JIT else 4_000_000
"""Draws where a law is looked at closely."""

fill_normals = inlined(filling(variates.normal))
fill_normal_tails = inlined(filling(variates._normal_tail))
fill_exponentials = inlined(filling(variates.exponential))
fill_gammas = inlined(filling(variates.gamma))
fill_betas = inlined(filling(variates.beta))
fill_dirichlets = inlined(filling_rows(variates.dirichlet))


def generator(seed):
    return np.random.SeedSequence(seed).generate_state(4, np.uint64)


def draws(fill, seed, *parameters, count=COUNT):
    out = np.empty(count)
    fill(generator(seed), out, *parameters)
    return out


def dirichlets(seed, weights, count=COUNT):
    table = np.tile(np.array(weights, float), (count, 1))
    out = np.full(table.shape, np.nan)
    fill_dirichlets(generator(seed), table, out)
    return out


def digest_of(values):
    return hashlib.sha256(values.astype("<f8").tobytes()).hexdigest()[:16]


# --- the layers ---

ZIGGURATS = {
    "normal": (
        variates.NORMAL_EDGES,
        variates.NORMAL_HEIGHTS,
        variates.NORMAL_AREA,
        lambda x: (-x * x / 2).exp(),
        math.sqrt(math.pi / 2) * special.erfc(variates.NORMAL_TAIL / math.sqrt(2)),
    ),
    "exponential": (
        variates.EXPONENTIAL_EDGES,
        variates.EXPONENTIAL_HEIGHTS,
        variates.EXPONENTIAL_AREA,
        lambda x: (-x).exp(),
        math.exp(-variates.EXPONENTIAL_TAIL),
    ),
}
"""Edges, heights, the area of a layer, the density in decimals of 28 digits, and the area of the tail."""


@pytest.mark.parametrize("name", ZIGGURATS)
def test_edges_fall_to_zero_and_heights_are_the_density_there(name):
    edges, heights, _, density, _ = ZIGGURATS[name]
    assert edges.shape == heights.shape == (257,)
    assert (np.diff(edges) < 0).all()
    assert (edges[-1], heights[0], heights[-1]) == (0.0, 0.0, 1.0)
    exact = [float(density(Decimal(edge))) for edge in edges[1:].tolist()]
    np.testing.assert_allclose(heights[1:], exact, rtol=4e-15)


@pytest.mark.parametrize("name", ZIGGURATS)
def test_all_layers_have_the_same_area(name):
    edges, heights, area, _, tail = ZIGGURATS[name]
    np.testing.assert_allclose(edges[1:-1] * np.diff(heights[1:]), area, rtol=1e-12)
    np.testing.assert_allclose(edges[1] * heights[1] + tail, area, rtol=1e-14)
    np.testing.assert_allclose(edges[0] * heights[1], area, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "digest"),
    [("normal", "cf39da9387fe1a2e"), ("exponential", "a3cc8c01ccb04620")],
)
def test_the_layers_have_the_same_bits_on_every_machine(name, digest):
    edges, heights = ZIGGURATS[name][:2]
    assert digest_of(np.stack([edges, heights])) == digest


@pytest.mark.parametrize(
    ("fill", "parameters", "digest"),
    [
        (fill_normals, (), "99b24165f9b946e1"),
        (fill_exponentials, (), "653ee18915bee926"),
        (fill_gammas, (2.5,), "4aa8eb342d975a2b"),
    ],
    ids=["normal", "exponential", "gamma"],
)
def test_draws_have_the_same_bits_on_every_machine(fill, parameters, digest):
    """Exp and log, which a platform may round otherwise, do no more than accept and reject here."""
    assert digest_of(draws(fill, 0, *parameters, count=1_000)) == digest


# --- equality with the references ---

SHAPES = st.one_of(
    st.integers(1, 30).map(float), st.floats(1e-3, 1e3), st.floats(1e-300, 1e300), st.just(5e-324)
)
"""Shapes as learners have them, and any others."""
WEIGHTS = st.lists(st.one_of(st.just(0.0), SHAPES), min_size=1, max_size=8).filter(any).map(np.array)


@pytest.mark.parametrize("name", ["normal", "exponential"])
@hypothesis.given(GENERATORS)
def test_variates_without_parameters_equal_their_references(name, state):
    stream = row(state)
    for _ in range(20):
        ref = getattr(naive.variates, name)(state)
        comp = getattr(variates, name)(stream)
        assert comp == ref
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, SHAPES)
def test_gamma_equals_its_reference(state, shape):
    stream = row(state)
    for _ in range(5):
        ref = naive.variates.gamma(state, shape)
        comp = variates.gamma(stream, shape)
        assert comp == ref
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, SHAPES, SHAPES)
def test_beta_equals_its_reference(state, a, b):
    stream = row(state)
    for _ in range(5):
        ref = naive.variates.beta(state, a, b)
        comp = variates.beta(stream, a, b)
        assert comp == ref
        assert 0.0 <= comp <= 1.0
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, WEIGHTS)
def test_dirichlet_equals_its_reference(state, weights):
    stream = row(state)
    ref, comp = np.full((2, weights.size), np.nan)
    for _ in range(5):
        naive.variates.dirichlet(state, weights, ref)
        variates.dirichlet(stream, weights, comp)
        np.testing.assert_array_equal(ref, comp)
    assert stream.tolist() == state


@pytest.mark.parametrize(
    ("fill", "reference", "parameters"),
    [
        (fill_normals, naive.variates.normal, ()),
        (fill_exponentials, naive.variates.exponential, ()),
        (fill_gammas, naive.variates.gamma, (0.3,)),
        (fill_gammas, naive.variates.gamma, (1.1,)),
    ],
    ids=["normal", "exponential", "gamma 0.3", "gamma 1.1"],
)
def test_long_runs_equal_their_references(fill, reference, parameters):
    """So many that layers' corners, tails and rejected points are among them."""
    state = generator(0).tolist()
    ref, comp = np.empty((2, 5_000))
    filling(reference)(state, ref, *parameters)
    fill(generator(0), comp, *parameters)
    np.testing.assert_array_equal(ref, comp)


# --- normals and exponentials ---


def first_word(word):
    """A generator whose first output is `word`: a + d wraps to 0, so that is a."""
    return row([word, 1, 0, (2**64 - word) % 2**64])


@pytest.mark.parametrize(("word", "sign"), [(2**63 - 256, 1.0), (2**63, -1.0)])
def test_the_ends_of_the_lowest_layer_are_drawn_from_the_tail(word, sign):
    """Layer 0, and of the signed numbers of 53 bits the greatest and the least."""
    assert variates.normal(first_word(word)) * sign > variates.NORMAL_TAIL


def test_the_end_of_the_lowest_layer_of_the_exponential_is_its_tail():
    tail_first = first_word(2**64 - 256)
    value = variates.exponential(tail_first)
    after = first_word(2**64 - 256)
    rng.next_bits(after)
    assert value == variates.EXPONENTIAL_TAIL + variates.exponential(after)
    assert tail_first.tolist() == after.tolist()


def test_normals_are_symmetric_about_zero_and_never_zero():
    """The word 0 is the least positive number of layer 0, the word 2^64 - 256 the greatest negative one."""
    least = variates.normal(first_word(0))
    assert least == variates.NORMAL_EDGES[0] * 2.0**-53 > 0.0
    assert variates.normal(first_word(2**64 - 256)) == -least


def test_the_least_exponential_is_positive():
    assert variates.exponential(first_word(0)) == variates.EXPONENTIAL_EDGES[0] * 2.0**-53


LAWS = {"normal": (fill_normals, stats.norm), "exponential": (fill_exponentials, stats.expon)}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_by_kolmogorov_and_smirnov(name):
    fill, law = LAWS[name]
    assert stats.kstest(draws(fill, 1), law.cdf).pvalue > ALARM


@pytest.mark.parametrize("name", LAWS)
def test_the_law_in_narrow_bins_of_equal_chance(name):
    """A thousand where compiled, narrower than layers are wide: a wrong corner of a layer shows."""
    fill, law = LAWS[name]
    n_bins = COUNT // 200
    places = law.cdf(draws(fill, 2, count=MANY))
    counts = np.bincount((places * n_bins).astype(int).clip(max=n_bins - 1), minlength=n_bins)
    assert stats.chisquare(counts).pvalue > ALARM


@pytest.mark.parametrize("name", LAWS)
def test_the_chance_of_the_tail(name):
    fill, law = LAWS[name]
    tail = ZIGGURATS[name][0][1]
    values = draws(fill, 3, count=MANY)
    assert stats.binomtest(int((values > tail).sum()), MANY, law.sf(tail)).pvalue > ALARM


def test_the_law_of_the_normal_tail():
    values = draws(fill_normal_tails, 3)
    chances = stats.norm.sf(values) / stats.norm.sf(variates.NORMAL_TAIL)
    assert stats.kstest(chances, "uniform").pvalue > ALARM


@pytest.mark.parametrize(
    ("name", "moments"), [("normal", [0, 1, 0, 3, 0, 15, 0, 105]), ("exponential", [1, 2, 6, 24])]
)
def test_the_moments(name, moments):
    """Of each power, the mean and the standard error that it has under the law."""
    values = draws(LAWS[name][0], 4)
    for power in range(1, len(moments) // 2 + 1):
        error = math.sqrt((moments[2 * power - 1] - moments[power - 1] ** 2) / COUNT)
        assert abs((values**power).mean() - moments[power - 1]) < SIGMAS * error


@pytest.mark.parametrize("name", LAWS)
def test_consecutive_draws_are_independent(name):
    fill, law = LAWS[name]
    eighths = (8 * law.cdf(draws(fill, 5))).astype(int)
    table = np.bincount(8 * eighths[:-1] + eighths[1:], minlength=64).reshape(8, 8)
    assert stats.chi2_contingency(table).pvalue > ALARM


# --- gammas ---


@pytest.mark.parametrize("shape", [0.01, 0.5, 0.999, 1.0, 1.001, 2.0, 2.5, 100.0, 1e6])
def test_gammas_follow_their_law(shape):
    values = draws(fill_gammas, 6, shape)
    # what is less than any float is 0: here the least float, where the law has that chance
    assert stats.kstest(values.clip(min=5e-324), stats.gamma(shape).cdf).pvalue > ALARM


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.5, 100.0, 1e6, 1e12])
def test_gammas_have_their_mean_and_variance(shape):
    """Both are the shape, and the fourth central moment is 3 shape (shape + 2)."""
    deviations = draws(fill_gammas, 7, shape) - shape
    assert abs(deviations.mean()) < SIGMAS * math.sqrt(shape / COUNT)
    error = math.sqrt((3 * shape * (shape + 2) - shape**2) / COUNT)
    assert abs((deviations**2).mean() - shape) < SIGMAS * error


def test_gammas_of_a_huge_shape_are_normal():
    """Their skewness, 2 / sqrt(shape), is a millionth."""
    values = draws(fill_gammas, 8, 1e12)
    assert stats.kstest((values - 1e12) / 1e6, "norm").pvalue > ALARM


def test_gammas_of_the_greatest_shapes_are_the_shape():
    np.testing.assert_allclose(draws(fill_gammas, 9, 1e300, count=1_000), 1e300, rtol=1e-14)


@pytest.mark.parametrize("shape", [5e-324, 1e-300, 1e-10])
def test_gammas_of_the_least_shapes_are_less_than_any_float(shape):
    np.testing.assert_array_equal(draws(fill_gammas, 10, shape, count=1_000), 0.0)


# --- betas and Dirichlets ---

BINS = np.array([0.0, 1e-200, 1e-100, 1e-30, 1e-10, 1e-3, 0.1, 0.5, 0.9, 1.0])
"""Edges of bins. Shares of small weights crowd at both ends, nearer to them than floats can tell from 1."""


def assert_follows_beta(values, a, b):
    expected = np.diff(stats.beta(a, b).cdf(BINS)) * values.size
    counts = np.histogram(values, BINS)[0]
    seldom = expected < 10
    assert counts[seldom].sum() <= stats.poisson.isf(ALARM, expected[seldom].sum())
    if (~seldom).sum() > 1:
        scaled = expected[~seldom] * counts[~seldom].sum() / expected[~seldom].sum()
        assert stats.chisquare(counts[~seldom], scaled).pvalue > ALARM
    if min(a, b) > 0.4:
        assert stats.kstest(values, stats.beta(a, b).cdf).pvalue > ALARM


@pytest.mark.parametrize(
    ("a", "b"), [(0.01, 0.01), (0.01, 2.0), (0.5, 0.5), (1.0, 1.0), (1.0, 7.0), (2.5, 0.7), (30.0, 400.0)]
)
def test_betas_follow_their_law(a, b):
    assert_follows_beta(draws(fill_betas, 11, a, b), a, b)


def test_betas_of_tiny_shapes_are_coins_in_proportion_to_them():
    """Both gammas are less than any float, and one is still all of the sum."""
    values = draws(fill_betas, 12, 3e-300, 1e-300)
    assert set(values) == {0.0, 1.0}
    assert stats.binomtest(int(values.sum()), COUNT, 0.75).pvalue > ALARM


def test_betas_of_a_tiny_and_a_large_shape_are_zero_or_one():
    np.testing.assert_array_equal(draws(fill_betas, 13, 1e-300, 5.0, count=1_000), 0.0)
    np.testing.assert_array_equal(draws(fill_betas, 13, 5.0, 1e-300, count=1_000), 1.0)


ROWS = [
    [1.0, 1.0, 1.0],
    [1.0, 1.0, 58.0],
    [0.01, 0.02, 0.03],
    [1 / 3, 12 + 1 / 3, 4 + 1 / 3],
    [0.0, 2.5, 0.0, 0.5, 1e3],
]


@pytest.mark.parametrize("weights", ROWS, ids=str)
def test_shares_of_a_dirichlet_are_betas(weights):
    values, total = dirichlets(14, weights), sum(weights)
    for share, weight in zip(values.T, weights, strict=True):
        if weight:
            assert_follows_beta(share, weight, total - weight)


@pytest.mark.parametrize("weights", [weights for weights in ROWS if len(weights) == 3], ids=str)
def test_sums_of_shares_are_betas_too(weights):
    """Which holds of any two only where they depend on each other as they should."""
    values, total = dirichlets(15, weights), sum(weights)
    for k, weight in enumerate(weights):
        pair = np.delete(values, k, axis=1).sum(axis=1)
        assert_follows_beta(pair.clip(max=1.0), total - weight, weight)


def test_a_dirichlet_of_tiny_weights_is_one_of_the_corners_in_proportion_to_them():
    values = dirichlets(16, [1e-300, 0.0, 2e-300, 5e-300])
    assert set(values.ravel()) == {0.0, 1.0}
    assert stats.chisquare(values.sum(axis=0)[[0, 2, 3]], COUNT * np.array([1, 2, 5]) / 8).pvalue > ALARM


@hypothesis.given(GENERATORS, WEIGHTS)
def test_shares_are_nonnegative_and_sum_to_one_and_have_weight(state, weights):
    shares = np.full(weights.size, np.nan)
    before = weights.copy()
    variates.dirichlet(row(state), weights, shares)
    assert (shares >= 0.0).all()
    assert abs(math.fsum(shares) - 1.0) < 1e-15 * weights.size
    assert (shares[weights == 0.0] == 0.0).all()
    np.testing.assert_array_equal(weights, before)


def test_one_weight_alone_takes_all():
    shares = np.full(3, np.nan)
    for weight in (5e-324, 0.3, 1.0, 7.0, 1e300):
        variates.dirichlet(generator(17), np.array([0.0, weight, 0.0]), shares)
        assert shares.tolist() == [0.0, 1.0, 0.0]
