"""The kernels' four numbers (`_kernels.fours`) as vector registers, of float32, int32 or uint32.

LLVM has such vectors on every machine. Lanes never meet, so each is computed as a number alone would be.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import TypingError, types
from numba.extending import intrinsic, models, overload, register_model

from .._kernels.compiling import fma
from .._kernels.fours import FOUR, as_reals, read_four, same_bits, square_roots, write_four
from .numba_internals import check_place

_INSTRUCTIONS = {
    operator.add: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.and_: ("", "and_"),
    operator.xor: ("", "xor"),
    operator.lshift: ("", "shl"),
}
"""Of an operation, for reals and for whole numbers; empty where there is none."""
_KINDS = (types.float32, types.int32, types.uint32)
_INLINED = {"forceinline": True}


class FourNumbers(types.Type):  # type: ignore[misc]  # Numba carries no types
    """Four numbers of one kind."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"FourNumbers({dtype})")


@register_model(FourNumbers)
class _Register(models.PrimitiveModel):  # type: ignore[misc]  # Numba carries no types
    def __init__(self, manager: Any, kind: FourNumbers) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        super().__init__(manager, kind, ir.VectorType(number, FOUR))


def use_fours() -> None:
    """Let kernels compile with them. Call it once, before the first is compiled."""
    overload(read_four, jit_options=_INLINED)(lambda row, i: lambda row, i: _read(row, i))
    overload(write_four, jit_options=_INLINED)(
        lambda numbers, row, i: lambda numbers, row, i: _write(numbers, row, i)
    )
    overload(square_roots, jit_options=_INLINED)(lambda numbers: lambda numbers: _roots(numbers))
    overload(fma, jit_options=_INLINED)(
        lambda a, b, c: (lambda a, b, c: _fma(a, b, c)) if _common_kind(a, b, c) else None
    )
    overload(as_reals, jit_options=_INLINED)(lambda integers: lambda integers: _converted(integers))
    overload(same_bits, jit_options=_INLINED)(
        lambda numbers, kind: lambda numbers, kind: _viewed(numbers, kind)
    )
    for operation, (of_reals, of_integers) in _INSTRUCTIONS.items():
        overload(operation, jit_options=_INLINED)(_compiled_operation(of_reals, of_integers))


def _instruction(function: Any) -> Any:
    """A function that says of which types an instruction is, and how LLVM makes it."""
    return intrinsic(function)


def _common_kind(*operands: Any) -> Any:
    """The kind of what comes out of numbers of one kind, some of them fours; None for others."""
    fours = [kind for kind in operands if isinstance(kind, FourNumbers)]
    return fours[0] if fours and all(kind in (fours[0], fours[0].dtype) for kind in operands) else None


def _spread(builder: Any, kind: Any, value: Any) -> Any:
    """Four numbers as they are, and one number as four of them."""
    if isinstance(kind, FourNumbers):
        return value
    numbers = ir.VectorType(value.type, FOUR)(ir.Undefined)
    for lane in range(FOUR):
        numbers = builder.insert_element(numbers, value, ir.IntType(32)(lane))
    return numbers


def _compiled_operation(of_reals: str, of_integers: str) -> Callable[[Any, Any], Any]:
    """What Numba asks for how to compile an operation of two operands."""

    @_instruction
    def operate(_typing: Any, a: Any, b: Any) -> Any:
        kind = _common_kind(a, b)
        name = of_reals if isinstance(kind.dtype, types.Float) else of_integers

        def generate(_target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            operands = [_spread(builder, *pair) for pair in zip(signature.args, arguments, strict=True)]
            return getattr(builder, name)(*operands)

        return (kind(a, b), generate) if name else None

    return lambda a, b: (lambda a, b: operate(a, b)) if _common_kind(a, b) else None


def _four_of(row: Any) -> FourNumbers:
    """The kind of four entries of a row, which lie side by side."""
    if not (isinstance(row, types.Array) and row.ndim == 1 and row.layout == "C" and row.dtype in _KINDS):
        raise TypingError(f"a row must be of float32, int32 or uint32 without gaps, got {row}")
    return FourNumbers(row.dtype)


def _place(target: Any, builder: Any, row: Any, array: Any, i: Any) -> Any:
    """Where four entries begin, as a pointer to four numbers."""
    entries = target.make_array(row)(target, builder, array)
    for place in (i, builder.add(i, i.type(FOUR - 1))):
        check_place(target, builder, place, builder.extract_value(entries.shape, 0))
    start = builder.gep(entries.data, [i])
    return builder.bitcast(start, ir.VectorType(start.type.pointee, FOUR).as_pointer())


@_instruction
def _read(_typing: Any, row: Any, i: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load(_place(target, builder, row, *arguments), align=row.dtype.bitwidth // 8)

    return _four_of(row)(row, types.int64), generate


@_instruction
def _write(_typing: Any, numbers: Any, row: Any, i: Any) -> Any:
    def generate(target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        place = _place(target, builder, row, *arguments[1:])
        builder.store(arguments[0], place, align=row.dtype.bitwidth // 8)
        return target.get_dummy_value()

    return types.void(_four_of(row), row, types.int64), generate


def _call(builder: Any, name: str, operands: list[Any]) -> Any:
    """An instruction of LLVM's that has a name instead of a sign, on registers of float32."""
    register = operands[0].type
    kind = ir.FunctionType(register, [register] * len(operands))
    return builder.call(builder.module.declare_intrinsic(f"llvm.{name}.v{FOUR}f32", (), kind), operands)


@_instruction
def _fma(_typing: Any, a: Any, b: Any, c: Any) -> Any:
    def generate(_target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        operands = [_spread(builder, *pair) for pair in zip(signature.args, arguments, strict=True)]
        return _call(builder, "fma", operands)

    return FourNumbers(types.float32)(a, b, c), generate


@_instruction
def _roots(_typing: Any, numbers: Any) -> Any:
    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return _call(builder, "sqrt", list(arguments))

    return FourNumbers(types.float32)(FourNumbers(types.float32)), generate


@_instruction
def _converted(_typing: Any, integers: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        convert = builder.sitofp if integers.dtype.signed else builder.uitofp
        return convert(arguments[0], target.get_value_type(signature.return_type))

    return FourNumbers(types.float32)(integers), generate


@_instruction
def _viewed(_typing: Any, numbers: Any, kind: Any) -> Any:
    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))

    if kind.dtype not in _KINDS:
        raise TypingError(f"a kind must be float32, int32 or uint32, got {kind.dtype}")
    return FourNumbers(kind.dtype)(numbers, kind), generate
