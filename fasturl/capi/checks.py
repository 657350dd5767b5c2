"""What can be wrong with the arguments of a call. Every check gives a status, and OK is 0: `check(a) or
check(b)` is the first that fails.

A call that makes one step takes some ten nanoseconds of work, so checks are written for few instructions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .._base import numba_internals
from .._kernels.compiling import inlined
from . import header
from .access import address, field, item_size, struct_size, view

MESSAGES = {
    "FASTURL_OK": "success",
    "FASTURL_E_NULL": "a pointer is null",
    "FASTURL_E_SIZE": "a size or length is negative, zero or too great",
    "FASTURL_E_TOO_SMALL": "an array is shorter than what the sizes ask for",
    "FASTURL_E_ALIGNMENT": "an array is not aligned for its type",
    "FASTURL_E_OVERLAP": "memory that would be written overlaps another argument",
    "FASTURL_E_RANGE": "a level, state, action, label or count is out of range",
    "FASTURL_E_NUMBER": "a number is not finite, or not in its interval",
    "FASTURL_E_TABLE": "a row of cumulative probabilities does not rise from 0 or more to 1",
    "FASTURL_E_STREAM": "a stream is all zeros, which no seed gives",
    "FASTURL_E_STRUCT": "the size that a struct begins with is not that of this version of fasturl.h",
    "FASTURL_E_LIBRARY": "Python or the fasturl package could not be loaded",
    "FASTURL_E_HANDLE": "no learner has this handle",
    "FASTURL_E_LEARNER": "a learner by name cannot be had or has failed: fasturl_last_error says why",
}
UNKNOWN = "unknown status"

OK, NULL, SIZE, TOO_SMALL, ALIGNMENT, OVERLAP, RANGE, NUMBER, TABLE, STREAM, STRUCT, _, HANDLE, LEARNER = map(
    header.CONSTANTS.__getitem__, MESSAGES
)

MAX_LABELS = 256
MAX_ACTIONS = 1 << 31
"""What a draw of one action among many can be made from (see `rng.below`)."""
MOST_LEVELS = (1 << 24) - 1
"""More than any memory has: with as many labels at each as there can be, kernels count all of them."""
MANY = (1 << 31) - 1
"""Products of a few such sizes need no care."""
_GREATEST = (1 << 63) - 1
ANY = _GREATEST - 1
"""The greatest size to which one can be added."""
_LENGTH_BITS = 54
"""What is needed of an array, and what there is beyond it, are each below 2 to this power: so many elements
of 8 bytes are more than any process can address."""


@intrinsic
def message(_context: Any, status: Any) -> Any:
    """The constant string of a status."""
    texts = [(header.CONSTANTS[name], text) for name, text in MESSAGES.items()]
    return types.CPointer(types.int8)(types.int32), numba_internals.text_of(texts, UNKNOWN)


# --- sizes and numbers ---


@intrinsic
def times(_context: Any, a: Any, b: Any) -> Any:
    """a * b for positive numbers, or a number that no length reaches."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        product, too_great = (
            builder.extract_value(builder.smul_with_overflow(*arguments), part) for part in range(2)
        )
        return builder.select(too_great, ir.Constant(ir.IntType(64), _GREATEST), product)

    return types.int64(types.int64, types.int64), generate


@inlined
def unless(good: bool, status: int) -> int:
    return OK if good else status


@inlined
def check_size(size: int, greatest: int) -> int:
    return unless(1 <= size <= greatest, SIZE)


@inlined
def check_index(index: int, bound: int) -> int:
    return unless(0 <= index < bound, RANGE)


# --- memory ---


@inlined
def check(pointer: Any, length: int, needed: int) -> int:
    """Whether an array is there, long enough, aligned, and no longer than memory can be."""
    where, spare = address(pointer), length - needed
    crooked = where & (item_size(pointer) - 1)
    # one comparison for all: a step has seven arrays, and another branch for each would take 3 ns
    if where != 0 and crooked | (spare >> _LENGTH_BITS) | (needed >> _LENGTH_BITS) == 0:
        return OK
    if where == 0:
        return NULL
    if 0 <= length < needed:
        return TOO_SMALL
    return ALIGNMENT if crooked != 0 and length >= 0 else SIZE


@inlined
def check_struct(struct: Any) -> int:
    where = address(struct)
    if where == 0:
        return NULL
    if where & 7 != 0:
        return ALIGNMENT
    return unless(np.uint64(field(struct, "size")) == struct_size(struct), STRUCT)


@inlined
def check_stream(pointer: Any, length: int, lanes: int) -> int:
    """Whether each of the generators of a stream can be drawn from."""
    status = check(pointer, length, 4 * lanes)
    if status != OK:
        return status
    words = view(pointer, (lanes, 4))
    for i in range(lanes):
        if (words[i, 0] | words[i, 1] | words[i, 2] | words[i, 3]) == np.uint64(0):
            return STREAM
    return OK


@inlined
def span(pointer: Any, length: int) -> tuple[int, int]:
    """The addresses of the first byte and of that after the last."""
    first = address(pointer)
    return first, first + length * item_size(pointer)


@inlined
def struct_span(struct: Any) -> tuple[int, int]:
    first = address(struct)
    return first, first + np.int64(struct_size(struct))


@intrinsic
def _overlap(_context: Any, written: Any, others: Any) -> Any:
    """Whether a span of `written` overlaps another of them, or one of `others`."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        spans = [
            tuple(builder.extract_value(spans, [i, end]) for end in range(2))
            for spans, kind in zip(arguments, (written, others), strict=True)
            for i in range(len(kind))
        ]
        overlap = ir.Constant(ir.IntType(1), 0)
        for i in range(len(written)):
            first, after = spans[i]
            last = builder.sub(after, ir.Constant(ir.IntType(64), 1))
            for begin, end in spans[i + 1 :]:
                room = builder.add(builder.sub(last, first), builder.sub(end, begin))
                # what lies before `begin` is a great number without its sign, so one comparison serves for
                # both ends
                overlap = builder.or_(overlap, builder.icmp_unsigned("<", builder.sub(last, begin), room))
        return overlap

    return types.boolean(written, others), generate


@inlined
def check_disjoint(written: Any, others: Any) -> int:
    """Whether what would be written overlaps nothing else that was given; both are tuples of spans."""
    return unless(not _overlap(written, others), OVERLAP)


# --- contents ---


@inlined
def rises_to_one(pointer: Any, n: int) -> bool:
    """Whether n running sums never fall, start at 0 or more, and end at 1."""
    sums = view(pointer, (n,))
    last = 0.0
    for i in range(n):
        if not last <= sums[i]:
            return False
        last = sums[i]
    return last == 1.0


@inlined
def all_finite(pointer: Any, n: int) -> bool:
    numbers = view(pointer, (n,))
    good = True
    for i in range(n):
        good &= np.isfinite(numbers[i])
    return good


@inlined
def all_within(pointer: Any, n: int, least: float, greatest: float) -> bool:
    """Whether n numbers are from `least` to `greatest`; what is no number is not."""
    numbers = view(pointer, (n,))
    good = True
    for i in range(n):
        good &= (least <= numbers[i]) & (numbers[i] <= greatest)
    return good


@inlined
def all_below(pointer: Any, n: int, bound: int) -> bool:
    """Whether n integers are from 0 to bound - 1."""
    numbers = view(pointer, (n,))
    good = True
    for i in range(n):
        good &= (numbers[i] >= 0) & (np.int64(numbers[i]) < bound)
    return good
