"""A user's C code inside the compiled loops."""

import copy
import ctypes
import pickle
import subprocess
import sys

import cffi
import numba
import numpy as np
import pytest
from c_face import AFFINE, affine_pair, shared_library
from numba import types

import fasturl as fu
from fasturl._base.c_functions import CFunction, Context, _cffi_code
from fasturl._base.c_signatures import SIGNATURES
from fasturl._base.streams import Streams
from fasturl.capi import HEADER, header
from fasturl.decoders import CDecoder, LevelDecoder, PredictDecoder
from fasturl.decoders.decoder import block_of
from fasturl.problems.emissions import CEmission
from fasturl.problems.environment import emission_rngs

SOURCE = r"""
#include <math.h>
#include <stdlib.h>
#include "fasturl.h"

int32_t tells_level(const float *x, int64_t n, int64_t dimension, int64_t level,
                    int32_t *labels, void *context)
{
    (void)x, (void)dimension, (void)context;
    for (int64_t i = 0; i < n; i++)
        labels[i] = (int32_t)(level + i);
    return 0;
}

int32_t fills_nothing(const float *x, int64_t n, int64_t dimension, int64_t level,
                      int32_t *labels, void *context)
{
    (void)x, (void)n, (void)dimension, (void)level, (void)labels, (void)context;
    return 0;
}

int32_t fails(const float *x, int64_t n, int64_t dimension, int64_t level, int32_t *labels, void *context)
{
    (void)x, (void)n, (void)dimension, (void)level, (void)labels, (void)context;
    return 42;
}

static uint64_t next_bits(uint64_t *s)
{
    const uint64_t mixed = s[0] + s[3], shifted = s[1] << 17;
    const uint64_t result = ((mixed << 23) | (mixed >> 41)) + s[0];
    s[2] ^= s[0], s[3] ^= s[1], s[1] ^= s[2], s[0] ^= s[3];
    s[2] ^= shifted, s[3] = (s[3] << 45) | (s[3] >> 19);
    return result;
}

/* the state's code, and uniform noise of a width that is in the context */
int32_t uniform_noise(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)level;
    for (int64_t j = 0; j < dimension; j++)
        x[j] = (j == state) + *(double *)context * ((double)(next_bits(rng) >> 11) * 0x1p-53 - 0.5);
    return 0;
}

int32_t not_a_number(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)rng, (void)state, (void)context;
    for (int64_t j = 0; j < dimension; j++)
        x[j] = level == 2 && j == 1 ? NAN : 0.0f;
    return 0;
}

int32_t gives_up(uint64_t *rng, int64_t level, int64_t state, float *x, int64_t dimension, void *context)
{
    (void)rng, (void)state, (void)context;
    for (int64_t i = 0; i < dimension; i++)
        x[i] = 0.0f;
    return level == 1 ? -3 : 0;
}

int32_t writes_nothing(uint64_t *rng, int64_t level, int64_t state,
                       float *x, int64_t dimension, void *context)
{
    (void)rng, (void)level, (void)state, (void)x, (void)dimension, (void)context;
    return 0;
}
"""

DECODER = "int32_t {}(const float *, int64_t, int64_t, int64_t, int32_t *, void *);"
EMISSION = "int32_t {}(uint64_t *, int64_t, int64_t, float *, int64_t, void *);"
DECODERS = ("affine", "tells_level", "fills_nothing", "fails")
EMISSIONS = ("uniform_noise", "not_a_number", "gives_up", "writes_nothing")
ABI = cffi.FFI()
ABI.cdef(
    "\n".join([*(DECODER.format(name) for name in DECODERS), *(EMISSION.format(name) for name in EMISSIONS)])
)


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    """The path of a shared library of C plug-ins."""
    return shared_library(tmp_path_factory.mktemp("plugins"), AFFINE + SOURCE)


@pytest.fixture(scope="session")
def plugins(library):
    return ABI.dlopen(library)


class Fixed:
    """An oracle that has nothing to learn."""

    def __init__(self, decoder):
        self.decoder_ = decoder

    def fit(self, X):
        return self

    def predict(self, X):
        return self.decoder_.decode(X)


# --- decoders ---


@pytest.mark.parametrize("horizon", [1, 5, 20])
def test_a_decoder_in_c_equals_the_built_in_one(plugins, horizon):
    built_in, in_c = affine_pair(plugins, horizon + 3)
    env = fu.LockGaussian(horizon, noise=0.4)
    block = env.emission.draw(emission_rngs(Streams(1)), 50)
    labels = in_c.table(block)
    assert np.array_equal(labels, built_in.table(block))
    assert len(np.unique(labels)) == 3
    points = block.every_state().reshape(-1, horizon + 3)
    assert np.array_equal(in_c.decode(points), built_in.decode(points))
    renaming = [2, 0, 1]
    assert np.array_equal(in_c.relabelled(renaming).table(block), built_in.relabelled(renaming).table(block))


@pytest.mark.parametrize("form", ["given as the oracle", "as the decoder of an oracle"])
def test_url_trained_with_a_decoder_in_c_equals_url_with_the_built_in_one(plugins, form):
    env = fu.LockGaussian(4, 0.2, noise=0.3)
    built_in, in_c = affine_pair(plugins, 7)
    runs = [
        fu.train(env, fu.URL(oracle=oracle), episodes=2_000, seeds=3, points=200, n_jobs=jobs)
        for oracle, jobs in [
            (Fixed(built_in), 1),
            (in_c if form == "given as the oracle" else Fixed(in_c), 2),
        ]
    ]
    assert np.array_equal(runs[0].average_reward, runs[1].average_reward)
    assert np.array_equal(runs[0].values, runs[1].values)
    assert runs[0].values.max() > 0.3


def test_bits_reach_a_decoder_in_c_as_zeros_and_ones(plugins):
    built_in, in_c = affine_pair(plugins, 9)
    block = fu.LockBernoulli(6).emission.draw(emission_rngs(Streams(1)), 30)
    assert np.array_equal(in_c.table(block), built_in.table(block))
    bits = block.every_state().reshape(-1, 9)
    assert np.array_equal(in_c.decode(bits), built_in.decode(bits))


def test_a_decoder_in_c_is_told_the_level(plugins):
    block = fu.LockGaussian(4).emission.draw(emission_rngs(Streams(0)), 2)
    decoder = CDecoder(plugins.tells_level, 9)
    assert np.array_equal(decoder.table(block), np.broadcast_to(np.arange(1, 6)[:, None], (2, 5, 3)))
    assert decoder.decode(np.zeros((3, 7)), level=6).tolist() == [6, 6, 6]


@pytest.mark.parametrize(
    ("name", "n_labels", "message"),
    [
        ("tells_level", 3, "tells_level must give labels from 0 to 2, got 3 at level 3"),
        ("fills_nothing", 3, "fills_nothing must give labels from 0 to 2, got -1 at level 1"),
        ("fails", 3, "fails failed at level 1: it returned 42"),
    ],
)
def test_a_run_whose_decoder_is_wrong_stops_and_says_where(plugins, name, n_labels, message):
    with pytest.raises(ValueError, match=message):
        fu.train(
            fu.LockGaussian(4),
            fu.URL(oracle=CDecoder(getattr(plugins, name), n_labels)),
            episodes=500,
            seeds=2,
        )


# --- emissions ---


def model_with(emission, horizon=3):
    lock = fu.LockBernoulli(horizon).instance(0)
    return fu.BlockMDP(lock.transitions, lock.rewards, emission=emission)


def test_an_emission_in_c_shows_what_it_should(plugins):
    model = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.5])))
    block = model.emission.draw(emission_rngs(Streams(3)), 40)
    seen = block.every_state()
    assert seen.shape == (40, 4, 3, 5)
    noise = seen - np.eye(3, 5)
    assert np.abs(noise).max() <= 0.25
    assert abs(noise.mean()) < 0.01
    assert len(np.unique(noise[:, :, 0].round(6))) > 700
    assert np.allclose(noise[:, :, 0], noise[:, :, 1], atol=1e-6)  # every state gets the same stream
    states = np.random.default_rng(0).integers(3, size=(40, 4))
    assert np.array_equal(block.observe(states)[7, 2], seen[7, 2, states[7, 2]])
    assert np.array_equal(block.level(2).every_state(), seen[:, 2:3])
    assert np.array_equal(block.episodes(3, 9).every_state(), seen[3:9])


def test_blocks_of_any_size_show_the_same(plugins):
    emission = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.5]))).emission
    whole = emission.draw(emission_rngs(Streams(3)), 10).every_state()
    rngs = emission_rngs(Streams(3))
    parts = [emission.draw(rngs, size).every_state() for size in (1, 4, 5)]
    assert np.array_equal(whole, np.concatenate(parts))


def test_every_decoder_can_see_through_an_emission_in_c(plugins):
    model = model_with(CEmission(plugins.uniform_noise, 5, np.array([0.9])))
    block = model.emission.draw(emission_rngs(Streams(3)), 20)
    built_in, in_c = affine_pair(plugins, 5)
    labels = built_in.table(block)
    assert np.array_equal(in_c.table(block), labels)
    assert np.array_equal(LevelDecoder([built_in] * 4).table(block), labels)
    assert np.array_equal(PredictDecoder(Fixed(built_in), 3).table(block), labels)
    points = block.every_state().reshape(-1, 5)
    assert np.array_equal(built_in.table(block_of(points)).ravel(), labels.ravel())


def test_url_learns_through_an_emission_in_c(plugins):
    run = fu.train(
        model_with(CEmission(plugins.uniform_noise, 5, np.array([0.3]))), fu.URL(), episodes=2_000, seeds=2
    )
    assert run.values.min() > 0.4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("not_a_number", "not_a_number must give finite numbers, got nan in coordinate 1 at level 2"),
        ("gives_up", "gives_up failed at level 1: it returned -3"),
        ("writes_nothing", "writes_nothing must give finite numbers, got nan in coordinate 0 at level 1"),
    ],
)
def test_a_run_whose_emission_is_wrong_stops_and_says_where(plugins, name, message):
    with pytest.raises(ValueError, match=message):
        fu.train(model_with(CEmission(getattr(plugins, name), 4)), fu.URL(), episodes=100)


def test_an_emission_of_another_size_is_refused(plugins):
    with pytest.raises(ValueError, match="emission must be made for 4 levels and 3 states, got 9 and 3"):
        model_with(CEmission(plugins.uniform_noise, 5, n_levels=9))
    with pytest.raises(ValueError, match="dimension must be an integer >= 1, got 0"):
        CEmission(plugins.uniform_noise, 0)


# --- where functions come from ---


def with_argtypes(function):
    function.restype = ctypes.c_int32
    integer, address = ctypes.c_int64, ctypes.c_void_p
    function.argtypes = [
        ctypes.POINTER(ctypes.c_float),
        integer,
        integer,
        integer,
        ctypes.POINTER(ctypes.c_int32),
        address,
    ]
    return function


@numba.cfunc(
    types.int32(
        types.CPointer(types.float32),
        types.int64,
        types.int64,
        types.int64,
        types.CPointer(types.int32),
        types.voidptr,
    )
)
def level_in_numba(_x, n, _dimension, level, labels, _context):
    for i in range(n):
        labels[i] = level + i
    return 0


@pytest.fixture(scope="session")
def api_mode(tmp_path_factory):
    """A compiled cffi module, which has the function inside itself."""
    folder = tmp_path_factory.mktemp("api_mode")
    builder = cffi.FFI()
    builder.cdef(DECODER.format("tells_level"))
    builder.set_source("plugins_in_api_mode", SOURCE, include_dirs=[str(HEADER.parent)])
    pytest.importorskip("setuptools", reason="cffi builds modules with setuptools")
    builder.compile(tmpdir=str(folder))
    sys.path.insert(0, str(folder))
    try:
        import plugins_in_api_mode
    finally:
        sys.path.remove(str(folder))
    return plugins_in_api_mode


SOURCES = {
    "cffi, ABI mode": lambda plugins, library, api: plugins.tells_level,
    "cffi, API mode": lambda plugins, library, api: api.ffi.addressof(api.lib, "tells_level"),
    "ctypes": lambda plugins, library, api: ctypes.CDLL(library).tells_level,
    "ctypes with types": lambda plugins, library, api: with_argtypes(ctypes.CDLL(library).tells_level),
    "Numba": lambda plugins, library, api: level_in_numba,
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_function_may_come_from(source, plugins, library, request):
    api = request.getfixturevalue("api_mode") if "API" in source else None
    decoder = CDecoder(SOURCES[source](plugins, library, api), 5)
    assert decoder.decode(np.zeros((2, 3)), level=4).tolist() == [4, 4]


@pytest.mark.parametrize(
    "wrong", [None, 17, len, "affine", cffi.FFI().new("int *")], ids=["None", "int", "builtin", "str", "data"]
)
def test_what_is_no_function_pointer_is_refused(wrong):
    with pytest.raises(ValueError, match="pointer must be a cffi function pointer"):
        CDecoder(wrong, 3)


def test_functions_of_another_signature_are_refused(plugins, library):
    with pytest.raises(ValueError, match="pointer must have the signature of fasturl_decoder_fn"):
        CDecoder(plugins.uniform_noise, 3)
    with pytest.raises(ValueError, match="pointer must have the signature of fasturl_emission_fn"):
        CEmission(with_argtypes(ctypes.CDLL(library).affine), 3)
    with pytest.raises(ValueError, match="pointer must have the signature of fasturl_emission_fn"):
        CEmission(level_in_numba, 3)
    with pytest.raises(ValueError, match="null pointer"):
        CDecoder(ABI.cast("int32_t(*)(const float *, int64_t, int64_t, int64_t, int32_t *, void *)", 0), 3)


@pytest.mark.parametrize("name", SIGNATURES)
def test_signatures_are_those_of_the_header(name):
    function = header.ffi.typeof(f"{name} *")
    assert SIGNATURES[name] == (function.result.cname, tuple(kind.cname for kind in function.args))
    assert SIGNATURES[name].codes == (_cffi_code(function.result), "".join(map(_cffi_code, function.args)))


# --- contexts and other processes ---


def test_a_context_is_any_memory_that_is_kept_alive():
    array = np.arange(3)
    in_cffi, in_ctypes = ABI.new("int64_t[3]"), (ctypes.c_int64 * 3)()
    assert Context(None).address == 0
    assert Context(array).address == array.ctypes.data
    assert Context(in_cffi).address == int(ABI.cast("intptr_t", in_cffi))
    assert (
        Context(in_ctypes).address
        == Context(ctypes.pointer(in_ctypes)).address
        == ctypes.addressof(in_ctypes)
    )
    assert Context(ctypes.c_void_p(12)).address == 12
    with pytest.raises(ValueError, match="context must be None, a NumPy array, or a pointer"):
        Context([1, 2])
    with pytest.raises(ValueError, match="contiguous"):
        Context(np.arange(10)[::2])


def test_copies_share_the_function_and_the_context(plugins):
    _, decoder = affine_pair(plugins, 7)
    for other in (copy.copy(decoder), copy.deepcopy(decoder)):
        assert other._function is decoder._function
        assert other._context.address == decoder._context.address


def test_a_plug_in_is_pickled_as_library_and_symbol(plugins, library, tmp_path):
    built_in, in_c = affine_pair(plugins, 4)
    assert (in_c._function.library, in_c._function.symbol) == (library, "affine")
    points = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    (tmp_path / "decoder").write_bytes(pickle.dumps(in_c))
    script = """
import pickle, sys
import numpy as np
points = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
print(pickle.load(open(sys.argv[1], "rb")).decode(points).tolist())
"""
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "decoder"], check=True, capture_output=True, text=True
    )
    assert done.stdout.strip() == str(built_in.decode(points).tolist())


def test_what_cannot_be_loaded_elsewhere_says_so(plugins):
    with pytest.raises(
        TypeError, match="level_in_numba cannot be sent to another process: no shared library exports it"
    ):
        pickle.dumps(CDecoder(level_in_numba, 3))
    with pytest.raises(TypeError, match="give a NumPy array"):
        pickle.dumps(CDecoder(plugins.affine, 3, ABI.new("float[3]")))


def test_a_function_can_be_loaded_by_library_and_symbol(library):
    loaded = CFunction.load(library, "tells_level", "fasturl_decoder_fn")
    assert (loaded.library, loaded.name) == (library, "tells_level")
