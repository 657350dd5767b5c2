"""The functions of `_kernels.entries` that take more of Numba than kernels use, as an instruction or two.

They become part of their callers, so that places are checked where the caller has its indices checked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.extending import lower_builtin, type_callable

from .._kernels.entries import fetch_ahead, get_entry, row_at, set_entry
from .numba_internals import array_at, check_place

_BYTES = ir.IntType(8).as_pointer()


def use_flat_entries() -> None:
    """Let kernels compile them. Call it once, before the first is compiled."""
    type_callable(set_entry)(
        lambda _context: lambda table, place, value: _checked(table, place) and types.void
    )
    lower_builtin(set_entry, types.Array, types.Integer, types.Any)(_store)
    _compile(get_entry, lambda table: table.dtype, _load)
    _compile(row_at, _row_of, _view)
    _compile(fetch_ahead, lambda _table: types.void, _prefetch)


def _compile(function: Any, find_result: Callable[[Any], Any], generate: Callable[..., Any]) -> None:
    """Let a function of a table and a place compile to what `generate` makes, whose type depends on that of
    the table."""
    type_callable(function)(lambda _context: lambda table, place: find_result(_checked(table, place)))
    lower_builtin(function, types.Array, types.Integer)(generate)


def _checked(table: Any, place: Any) -> Any:
    """The type of a table whose entries lie side by side, or of a row; a place is a whole number."""
    if not isinstance(place, types.Integer):
        raise TypingError(f"a place must be a whole number, got {place}")
    if table.layout != "C" and table.ndim > 1:
        raise TypingError(f"a table must have no gaps between its rows, got {table}")
    return table


def _load(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return target.unpack_value(
        builder, signature.args[0].dtype, _pointer(target, builder, signature, arguments)
    )


def _store(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    entry = signature.args[0].dtype
    value = target.cast(builder, arguments[2], signature.args[2], entry)
    target.pack_value(builder, entry, value, _pointer(target, builder, signature, arguments))
    return target.get_dummy_value()


def _prefetch(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    number = ir.IntType(32)
    instruction = builder.module.declare_intrinsic(
        "llvm.prefetch", (_BYTES,), ir.FunctionType(ir.VoidType(), [_BYTES, number, number, number])
    )
    pointer = builder.bitcast(_pointer(target, builder, signature, arguments), _BYTES)
    to_write, often, of_data = number(1), number(3), number(1)
    builder.call(instruction, [pointer, to_write, often, of_data])
    return target.get_dummy_value()


def _row_of(table: Any) -> Any:
    return types.Array(table.dtype, 1, "C")


def _view(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    table, array, place = _parts(target, builder, signature, arguments)
    length = builder.extract_value(array.shape, table.ndim - 1)
    last = builder.sub(array.nitems, length)
    has_rows = builder.icmp_signed(">=", last, last.type(0))
    end = builder.select(has_rows, builder.add(last, last.type(1)), last.type(0))
    check_place(target, builder, place, end)
    shape = builder.insert_value(ir.ArrayType(length.type, 1)(ir.Undefined), length, 0)
    return array_at(_row_of(table), 1)(target, builder, None, (builder.gep(array.data, [place]), shape))


def _pointer(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Where an entry is."""
    table, array, place = _parts(target, builder, signature, arguments)
    check_place(target, builder, place, array.nitems)
    if table.layout == "C":
        return builder.gep(array.data, [place])
    step = builder.udiv(builder.extract_value(array.strides, 0), array.itemsize)
    return builder.gep(array.data, [builder.mul(place, step)])


def _parts(target: Any, builder: Any, signature: Any, arguments: Any) -> tuple[Any, Any, Any]:
    """The type of a table, the table, and a place in it."""
    table = signature.args[0]
    place = target.cast(builder, arguments[1], signature.args[1], types.uint64)
    return table, target.make_array(table)(target, builder, arguments[0]), place
