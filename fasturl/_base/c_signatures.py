"""The C signatures of a user's functions, written once.

fasturl.h declares the same ones, for C compilers; a test holds them equal. The types of ctypes, of LLVM and
the short codes by which a pointer is checked are all made from what is written here.
"""

from __future__ import annotations

import ctypes
from typing import Any, NamedTuple


class CSignature(NamedTuple):
    """The type of a C function: names of C types, without `const`."""

    result: str
    arguments: tuple[str, ...]

    @property
    def codes(self) -> tuple[str, str]:
        """Result and arguments: p is a pointer, i and a number an integer of so many bytes."""
        return _code(self.result), "".join(map(_code, self.arguments))

    def ctypes_function(self) -> Any:
        """The type of ctypes for a pointer to such a function; it takes every pointer as an address."""
        return ctypes.CFUNCTYPE(*(_ctypes_type(name) for name in (self.result, *self.arguments)))


DECODER = CSignature("int32_t", ("float *", "int64_t", "int64_t", "int64_t", "int32_t *", "void *"))
"""observations, n, dimension, level, labels, context"""
EMISSION = CSignature("int32_t", ("uint64_t *", "int64_t", "int64_t", "float *", "int64_t", "void *"))
"""rng, level, state, observation, dimension, context"""
LEARNER = CSignature(
    "int32_t",
    (
        "int64_t",
        "fasturl_learner_sizes *",
        "fasturl_learner_step *",
        "fasturl_learner_rewards *",
        "double *",
        "double *",
        "uint64_t *",
        "void *",
    ),
)
"""operation, sizes, step, rewards, numbers, chances, rng, context"""

SIGNATURES = {
    "fasturl_decoder_fn": DECODER,
    "fasturl_emission_fn": EMISSION,
    "fasturl_learner_fn": LEARNER,
}
"""By their names in fasturl.h."""


def is_pointer(name: str) -> bool:
    return name.endswith("*")


def _ctypes_type(name: str) -> Any:
    return ctypes.c_void_p if is_pointer(name) else getattr(ctypes, f"c_{name.removesuffix('_t')}")


def _code(name: str) -> str:
    return "p" if is_pointer(name) else f"i{ctypes.sizeof(_ctypes_type(name))}"
