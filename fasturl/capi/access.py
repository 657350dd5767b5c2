"""What the functions of the table need to touch C memory: typed views of pointers, members of structs, and checks.

Views carry no reference count: the memory is the caller's.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from .._kernels.compiling import inlined
from . import header

OK, NULL, SIZE, TOO_SMALL, ALIGNMENT, OVERLAP, RANGE, NUMBER, TABLE, STREAM, STRUCT = (
    header.CONSTANTS[f"FASTURL_{name}"]
    for name in (
        "OK",
        "E_NULL",
        "E_SIZE",
        "E_TOO_SMALL",
        "E_ALIGNMENT",
        "E_OVERLAP",
        "E_RANGE",
        "E_NUMBER",
        "E_TABLE",
        "E_STREAM",
        "E_STRUCT",
    )
)

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
}
UNKNOWN = "unknown status"

_GREATEST = np.int64(1) << np.int64(62)
_HALF = np.int64(1) << np.int64(31)


# --- memory --------------------------------------------------------------------------------------------------------


@intrinsic
def address(_context: Any, pointer: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(pointer), generate


@intrinsic
def item_size(_context: Any, pointer: Any) -> Any:
    def generate(target: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(64), target.get_abi_sizeof(target.get_data_type(pointer.dtype)))

    return types.int64(pointer), generate


def _array_of(array: Any, shape: Any) -> Any:
    """Code that makes an array from an address and a shape."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        made = make_array(array)(target, builder)
        item = target.get_abi_sizeof(target.get_data_type(array.dtype))
        lengths = cgutils.unpack_tuple(builder, arguments[1], len(shape))
        strides: list[Any] = []
        stride: Any = target.get_constant(types.intp, item)
        for length in reversed(lengths):
            strides.insert(0, stride)
            stride = builder.mul(stride, length)
        populate_array(
            made,
            data=builder.bitcast(arguments[0], made.data.type),
            shape=lengths,
            strides=strides,
            itemsize=target.get_constant(types.intp, item),
            meminfo=None,
        )
        return made._getvalue()

    return generate


def _view(pointer: Any, shape: Any, dtype: Any, readonly: bool) -> Any:
    if not isinstance(pointer, types.CPointer) or not isinstance(shape, types.UniTuple):
        raise TypingError(f"no view of {pointer} with shape {shape}")
    array = types.Array(dtype, len(shape), "C", readonly=readonly)
    return array(pointer, shape), _array_of(array, shape)


@intrinsic
def view(_context: Any, pointer: Any, shape: Any) -> Any:
    """The memory at a pointer as an array."""
    return _view(pointer, shape, pointer.dtype, False)


@intrinsic
def view_const(_context: Any, pointer: Any, shape: Any) -> Any:
    """As `view`, for kernels that are compiled for an array that cannot be written."""
    return _view(pointer, shape, pointer.dtype, True)


@intrinsic
def view_flags(_context: Any, pointer: Any, shape: Any) -> Any:
    """Bytes of zeros and ones as an array of booleans."""
    return _view(pointer, shape, types.boolean, False)


@intrinsic
def view_halves(_context: Any, pointer: Any, shape: Any) -> Any:
    """64-bit words as an array of uint32."""
    return _view(pointer, shape, types.uint32, False)


@intrinsic
def four_numbers(_context: Any) -> Any:
    """Scratch for four int64, as long as the function runs."""

    def generate(_target: Any, builder: Any, _signature: Any, _arguments: Any) -> Any:
        return builder.bitcast(cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), 4)), ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(), generate


@intrinsic
def offset(_context: Any, pointer: Any, count: Any) -> Any:
    """pointer + count, in elements."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.gep(arguments[0], [arguments[1]])

    return pointer(pointer, types.int64), generate


@intrinsic(prefer_literal=True)
def field(_context: Any, struct: Any, name: Any) -> Any:
    """A member of the struct at a pointer."""
    where, kind = header.member(struct.dtype.name, name.literal_value)

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        byte = builder.bitcast(arguments[0], ir.IntType(8).as_pointer())
        place = builder.gep(byte, [ir.Constant(ir.IntType(64), where)])
        return builder.load(builder.bitcast(place, target.get_value_type(kind).as_pointer()))

    return kind(struct, name), generate


@intrinsic
def struct_size(_context: Any, struct: Any) -> Any:
    size = header.ffi.sizeof(struct.dtype.name)

    def generate(_target: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(64), size)

    return types.uint64(struct), generate


@intrinsic
def message(_context: Any, status: Any) -> Any:
    """The constant string of a status."""

    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        found = target.insert_const_string(builder.module, UNKNOWN)
        for name, text in MESSAGES.items():
            same = builder.icmp_signed("==", arguments[0], ir.Constant(ir.IntType(32), header.CONSTANTS[name]))
            found = builder.select(same, target.insert_const_string(builder.module, text), found)
        return found

    return types.CPointer(types.int8)(types.int32), generate


# --- checks --------------------------------------------------------------------------------------------------------


@inlined
def times(a: int, b: int) -> int:
    """a * b for positive numbers, or a number that no length reaches."""
    if (a | b) < _HALF:  # a division would cost more than all other checks
        return a * b
    return _GREATEST if a > _GREATEST // b else a * b


@inlined
def check(pointer: Any, length: int, needed: int) -> int:
    """Whether an array is there, long enough and aligned."""
    where = address(pointer)
    if where != 0 and length >= needed and where & (item_size(pointer) - 1) == 0:
        return OK
    if where == 0:
        return NULL
    if length < 0:
        return SIZE
    return TOO_SMALL if length < needed else ALIGNMENT


@inlined
def check_struct(struct: Any) -> int:
    if address(struct) == 0:
        return NULL
    if address(struct) & 7 != 0:
        return ALIGNMENT
    if np.uint64(field(struct, "size")) != struct_size(struct):
        return STRUCT
    return OK


@inlined
def span(pointer: Any, length: int) -> tuple[int, int]:
    """The addresses of the first byte and of that after the last."""
    first = address(pointer)
    return first, first + length * item_size(pointer)


@inlined
def overlap(a: tuple[int, int], b: tuple[int, int]) -> bool:
    return a[0] < b[1] and b[0] < a[1]


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
def all_below(pointer: Any, n: int, bound: int) -> bool:
    """Whether n integers are from 0 to bound - 1."""
    numbers = view(pointer, (n,))
    good = True
    for i in range(n):
        good &= (numbers[i] >= 0) & (np.int64(numbers[i]) < bound)
    return good
