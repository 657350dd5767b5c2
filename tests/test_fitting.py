"""How any oracle is fitted: those of scikit-learn, those of a user, and ours."""

from dataclasses import dataclass

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.cluster import Birch, FeatureAgglomeration, MiniBatchKMeans
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_oracles import ENVS, ORACLES, accuracy, observations

import fasturl as fu
from fasturl.decoders import AffineDecoder
from fasturl.decoders.predict import PredictDecoder
from fasturl.oracles.fitting import fit_decoder
from fasturl.problems.blocks import ObservationBlock


@pytest.mark.parametrize(
    "oracle",
    [
        make_pipeline(StandardScaler(), PCA(2), SklearnKMeans(3, n_init=5)),
        SklearnKMeans(3, n_init=5),
        MiniBatchKMeans(3, n_init=5),
        GaussianMixture(3, n_init=3),
        make_pipeline(PCA(3), GaussianMixture(3, n_init=3)),
        Birch(n_clusters=3, threshold=0.3),
    ],
    ids=lambda oracle: type(oracle).__name__,
)
def test_any_clusterer_or_pipeline_of_scikit_learn_is_accepted(oracle):
    X, states = observations(ENVS["reals"])
    X[:, :3] *= 3  # so that any of them finds the states
    decoder = fit_decoder(oracle, X, 5, 3)
    assert isinstance(decoder, PredictDecoder)
    assert decoder.n_labels == 3
    assert accuracy(decoder.decode(X), states) > 0.99
    assert not hasattr(oracle, "labels_")
    assert not hasattr(oracle, "means_")


@pytest.mark.parametrize(
    "last",
    [
        SklearnKMeans(3),
        GaussianMixture(3),
        Birch(n_clusters=None),
        make_pipeline(FeatureAgglomeration(2), SklearnKMeans(3)),
    ],
    ids=repr,
)
@pytest.mark.parametrize("groups", [2, 5])
def test_the_last_step_of_a_pipeline_says_how_many_labels_there_are(groups, last):
    """And not how many groups of coordinates a step before it makes."""
    X, _ = observations(ENVS["reals"])
    decoder = fit_decoder(make_pipeline(FeatureAgglomeration(groups), last), X, 5, 3)
    room = 3 + 1 if getattr(last, "n_clusters", 3) is None else 3  # one for what turns up later
    assert decoder.n_labels == room > decoder.decode(X).max()


def test_the_random_state_reaches_the_steps_of_a_pipeline_and_replaces_none_that_was_set():
    X, _ = observations(ENVS["reals"])
    pipeline = make_pipeline(PCA(2, random_state=11), SklearnKMeans(3, n_init=1))
    fitted = fit_decoder(pipeline, X, 5, 3)._predictor
    assert fitted.get_params()["pca__random_state"] == 11
    assert fitted.get_params()["kmeans__random_state"] == 5
    assert pipeline.get_params()["kmeans__random_state"] is None


@pytest.mark.parametrize("name", [name for name in ORACLES if name != "autoencoder-simhash"])
def test_our_oracles_hand_on_their_compiled_decoder(name):
    X, _ = observations(ENVS["bits"])
    decoder = fit_decoder(ORACLES[name], X, 5, 3)
    assert not isinstance(decoder, PredictDecoder)
    assert not hasattr(ORACLES[name], "decoder_")


class Bare:
    """An oracle with fit and predict and nothing else: knows neither how to be cloned nor how many labels it
    gives."""

    def fit(self, X):
        self.fitted_on = X.shape
        return self

    def predict(self, X):
        return np.asarray(X)[:, :4].argmax(axis=1)


def test_an_oracle_that_does_not_say_how_many_labels_it_gives_is_asked_about_its_data():
    X, states = observations(ENVS["bits"])
    decoder = fit_decoder(Bare(), X, 0, 3)
    assert decoder.n_labels == 3 + 1  # one for all that turn up later
    np.testing.assert_array_equal(decoder.decode(X), states)


class Says(Bare):
    def __init__(self, labels_of):
        self.labels_of = labels_of

    def predict(self, X):
        return self.labels_of(len(X))


@pytest.mark.parametrize(
    ("labels_of", "message"),
    [
        (lambda n: np.full(n, "first"), "must give whole numbers, got <U5"),
        (lambda n: None, r"must give one label for each of 1200 observations, got shape \(\)"),
        (lambda n: [], r"must give one label for each of 1200 observations, got shape \(0,\)"),
        (
            lambda n: np.zeros((n, 2)),
            r"must give one label for each of 1200 observations, got shape \(1200, 2\)",
        ),
        (lambda n: np.full(n, 1e30), r"must give labels from 0 to 255, got 1e\+30"),
        (lambda n: np.full(n, np.nan), "must give labels from 0 to 255, got nan"),
        (lambda n: np.full(n, 256), "must give labels from 0 to 255, got 256"),
        (lambda n: np.full(n, -1), "must give labels from 0 to 255, got -1"),
        (lambda n: np.full(n, 0.5), "must give labels from 0 to 255, got 0.5"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_by_name_where_their_number_is_not_known(labels_of, message):
    X, _ = observations(ENVS["bits"])
    with pytest.raises(ValueError, match=f"predict of Says {message}"):
        fit_decoder(Says(labels_of), X, 0, 3)


def test_an_oracle_whose_labels_are_no_array_is_named():
    X, _ = observations(ENVS["bits"])
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the text is NumPy's
        fit_decoder(Says(lambda n: [[0], [0, 1]] * (n // 2)), X, 0, 3)
    assert any("Says" in line for line in (str(caught.value), *getattr(caught.value, "__notes__", [])))


class Alarmed(Bare):
    """Raises the flag that some processors raise at a product of matrices that is finite."""

    def fit(self, X):
        self.subtract_infinities()
        return super().fit(X)

    def predict(self, X):
        self.subtract_infinities()
        return super().predict(X)

    def subtract_infinities(self):
        infinite = np.full(3, np.inf, np.float32)
        assert np.isnan(infinite - infinite).all()


def test_a_processor_s_false_alarm_is_nothing_to_tell():
    """Warnings are errors here."""
    X, states = observations(ENVS["bits"])
    np.testing.assert_array_equal(fit_decoder(Alarmed(), X, 0, 3).decode(X), states)


class Leaders:
    """Labels observations by the nearest of some that are drawn among them."""

    def fit(self, X):
        chosen = np.random.default_rng(self.random_state).permutation(len(X))[: self.n_states]
        self.leaders = X[chosen].astype(float)
        return self

    def predict(self, X):
        return np.square(X[:, None] - self.leaders).sum(axis=2).argmin(axis=1)


@dataclass
class Declaring(fu.Declared, Leaders):
    """Declares its settings as components do."""

    n_states: int | None = fu.setting(None, least=2, none="the bound that agents are told", help="Clusters.")
    random_state: int | None = fu.setting(None, none="drawn from the run's stream", help="Seed.")


class Annotating(Leaders):
    """Declares them by its `__init__`, and has more than these."""

    def __init__(self, n_states: int | None = None, random_state: int | None = None):
        self.n_states, self.random_state, self.max_states = n_states, random_state, None


@dataclass
class Counting(Leaders):
    """Finds the number of clusters itself, which its bound stands for here."""

    max_states: int | None = fu.setting(None, none="the bound that agents are told", help="Most clusters.")
    random_state: int | None = fu.setting(None, none="drawn from the run's stream", help="Seed.")
    n_states: int | str = fu.setting("auto", help="Clusters.")

    def fit(self, X):
        self.n_states = self.max_states
        return super().fit(X)


@pytest.mark.parametrize("oracle", [Declaring, Annotating], ids=lambda cls: cls.__name__)
def test_settings_are_filled_in_where_an_oracle_declares_them_and_has_no_get_params(oracle):
    X, _ = observations(ENVS["reals"])
    given = oracle()
    decoder, again = (fit_decoder(given, X, 5, 3) for _ in range(2))
    fitted = decoder._predictor
    assert (fitted.n_states, fitted.random_state, decoder.n_labels) == (3, 5, 3)
    np.testing.assert_array_equal(again.decode(X), decoder.decode(X))
    assert (given.n_states, given.random_state) == (None, None)
    own = fit_decoder(oracle(n_states=4, random_state=7), X, 5, 3)._predictor
    assert (own.n_states, own.random_state) == (4, 7)
    assert getattr(own, "max_states", None) is None


def test_the_bound_of_an_oracle_that_counts_is_filled_in_where_it_declares_it():
    X, _ = observations(ENVS["reals"])
    fitted = fit_decoder(Counting(), X, 5, 3)._predictor
    assert (fitted.n_states, fitted.random_state) == (3, 5)


def test_runs_with_an_oracle_without_get_params_can_be_repeated():
    env, agent = fu.LockGaussian(horizon=2), fu.URL(oracle=Declaring())
    runs = [fu.train(env, agent, 200, seeds=2) for _ in range(2)]
    np.testing.assert_array_equal(runs[1].average_reward, runs[0].average_reward)


class Overwriting(Bare):
    """Writes into whatever it is handed."""

    takes_history = True

    def fit(self, X, y=None, groups=None):
        super().fit(X)
        for array in (X, y, groups):
            array[:] = 0
        return self

    def predict(self, X):
        labels = super().predict(X)
        X[:] = 0
        return labels


def test_an_oracle_may_write_into_what_it_is_handed():
    """Its labels are those of the observations, which stay what they are, as does the history."""
    X, states = observations(ENVS["bits"])
    history = states.copy(), states.copy()
    before = X.copy()
    decoder = fit_decoder(Overwriting(), X, 0, 3, believed=history[0], groups=history[1])
    block = ObservationBlock(X.astype(np.float32).reshape(-1, 1, 3, X.shape[1]))
    labels = decoder.table(block)
    for array in (X, block.every_state().reshape(X.shape)):
        np.testing.assert_array_equal(array, before)
    for array in (*history, labels.ravel()):
        np.testing.assert_array_equal(array, states)


class InPlace(BaseEstimator):
    """K-means of observations whose mean is taken off, in place if asked for."""

    def __init__(self, copy=True, random_state=None):
        self.copy, self.random_state = copy, random_state

    def fit(self, X, y=None):
        self.mean_ = X.mean(axis=0)
        self.fitted_ = SklearnKMeans(3, n_init=3, random_state=self.random_state).fit(self._centred(X))
        return self

    def predict(self, X):
        return self.fitted_.predict(self._centred(X))

    def _centred(self, X):
        centred = X.copy() if self.copy else X
        centred -= self.mean_
        return centred


@pytest.mark.parametrize("levels", ["pooled", "separate"])
@pytest.mark.parametrize(
    "oracle",
    [InPlace, lambda copy: make_pipeline(StandardScaler(copy=copy), SklearnKMeans(3, n_init=3))],
    ids=["own", "pipeline"],
)
def test_a_run_is_the_same_where_an_oracle_works_in_place(oracle, levels):
    env = fu.LockGaussian(horizon=3)
    runs = [
        fu.train(env, fu.URL(oracle=oracle(copy=copy), levels=levels), 300, seeds=2) for copy in (True, False)
    ]
    np.testing.assert_array_equal(runs[1].average_reward, runs[0].average_reward)
    np.testing.assert_array_equal(runs[1].values, runs[0].values)


def test_an_oracle_of_ours_is_handed_the_observations_themselves(monkeypatch):
    X, _ = observations(ENVS["bits"])
    fit, fitted_on = fu.oracles.KMeans.fit, []

    def watched_fit(self, X, y=None):
        fitted_on.append(X)
        return fit(self, X, y)

    monkeypatch.setattr(fu.oracles.KMeans, "fit", watched_fit)
    fit_decoder(fu.oracles.KMeans(), X, 0, 3)
    assert fitted_on[0] is X


class Deciding(Bare):
    """Sets a `decoder_` of its own."""

    def __init__(self, decoder):
        self.given = decoder

    def fit(self, X):
        self.decoder_ = self.given
        return super().fit(X)


@pytest.mark.parametrize(
    ("decoder", "told"), [("x", "'x'"), (SklearnKMeans(3), r"KMeans\(.*"), (AffineDecoder, "<class .*")]
)
def test_a_decoder_that_is_none_is_refused(decoder, told):
    X, _ = observations(ENVS["bits"])
    message = f"decoder_ of Deciding must be a fasturl.decoders.Decoder, got {told}"
    with pytest.raises(ValueError, match=message):
        fit_decoder(Deciding(decoder), X, 0, 3)


def test_predict_is_used_where_the_decoder_is_none():
    X, states = observations(ENVS["bits"])
    np.testing.assert_array_equal(fit_decoder(Deciding(None), X, 0, 3).decode(X), states)
