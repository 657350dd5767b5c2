"""The functions of `_kernels.entries` that take more of Numba than kernels use, as one instruction each.

They are pasted into their callers, so that places are checked where the caller has its indices checked.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic, overload

from .._kernels.entries import fetch_ahead, get_entry, set_entry
from .numba_internals import check_place

_BYTES = ir.IntType(8).as_pointer()


def use_flat_entries() -> None:
    """Let kernels compile them. Call it once, before the first is compiled."""

    @overload(get_entry, inline="always")  # type: ignore[untyped-decorator]  # of Numba, as below
    def compiled_get(table: Any, place: Any) -> Any:
        def call(table: Any, place: Any) -> Any:
            return _load(table, place)

        return call

    @overload(set_entry, inline="always")  # type: ignore[untyped-decorator]  # as above
    def compiled_set(table: Any, place: Any, value: Any) -> Any:
        def call(table: Any, place: Any, value: Any) -> Any:
            return _store(table, place, value)

        return call

    @overload(fetch_ahead, inline="always")  # type: ignore[untyped-decorator]  # as above
    def compiled_fetch(table: Any, place: Any) -> Any:
        def call(table: Any, place: Any) -> Any:
            return _prefetch(table, place)

        return call


@intrinsic  # type: ignore[untyped-decorator]  # as above
def _load(_typing: Any, table: Any, place: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return target.unpack_value(builder, table.dtype, _pointer(target, builder, table, *arguments))

    return table.dtype(_checked(table), types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]  # as above
def _store(_typing: Any, table: Any, place: Any, value: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        array, index, entry = arguments
        target.pack_value(builder, table.dtype, entry, _pointer(target, builder, table, array, index))
        return target.get_dummy_value()

    return types.void(_checked(table), types.uint64, table.dtype), generate


@intrinsic  # type: ignore[untyped-decorator]  # as above
def _prefetch(_typing: Any, table: Any, place: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        number = ir.IntType(32)
        instruction = builder.module.declare_intrinsic(
            "llvm.prefetch", (_BYTES,), ir.FunctionType(ir.VoidType(), [_BYTES, number, number, number])
        )
        pointer = builder.bitcast(_pointer(target, builder, table, *arguments), _BYTES)
        to_write, often, of_data = number(1), number(3), number(1)
        builder.call(instruction, [pointer, to_write, often, of_data])
        return target.get_dummy_value()

    return types.void(_checked(table), types.uint64), generate


def _checked(table: Any) -> Any:
    """The type of a table whose entries lie side by side, or of a row."""
    if table.layout != "C" and table.ndim > 1:
        raise TypingError(f"a table must have no gaps between its rows, got {table}")
    return table


def _pointer(target: Any, builder: Any, kind: Any, table: Any, place: Any) -> Any:
    """Where an entry is."""
    array = target.make_array(kind)(target, builder, table)
    check_place(target, builder, place, array.nitems)
    if kind.layout == "C":
        return builder.gep(array.data, [place])
    step = builder.udiv(builder.extract_value(array.strides, 0), array.itemsize)
    return builder.gep(array.data, [builder.mul(place, step)])
