"""Decoders whose labels get other names."""

import numpy as np
import pytest

from fasturl.decoders import (
    AffineDecoder,
    PredictDecoder,
)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ([0.5, 0, 1], "must hold labels from 0 to 255, got 0.5"),
        ([0, 1, 300], "must hold labels from 0 to 255, got 300"),
        ([0, 1, -1], "must hold labels from 0 to 255, got -1"),
        ([0, 1], r"must have an entry for each label up to 2, got shape \(2,\)"),
        (0, r"must have an entry for each label up to 2, got shape \(\)"),
    ],
)
def test_names_that_are_no_labels_are_refused(names, message):
    with pytest.raises(ValueError, match=f"permutation {message}"):
        AffineDecoder(np.eye(3), np.zeros(3)).relabelled(names)


def test_two_labels_may_get_one_name():
    decoder = AffineDecoder(np.eye(3), np.zeros(3)).relabelled([0, 0, 1])
    assert decoder.decode(np.eye(3, dtype=np.float32)).tolist() == [0, 0, 1]


def test_labels_that_turn_up_late_share_one():
    class Echo:
        def predict(self, X):
            return X[:, 0].astype(int)

    decoder = PredictDecoder(Echo(), 2, open_ended=True).relabelled([3, 1, 0])
    assert decoder.decode(np.array([[0.0], [1.0]])).tolist() == [3, 1]
    assert decoder.decode(np.array([[2.0], [0.0], [4.0], [255.0]])).tolist() == [0, 3, 0, 0]
    assert decoder.n_labels == 4
    with pytest.raises(ValueError, match="predict of Echo must give labels from 0 to 255, got 256"):
        decoder.decode(np.array([[256.0]]))
