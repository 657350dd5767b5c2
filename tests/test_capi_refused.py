"""What the C face refuses, and with which status."""

import itertools

import numpy as np
import pytest
from c_face import Training, call, oracleq, qlearning, spread
from strategies import latent_labels

import fasturl as fu
from fasturl.capi import ffi, lib

REFUSED = {
    "no dynamics": ({"dynamics": ffi.NULL}, "E_NULL"),
    "no labels": ({"labels": ffi.NULL}, "E_NULL"),
    "negative length": ({"q_length": -1}, "E_SIZE"),
    "no episodes": ({"episodes": 0}, "E_SIZE"),
    "too many labels": ({"n_labels": 257}, "E_SIZE"),
    "short q": ({"q_length": 35}, "E_TOO_SMALL"),
    "short rates": ({"rates_length": 10}, "E_TOO_SMALL"),
    "sizes beyond any memory": ({"label_rows": 2**62}, "E_TOO_SMALL"),
    "label out of range": ({"n_labels": 2}, "E_RANGE"),
    "another struct": ({"size": 8}, "E_STRUCT"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_training_is_refused_and_nothing_touched(name):
    changes, status = REFUSED[name]
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    before = {array: getattr(training, array).copy() for array in Training.ARRAYS}
    made = training.struct()
    for member, value in changes.items():
        setattr(made, member, value)
    assert call("train_oracleq", made, oracleq()) == getattr(lib, f"FASTURL_{status}")
    for array, kept in before.items():
        assert np.array_equal(getattr(training, array), kept)


WRITTEN = ["q", "visits", "returns", "rates", "bonuses", "epsilons", "dynamics_rng", "policy_rng"]
OTHERS = ["q", "labels", "returns", "dynamics_rng", "dynamics", "transitions"]


@pytest.mark.parametrize(
    ("written", "other"), [pair for pair in itertools.product(WRITTEN, OTHERS) if len(set(pair)) == 2]
)
def test_overlapping_memory_is_refused(written, other):
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    made = training.struct()
    if other == "dynamics":
        place = ffi.cast("char *", training.dynamics) + 8
    elif other == "transitions":
        place = ffi.cast("char *", training.dynamics.transitions) + 8 * 5
    else:
        place = ffi.cast("char *", getattr(made, other))
    setattr(made, written, ffi.cast(ffi.typeof(getattr(made, written)), place))
    status = call("train_qlearning", made, qlearning())
    assert status in (
        lib.FASTURL_E_OVERLAP,
        lib.FASTURL_E_STREAM if written in ("dynamics_rng", "policy_rng") else lib.FASTURL_E_OVERLAP,
    )


TABLES = {
    "start": ("start", 2, 0.5, "E_TABLE"),
    "falling": ("transitions", 0, 1.5, "E_TABLE"),
    "not a number": ("transitions", 2, np.nan, "E_TABLE"),
    "negative": ("transitions", 0, -0.5, "E_TABLE"),
    "reward": ("rewards", 5, np.inf, "E_NUMBER"),
    "reward beyond what returns can hold": ("rewards", 5, -1.1e100, "E_NUMBER"),
    "mean of a Bernoulli reward": ("rewards", -2, 1.5, "E_NUMBER"),
    "flag": ("random_rewards", 1, 3, "E_RANGE"),
    "a reward where there are none": ("rewards", 5, 0.5, "E_NUMBER"),
}


@pytest.mark.parametrize("name", TABLES)
def test_tables_that_would_lead_out_of_bounds_are_refused(name):
    array, position, value, status = TABLES[name]
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    training.tables[array].flat[position] = value
    assert call("train_oracleq", training.struct(), oracleq()) == getattr(lib, f"FASTURL_{status}")


@pytest.mark.parametrize(
    "settings",
    [
        oracleq(learning_rate=0.0),
        oracleq(learning_rate=np.nan),
        oracleq(confidence=-1.0),
        oracleq(confidence=1e51),
        oracleq(max_return=np.inf),
        oracleq(schedule=1, failure_probability=1.0),
        oracleq(schedule=2, failure_probability=1e-320, confidence=0.0),  # bonus 0 times infinity
        qlearning(exploration_fraction=0.0),
        qlearning(learning_rate=1.5),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings):
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    function = "train_oracleq" if "oracleq" in ffi.typeof(settings).cname else "train_qlearning"
    assert call(function, training.struct(), settings) == lib.FASTURL_E_NUMBER
    assert np.all(training.q == 7.0)


def test_a_stream_of_zeros_is_refused():
    """Drawing from it would never end."""
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    training.policy_rng[:] = 0
    assert call("train_oracleq", training.struct(), oracleq()) == lib.FASTURL_E_STREAM
    assert call("fill_bits", np.zeros(4, np.uint64), np.empty(3, np.uint64)) == lib.FASTURL_E_STREAM


def test_a_pointer_that_is_not_aligned_is_refused():
    words, out = np.ones(9, np.uint64), np.full(3, 7, np.uint64)
    crooked = ffi.cast("uint64_t *", ffi.cast("char *", spread(words)[0]) + 4)
    assert lib.fasturl_fill_bits(crooked, 4, *spread(out)) == lib.FASTURL_E_ALIGNMENT
    assert out.tolist() == [7] * 3
    assert words.tolist() == [1] * 9


def test_more_visits_than_there_are_rates_are_refused():
    training = Training(fu.LockBernoulli(3).instance(0), latent_labels(4, 3, 3), 10, 0)
    training.visits[:] = 0
    training.visits[1, 1, 1] = 1  # ten more would be one too many
    assert call("learn", training.struct()) == lib.FASTURL_E_RANGE
    training.visits[1, 1, 1] = 0
    assert call("learn", training.struct()) == lib.FASTURL_OK
