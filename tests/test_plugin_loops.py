"""Loops that call a user's function, here a Python function behind a C pointer, against what they should do
step by step."""

import ctypes

import numpy as np
import pytest

from fasturl._base import plugin_loops
from fasturl._base.c_signatures import DECODER, EMISSION, LEARNER
from fasturl._kernels import emission
from fasturl._kernels.records import (
    CFunctionCall,
    CLesson,
    DecoderWorkspace,
    EmissionWorkspace,
    RealObservations,
)

pytestmark = pytest.mark.kernel

Decoder, Emission = DECODER.ctypes_function(), EMISSION.ctypes_function()


def memory(kind, place, size):
    return np.ctypeslib.as_array(ctypes.cast(place, ctypes.POINTER(kind)), (size,))


def address(function):
    return np.uint64(ctypes.cast(function, ctypes.c_void_p).value)


def decoder(rule, status=0):
    """`rule(x, level)` gives the label of one observation."""

    def call(x, n, dimension, level, labels, _context):
        seen = memory(ctypes.c_float, x, n * dimension).reshape(dimension, n)
        memory(ctypes.c_int32, labels, n)[:] = [rule(seen[:, i], level + i) for i in range(n)]
        return status

    return Decoder(call)


def call_of(function):
    return CFunctionCall(address(function), np.uint64(0))


def decode(function, observations, level, n_labels):
    noise, means, _ = observations
    labels = np.full((noise.shape[0], means.shape[2], means.shape[0]), 99, np.uint8)
    problem, relabel = np.zeros(3, np.int64), np.arange(n_labels, dtype=np.uint8)[::-1].copy()
    workspace = DecoderWorkspace(np.empty(means.shape[1:], np.float32), np.empty(means.shape[2], np.int32))
    plugin_loops.decoder_labels(observations, level, call_of(function), workspace, relabel, labels, problem)
    return labels, problem.tolist()


@pytest.fixture
def block():
    rng = np.random.default_rng(0)
    means = rng.normal(size=(3, 4, 5)).astype(np.float32)
    means[:, 2:] = 0
    return RealObservations(rng.normal(size=(6, 5, 5)).astype(np.float32), means, 2)


def test_a_decoder_sees_every_observation_once_and_its_level(block):
    noise, means, _ = block

    def rule(x, level):
        return int(x.sum() > 0) + 2 * (level % 2)

    labels, problem = decode(decoder(rule), block, 7, 4)
    assert problem == [0, 0, 0]
    for e, h, s in np.ndindex(labels.shape):
        assert labels[e, h, s] == 3 - rule(noise[e, :4, h] + means[s, :, h], 7 + h)


def test_a_label_out_of_range_ends_the_loop(block):
    labels, problem = decode(decoder(lambda x, level: 5 if level == 9 else 1), block, 7, 3)
    assert problem == [plugin_loops.LABEL, 9, 5]
    assert (labels == 99).sum() == labels.size - 2
    assert decode(decoder(lambda x, level: -1), block, 1, 3)[1] == [plugin_loops.LABEL, 1, -1]


def test_a_decoder_that_fails_ends_the_loop(block):
    assert decode(decoder(lambda x, level: 0, status=-8), block, 3, 3)[1] == [plugin_loops.FAILED, 3, -8]


def draw(rule, status=lambda level: 0):
    """Observations of 2 episodes, 3 levels, 2 states and 4 coordinates; `rule(stream, level, state)` is one
    of them."""

    def call(stream, level, state, out, dimension, _context):
        words = memory(ctypes.c_uint64, stream, 4)
        memory(ctypes.c_float, out, dimension)[:] = rule(words, level, state)
        words[:] = 0  # a state's draws must not reach the next state
        return status(level)

    function = Emission(call)
    rngs = np.arange(1, 17, dtype=np.uint64).reshape(4, 4)
    seen, problem = np.full((2, 3, 2, 4), np.inf, np.float32), np.zeros(3, np.int64)
    workspace = EmissionWorkspace(np.empty((1, 4), np.uint64), np.empty(4, np.uint64))
    plugin_loops.emission_observations(rngs, call_of(function), workspace, seen, problem)
    return seen, problem.tolist()


def test_every_state_of_a_level_gets_the_same_stream_and_every_level_another():
    seen, problem = draw(lambda words, level, state: [words[0] % 1000, words[3] % 1000, level, state])
    raw = np.empty((2, 3, 4), np.uint64)
    emission.fill_words(np.arange(1, 17, dtype=np.uint64).reshape(4, 4), raw)
    assert problem == [0, 0, 0]
    for e, h, s in np.ndindex(2, 3, 2):
        assert seen[e, h, s].tolist() == [(int(raw[e, h, 0]) | 1) % 1000, int(raw[e, h, 3]) % 1000, h + 1, s]


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_not_finite_ends_the_loop(value):
    assert draw(lambda words, level, state: [0, 0, value if level == 2 else 0, 0])[1] == [
        plugin_loops.NUMBER,
        2,
        2,
    ]


def test_an_emission_that_fails_ends_the_loop():
    assert draw(lambda words, level, state: np.zeros(4), status=lambda level: 6 * (level == 2))[1] == [
        plugin_loops.FAILED,
        2,
        6,
    ]


@pytest.mark.parametrize("with_arrays", [True, False])
def test_a_learner_gets_every_piece_of_memory_that_there_is(with_arrays):
    numbers, chances, rng = np.arange(4.0), np.arange(3.0), np.arange(4, dtype=np.uint64)
    lesson = CLesson(np.arange(6), np.arange(5), np.arange(4.0))
    places = []

    def record(operation, *pointers):
        places.extend([operation, *(pointer or 0 for pointer in pointers)])
        return 9

    function = LEARNER.ctypes_function()(record)
    given = (chances, rng) if with_arrays else (plugin_loops.NOWHERE, plugin_loops.NOWHERE)
    call = CFunctionCall(address(function), np.uint64(12))
    assert plugin_loops.call_learner(call, 3, lesson, numbers, *given) == 9
    assert places == [
        3,
        *(array.ctypes.data for array in (*lesson, numbers)),
        *((array.ctypes.data for array in given) if with_arrays else (0, 0)),
        12,
    ]
