"""What the functions of the table need to touch C memory: typed views of pointers and members of structs.

Views carry no reference count: the memory is the caller's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic

from .._base import numba_internals
from . import header


@intrinsic
def address(_context: Any, pointer: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ptrtoint(arguments[0], ir.IntType(64))

    return types.int64(pointer), generate


@intrinsic
def item_size(_context: Any, pointer: Any) -> Any:
    return types.int64(pointer), numba_internals.item_size_of(pointer)


def _viewer(dtype: Any = None, readonly: bool = False) -> Any:
    @intrinsic
    def view(_context: Any, pointer: Any, shape: Any) -> Any:
        if not isinstance(pointer, types.CPointer) or not isinstance(shape, types.UniTuple):
            raise TypingError(f"no view of {pointer} with shape {shape}")
        array = types.Array(dtype or pointer.dtype, len(shape), "C", readonly=readonly)
        return array(pointer, shape), numba_internals.array_at(array, len(shape))

    return view


view = _viewer()
"""The memory at a pointer as an array of a shape."""
view_const = _viewer(readonly=True)
"""As `view`, for kernels that are compiled for an array that cannot be written."""
view_halves = _viewer(types.uint32)
"""64-bit words as an array of uint32."""


@intrinsic
def four_numbers(_context: Any) -> Any:
    """Scratch for four int64, as long as the function runs."""
    return types.CPointer(types.int64)(), numba_internals.stack_numbers(4)


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
    return kind(struct, name), numba_internals.load_at(where, kind)


@intrinsic
def struct_size(_context: Any, struct: Any) -> Any:
    size = header.ffi.sizeof(struct.dtype.name)

    def generate(_target: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(ir.IntType(64), size)

    return types.uint64(struct), generate
