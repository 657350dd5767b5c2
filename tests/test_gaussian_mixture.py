"""Gaussian mixtures: kernels against their references, iterations against scikit-learn's."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture as SklearnGaussianMixture
from strategies import DRAWS

from fasturl._kernels import gaussians
from fasturl.oracles.gaussian_mixture import COVARIANCES, GaussianMixture, fit_mixture, start_at

NUMBERS = st.integers(1, 12) | st.integers(gaussians.BATCH - 1, 2 * gaussians.BATCH + 1)
SIZES = st.tuples(NUMBERS, st.integers(1, 4), st.integers(1, 5))


def blobs(seed, n=900, dimension=3):
    """Three clusters of different shapes that overlap a little."""
    draw = np.random.default_rng(seed)
    labels = draw.choice(3, n, p=[0.5, 0.3, 0.2])
    shapes = 0.5 * draw.normal(size=(3, dimension, dimension))
    points = 2.0 * np.eye(3, dimension)[labels] + np.einsum(
        "nij,nj->ni", shapes[labels], draw.normal(size=(n, dimension))
    )
    return points, labels


def drawn(draw, n, n_components, dimension):
    shares = draw.random((n, n_components)) + 0.01
    return draw.normal(size=(n, dimension)), shares / shares.sum(axis=1, keepdims=True)


def shape_of(name, _, n_components, dimension):
    """Of factors and scatter, as kernels of this name take them."""
    return (n_components, dimension) if name.startswith("diagonal") else (n_components, dimension, dimension)


@pytest.mark.kernel
@pytest.mark.bounds
@pytest.mark.parametrize("name", ["diagonal_expectation", "full_expectation"])
@hypothesis.given(DRAWS, SIZES)
def test_expectation_equals_its_reference(name, draw, sizes):
    n, n_components, dimension = sizes
    points, _ = drawn(draw, *sizes)
    shape = shape_of(name, *sizes)
    factors = np.tril(draw.normal(size=shape)) if len(shape) == 3 else draw.normal(size=shape)
    arguments = points, draw.normal(size=n_components), draw.normal(size=(n_components, dimension)), factors
    shares = np.empty((2, n, n_components))
    expected = getattr(naive.gaussians, name)(*arguments, shares[0])
    scratch = np.full((dimension + 2, gaussians.BATCH), np.nan)
    given = getattr(gaussians, name)(*arguments, shares[1], scratch)
    np.testing.assert_allclose(given, expected, rtol=1e-10)
    np.testing.assert_allclose(shares[1], shares[0], rtol=1e-9, atol=1e-14)


@pytest.mark.kernel
@hypothesis.given(DRAWS, SIZES, st.booleans())
def test_means_equal_their_reference(draw, sizes, one_is_empty):
    points, shares = drawn(draw, *sizes)
    shares[draw.random(shares.shape) < 0.3] = 0.0
    if one_is_empty:
        shares[:, 0] = 0.0
    (expected_sizes, given_sizes), (expected, given) = (
        np.empty((2, sizes[1])),
        np.empty((2, sizes[1], sizes[2])),
    )
    naive.gaussians.shared_means(points, shares, expected_sizes, expected)
    gaussians.shared_means(points, shares, given_sizes, given)
    np.testing.assert_allclose(given_sizes, expected_sizes, rtol=1e-12)
    np.testing.assert_allclose(given, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.kernel
@pytest.mark.parametrize("name", ["diagonal_scatter", "full_scatter"])
@hypothesis.given(DRAWS, SIZES)
def test_scatter_equals_its_reference(name, draw, sizes):
    _, n_components, dimension = sizes
    points, shares = drawn(draw, *sizes)
    shares[draw.random(shares.shape) < 0.3] = 0.0
    means = draw.normal(size=(n_components, dimension))
    shape = shape_of(name, *sizes)
    expected, given = np.full((2, *shape), np.nan)
    getattr(naive.gaussians, name)(points, shares, means, expected)
    getattr(gaussians, name)(points, shares, means, given)
    np.testing.assert_allclose(given, expected, rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", COVARIANCES)
def test_iterations_end_where_those_of_scikit_learn_do(kind, seed):
    """From the same start, by the same rule: to seven digits, and to the last label."""
    points, _ = blobs(seed)
    nearest = np.square(points[:, None] - points[:3]).sum(axis=2).argmin(axis=1)
    start, least_variance = start_at(points, nearest, 3, kind, 1e-6), 1e-6
    ours, components = fit_mixture(points, start, least_variance)
    precisions = np.linalg.inv(start.covariances) if start.covariances.ndim > 1 and kind != "diag" else None
    theirs = SklearnGaussianMixture(
        3,
        covariance_type=kind,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=1 / start.covariances if precisions is None else precisions,
        reg_covar=least_variance,
        tol=1e-4,
        max_iter=200,
    )
    np.testing.assert_array_equal(components, theirs.fit_predict(points))
    assert theirs.n_iter_ > 3
    for given, expected in (
        (ours.weights, theirs.weights_),
        (ours.means, theirs.means_),
        (ours.covariances, theirs.covariances_),
    ):
        np.testing.assert_allclose(given, expected, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("kind", COVARIANCES)
def test_every_iteration_makes_the_points_likelier(kind):
    points, labels = blobs(1)
    mixture, shares = start_at(points, np.roll(labels, 40), 3, kind, 1e-9), np.empty((len(points), 3))
    likelihoods = []
    for _ in range(30):
        likelihoods.append(mixture.expect(points, shares))
        mixture = mixture.maximised(points, shares, 0.0)
    assert np.diff(likelihoods).min() > -1e-12
    assert likelihoods[-1] > likelihoods[0] + 0.1


@pytest.mark.parametrize("kind", COVARIANCES)
def test_a_component_of_no_point_does_no_harm(kind):
    points, labels = blobs(2)
    mixture, components = fit_mixture(points, start_at(points, labels, 4, kind, 1e-6), 1e-6)
    assert np.isfinite(mixture.means).all()
    assert np.isfinite(mixture.covariances).all()
    assert set(components) <= {0, 1, 2, 3}


@pytest.mark.parametrize("kind", COVARIANCES)
def test_the_decoder_says_which_component_is_likeliest(kind):
    points, _ = blobs(3)
    X = points.astype(np.float32)
    start = start_at(points, np.arange(len(points)) % 3, 3, kind, 1e-6)
    mixture, components = fit_mixture(points, start._replace(means=points[:3].copy()), 1e-6)
    assert isinstance(mixture, GaussianMixture)
    assert np.mean(mixture.decoder().decode(X) != components) <= 1 / len(X)
