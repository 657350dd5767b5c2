"""Labels of decoders that a user wrote, and of anything with predict: what is used and what is refused."""

import numpy as np
import pytest

from fasturl._base.streams import Streams
from fasturl.decoders import (
    Decoder,
    LevelDecoder,
    PredictDecoder,
    check_decoder,
)
from fasturl.problems.environment import emission_rngs
from fasturl.problems.locks import LockBits


class Says:
    def __init__(self, labels):
        self.labels = labels

    def predict(self, X):
        return self.labels


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 3], "must give labels from 0 to 2, got 3"),
        ([0, -1, 2], "must give labels from 0 to 2, got -1"),
        ([0, 0.5, 2], "must give labels from 0 to 2, got 0.5"),
        ([0.0, np.nan, 2.0], "must give labels from 0 to 2, got nan"),
        ([0.0, np.inf, 2.0], "must give labels from 0 to 2, got inf"),
        (["a", "b", "c"], "must give whole numbers, got <U1"),
        ([0, 1], r"must give one label for each of 3 observations, got shape \(2,\)"),
        ([[0], [1], [2]], r"must give one label for each of 3 observations, got shape \(3, 1\)"),
        (0, r"must give one label for each of 3 observations, got shape \(\)"),
        (None, "must give one label for each of 3 observations"),
    ],
)
def test_labels_that_cannot_be_used_are_refused_by_name(labels, message):
    with pytest.raises(ValueError, match=f"predict of Says {message}"):
        PredictDecoder(Says(labels), 3).decode(np.zeros((3, 2), np.float32))


def test_labels_may_come_as_floats_or_small_integers():
    for labels in ([0.0, 1.0, 1.0], np.array([0, 1, 1], np.int8)):
        assert PredictDecoder(Says(labels), 2).decode(np.zeros((3, 2), np.float32)).tolist() == [0, 1, 1]


class Written(Decoder):
    """Gives out what it is told to, whatever it sees."""

    def __init__(self, label, n_labels=3, shape=None):
        super().__init__(n_labels)
        self.label, self.shape = label, shape

    def table(self, block):
        return np.full(self.shape or (block.n_episodes, block.n_levels, block.n_states), self.label)


@pytest.mark.parametrize(
    ("decoder", "message"),
    [
        (Written(np.uint8(200)), "labels from 0 to 2, got 200"),
        (Written(np.int64(-5)), "labels from 0 to 2, got -5"),
        (Written(0.5), "labels from 0 to 2, got 0.5"),
        (Written("a"), "whole numbers, got <U1"),
        (Written(np.uint8(0), shape=(2, 2)), r"labels of shape \(4, 3, 3\), got shape \(2, 2\)"),
    ],
    ids=["too large", "below 0", "no whole number", "no number", "other shape"],
)
def test_labels_of_a_decoder_that_a_user_wrote_are_checked(decoder, message):
    block = LockBits(2).draw(emission_rngs(Streams(0)), 4)
    with pytest.raises(ValueError, match=f"table of Written must give {message}"):
        check_decoder(decoder).table(block)
    with pytest.raises(ValueError, match="of Written must give"):
        LevelDecoder([decoder] * 3).table(block)


def test_a_decoder_that_a_user_wrote_gives_its_labels_under_any_name():
    decoder = check_decoder(Written(np.int64(1))).relabelled([2, 0, 1])
    block = LockBits(2).draw(emission_rngs(Streams(0)), 4)
    assert decoder.table(block).dtype == np.uint8
    assert not decoder.table(block).any()
    assert not decoder.level_table(block.level(1), 2).any()
    assert decoder.decode(np.zeros((5, 5), np.uint8)).tolist() == [0] * 5


def test_a_decoder_that_never_said_how_many_labels_it_has_is_refused():
    class Silent(Written):
        def __init__(self):
            self.label, self.shape = 0, None

    with pytest.raises(ValueError, match="n_labels must be an integer from 2 to 256, got None"):
        check_decoder(Silent())
