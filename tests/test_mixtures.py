"""Mixtures of bits, categorical variables and counts: expectation and maximisation, what they find, what they
refuse."""

from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from test_oracle_clusters import accuracy

import fasturl as fu
from fasturl._base.names import components
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.decoder import Decoder
from fasturl.decoders.symbols import SymbolDecoder
from fasturl.oracles import BernoulliMixture, CategoricalMixture, PoissonMixture
from fasturl.problems.blocks import ObservationBlock

SEEDS = range(100, 105)
WEIGHTS = (0.6, 0.37, 0.03)


SHARES = np.array([[0.1], [0.5], [0.9]])
"""Of ones, in each of 20 bits, by state."""
CHANCES = np.where(np.arange(9) % 3 == np.arange(3)[:, None], 7.0, 1.0) / 27
"""Of 9 symbols: those that leave the state as the remainder by 3 are seven times as frequent."""
RATES = np.array([[1.0], [4.0], [12.0]])


def bits(draw, states):
    return (draw.random((states.size, 20)) < SHARES[states]).astype(np.uint8)


def symbols(draw, states):
    """From -4 to 4."""
    return np.stack([draw.choice(9, 10, p=CHANCES[state]) for state in states]).astype(np.float32) - 4


def counts(draw, states):
    return draw.poisson(RATES[states] * np.ones(8)).astype(np.float32)


TRUE_SCORES = {
    "bernoulli-mixture": lambda x: x * np.log(SHARES) + (1 - x) * np.log(1 - SHARES),
    "categorical-mixture": lambda x: np.log(CHANCES)[:, x.astype(int) + 4],
    "poisson-mixture": lambda x: x * np.log(RATES) - RATES,
}
"""Log-likelihoods of an observation in each state, coordinate by coordinate: [3, D]."""
FAMILIES = {
    "bernoulli-mixture": (BernoulliMixture(3, random_state=0), bits),
    "categorical-mixture": (CategoricalMixture(3, random_state=0), symbols),
    "poisson-mixture": (PoissonMixture(3, random_state=0), counts),
}
every_family = pytest.mark.parametrize("name", FAMILIES)


def sample(name, seed=0, size=1500, weights=WEIGHTS):
    """Observations of a family, and their states."""
    draw = np.random.default_rng(seed)
    states = draw.choice(3, size, p=weights)
    return FAMILIES[name][1](draw, states), states


def oracle_of(name, **settings):
    return clone(FAMILIES[name][0]).set_params(**settings)


# --- scikit-learn's conventions ---


@every_family
def test_a_mixture_keeps_the_conventions_of_scikit_learn(name):
    X, _ = sample(name)
    kept, oracle = X.copy(), oracle_of(name)
    settings, before = oracle.get_params(), set(vars(oracle))
    with pytest.raises(NotFittedError, match="has not been fitted: call fit first"):
        oracle.predict(X)
    assert oracle.fit(X) is oracle
    assert all(learned.endswith("_") for learned in set(vars(oracle)) - before)
    assert oracle.get_params() == settings
    assert oracle.n_features_in_ == X.shape[1]
    np.testing.assert_array_equal(X, kept)
    np.testing.assert_array_equal(oracle.predict(X), clone(oracle).fit_predict(X))
    assert oracle.predict(X[:0]).shape == (0,)


@every_family
def test_a_mixture_has_a_name(name):
    assert components("oracle")[name].cls is type(FAMILIES[name][0])


# --- expectation and maximisation ---


@every_family
def test_every_iteration_increases_the_likelihood_of_data_and_prior(name):
    X, _ = sample(name, size=300)
    objectives = oracle_of(name, tolerance=0, max_iter=60).fit(X).objectives_
    assert len(objectives) > 3
    assert all(later >= earlier - 1e-9 * abs(earlier) for earlier, later in pairwise(objectives))


@every_family
def test_iterations_end_where_they_are_told_to(name):
    X, _ = sample(name)
    assert len(oracle_of(name, max_iter=2, tolerance=0).fit(X).objectives_) <= 3
    lazy, keen = (len(oracle_of(name, tolerance=step).fit(X).objectives_) for step in (1e-2, 1e-10))
    assert lazy <= keen


@every_family
def test_smoothing_draws_components_to_the_mean_of_all_data(name):
    X, _ = sample(name)
    slight, strong = (oracle_of(name, smoothing=s).fit(X).means_ for s in (0.5, 1e7))
    assert np.ptp(slight, axis=0).max() > 0.3
    assert np.ptp(strong, axis=0).max() < 1e-2


def test_the_components_are_the_ones_that_made_the_data():
    """The share of a bit among 450 observations has a standard error of 0.024 at most, and one beyond four of
    them in 16,000 cases."""
    X, states = sample("bernoulli-mixture", weights=(0.3, 0.3, 0.4))
    oracle = oracle_of("bernoulli-mixture").fit(X)
    order = np.argsort(oracle.means_[:, 0])
    np.testing.assert_allclose(oracle.weights_[order], np.bincount(states) / states.size, atol=0.03)
    np.testing.assert_allclose(oracle.means_[order], np.tile(SHARES, 20), atol=0.1)
    assert oracle.weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize(
    ("oracle", "score"),
    [
        (BernoulliMixture(2), lambda x, mean: x * np.log(mean) + (1 - x) * np.log(1 - mean)),
        (PoissonMixture(2), lambda x, mean: x * np.log(mean) - mean),
    ],
    ids=["bits", "counts"],
)
def test_the_label_is_the_component_of_greatest_posterior_probability(oracle, score):
    draw = np.random.default_rng(1)
    X = (draw.random((400, 5)) < np.repeat([[0.3], [0.6]], 200, axis=0)).astype(np.float32)
    oracle = clone(oracle).set_params(random_state=0).fit(X)
    joint = score(X[:, None], oracle.means_[None]).sum(axis=2) + np.log(oracle.weights_)
    clear = np.abs(joint[:, 0] - joint[:, 1]) > 1e-4  # float32 cannot tell the others
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(oracle.predict(X)[clear], joint.argmax(axis=1)[clear])


def test_the_label_of_symbols_is_the_component_of_greatest_posterior_probability():
    X, _ = sample("categorical-mixture")
    oracle = oracle_of("categorical-mixture").fit(X)
    log_chances = np.log(oracle.means_).reshape(3, 10, 9)  # every coordinate has 9 symbols
    joint = np.stack([log_chances[:, j, X[:, j].astype(int) + 4] for j in range(10)]).sum(axis=0).T + np.log(
        oracle.weights_
    )
    np.testing.assert_array_equal(oracle.predict(X), joint.argmax(axis=1))


# --- decoders ---


@every_family
def test_the_decoder_labels_blocks_as_predict_labels_rows(name):
    X, _ = sample(name, size=240)
    oracle = oracle_of(name).fit(X)
    kind = SymbolDecoder if name == "categorical-mixture" else AffineDecoder
    assert isinstance(oracle.decoder_, kind)
    assert isinstance(oracle.decoder_, Decoder)
    block = ObservationBlock(X.astype(np.float32).reshape(10, 8, 3, -1))
    np.testing.assert_array_equal(oracle.decoder_.table(block).ravel(), oracle.predict(X))


def test_bits_and_the_same_numbers_as_reals_have_the_same_labels():
    X, _ = sample("bernoulli-mixture")
    labels = oracle_of("bernoulli-mixture").fit(X).predict(X)
    for dtype in (np.float32, np.float64, np.int64, np.bool_):
        same = X.astype(dtype)
        np.testing.assert_array_equal(oracle_of("bernoulli-mixture").fit(same).predict(same), labels)


def test_a_symbol_that_was_never_seen_says_nothing():
    X, _ = sample("categorical-mixture")
    oracle = oracle_of("categorical-mixture").fit(X)
    blank = np.full((1, 10), 77.0)
    assert oracle.predict(blank)[0] == oracle.weights_.argmax()


# --- what they find ---


@pytest.mark.parametrize("seed", SEEDS)
@every_family
def test_planted_components_are_found(name, seed):
    """Nearly as well as by someone who knows them: of the observations of a state, the rarest of which is
    seen 45 times, at most 5 % more are mistaken on average."""
    X, _ = sample(name, seed)
    fresh, states = sample(name, seed + 1000)
    known = [int((TRUE_SCORES[name](x).sum(axis=1) + np.log(WEIGHTS)).argmax()) for x in fresh]
    labels = oracle_of(name).fit(X).predict(fresh)
    best = accuracy(np.array(known), states, 3)
    assert best > 0.9
    assert accuracy(labels, states, 3) > best - 0.05


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (0.04, 0.02, 0.94)], ids=["even", "rare"])
@pytest.mark.parametrize(
    "oracle", [BernoulliMixture(3), CategoricalMixture(3)], ids=lambda one: type(one).__name__
)
def test_the_states_of_locks_are_found(oracle, weights):
    draw = np.random.default_rng(3)
    states = draw.choice(3, 4000, p=weights)
    X = np.hstack([np.eye(3, dtype=np.uint8)[states], draw.integers(2, size=(4000, 20), dtype=np.uint8)])
    labels = clone(oracle).set_params(random_state=0).fit_predict(X)
    assert accuracy(labels, states, 3) == 1.0


@every_family
def test_observations_that_are_all_the_same_have_one_label(name):
    X = np.ones((20, 4), np.float32)
    assert set(oracle_of(name).fit_predict(X)) == {0}


@every_family
def test_coordinates_that_never_change_do_no_harm(name):
    X, _ = sample(name)
    wider = np.hstack([np.zeros((len(X), 1), X.dtype), X, np.ones((len(X), 1), X.dtype)])
    labels = oracle_of(name).fit_predict(wider)
    np.testing.assert_array_equal(labels, oracle_of(name).fit_predict(X))


def test_url_solves_a_lock_with_a_mixture_of_bits():
    run = fu.train(
        fu.LockBernoulli(5), fu.URL(oracle="bernoulli-mixture"), episodes=3000, seeds=SEEDS, progress=False
    )
    assert run.success_rate == 1.0


# --- bad input ---


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("bernoulli-mixture", 0.5, "X must hold zeros and ones for a mixture of bits, got 0.5"),
        ("bernoulli-mixture", 2, "X must hold zeros and ones for a mixture of bits, got 2"),
        ("poisson-mixture", 1.5, "X must hold whole numbers for a mixture of counts, got 1.5"),
        ("poisson-mixture", -1, "X must hold no negative numbers for a mixture of counts, got -1"),
        ("categorical-mixture", 0.25, "X must hold whole numbers for .* categorical variables, got 0.25"),
        (
            "categorical-mixture",
            300,
            "at most 256 symbols a coordinate, got 305 from -4 to 300 in coordinate 2",
        ),
        ("categorical-mixture", 1e9, r"X must hold symbols from -4194304 to 4194304, got 1e\+09"),
        ("poisson-mixture", np.nan, "X must be finite, got NaN or infinity"),
    ],
)
def test_observations_that_a_family_does_not_have_are_refused(name, value, message):
    X = sample(name)[0].astype(np.float64)
    X[7, 2] = value
    with pytest.raises(ValueError, match=message):
        oracle_of(name).fit(X)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"smoothing": 0}, r"smoothing must be a number in \(0, inf\), got 0"),
        ({"n_init": 0}, "n_init must be an integer from 1 to 10000, got 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1, got 0"),
        ({"tolerance": -1}, r"tolerance must be a number in \[0, inf\), got -1"),
        ({"n_states": 1}, "n_states must be an integer from 2 to 256, got 1"),
        ({"n_states": None}, "n_states must be an integer from 2 to 256 .* got None"),
        ({"n_states": 2000}, "n_states must be an integer from 2 to 256, got 2000"),
    ],
    ids=str,
)
@every_family
def test_settings_outside_their_range_are_refused(name, settings, message):
    with pytest.raises(ValueError, match=message):
        oracle_of(name, **settings).fit(sample(name)[0])


@every_family
def test_there_must_be_as_many_observations_as_components(name):
    with pytest.raises(ValueError, match="at least n_states = 3 observations, got 2"):
        oracle_of(name).fit(sample(name)[0][:2])
