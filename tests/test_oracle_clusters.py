"""Clusters that oracles find by default where these are not those of a lock, and the cells of the paper that
DBSCAN must solve."""

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone

import fasturl as fu
from fasturl.oracles import DBSCAN, GMM, KMeans
from fasturl.oracles.projection import Projection, dependence

SEEDS = range(100, 105)
ORACLES = {"kmeans": KMeans(3, random_state=0), "gmm": GMM(3, random_state=0)}


def accuracy(labels, states, n_states):
    """Mean share of each state's observations that get its label, for the best renaming."""
    table = np.zeros((n_states, n_states))
    np.add.at(table, (states, labels), 1)
    table /= np.maximum(table.sum(axis=1, keepdims=True), 1)
    return table[linear_sum_assignment(-table)].mean()


def bits(frequencies, size, seed, weights=None):
    """Observations of independent bits, whose frequencies [states, bits] depend on the state, and the
    states."""
    draw = np.random.default_rng(seed)
    states = draw.choice(len(frequencies), size, p=weights)
    return (draw.random((size, frequencies.shape[1])) < frequencies[states]).astype(np.uint8), states


def reals(means, noise, size, seed):
    draw = np.random.default_rng(seed)
    states = draw.integers(len(means), size=size)
    return means[states] + noise * draw.standard_normal((size, means.shape[1])), states


def flipped(codes, flips):
    return np.where(codes, 1 - flips, flips)


# --- bits ---


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("flips", [0.01, 0.05])
@pytest.mark.parametrize("name", ORACLES)
def test_rare_flips_are_not_taken_for_states(name, flips, seed):
    """Five of eight bits are rare whatever the state: each alone parts the observations well."""
    codes = np.zeros((2, 8), bool)
    codes[1, :3] = True
    X, states = bits(flipped(codes, flips), 1000, seed)
    assert accuracy(clone(ORACLES[name]).set_params(n_states=2).fit_predict(X), states, 2) > 0.97


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("flips", [0.01, 0.05])
def test_codes_of_which_some_bits_flip_are_told_apart(flips, seed):
    codes = np.array([[0, 0, 0, 0, 1, 1, 0, 0], [1, 1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 1, 0, 0, 0]], bool)
    X, states = bits(flipped(codes, flips), 1500, seed)
    assert accuracy(KMeans(3, random_state=0).fit_predict(X), states, 3) > 0.93


def one_hot_beside(n_others, frequency):
    return np.hstack([np.eye(3), np.full((3, n_others), frequency)])


@pytest.mark.parametrize("weight", [0.005, 0.01, 0.1])
def test_rare_states_of_long_locks_are_found(weight):
    """As random play on 100 levels shows them; the first attempt finds them, so that a fit takes as long as
    one."""
    X, states = bits(one_hot_beside(100, 0.5), 50_000, 0, [weight, weight, 1 - 2 * weight])
    oracle = KMeans(3, random_state=0)
    assert accuracy(oracle.fit_predict(X), states, 3) == 1.0
    assert oracle._attempt(X, Projection(X, 2, "auto", "moments")).doubt == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_rare_states_are_found_where_a_bit_tells_of_them_alone(seed):
    """Bits that do nothing together say nothing of clusters; then the rare ones are the best guess."""
    X, states = bits(one_hot_beside(20, 0.5)[:, 1:], 4000, seed, [0.94, 0.03, 0.03])
    assert accuracy(KMeans(3, random_state=0).fit_predict(X), states, 3) > 0.99


def test_what_bits_do_together_is_explained_by_states_and_not_by_one_bit():
    X, states = bits(flipped(np.tile(np.arange(2, dtype=bool)[:, None], 6), 0.1), 3000, 0)
    assert dependence(X, states, 2) < 1.5
    assert dependence(X, X[:, 0], 2) > 100
    assert dependence(X, np.zeros_like(states), 2) > dependence(X, X[:, 0], 2)


# --- reals ---


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize(
    "means", [[[-1.0], [0], [1]], [[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]], ids=["on a line", "in a plane"]
)
def test_a_state_amid_the_others_is_found(name, means):
    """It lies at the mean, where observations have no length to count with."""
    X, states = reals(np.array(means, float), 0.1, 1000, 0)
    oracle = clone(ORACLES[name]).set_params(n_states=len(means), n_init=5)
    assert accuracy(oracle.fit_predict(X), states, len(means)) > 0.99


def test_projections_that_are_named_are_not_exchanged():
    X, states = reals(np.array([[-1.0], [0], [1]]), 0.1, 1000, 0)
    assert accuracy(KMeans(3, projection="moments", random_state=0).fit_predict(X), states, 3) < 0.9
    assert accuracy(KMeans(3, projection="pca", random_state=0).fit_predict(X), states, 3) > 0.99


def test_few_observations_of_one_state_are_not_projected_until_they_fall_apart():
    for seed in SEEDS:
        X, _ = reals(np.zeros((1, 8)), 0.1, 99, seed)
        found, first = (
            KMeans(2, projection=kind, random_state=0).fit_predict(X) for kind in ("auto", "moments")
        )
        np.testing.assert_array_equal(found, first)


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1, 1e3])
@pytest.mark.parametrize("covariance", ["spherical", "tied", "diag", "full"])
@pytest.mark.parametrize("n_directions", [None, "all"])
def test_the_unit_of_observations_does_not_matter_to_a_mixture(n_directions, covariance, unit):
    X, states = reals(unit * np.eye(3), 0.1 * unit, 900, 0)
    oracle = GMM(3, n_directions=n_directions, covariance=covariance, random_state=0)
    assert accuracy(oracle.fit_predict(X), states, 3) > 0.99


# --- DBSCAN ---


@pytest.mark.parametrize("size", [300, 1000, 4000, 20_000])
@pytest.mark.parametrize("noise", [0.1, 0.2])
def test_dbscan_finds_clusters_among_few_points_and_many(noise, size):
    """Among many points some lie between clusters, and a fixed neighbourhood bridges them."""
    X, states = reals(np.eye(3, 8), noise, size, 0)
    assert accuracy(DBSCAN(3, random_state=0).fit_predict(X), states, 3) > 0.99


def test_dbscan_takes_noise_for_no_part_of_a_piece():
    """Two pieces ten standard deviations apart, and noise far away, whose label is -1."""
    places = np.repeat([0.0, 10.0, 1000.0], 100) + np.tile([-1.0, 1.0], 150)
    points, labels = np.stack([places, np.zeros(300)], axis=1), np.repeat([0, 1, -1], 100)
    np.testing.assert_array_equal(DBSCAN(2)._with_pieces_merged(points, labels), labels)


@pytest.mark.parametrize("size", [150, 500, 2000])
def test_dbscan_does_not_look_for_a_radius_at_which_one_cluster_falls_to_pieces(size):
    for seed in SEEDS:
        X, _ = reals(np.zeros((1, 8)), 0.1, size, seed)
        with pytest.raises(ValueError, match="DBSCAN found one cluster"):
            DBSCAN(2, random_state=0).fit(X)


@pytest.mark.parametrize(
    "env", [fu.LockGaussian(5, noise=0.2), fu.LockBernoulli(10, switch=0.5)], ids=lambda env: env.name
)
def test_url_succeeds_with_dbscan_as_it_comes(env):
    assert (
        fu.train(env, fu.URL(oracle="dbscan"), episodes=5000, seeds=SEEDS, progress=False).success_rate == 1.0
    )
