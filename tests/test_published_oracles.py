"""The paper's oracles: scikit-learn's own steps give the same labels, by the same names, and what has no
clusters is decoded all the same."""

import naive.url_as_published as naive
import numpy as np
import pytest
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
