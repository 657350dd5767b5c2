"""The header, the table and its constants: types are those of fasturl.h, and nothing is compiled before it is
asked for."""

import hashlib
import inspect
import os
import re
import subprocess
import sys

import pytest
from c_face import needs_compiler
from numba import types

import fasturl as fu
from fasturl._base import numba_internals
from fasturl._base.streams import NAMES
from fasturl.capi import HEADER, binding, checks, ffi, functions, header, lib, table
from fasturl.learners.episode_loops import loops_of

LAYOUTS = {(1, 0): "786b5263c6d78897", (1, 1): "e128a32a3d0f64fe", (1, 2): "6f13287d40be4d64"}
"""A digest of the layout of each version. A layout that has been released never changes: a new one is a new
version.

An addition at the end of the table is a new minor version, anything else a new major one
(docs/calling-from-c.md)."""


def test_the_layout_does_not_change_without_the_version():
    assert hashlib.sha256(header.layout().encode()).hexdigest()[:16] == LAYOUTS[header.abi_version()]


def test_the_layout_holds_the_macros_that_are_compiled_into_programs():
    held = [line.split("(")[0] for line in header.layout().splitlines() if line.startswith("FASTURL_LOCK")]
    assert held == ["FASTURL_LOCK_WORDS", "FASTURL_LOCK_DRAWS", "FASTURL_LOCK_SCRATCH"]
    text = (
        "#define FASTURL_H\n#define FASTURL_ABI_MAJOR 1\n#define FASTURL_ROOM 7\n"
        "#define FASTURL_TWICE(H) \\\n    (2 * (H))\n"
    )
    assert header.macros(text) == ["FASTURL_ROOM 7", "FASTURL_TWICE(H) (2 * (H))"]


@pytest.mark.parametrize(
    "language",
    [
        pytest.param(["cc", "-std=c99"], id="C99", marks=needs_compiler("cc")),
        pytest.param(["c++", "-x", "c++", "-std=c++17"], id="C++17", marks=needs_compiler("c++")),
    ],
)
@pytest.mark.parametrize("prototypes", ["", "#define FASTURL_NO_PROTOTYPES"])
def test_the_header_is_valid(language, prototypes, tmp_path):
    source = tmp_path / "includes.c"
    source.write_text(
        f'{prototypes}\n#include "fasturl.h"\n#include "fasturl.h"\nint main(void) {{ return FASTURL_OK; }}\n'
    )
    flags = ["-Wall", "-Wextra", "-Wpedantic", "-Wstrict-prototypes"][: 4 if language[0] == "cc" else 3]
    subprocess.run(
        [*language, *flags, "-Werror", "-fsyntax-only", f"-I{HEADER.parent}", str(source)], check=True
    )


def test_every_name_of_the_header_has_the_prefix():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.DOTALL)
    declared = re.findall(
        r"^#define (\w+)|^typedef [\w *]*?(\w+)\(|^(?:enum|typedef struct) (\w+)|^    (FASTURL\w+) =",
        text,
        re.MULTILINE,
    )
    names = [name for found in declared for name in found if name]
    assert len(names) > 40
    assert [name for name in names if not name.lower().startswith("fasturl_")] == []


@pytest.mark.parametrize("name", header.FUNCTIONS)
def test_a_function_has_the_signature_of_the_header(name):
    assert (
        ffi.typeof(getattr(lib, f"fasturl_{name}"))
        is header.FUNCTIONS[name]
        is ffi.typeof(f"fasturl_{name}_fn *")
    )
    assert f"FASTURL_API fasturl_{name}_fn fasturl_{name};" in HEADER.read_text()


@pytest.mark.parametrize("name", functions.__all__)
def test_what_is_compiled_has_the_signature_of_the_header(name):
    """A check of what Python answers takes three sizes in place of a handle."""
    compiled = binding.compiled(name)._sig
    assert len(inspect.signature(getattr(functions, name)).parameters) == len(compiled.args)
    declared = header.signature(name)
    if name.startswith("learner_") and name != "learner_start":
        assert declared.args[0] == types.uint64
        declared = declared.return_type(types.int64, types.int64, types.int64, *declared.args[1:])
    assert compiled == declared


def test_every_function_is_compiled_or_answered_by_python():
    assert {*functions.__all__, "learner_free"} == set(header.FUNCTIONS)


def test_pointers_become_arrays_of_the_type_that_the_kernel_takes():
    """The views of a call have the types that the kernel is compiled for when Python calls it: one
    compilation serves both."""
    fu.train(fu.LockBernoulli(2), fu.QLearning(), episodes=3)
    loop = loops_of(fu.QLearning.functions, trusted=True).lean.learn
    before = list(loop.signatures)
    numba_internals.compile_callback(functions.learn, header.signature("learn"), None)  # without a cache
    assert before == loop.signatures != []


def test_the_table_holds_every_function_and_its_version():
    made = table()
    assert made.size == ffi.sizeof("fasturl_table")
    assert (
        (made.abi_major, made.abi_minor)
        == (lib.FASTURL_ABI_MAJOR, lib.FASTURL_ABI_MINOR)
        == header.abi_version()
    )
    for name in header.FUNCTIONS:
        assert getattr(made, name) == getattr(lib, f"fasturl_{name}") != ffi.NULL
    assert lib.fasturl_get_table() == made


def test_every_status_has_a_text_of_its_own():
    texts = {ffi.string(lib.fasturl_strerror(value)).decode() for value in header.STATUSES.values()}
    assert set(checks.MESSAGES) == set(header.STATUSES)
    assert texts == set(checks.MESSAGES.values())
    assert {ffi.string(lib.fasturl_strerror(status)) for status in (-1, 14, 2**31 - 1)} == {
        checks.UNKNOWN.encode()
    }


def test_a_name_that_the_header_does_not_have():
    with pytest.raises(AttributeError, match=r"fasturl.h declares no 'fasturl_nothing'"):
        _ = lib.fasturl_nothing
    assert {
        "fasturl_step",
        "fasturl_get_table",
        "FASTURL_OK",
        "FASTURL_ABI_MAJOR",
        "FASTURL_ABI_MINOR",
    } <= set(dir(lib))


def test_the_streams_have_python_s_names():
    assert [header.CONSTANTS[f"FASTURL_STREAM_{name.upper()}"] for name in NAMES] == list(range(len(NAMES)))


LAZY = """
import sys, fasturl, fasturl.capi
assert "cffi" not in sys.modules and "fasturl.capi.functions" not in sys.modules
from fasturl.capi import binding, lib
lib.fasturl_fill_bits
print(binding.compiled.cache_info().currsize, binding.compiled("fill_bits").cache_hits)
"""


def test_functions_are_compiled_when_they_are_asked_for_and_kept_for_later_processes(tmp_path):
    settings = os.environ | {"FASTURL_CACHE_DIR": str(tmp_path)}
    seen = [
        subprocess.run(
            [sys.executable, "-P", "-c", LAZY], env=settings, check=True, capture_output=True, text=True
        ).stdout
        for _ in range(2)
    ]
    assert seen == ["1 0\n", "1 1\n"]
