"""Kernels of mixtures: the expectation step and the scores of symbols."""

import math

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import mixtures
from fasturl._kernels.records import RealObservations, SymbolTables

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("n_components", [1, 2, 5])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_expectation_equals_its_reference(n_components, dtype):
    draw = np.random.default_rng(0)
    statistics = draw.poisson(0.7, (40, 6)).astype(dtype)
    weights, bias = draw.standard_normal((6, n_components)), draw.standard_normal(n_components)
    ref, comp = ((np.full(n_components, np.nan), np.full((6, n_components), np.nan)) for _ in range(2))
    expected = naive.mixtures.expectation(statistics, weights, bias, None, *ref)
    found = mixtures.expectation(statistics, weights, bias, np.full(n_components, np.nan), *comp)
    assert found == pytest.approx(expected, rel=1e-12)
    for one, other in zip(ref, comp, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-14)


def test_expectation_is_the_posterior_of_a_coin_that_was_thrown_twice():
    """Coins that show 1 with probability 3/4 and 1/4, equally frequent: 1 1 comes from the first with
    probability 9/10, 1 0 with 1/2."""
    shares = np.array([[0.75, 0.25], [0.75, 0.25]])
    weights, bias = np.log(shares / (1 - shares)), np.log(1 - shares).sum(axis=0) + math.log(0.5)
    sizes, sums = np.empty(2), np.empty((2, 2))
    for throws, first, probability in (([1, 1], 0.9, 5 / 16), ([1, 0], 0.5, 3 / 16)):
        x = np.array([throws], np.uint8)
        log_likelihood = mixtures.expectation(x, weights, bias, np.empty(2), sizes, sums)
        assert log_likelihood == pytest.approx(math.log(probability))
        np.testing.assert_allclose(sizes, [first, 1 - first])
        np.testing.assert_allclose(sums, np.outer(throws, sizes))


def test_expectation_of_what_no_float_can_hold():
    """Log-likelihoods of -10,000: their exponentials are 0."""
    sizes, sums = np.empty(2), np.empty((1, 2))
    log_likelihood = mixtures.expectation(
        np.ones((1, 1), np.uint8),
        np.zeros((1, 2)),
        np.array([-10_000.0, -10_001.0]),
        np.empty(2),
        sizes,
        sums,
    )
    assert log_likelihood == pytest.approx(-10_000 + math.log1p(math.exp(-1)))
    assert sizes[1] / sizes[0] == pytest.approx(math.exp(-1))


@pytest.mark.parametrize("n_informative", [0, 2, 4])
def test_symbol_scores_equal_their_reference(n_informative):
    draw = np.random.default_rng(n_informative)
    means = draw.integers(-2, 3, (3, 4, 5)).astype(np.float32)
    means[:, n_informative:] = 0
    noise = draw.normal(0, 2, (6, 4, 5)).astype(np.float32)
    noise[0, 0, 0], noise[1, 3, 1] = 1e30, -1e30  # no integer
    n_symbols = np.array([3, 1, 4, 2])
    tables = SymbolTables(
        least=np.array([-1, 0, -2, 1], np.float32),
        starts=np.concatenate([[0], np.cumsum(n_symbols)]),
        entries=draw.standard_normal((10, 3)).astype(np.float32),
        bias=draw.standard_normal(3).astype(np.float32),
    )
    observations = RealObservations(noise, means, n_informative)
    ref, comp = (np.full((6, 3, 3, 5), np.nan, np.float32) for _ in range(2))
    naive.mixtures.symbol_scores(observations, tables, None, ref)
    mixtures.symbol_scores(observations, tables, np.full((2, 3), np.nan, np.float32), comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, st.integers(0, 20), st.integers(1, 5), st.sampled_from([1.0, 30.0]))
def test_shares_of_rows_equal_their_reference(draw, n, n_components, spread):
    scores = (spread * draw.standard_normal((n_components, n))).astype(np.float32)
    bias = draw.standard_normal(n_components).astype(np.float32)
    bias[draw.random(n_components) < 0.2] = -np.inf
    bias[0] = 0.0
    labels, found = draw.integers(n_components, size=n), []
    for module in (naive.mixtures, mixtures):
        shares, names, sizes = scores.copy(), labels.copy(), np.full(n_components, np.nan)
        n_changed = module.share_rows(shares, bias, names, sizes)
        found.append((shares, sizes, names, n_changed))
    for expected, actual in zip(*found, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-7)
