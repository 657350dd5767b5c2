"""Statistics against closed forms and brute force; coverage of intervals by simulation."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from fasturl.experiments.analysis import statistics

Z95 = scipy.stats.norm.ppf(0.975)
numbers = st.floats(-1e6, 1e6)


@given(st.lists(numbers, min_size=1, max_size=24))
def test_interquartile_mean_is_the_mean_of_the_middle_half_of_quarters_of_values(values):
    quarters = np.sort(np.repeat(values, 4))  # 4n quarters of values: the middle 2n are whole
    n = len(values)
    assert statistics.interquartile_mean(values) == pytest.approx(quarters[n : 3 * n].mean(), abs=1e-6)


def test_interquartile_mean_where_a_quarter_is_whole_is_the_trimmed_mean():
    values = np.random.default_rng(1).exponential(size=(40, 3))
    np.testing.assert_allclose(
        statistics.interquartile_mean(values), scipy.stats.trim_mean(values, 0.25, axis=0), rtol=1e-12
    )


def test_interquartile_mean_does_not_see_outliers():
    assert statistics.interquartile_mean([0.5] * 6 + [1e9, -1e9]) == 0.5


def test_bootstrap_of_three_values_against_all_27_resamples():
    values = np.array([0.0, 1.0, 10.0])
    means = [np.mean(chosen) for chosen in itertools.product(values, repeat=3)]
    low, high = statistics.bootstrap_interval(values, level=0.8, resamples=20_000)
    assert low == pytest.approx(np.quantile(means, 0.1, method="inverted_cdf"))
    assert high == pytest.approx(np.quantile(means, 0.9, method="inverted_cdf"))


def test_bootstrap_of_many_values_approaches_the_normal_interval():
    values = np.random.default_rng(2).normal(size=2000)
    low, high = statistics.bootstrap_interval(values, resamples=20_000)
    half = Z95 * values.std() / math.sqrt(values.size)
    # 5 standard errors of the 2.5 % quantile of 20,000 draws: sqrt(p (1 - p) / 20000) / density = 0.019
    # deviations
    error = 5 * math.sqrt(0.025 * 0.975 / 20_000) / scipy.stats.norm.pdf(Z95) * half / Z95
    assert low == pytest.approx(values.mean() - half, abs=error)
    assert high == pytest.approx(values.mean() + half, abs=error)


def test_bootstrap_resamples_whole_seeds_and_points_stand_for_themselves():
    curves = np.random.default_rng(3).random((8, 5))
    together = statistics.bootstrap_interval(curves)
    for point in range(5):
        alone = statistics.bootstrap_interval(curves[:, point])
        assert (together.low[point], together.high[point]) == pytest.approx(alone)


def test_bootstrap_is_repeatable_and_its_seed_matters():
    values = np.random.default_rng(4).random(20)
    assert statistics.bootstrap_interval(values) == statistics.bootstrap_interval(values)
    assert statistics.bootstrap_interval(values) != statistics.bootstrap_interval(values, seed=1)


@pytest.mark.parametrize("n", [10, 50])
def test_bootstrap_covers_the_mean_of_normal_values_as_often_as_said(n):
    """10,000 samples: a right interval fails this with probability below 1e-6 (5 standard errors, and 0.005
    for finite resampling)."""
    trials = 10_000
    low, high = statistics.bootstrap_interval(np.random.default_rng(6).normal(size=(n, trials)))
    said = 1 - 2 * scipy.stats.t.sf(Z95 * math.sqrt((n - 1) / n), n - 1)
    assert {10: 0.90, 50: 0.94}[n] == pytest.approx(said, abs=0.01)
    assert np.mean((low < 0) & (high > 0)) == pytest.approx(
        said, abs=5 * math.sqrt(said * (1 - said) / trials) + 0.005
    )


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(("k", "n"), [(0, 1), (1, 1), (0, 50), (50, 50), (17, 50), (3, 10), (999, 1000)])
def test_wilson_interval_is_that_of_scipy(k, n, level):
    expected = scipy.stats.binomtest(k, n).proportion_ci(level, method="wilson")
    assert statistics.wilson_interval(k, n, level=level) == pytest.approx(
        (expected.low, expected.high), abs=1e-12
    )


def test_wilson_ends_solve_the_score_equation():
    k, n = np.meshgrid(np.arange(1, 50), [50, 60])
    for end in statistics.wilson_interval(k, n):
        np.testing.assert_allclose((k / n - end) ** 2, Z95**2 * end * (1 - end) / n, rtol=1e-9)


@given(st.integers(1, 10_000), st.data())
def test_wilson_holds_the_share_and_stays_inside_0_and_1(n, data):
    k = data.draw(st.integers(0, n))
    low, high = statistics.wilson_interval(k, n)
    assert 0 <= low <= k / n <= high <= 1
    assert low < high


def test_wilson_covers_the_true_share():
    """Exact, by summing the binomial: 95 % on average over shares, and at no share of this grid under 90 %,
    for 50 seeds."""
    k = np.arange(51)
    low, high = statistics.wilson_interval(k, 50)
    shares = np.linspace(0.05, 0.95, 181)
    covered = [
        scipy.stats.binom.pmf(k, 50, share)[(low <= share) & (share <= high)].sum() for share in shares
    ]
    assert np.mean(covered) == pytest.approx(0.95, abs=0.005)
    assert min(covered) > 0.90


def test_wilson_covers_simulated_shares():
    """20,000 draws with a share of 0.8: its exact coverage, within 5 standard errors (wrong alarm below
    1e-6)."""
    draws = np.random.default_rng(7).binomial(50, 0.8, size=20_000)
    low, high = statistics.wilson_interval(draws, 50)
    ends = statistics.wilson_interval(np.arange(51), 50)
    exact = scipy.stats.binom.pmf(np.arange(51), 50, 0.8)[(ends.low <= 0.8) & (ends.high >= 0.8)].sum()
    assert np.mean((low <= 0.8) & (high >= 0.8)) == pytest.approx(
        exact, abs=5 * math.sqrt(exact * (1 - exact) / 20_000)
    )


def test_median_interval_takes_the_ranks_of_the_binomial():
    values = np.arange(1, 51)
    assert statistics.median_interval(values) == (18, 33)  # P(Binomial(50, 1/2) < 18) = 0.0164, < 19: 0.0325
    assert statistics.median_interval(np.arange(1, 11)) == (2, 9)
    assert statistics.median_interval([1, 2, 3, 4, 5]) == (-math.inf, math.inf)


def test_median_interval_covers_at_least_as_often_as_said():
    """10,000 skewed samples of 20; the exact coverage is P(6 <= Binomial(20, 1/2) <= 14) = 0.9586."""
    samples = np.random.default_rng(8).exponential(size=(10_000, 20))
    ends = np.array([statistics.median_interval(sample) for sample in samples])
    exact = scipy.stats.binom.cdf(14, 20, 0.5) - scipy.stats.binom.cdf(5, 20, 0.5)
    assert exact > 0.95
    covered = np.mean((ends[:, 0] <= math.log(2)) & (math.log(2) <= ends[:, 1]))
    assert covered == pytest.approx(exact, abs=5 * math.sqrt(exact * (1 - exact) / 10_000))


def test_median_of_censored_runs():
    inf = math.inf
    assert statistics.median([3, 1, 2]) == 2
    assert statistics.median([4, 1, 2, 3]) == 2.5
    assert statistics.median([1, inf, 2]) == 2
    assert statistics.median([1, 2, inf, inf]) == inf
    assert statistics.median_interval([1.0] * 12 + [inf] * 8) == (1, inf)


def averages(rewards, points):
    return np.cumsum(rewards)[points - 1] / points


def test_a_run_that_turns_from_nothing_to_optimal_needs_the_trajectories_before_the_turn():
    points = np.arange(10, 1010, 10)
    rewards = np.repeat([0.0, 0.5], [300, 700])
    assert statistics.near_optimal_from(points, averages(rewards, points), 0.5) == 300


@given(st.lists(st.integers(0, 1), min_size=2, max_size=60))
def test_near_optimal_from_is_the_point_after_which_all_means_are_high_and_before_which_all_are_low(rewards):
    rewards, points = np.array(rewards, float), np.arange(1, len(rewards) + 1)
    threshold = 0.9 * 0.53  # no mean of few 0s and 1s is equal to it
    found = statistics.near_optimal_from(points, averages(rewards, points), 0.53)
    candidates = [
        n
        for n in points[:-1]
        if all(rewards[n:m].mean() >= threshold for m in range(n + 1, len(rewards) + 1))
        and all(rewards[m:n].mean() <= threshold for m in range(1, n))
    ]
    assert found == (candidates[0] if candidates else math.inf)
    assert len(candidates) <= 1


def test_bernoulli_rewards_find_the_turn_nearly():
    """Before the turn nothing, after it fair coins: the estimate lies near it for 99 % of 1,000 runs, and is
    never far before."""
    generator = np.random.default_rng(9)
    rewards = (generator.random((1000, 20_000)) < 0.5) * (np.arange(20_000) >= 5000)
    points = np.arange(100, 20_100, 100)
    sums = np.cumsum(rewards, axis=1)[:, points - 1]
    found = statistics.near_optimal_from(points, sums / points, 0.5)
    assert found.shape == (1000,)
    assert np.all(found >= 5000)
    assert np.mean(found <= 6000) >= 0.99


def test_runs_that_do_not_get_there_are_censored():
    points = np.arange(1, 101)
    good = averages(np.repeat([0.0, 0.5], [20, 80]), points)
    never = averages(np.zeros(100), points)
    wrong_final_policy = [True, True, False]
    found = statistics.near_optimal_from(points, [good, never, good], 0.5, wrong_final_policy)
    assert found.tolist() == [20, math.inf, math.inf]


@given(st.floats(-3, 3), st.floats(-5, 5))
def test_the_slope_of_an_exact_power_law(slope, intercept):
    x = np.array([5, 10, 20, 50])
    fit = statistics.log_log_slope(x, np.exp(intercept) * x**slope)
    assert fit == pytest.approx((slope, 0, intercept), abs=1e-7)


def test_the_slope_and_its_error_are_those_of_linear_regression():
    generator = np.random.default_rng(10)
    x = generator.uniform(1, 100, 12)
    y = x**1.5 * np.exp(generator.normal(0, 0.3, 12))
    expected = scipy.stats.linregress(np.log(x), np.log(y))
    assert statistics.log_log_slope(x, y) == pytest.approx(
        (expected.slope, expected.stderr, expected.intercept)
    )


def test_censored_medians_are_left_out_of_the_slope():
    assert statistics.log_log_slope([1, 2, 4, 8], [1, 4, 16, math.inf])[:2] == pytest.approx(
        (2, 0), abs=1e-12
    )
    two = statistics.log_log_slope([1, 2, 4], [1, 4, math.inf])
    assert two.slope == pytest.approx(2)
    assert math.isnan(two.error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: statistics.wilson_interval(3, 2), "successes must be from 0 to the number of trials"),
        (lambda: statistics.wilson_interval(0, 0), "trials at least 1"),
        (lambda: statistics.wilson_interval(1, 2, level=1), r"level must be a number in \(0, 1\), got 1"),
        (lambda: statistics.bootstrap_interval([]), "samples must hold at least one value"),
        (
            lambda: statistics.bootstrap_interval([1.0], resamples=0),
            "resamples must be an integer >= 1, got 0",
        ),
        (lambda: statistics.interquartile_mean([]), "samples must hold at least one value"),
        (lambda: statistics.log_log_slope([5, 5], [1, 2]), "a slope needs at least two different x"),
    ],
)
def test_what_makes_no_sense_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
