"""What fasturl.h says: the source of every type on the C side.

cffi reads the header itself, without its preprocessor lines. The Numba types of arguments and struct members
are made from what cffi found, so that they cannot differ from the header.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import cffi
from numba import types

PATH = Path(__file__).with_name("fasturl.h")
PREFIX = "fasturl_"

_PLUSPLUS = re.compile(r"^#ifdef __cplusplus$.*?^#endif$", re.DOTALL | re.MULTILINE)
_PREPROCESSOR = re.compile(r"^#(?:.*\\\n)*.*$", re.MULTILINE)
_MACRO = re.compile(r"^#define (FASTURL_(?!API\b|ABI_)\w+(?:\([^)]*\))?[ \t]+(?:.*\\\n)*.*)$", re.MULTILINE)
_DEFINITION = re.compile(r"^#define FASTURL_ABI_(MAJOR|MINOR) (\d+)$", re.MULTILINE)


def declarations() -> str:
    """The header without what a preprocessor would take."""
    text = _PREPROCESSOR.sub("", _PLUSPLUS.sub("", PATH.read_text(encoding="utf-8")))
    return text.replace("FASTURL_API ", "")


def abi_version() -> tuple[int, int]:
    numbers = dict(_DEFINITION.findall(PATH.read_text(encoding="utf-8")))
    return int(numbers["MAJOR"]), int(numbers["MINOR"])


ffi = cffi.FFI()
ffi.cdef(declarations())

TABLE = ffi.typeof("fasturl_table")
FUNCTIONS: dict[str, Any] = {
    name: field.type
    for name, field in TABLE.fields
    if field.type.kind == "pointer" or field.type.kind == "function"
}
"""The C type of each function of the table, without the prefix."""


def constants(enum: str) -> dict[str, int]:
    """The constants of an enum."""
    values: dict[str, int] = ffi.typeof(f"enum {enum}").relements
    return values


STATUSES = constants("fasturl_status")
CONSTANTS = STATUSES | constants("fasturl_stream") | constants("fasturl_learner_operation")

_PRIMITIVES = {
    "double": types.float64,
    "float": types.float32,
    "char": types.int8,
    "size_t": types.uintp,
    **{
        f"{sign}int{bits}_t": getattr(types, f"{sign}int{bits}")
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
}


def numba_type(ctype: Any) -> Any:
    """The Numba type of a C type of the header; a struct is opaque, its members are read by
    `access.field`."""
    if ctype.kind == "primitive":
        return _PRIMITIVES[ctype.cname]
    if ctype.kind == "pointer":
        return types.voidptr if ctype.item.kind == "void" else types.CPointer(numba_type(ctype.item))
    if ctype.kind == "struct":
        return types.Opaque(ctype.cname)
    raise TypeError(f"fasturl.h must not use {ctype.cname!r} in a function of the table")


def signature(name: str) -> Any:
    """The Numba signature of a function of the table."""
    function = FUNCTIONS[name]
    return numba_type(function.result)(*(numba_type(argument) for argument in function.args))


def member(struct: str, name: str) -> tuple[int, Any]:
    """Where a member of a struct is, in bytes, and its Numba type."""
    place = dict(ffi.typeof(struct).fields)[name]
    return place.offset, numba_type(place.type)


def macros(text: str) -> list[str]:
    """The macros of a header that C programs compute with, a line each."""
    return [" ".join(macro.replace("\\\n", " ").split()) for macro in _MACRO.findall(text)]


def layout() -> str:
    """Everything that a compiled C program relies on, as text: offsets, sizes, types, the values of
    constants, and macros."""
    lines = [f"{name} = {value}" for name, value in sorted(CONSTANTS.items())]
    structs = [
        "fasturl_dynamics",
        "fasturl_block",
        "fasturl_training",
        "fasturl_oracleq",
        "fasturl_qlearning",
        "fasturl_task",
        "fasturl_learner_sizes",
        "fasturl_learner_step",
        "fasturl_learner_rewards",
        "fasturl_table",
    ]
    for struct in map(ffi.typeof, structs):
        lines.append(f"{struct.cname}: {ffi.sizeof(struct)} bytes")
        lines += [f"  {field.offset} {name}: {field.type.cname}" for name, field in struct.fields]
    lines += [
        f"{plugin}: {ffi.typeof(plugin + ' *').cname}"
        for plugin in ("fasturl_decoder_fn", "fasturl_emission_fn", "fasturl_learner_fn")
    ]
    lines += macros(PATH.read_text(encoding="utf-8"))
    return "\n".join(lines)
