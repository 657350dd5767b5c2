"""What an oracle is fitted with, beside the same of scikit-learn: k-means from as many starts, and Gaussian
mixtures from the same start, on as many points as URL fits at most, or half of them for thirty states."""

import numpy as np
import pytest
from conftest import best_seconds, report
from sklearn import config_context
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.oracles.clusters import cluster_points, uniforms_of_a_start
from fasturl.oracles.gaussian_mixture import fit_mixture, start_at
from fasturl.oracles.projection import Projection
from fasturl.problems.environment import emission_rngs

POINTS, HORIZON, STARTS = 2**14, 20, 3
LEAST_VARIANCE = 1e-6
MUST_REACH = 2
"""As many times as fast."""


def projected(env):
    """Observations of the three states, projected as URL's oracles do."""
    states = np.random.default_rng(0).integers(3, size=(-(-POINTS // (HORIZON + 1)), HORIZON + 1))
    seen = env.emission.draw(emission_rngs(Streams(0)), len(states)).observe(states)
    return Projection(seen.reshape(-1, seen.shape[-1])[:POINTS], 2, "auto", "moments")


BITS, REALS = projected(fu.LockBernoulli(HORIZON)), projected(fu.LockGaussian(HORIZON, noise=0.2))
UNIFORMS = np.random.default_rng(0).random((STARTS, uniforms_of_a_start(3)))
LABELS = cluster_points(REALS.points, REALS.weights, 3, UNIFORMS[:1])[1]
START = start_at(REALS.points, LABELS, 3, "spherical", LEAST_VARIANCE)


def many_states():
    """Points of thirty overlapping clusters, and where a mixture of any covariances starts."""
    draw, n_states, dimension = np.random.default_rng(0), 30, 29
    labels = draw.integers(n_states, size=POINTS // 2)
    points = 3 * draw.normal(size=(n_states, dimension))[labels] + draw.normal(size=(labels.size, dimension))
    mistaken = np.where(draw.random(labels.size) < 0.2, draw.integers(n_states, size=labels.size), labels)
    return points, start_at(points, mistaken, n_states, "full", LEAST_VARIANCE)


MANY, MANY_START = many_states()


def their_clusters():
    return KMeans(3, n_init=STARTS, random_state=0).fit(BITS.points, sample_weight=BITS.weights)


def our_clusters():
    return cluster_points(BITS.points, BITS.weights, 3, UNIFORMS)


def their_mixture(points, start):
    return GaussianMixture(
        len(start.weights),
        covariance_type=start.kind,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=1 / start.covariances
        if start.kind == "spherical"
        else np.linalg.inv(start.covariances),
        reg_covar=LEAST_VARIANCE,
        tol=1e-4,
        max_iter=200,
    ).fit_predict(points)


def our_mixture(points, start):
    return fit_mixture(points, start, LEAST_VARIANCE)


FITS = {
    "k-means": (their_clusters, our_clusters, ()),
    "Gaussian mixture": (their_mixture, our_mixture, (REALS.points, START)),
    "Gaussian mixture of thirty states": (their_mixture, our_mixture, (MANY, MANY_START)),
}


@pytest.mark.parametrize("name", FITS)
def test_scikit_learn(name, benchmark, reference_rates):
    benchmark.group = f"fit: {name}"
    with threadpool_limits(1), config_context(assume_finite=True, skip_parameter_validation=True):
        benchmark.pedantic(FITS[name][0], args=FITS[name][2], rounds=20, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        reference_rates[benchmark.group] = POINTS / seconds


@pytest.mark.parametrize("name", FITS)
def test_kernels(name, benchmark, reference_rates):
    benchmark.group = f"fit: {name}"
    benchmark.pedantic(FITS[name][1], args=FITS[name][2], rounds=20, warmup_rounds=1)
    if (seconds := best_seconds(benchmark)) and benchmark.group in reference_rates:
        ratio = POINTS / seconds / reference_rates[benchmark.group]
        report(benchmark, ratio=ratio, must_reach=MUST_REACH)
        assert ratio >= MUST_REACH
