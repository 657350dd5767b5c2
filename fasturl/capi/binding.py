"""`ffi`, `lib` and the table: the compiled functions, as a compiled cffi module would offer them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, cast

from numba import types

from .._base import compile_cache, numba_internals
from . import checks, functions, header, named_learners

ffi = header.ffi

_OF_A_LEARNER = ("learner_learn", "learner_policy", "learner_replay", "learner_final_policy")
_ANSWERED_BY_PYTHON = ("learner_start", *_OF_A_LEARNER, "learner_free", "last_error")

_VERSION = ("FASTURL_ABI_MAJOR", "FASTURL_ABI_MINOR")


@cache
def folder() -> Path | None:
    """Where compiled functions are kept: a place of its own for each version of what they are compiled
    from."""
    kernels = compile_cache.folder()
    if kernels is None:
        return None
    total = hashlib.sha256()
    folders = header.PATH.parent, header.PATH.parents[1] / "learners"
    for source in (header.PATH, *sorted(source for place in folders for source in place.rglob("*.py"))):
        total.update(source.read_bytes())
    own = kernels / f"capi-{total.hexdigest()[:16]}"
    return own if compile_cache.is_writable(own) else None


@cache
def compiled(name: str) -> Any:
    """A function of the table, compiled or loaded; of one that Python answers, what checks its arguments."""
    return numba_internals.compile_callback(getattr(functions, name), signature(name), folder())


def compile_functions() -> None:
    """Compile or load everything that C can call."""
    for name in functions.__all__:
        compiled(name)


def signature(name: str) -> Any:
    """What a function of `functions` takes and returns: as the header says, with three sizes in place of a
    learner's handle."""
    declared = header.signature(name)
    if name not in _OF_A_LEARNER:
        return declared
    return declared.return_type(*[types.int64] * 3, *declared.args[1:])


@cache
def pointer(name: str) -> Any:
    """A function of the table as a cffi function pointer."""
    kind = header.FUNCTIONS[name]
    if name in _ANSWERED_BY_PYTHON:
        return ffi.callback(kind, _answer_of(name), error=checks.LEARNER)
    return ffi.cast(kind, compiled(name).address)


def _answer_of(name: str) -> Callable[..., int]:
    """The Python function behind a pointer. What checks its arguments is compiled when it is first called:
    few programs have learners by name."""
    function = getattr(named_learners, name)
    if name == "learner_free":
        return cast(Callable[..., int], function)
    answer = named_learners.answer_of_learner if name in _OF_A_LEARNER else named_learners.answer
    return lambda *call: answer(function, _check(name), *call)


@cache
def _check(name: str) -> Any:
    """The compiled check of the arguments of a function that Python answers, as cffi calls it."""
    declared = header.FUNCTIONS[name]
    kinds = [kind.cname for kind in declared.args]
    if name in _OF_A_LEARNER:
        kinds = ["int64_t"] * 3 + kinds[1:]
    return ffi.cast(f"int32_t(*)({', '.join(kinds)})", compiled(name).address)


@cache
def table() -> Any:
    """The versioned struct of function pointers to hand to C: `const fasturl_table *`. It lives as long as
    the process.

    Returns a pointer of cffi.

    Examples
    --------
    >>> from fasturl.capi import table
    >>> table().abi_major
    1
    """
    struct = ffi.new("fasturl_table *")
    struct.size = ffi.sizeof("fasturl_table")
    struct.abi_major, struct.abi_minor = header.abi_version()
    for name in header.FUNCTIONS:
        setattr(struct, name, pointer(name))
    return struct


class Library:
    """The functions and constants of fasturl.h by name; a function is compiled when it is first asked for."""

    def __getattr__(self, name: str) -> Any:
        bare = name.removeprefix(header.PREFIX)
        if name.startswith(header.PREFIX) and bare in header.FUNCTIONS:
            value = pointer(bare)
        elif name == "fasturl_get_table":
            value = table
        elif name in header.CONSTANTS:
            value = header.CONSTANTS[name]
        elif name in _VERSION:
            value = header.abi_version()[_VERSION.index(name)]
        else:
            raise AttributeError(f"fasturl.h declares no {name!r}")
        self.__dict__[name] = value
        return value

    def __dir__(self) -> list[str]:
        return sorted(
            [
                *(header.PREFIX + name for name in header.FUNCTIONS),
                "fasturl_get_table",
                *header.CONSTANTS,
                *_VERSION,
            ]
        )


lib = Library()
