"""Oracles: scikit-learn's conventions, agreement with scikit-learn's own predictions, and what they find in
locks."""

from itertools import permutations

import numpy as np
import pytest
from oracle_samples import ENVS, ORACLES, observations
from sklearn.base import clone
from sklearn.cluster import DBSCAN as SklearnDBSCAN
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fasturl._base.names import components
from fasturl.decoders.affine import AffineDecoder
from fasturl.decoders.decoder import Decoder
from fasturl.decoders.quadratic import QuadraticDecoder
from fasturl.decoders.support_vector import SupportVectorDecoder
from fasturl.oracles import (
    DBSCAN,
    GMM,
    PCADBSCAN,
    AutoencoderSimHash,
    BernoulliMixture,
    CategoricalMixture,
    FullGMM,
    KMeans,
    PCAKMeans,
    PoissonMixture,
    Splits,
    Subspaces,
)
from fasturl.oracles.gaussian_mixture import GaussianMixture as OurMixture


def accuracy(labels, states, n_labels=3):
    """Up to a permutation of labels."""
    return max(np.mean(np.array(renaming)[labels] == states) for renaming in permutations(range(n_labels)))


def blobs(n_clusters, dimension=4, size=150, seed=0, spread=0.4):
    """Clusters that overlap a little, as float32."""
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((n_clusters, dimension)) * 1.5
    shapes = [draw.standard_normal((dimension, dimension)) * spread for _ in range(n_clusters)]
    points = [
        centre + draw.standard_normal((size, dimension)) @ shape
        for centre, shape in zip(centres, shapes, strict=True)
    ]
    return np.concatenate(points).astype(np.float32), np.repeat(np.arange(n_clusters), size)


# --- scikit-learn's conventions ---


@pytest.mark.parametrize("name", ORACLES)
def test_an_oracle_can_be_cloned_and_its_settings_read_and_set(name):
    oracle = ORACLES[name]
    copy = clone(oracle)
    assert copy is not oracle
    assert type(copy) is type(oracle)
    assert copy.get_params() == oracle.get_params()
    assert copy.set_params(n_states=4, random_state=7).get_params()["n_states"] == 4
    assert type(oracle)(**copy.get_params()).get_params() == copy.get_params()
    assert oracle.get_params()["n_states"] == 3


@pytest.mark.parametrize("name", ORACLES)
def test_fit_returns_the_oracle_and_learned_things_end_with_an_underscore(name):
    X, _ = observations(ENVS["bits"])
    oracle = clone(ORACLES[name])
    before = set(vars(oracle))
    assert oracle.fit(X) is oracle
    assert all(learned.endswith("_") for learned in set(vars(oracle)) - before)
    assert isinstance(oracle.decoder_, Decoder)


@pytest.mark.parametrize("name", ORACLES)
def test_fitting_leaves_the_settings_and_the_data_as_they_were(name):
    X, _ = observations(ENVS["reals"])
    oracle, kept = clone(ORACLES[name]), X.copy()
    settings = dict(oracle.get_params())
    oracle.fit(X).predict(X)
    assert oracle.get_params() == settings
    np.testing.assert_array_equal(X, kept)


@pytest.mark.parametrize("env", ["bits", "reals"])
@pytest.mark.parametrize("name", ORACLES)
def test_fit_predict_is_fit_and_then_predict_which_is_the_decoder(name, env):
    X, _ = observations(ENVS[env])
    oracle = clone(ORACLES[name])
    labels = oracle.fit_predict(X)
    assert labels.shape == (len(X),)
    assert np.issubdtype(labels.dtype, np.integer)
    np.testing.assert_array_equal(labels, oracle.predict(X))
    np.testing.assert_array_equal(labels, oracle.decoder_.decode(X))


@pytest.mark.parametrize("name", ORACLES)
def test_the_same_random_state_gives_the_same_labels(name):
    X, _ = observations(ENVS["noisy reals"])
    first, second = (clone(ORACLES[name]).set_params(random_state=3).fit_predict(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_the_random_state_chooses_the_points_that_dbscan_clusters():
    X, _ = observations(ENVS["noisy reals"])
    vectors = [
        DBSCAN(3, max_samples=300, random_state=seed).fit(X).decoder_._classifier.vectors.tolist()
        for seed in (0, 0, 1)
    ]
    assert vectors[0] == vectors[1] != vectors[2]


@pytest.mark.parametrize("name", ORACLES)
def test_predicting_before_fitting_says_so(name):
    with pytest.raises(NotFittedError, match="has not been fitted: call fit first"):
        clone(ORACLES[name]).predict(np.zeros((3, 8)))


@pytest.mark.parametrize("name", ORACLES)
def test_a_fitted_oracle_knows_how_many_coordinates_it_saw(name):
    X, _ = observations(ENVS["bits"])
    assert clone(ORACLES[name]).fit(X).n_features_in_ == 8


def test_oracles_have_names():
    ours = {name: one.cls for name, one in components("oracle").items() if one.package == "fasturl"}
    assert ours == {
        "kmeans": KMeans,
        "dbscan": DBSCAN,
        "gmm": GMM,
        "pca-kmeans": PCAKMeans,
        "pca-dbscan": PCADBSCAN,
        "full-gmm": FullGMM,
        "splits": Splits,
        "bernoulli-mixture": BernoulliMixture,
        "categorical-mixture": CategoricalMixture,
        "poisson-mixture": PoissonMixture,
        "autoencoder-simhash": AutoencoderSimHash,
        "subspaces": Subspaces,
    }


# --- what they find ---


@pytest.mark.parametrize("env", ENVS)
@pytest.mark.parametrize("name", ["kmeans", "gmm"])
def test_the_states_of_locks_are_found(name, env):
    """On observations that were not fitted on. At noise 0.2 the optimal decoder itself errs on about 0.04 %
    of them."""
    X, _ = observations(ENVS[env], seed=1)
    fresh, states = observations(ENVS[env], seed=2)
    labels = clone(ORACLES[name]).fit(X).predict(fresh)
    assert accuracy(labels, states) >= (0.998 if "noisy" in env else 1.0)


@pytest.mark.parametrize("env", ["bits", "reals"])
def test_dbscan_finds_the_states_of_short_locks(env):
    X, _ = observations(ENVS[env], seed=1)
    fresh, states = observations(ENVS[env], seed=2)
    assert accuracy(DBSCAN(3, random_state=0).fit(X).predict(fresh), states) == 1.0


@pytest.mark.parametrize("env", ["long bits", "long noisy reals"])
@pytest.mark.parametrize("name", ["kmeans", "gmm"])
def test_rare_states_are_found(name, env):
    """One state in 50 observations, as random play on a long lock shows them; each state's own accuracy
    counts."""
    X, _ = observations(ENVS[env], seed=3, weights=(0.04, 0.02, 0.94))
    fresh, states = observations(ENVS[env], seed=4)
    assert accuracy(clone(ORACLES[name]).fit(X).predict(fresh), states) >= 0.995


def test_clusters_that_are_really_one_get_one_label():
    """Two states to see where three were expected."""
    X, _ = observations(ENVS["reals"], weights=(0.6, 0.4, 0.0))
    for name in ("kmeans", "gmm"):
        assert len(set(clone(ORACLES[name]).fit_predict(X))) == 2


@pytest.mark.parametrize(
    ("scale", "same"), [(True, False), (np.True_, False), (False, True), (np.False_, True), ("auto", True)]
)
def test_reals_are_scaled_only_where_asked(scale, same):
    """A coordinate of great variance and no meaning draws k-means away unless scaled."""
    X, states = observations(ENVS["reals"])
    X[:, -1] *= 50
    labels = KMeans(3, scale=scale, random_state=0).fit_predict(X)
    assert (accuracy(labels, states) < 0.9) == same


@pytest.mark.parametrize("name", ["kmeans", "gmm"])
def test_observations_far_from_the_origin_are_decoded_as_well(name):
    """Float32 tells observations near 1e5 apart by 0.008, which is little beside the noise."""
    X, _ = observations(ENVS["reals"], seed=1)
    fresh, states = observations(ENVS["reals"], seed=2)
    assert (
        accuracy(clone(ORACLES[name]).fit(X + np.float32(1e5)).predict(fresh + np.float32(1e5)), states)
        >= 0.999
    )


# --- agreement with scikit-learn ---


@pytest.mark.parametrize("exponent", [-45, 30, 49])
@pytest.mark.parametrize("oracle", [KMeans, GMM])
def test_clusters_are_found_whatever_the_unit_of_observations(oracle, exponent):
    """Fourth powers of such numbers are none of float32, the largest being those of emissions of 1e15."""
    X, states = observations(ENVS["reals"], seed=1)
    ours = oracle(3, random_state=0)
    expected = ours.fit_predict(X)
    np.testing.assert_array_equal(ours.fit_predict(np.ldexp(X, exponent)), expected)
    assert accuracy(expected, states) > 0.99


def disagreement(ours, theirs):
    """Share of labels that differ: borderline cases may fall either way in float32."""
    return np.mean(ours != theirs)


@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize("env", ENVS)
def test_kmeans_on_principal_components_labels_as_the_pipeline_of_scikit_learn(env, scale):
    """Scaling, PCA, k-means, from starts of their own."""
    X, _ = observations(ENVS[env])
    ours = KMeans(3, projection="pca", scale=scale, min_separation=0, n_init=10, random_state=0)
    steps = [StandardScaler()] * scale + [PCA(2), SklearnKMeans(3, n_init=10, tol=0.0, random_state=0)]
    theirs = make_pipeline(*steps).fit_predict(X.astype(np.float64))
    assert accuracy(ours.fit_predict(X), theirs) >= 1 - 1 / len(X)


def test_dbscan_on_principal_components_labels_as_the_steps_of_scikit_learn():
    """PCA, DBSCAN on what has unit variance in each direction, support vectors."""
    X, _ = observations(ENVS["reals"])
    ours = DBSCAN(3, eps=0.5, min_share=0, projection="pca", random_state=0).fit_predict(X)
    points = PCA(2, whiten=True).fit_transform(X.astype(np.float64))
    clusters = SklearnDBSCAN(eps=0.5, min_samples=5).fit_predict(points)
    assert set(clusters) >= {0, 1, 2}
    theirs = SVC(gamma="scale").fit(points[clusters >= 0], clusters[clusters >= 0]).predict(points)
    assert accuracy(ours, theirs) >= 1 - 1 / len(X)


def test_principal_components_miss_what_is_rare_and_fourth_moments_do_not():
    """One state in a hundred of each kind, on a lock of 20 levels whose coordinates were scaled."""
    X, states = observations(ENVS["long bits"], weights=(0.01, 0.01, 0.98))
    assert accuracy(KMeans(3, random_state=0).fit_predict(X), states) > 0.99
    assert accuracy(KMeans(3, projection="pca", random_state=0).fit_predict(X), states) < 0.99


@pytest.mark.parametrize("projected", [False, True])
@pytest.mark.parametrize("kind", ["spherical", "tied", "diag", "full"])
def test_mixtures_decode_as_scikit_learn_predicts(kind, projected):
    X, _ = blobs(3)
    draw = np.random.default_rng(1)
    matrix, offset = (draw.standard_normal((2, 4)), draw.standard_normal(2)) if projected else (None, None)
    points = X @ matrix.T + offset if projected else X.astype(np.float64)
    mixture = GaussianMixture(3, covariance_type=kind, random_state=0).fit(points)
    fitted = OurMixture(mixture.weights_, mixture.means_, mixture.covariances_, kind)
    decoder = fitted.decoder(matrix, offset)
    assert isinstance(decoder, QuadraticDecoder if kind in ("diag", "full") else AffineDecoder)
    expected = mixture.predict(points)
    assert len(set(expected)) == 3
    assert disagreement(decoder.decode(X), expected) <= 1 / len(X)


@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_support_vectors_decode_as_scikit_learn_predicts(n_classes):
    X, classes = blobs(n_classes, spread=0.8)
    draw = np.random.default_rng(2)
    matrix, offset = draw.standard_normal((3, 4)), draw.standard_normal(3)
    points = X @ matrix.T + offset
    classifier = SVC(gamma="scale").fit(points, classes)
    expected = classifier.predict(points)
    assert disagreement(SupportVectorDecoder(matrix, offset, classifier).decode(X), expected) <= 1 / len(X)
    assert 0 < np.mean(expected != classes) < 0.5  # the classes overlap, so the border matters


@pytest.mark.parametrize("covariance", ["spherical", "tied", "diag", "full"])
@pytest.mark.parametrize("n_directions", [None, 3, "all"])
def test_gmm_decodes_as_its_mixture_predicts(covariance, n_directions):
    X, states = observations(ENVS["reals"], episodes=400)
    oracle = GMM(3, covariance=covariance, n_directions=n_directions, random_state=0).fit(X)
    assert accuracy(oracle.predict(X), states) >= 0.999
    if n_directions == "all":
        shares = np.empty((len(X), 3))
        oracle.mixture_.expect(X.astype(np.float64), shares)
        renamed = oracle.decoder_.relabel[shares.argmax(axis=1)]
        assert disagreement(oracle.predict(X), renamed) <= 1 / len(X)
