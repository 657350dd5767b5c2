"""The number of states found from data: n_states="auto"."""

import math

import numpy as np
import pytest
from sklearn.base import clone
from test_mixtures import FAMILIES, sample
from test_oracle_clusters import accuracy, reals

import fasturl as fu
from fasturl.oracles import GMM, BernoulliMixture, KMeans, fit_decoder
from fasturl.oracles.counting import LabelCriterion

SEEDS = range(100, 105)
CENTRES = [KMeans("auto", max_states=6, random_state=0), GMM("auto", max_states=6, random_state=0)]
every_centre_oracle = pytest.mark.parametrize("oracle", CENTRES, ids=["kmeans", "gmm"])


# --- the criterion ---


def test_the_criterion_of_reals_is_their_likelihood_with_the_labels():
    """Two clusters of variance 1 around -3 and 3: log variance, labels, and three free numbers."""
    X = np.array([[-4.0], [-2.0], [2.0], [4.0]] * 25)
    labels = (X[:, 0] > 0).astype(int)
    n, shrunk = 100, 1 + 1e-6 * 10  # the least variance is a millionth of the whole
    expected = n * math.log(shrunk) + 2 * n * math.log(2) + 3 * math.log(n)
    assert LabelCriterion(X)(labels) == pytest.approx(expected)
    whole = n * math.log(10 + 1e-5) + math.log(n)
    assert LabelCriterion(X)(np.zeros(n, int)) == pytest.approx(whole)


def test_the_criterion_of_bits_is_their_likelihood_with_the_labels():
    """A label that a bit tells costs what the bit gives: only a second bit pays for it."""
    X = np.repeat(np.array([[0, 0], [1, 1]], np.uint8), 50, axis=0)
    n, choice = 100, 2 * math.log(2)  # of each bit whose frequency depends on the label, among two
    assert LabelCriterion(X)(X[:, 0]) == pytest.approx(2 * n * math.log(2) + 5 * math.log(n) + 2 * choice)
    assert LabelCriterion(X)(np.zeros(n, int)) == pytest.approx(4 * n * math.log(2) + 2 * math.log(n))


@pytest.mark.parametrize("n_coins", [0, 40, 400, 2000])
def test_a_rare_state_that_two_bits_show_is_worth_its_label_among_any_number_of_coins(n_coins):
    """130 of 8,000 observations, which do not pay for a frequency of every coin for a third label."""
    draw = np.random.default_rng(0)
    states = np.repeat([0, 1, 2], [7500, 370, 130])
    X = np.concatenate([np.eye(3)[states], draw.random((8000, n_coins)) < 0.5], axis=1)
    criterion = LabelCriterion(X)
    assert criterion(states) < criterion(np.minimum(states, 1))
    by_chance = np.where(states == 1, 1 + draw.integers(2, size=8000), states)
    assert criterion(by_chance) > criterion(np.minimum(states, 1))


@pytest.mark.parametrize("dimension", [1, 8, 40])
def test_half_a_gaussian_is_no_cluster(dimension):
    """However stretched it is, and wherever it is cut."""
    draw = np.random.default_rng(0)
    X = draw.standard_normal((500, dimension)) * np.linspace(1, 20, dimension)
    criterion = LabelCriterion(X)
    for cut in (0.5, 0.8, 0.99):
        assert criterion((X[:, -1] > np.quantile(X[:, -1], cut)).astype(int)) > criterion(np.zeros(500, int))


# --- what is found ---


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n_states", [1, 2, 4])
@every_centre_oracle
def test_clusters_of_reals_are_counted(oracle, n_states, seed):
    X, states = reals(np.eye(4, 10)[:n_states], 0.15, 800, seed)
    oracle = clone(oracle)
    labels = oracle.fit_predict(X)
    assert oracle.n_clusters_ == len(set(labels)) == n_states
    assert accuracy(labels, states, n_states) > 0.99


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [(1, 0, 0), (0.6, 0.4, 0), (0.5, 0.3, 0.2), (0.9, 0.07, 0.03)], ids=str)
@pytest.mark.parametrize(
    "oracle", [*CENTRES, BernoulliMixture("auto", max_states=6, random_state=0)], ids=repr
)
def test_states_of_locks_are_counted(oracle, weights, seed):
    draw = np.random.default_rng(seed)
    states = draw.choice(3, 2000, p=weights)
    X = np.hstack([np.eye(3, dtype=np.uint8)[states], draw.integers(2, size=(2000, 10), dtype=np.uint8)])
    oracle = clone(oracle)
    labels = oracle.fit_predict(X)
    n_states = np.count_nonzero(weights)
    assert oracle.n_clusters_ == len(set(labels)) == n_states
    assert accuracy(labels, states, n_states) == 1.0


@pytest.mark.parametrize("n_states", [1, 2, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_components_of_mixtures_are_counted(name, n_states):
    weights = np.array([[1.0, 0, 0], [0.4, 0, 0.6], [0.3, 0.3, 0.4]][n_states - 1])
    X, _ = sample(name, seed=7, weights=weights)
    oracle = clone(FAMILIES[name][0]).set_params(n_states="auto", max_states=6).fit(X)
    assert oracle.n_clusters_ == n_states
    assert set(oracle.predict(X)) == set(range(n_states))


@every_centre_oracle
def test_no_more_are_looked_for_than_the_bound(oracle):
    X, _ = reals(np.eye(5), 0.1, 500, 0)
    oracle = clone(oracle).set_params(max_states=3).fit(X)
    assert oracle.n_clusters_ <= 3
    assert oracle.decoder_.n_labels <= 3


def test_the_bound_of_the_environment_is_the_bound_unless_the_oracle_has_one():
    X, _ = reals(np.eye(5), 0.1, 500, 0)
    assert fit_decoder(KMeans("auto"), X, 0, 4).n_labels <= 4
    assert fit_decoder(KMeans("auto", max_states=6), X, 0, 4).n_labels == 5
    assert fit_decoder(KMeans(3), X, 0, 2).n_labels == 3


def test_the_same_seed_finds_the_same_labels_and_leaves_the_settings():
    X, _ = reals(np.eye(4), 0.2, 400, 0)
    first, second = (clone(CENTRES[0]) for _ in range(2))
    np.testing.assert_array_equal(first.fit_predict(X), second.fit_predict(X))
    assert first.get_params() == CENTRES[0].get_params()


@pytest.mark.parametrize("oracle", [KMeans("auto"), BernoulliMixture("auto")], ids=["kmeans", "mixture"])
def test_url_solves_a_lock_whose_states_it_counts(oracle):
    agent = fu.URL(oracle=oracle, n_states=6)
    run = fu.train(fu.LockBernoulli(5), agent, episodes=3000, seeds=SEEDS, progress=False)
    assert run.success_rate == 1.0


# --- bad input ---


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (KMeans("many"), "n_states must be an integer from 2 to 256 or 'auto', got 'many'"),
        (KMeans("auto"), "max_states must be an integer from 2 to 256 where .* by itself, got None"),
        (KMeans("auto", max_states=1), "max_states must be an integer from 2 to 256, got 1"),
        (GMM("auto", max_states=300), "max_states must be an integer from 2 to 256, got 300"),
        (KMeans(5, max_states=4), "n_states must be an integer from 2 to 4, got 5"),
    ],
    ids=repr,
)
def test_settings_outside_their_range_are_refused(oracle, message):
    X, _ = reals(np.eye(3), 0.1, 100, 0)
    with pytest.raises(ValueError, match=message):
        oracle.fit(X)


@every_centre_oracle
def test_two_observations_are_the_fewest(oracle):
    with pytest.raises(ValueError, match="at least n_states = 2 observations, got 1"):
        clone(oracle).fit(np.zeros((1, 3)))
    assert clone(oracle).fit(np.zeros((2, 3))).n_clusters_ == 1
