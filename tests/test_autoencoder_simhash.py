"""The autoencoder with SimHash: hashes of a learned code as labels."""

import numpy as np
import pytest
from test_oracle_clusters import accuracy, reals

from fasturl.decoders.predict import PredictDecoder
from fasturl.oracles import AutoencoderSimHash
from fasturl.oracles.autoencoder_simhash import LEAST_DIFFERENCE, _Encoder, _far_apart, _Hashing, _NearestHash


def line(n_bits):
    """A code that is tanh(tanh(x)) of one coordinate, and hyperplanes that all part it at 0."""
    encoder = _Encoder(np.ones((1, 1)), np.zeros(1), np.ones((1, 1)), np.zeros(1))
    return _Hashing(encoder, np.ones((n_bits, 1)))


def test_a_bit_is_the_side_of_its_hyperplane():
    hashes = line(3).hashes(np.array([[-2.0], [0.5]]))
    np.testing.assert_array_equal(hashes, [[0, 0, 0], [1, 1, 1]])


def test_two_codes_differ_in_a_bit_with_the_angle_between_them_over_pi():
    """Charikar (2002). At 60 degrees, the share of 20,000 bits is off by more than 0.0133, four standard
    errors, in 1 of 16,000 cases."""
    encoder = _Encoder(np.eye(2), np.zeros(2), np.eye(2), np.zeros(2))
    planes = np.random.default_rng(0).standard_normal((20_000, 2))
    angle = np.pi / 3
    X = 1e-4 * np.array([[1.0, 0.0], [np.cos(angle), np.sin(angle)]])  # where tanh(x) is x
    first, second = _Hashing(encoder, planes).hashes(X)
    assert np.mean(first != second) == pytest.approx(1 / 3, abs=0.0133)


def test_a_hash_has_the_label_of_the_nearest_one_and_the_first_of_several():
    hashing = line(2)
    kept = np.array([[0, 1], [1, 1]], np.uint8)
    labels = _NearestHash(hashing, kept).predict(np.array([[1.0], [-1.0]]))
    np.testing.assert_array_equal(labels, [1, 0])
    tied = np.array([[0, 1], [1, 0]], np.uint8)
    np.testing.assert_array_equal(_NearestHash(hashing, tied).predict(np.array([[1.0]])), [0])


def test_hashes_of_labels_differ_in_a_quarter_of_their_bits():
    hashes = np.array([[0] * 8, [1] + [0] * 7, [1, 1] + [0] * 6, [1] * 8, [0, 0, 1, 1, 0, 0, 0, 0]], np.uint8)
    assert LEAST_DIFFERENCE == 0.25
    np.testing.assert_array_equal(_far_apart(hashes, 3), hashes[[0, 2, 3]])
    np.testing.assert_array_equal(_far_apart(hashes, 9), hashes[[0, 2, 3, 4]])


def test_frequent_states_are_found():
    """Planted clusters, each with a third of the observations: on each of five seeds at most 5 % are
    mistaken, on four of them at most 1 %."""
    shares = []
    for seed in range(100, 105):
        X, _ = reals(np.eye(3, 8), 0.1, 1200, seed)
        fresh, states = reals(np.eye(3, 8), 0.1, 1200, seed + 1000)
        labels = AutoencoderSimHash(3, random_state=seed).fit(X).predict(fresh)
        shares.append(accuracy(labels, states, 3))
    assert min(shares) > 0.95
    assert np.sum(np.array(shares) > 0.99) >= 4


def test_the_decoder_asks_the_network_for_whole_blocks():
    X, _ = reals(np.eye(3, 6), 0.1, 300, 0)
    oracle = AutoencoderSimHash(3, random_state=0).fit(X)
    assert isinstance(oracle.decoder_, PredictDecoder)
    assert oracle.hashes_.shape[1] == 32
    assert oracle.decoder_.n_labels == max(2, len(oracle.hashes_))


def test_the_network_is_trained_on_so_many_observations():
    X, _ = reals(np.eye(3, 6), 0.1, 300, 0)
    some, few = (AutoencoderSimHash(3, max_samples=n, random_state=0).fit_predict(X) for n in (10_000, 20))
    assert not np.array_equal(some, few)


def test_observations_that_are_all_the_same_have_one_label():
    assert set(AutoencoderSimHash(3, random_state=0).fit_predict(np.ones((20, 4)))) == {0}


def test_coordinates_that_never_change_do_no_harm():
    X, states = reals(np.eye(2, 4), 0.1, 600, 0)
    wider = np.hstack([X, np.full((600, 2), 7.0)])
    assert accuracy(AutoencoderSimHash(2, random_state=0).fit_predict(wider), states, 2) > 0.99


@pytest.mark.parametrize("name", ["n_code", "n_bits", "n_hidden", "n_epochs", "max_samples"])
def test_settings_outside_their_range_are_refused(name):
    least = 2 if name == "max_samples" else 1
    with pytest.raises(ValueError, match=f"{name} must be an integer >= {least}, got 0"):
        AutoencoderSimHash(3, **{name: 0}).fit(np.eye(4))
