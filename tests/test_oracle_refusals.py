"""Observations and settings that oracles refuse, and those that they take."""

import numpy as np
import pytest
from oracle_samples import ENVS, ORACLES, observations
from sklearn.base import clone

from fasturl.oracles import (
    DBSCAN,
    GMM,
    KMeans,
)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("n_states", [1, 0, -3, 2.5, 257])
def test_n_states_must_be_from_2_to_256(name, n_states):
    X, _ = observations(ENVS["bits"], episodes=60)
    with pytest.raises(ValueError, match=f"n_states must be an integer from 2 to 256, got {n_states}"):
        clone(ORACLES[name]).set_params(n_states=n_states).fit(X)


@pytest.mark.parametrize("name", ORACLES)
def test_there_must_be_as_many_observations_as_clusters(name):
    X, _ = observations(ENVS["bits"])
    with pytest.raises(ValueError, match="at least n_states = 3 observations, got 2"):
        clone(ORACLES[name]).fit(X[:2])


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", ORACLES)
def test_observations_must_be_finite(name, value):
    X, _ = observations(ENVS["reals"])
    X[5, 2] = value
    with pytest.raises(ValueError, match="X must be finite"):
        clone(ORACLES[name]).fit(X)
    fitted = clone(ORACLES[name]).fit(np.delete(X, 5, axis=0))
    with pytest.raises(ValueError, match="X must be finite"):
        fitted.predict(X)


@pytest.mark.parametrize("name", ORACLES)
def test_observations_must_be_a_table(name):
    with pytest.raises(ValueError, match=r"X must have shape \[observations, coordinates\], got \(6,\)"):
        clone(ORACLES[name]).fit(np.zeros(6))


@pytest.mark.parametrize("env", ["bits", "reals"])
@pytest.mark.parametrize("name", ORACLES)
def test_no_observations_have_no_labels(name, env):
    X, _ = observations(ENVS[env])
    labels = clone(ORACLES[name]).fit(X).predict(X[:0])
    assert labels.shape == (0,)
    assert labels.dtype == np.int64


@pytest.mark.parametrize("name", ORACLES)
def test_observations_must_have_coordinates(name):
    with pytest.raises(ValueError, match="X must have at least 1 coordinate, got 0"):
        clone(ORACLES[name]).fit(np.zeros((20, 0)))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@pytest.mark.parametrize("name", ORACLES)
def test_observations_that_float32_cannot_tell_apart_are_refused(name, dtype):
    X = (np.repeat(np.eye(3), 50, axis=0) + 1e8).astype(dtype)
    with pytest.raises(
        ValueError, match=r"X must lie nearer to 0: coordinate 0 is 1e\+08 with a standard deviation of 0.47"
    ):
        clone(ORACLES[name]).fit(X)


@pytest.mark.parametrize("name", ORACLES)
def test_observations_of_another_dimension_are_not_predicted(name):
    X, _ = observations(ENVS["reals"])
    oracle = clone(ORACLES[name]).fit(X)
    for wrong in (X[:, :5], np.hstack([X, X])):
        with pytest.raises(ValueError, match=f"8.*{wrong.shape[1]}"):
            oracle.predict(wrong)


@pytest.mark.filterwarnings("ignore:Number of distinct clusters")  # scikit-learn says so, rightly
@pytest.mark.parametrize("name", ["kmeans", "gmm"])
@pytest.mark.parametrize("distinct", [1, 2])
def test_fewer_distinct_observations_than_clusters_are_no_trouble(name, distinct):
    """Equal observations get equal labels, and different ones different labels: all of level 1 may look the
    same."""
    X = np.repeat(np.eye(distinct, 4, dtype=np.float32), 20, axis=0)
    labels = clone(ORACLES[name]).fit_predict(X).reshape(distinct, 20)
    assert np.all(labels == labels[:, :1])
    assert len(set(labels[:, 0])) == distinct


def test_dbscan_that_finds_only_noise_says_what_to_change():
    X, _ = observations(ENVS["noisy reals"])
    with pytest.raises(
        ValueError, match=r"found only noise .* eps=1e-06, min_samples=6: try a larger eps, or a smaller"
    ):
        DBSCAN(3, eps=1e-6).fit(X)


def test_dbscan_that_finds_one_cluster_says_what_to_change():
    X, _ = observations(ENVS["noisy reals"])
    with pytest.raises(
        ValueError, match=r"found one cluster .* eps=100.0, min_samples=6: try a smaller eps, or a larger"
    ):
        DBSCAN(3, eps=100.0).fit(X)


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (DBSCAN(3, eps=0), r"eps must be a number in \(0, inf\), got 0"),
        (DBSCAN(3, eps=np.nan), "eps must be .*, got nan"),
        (DBSCAN(3, min_samples=0), "min_samples must be an integer >= 1, got 0"),
        (DBSCAN(3, min_share=2), r"min_share must be a number in \[0, 1\], got 2"),
        (DBSCAN(3, max_samples=2), "max_samples must be an integer >= 3, got 2"),
        (KMeans(3, n_directions=0), "n_directions must be an integer from 1 to 8, got 0"),
        (KMeans(3, n_directions=9), "n_directions must be an integer from 1 to 8, got 9"),
        (GMM(3, covariance="round"), "covariance must be one of .*, got 'round'"),
        (GMM(3, n_directions="most"), "n_directions must be .*, got 'most'"),
        (KMeans(3, n_directions="all"), "n_directions must be an integer from 1 to 8, got 'all'"),
        (DBSCAN(3, n_directions="all"), "n_directions must be an integer from 1 to 8, got 'all'"),
        (KMeans(3, scale="maybe"), "scale must be True, False or 'auto', got 'maybe'"),
        (KMeans(3, scale=1), "scale must be True, False or 'auto', got 1"),
        (GMM(3, scale=0.0), "scale must be True, False or 'auto', got 0.0"),
        (DBSCAN(3, scale=None), "scale must be True, False or 'auto', got None"),
        (KMeans(3, scale=np.ones(2)), r"scale must be True, False or 'auto', got array\(\[1., 1.\]\)"),
        (
            KMeans(3, projection="fourier"),
            "projection must be one of 'auto', 'moments', 'pca', got 'fourier'",
        ),
        (KMeans(3, n_init=0), "n_init.*0"),
        (
            KMeans(3, random_state=2**32),
            "random_state must be an integer from 0 to 4294967295, got 4294967296",
        ),
    ],
    ids=repr,
)
def test_settings_outside_their_range_are_refused(oracle, message):
    X, _ = observations(ENVS["reals"])
    with pytest.raises(ValueError, match=message):
        oracle.fit(X)
