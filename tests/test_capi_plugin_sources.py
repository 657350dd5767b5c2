"""Where a user's C functions come from, what they get as context, and how they reach other processes."""

import copy
import ctypes
import pickle
import subprocess
import sys

import cffi
import numba
import numpy as np
import pytest
from c_face import affine_pair
from c_plugins import ABI, DECODER, SOURCE
from numba import types

from fasturl._base.c_functions import CFunction, Context, _cffi_code
from fasturl._base.c_signatures import SIGNATURES
from fasturl.capi import HEADER, header
from fasturl.decoders import CDecoder
from fasturl.learners import CLearner
from fasturl.problems.emissions import CEmission


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
    with pytest.raises(ValueError, match="pointer must have the signature of fasturl_learner_fn"):
        CLearner(plugins.affine)
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
        [sys.executable, "-P", "-c", script, tmp_path / "decoder"], check=True, capture_output=True, text=True
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
