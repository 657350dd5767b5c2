"""What an oracle is fitted with, beside the same of scikit-learn: k-means from as many starts, and a Gaussian
mixture from the same start, on as many points as URL fits at most."""

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


def their_clusters():
    return KMeans(3, n_init=STARTS, random_state=0).fit(BITS.points, sample_weight=BITS.weights)


def our_clusters():
    return cluster_points(BITS.points, BITS.weights, 3, UNIFORMS)


def their_mixture():
    return GaussianMixture(
        3,
        covariance_type="spherical",
        weights_init=START.weights,
        means_init=START.means,
        precisions_init=1 / START.covariances,
        reg_covar=LEAST_VARIANCE,
        tol=1e-4,
        max_iter=200,
    ).fit_predict(REALS.points)


def our_mixture():
    return fit_mixture(REALS.points, START, LEAST_VARIANCE)


FITS = {"k-means": (their_clusters, our_clusters), "Gaussian mixture": (their_mixture, our_mixture)}


@pytest.mark.parametrize("name", FITS)
def test_scikit_learn(name, benchmark, reference_rates):
    benchmark.group = f"fit: {name}"
    with threadpool_limits(1), config_context(assume_finite=True, skip_parameter_validation=True):
        benchmark.pedantic(FITS[name][0], rounds=20, warmup_rounds=1)
    if seconds := best_seconds(benchmark):
        reference_rates[benchmark.group] = POINTS / seconds


@pytest.mark.parametrize("name", FITS)
def test_kernels(name, benchmark, reference_rates):
    benchmark.group = f"fit: {name}"
    benchmark.pedantic(FITS[name][1], rounds=20, warmup_rounds=1)
    if (seconds := best_seconds(benchmark)) and benchmark.group in reference_rates:
        ratio = POINTS / seconds / reference_rates[benchmark.group]
        report(benchmark, ratio=ratio, must_reach=MUST_REACH)
        assert ratio >= MUST_REACH
