"""The paper's oracles: scikit-learn's own steps give the same labels, by the same names, and what has no
clusters is decoded all the same."""

import naive.url_as_published as naive
import numpy as np
import pytest
from sklearn.mixture import GaussianMixture
from test_oracles import ENVS, observations

from fasturl.decoders.constant import ConstantDecoder
from fasturl.decoders.decoder import block_of
from fasturl.decoders.support_vector import SupportVectorDecoder
from fasturl.oracles import PCADBSCAN, FullGMM, PCAKMeans

PAIRS = {
    "pca-kmeans": (PCAKMeans(3), naive.pca_kmeans, 0),
    "pca-dbscan": (PCADBSCAN(3), naive.pca_dbscan, 1),  # noise is -1 to scikit-learn
    "full-gmm": (FullGMM(3), naive.full_gmm, 0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("env", ["bits", "reals", "noisy reals"])
@pytest.mark.parametrize("name", PAIRS)
def test_new_observations_get_the_labels_of_the_steps_of_scikit_learn(name, env):
    oracle, reference, first = PAIRS[name]
    X, _ = observations(ENVS[env], episodes=60)
    fresh, _ = observations(ENVS[env], seed=1, episodes=20)
    decode = reference(X.astype(float))
    expected = [decode(x) + first for x in fresh.astype(float)]
    assert len(set(expected)) >= 2
    np.testing.assert_array_equal(oracle.fit(X).predict(fresh), expected)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("of_bits", [False, True])
def test_full_gmm_is_the_mixture_of_scikit_learn(of_bits, seed):
    """To ten digits, and to the last label and its name."""
    draw = np.random.default_rng(seed)
    n_components, n, dimension = draw.integers([2, 60, 2], [5, 900, 12])
    states = draw.integers(n_components, size=n)
    centres = 3.0 * draw.normal(size=(n_components, dimension))
    if of_bits:
        X = (draw.random((n, dimension)) < np.where(centres > 0.0, 0.9, 0.1)[states]).astype(np.uint8)
    else:
        X = centres[states] + draw.normal(size=(n, dimension))
    oracle = FullGMM(int(n_components)).fit(X)
    theirs = GaussianMixture(n_components, random_state=0).fit(X.astype(float))
    np.testing.assert_array_equal(oracle.predict(X), theirs.predict(X.astype(float)))
    ours = oracle.mixture_
    for given, expected in (
        (ours.weights, theirs.weights_),
        (ours.means, theirs.means_),
        (ours.covariances, theirs.covariances_),
    ):
        np.testing.assert_allclose(given, expected, rtol=1e-10, atol=1e-10)


def test_a_mixture_of_numbers_beyond_its_least_variance_is_refused():
    X = np.array([[1e9, 1e9]]) * np.arange(40.0)[:, None]
    with pytest.raises(ValueError, match=r"a variance of 1e-06 is more than rounding, got some of 3.9e\+10"):
        FullGMM(2).fit(X)


def test_a_support_vector_decoder_looks_up_what_few_bits_can_be():
    """What is looked up is what counting the votes gives, renamed or not."""
    X, _ = observations(ENVS["bits"], episodes=60)
    decoder = PCADBSCAN(3).fit(X).decoder_
    assert isinstance(decoder, SupportVectorDecoder)
    block = block_of(X)
    for one in (decoder, decoder.relabelled(np.arange(decoder.n_labels)[::-1])):
        np.testing.assert_array_equal(one.table(block), one.relabel[one._classes(block)])


@pytest.mark.parametrize(("eps", "label"), [(100.0, 1), (1e-9, 0)])
def test_one_cluster_or_nothing_but_noise_is_one_label(eps, label):
    X, _ = observations(ENVS["reals"], episodes=20)
    oracle = PCADBSCAN(3, eps=eps).fit(X)
    assert isinstance(oracle.decoder_, ConstantDecoder)
    assert set(oracle.predict(X)) == {label}


def test_clusters_that_no_byte_can_name_are_noise():
    """300 clusters of 8 points each, far apart on a line: the last 45 share the label of noise."""
    X = np.repeat(np.arange(300.0), 8)[:, None] * [1.0, 0.0]
    oracle = PCADBSCAN(2, scale=False, eps=0.1).fit(X)
    assert oracle.decoder_.n_labels == 256
    assert set(oracle.predict(X[:8])) == {1}
    assert set(oracle.predict(X[-8:])) == {0}


@pytest.mark.parametrize("oracle", [PCAKMeans(3), FullGMM(3)], ids=repr)
@pytest.mark.parametrize("distinct", [1, 2])
def test_there_may_be_fewer_distinct_observations_than_states(oracle, distinct):
    X = np.eye(4, dtype=np.uint8)[np.arange(30) % distinct]
    assert len(set(oracle.fit(X).predict(X))) == distinct


@pytest.mark.parametrize("oracle", [PCAKMeans, PCADBSCAN])
def test_there_cannot_be_more_components_than_coordinates(oracle):
    X = np.random.default_rng(0).standard_normal((30, 2))
    oracle(3).fit(X)  # takes as many as there are
    with pytest.raises(ValueError, match=r"n_directions must be an integer from 1 to 2, got 3"):
        oracle(3, n_directions=3).fit(X)
