"""The kernels' numbers side by side (`_kernels.registers`) as registers of the machine.

LLVM has vectors on every machine. Lanes never meet, so each is computed as a number alone would be, and the
width of a machine's registers changes no result. Four numbers of 64 bits are a vector where one register
holds them all. Elsewhere they are four registers for whole numbers, of which a processor has plenty while
its vectors are busy.
"""

from __future__ import annotations

import operator
from itertools import chain
from typing import Any

import numba
from llvmlite import binding, ir
from numba import TypingError, types
from numba.extending import lower_builtin, models, register_model, type_callable

from .._kernels import registers
from .._kernels.compiling import fma
from .numba_internals import check_place

_INSTRUCTIONS = {
    operator.add: ("fadd", "add", "add"),
    operator.sub: ("fsub", "sub", "sub"),
    operator.mul: ("fmul", "mul", "mul"),
    operator.and_: ("", "and_", "and_"),
    operator.or_: ("", "or_", "or_"),
    operator.xor: ("", "xor", "xor"),
    operator.lshift: ("", "shl", "shl"),
    operator.rshift: ("", "ashr", "lshr"),
}
"""Of an operation, for reals, for whole numbers and for those without a sign; empty where there is none."""
_KINDS = (types.float32, types.int32, types.uint32, types.uint64, types.uint8)


def _register_bits() -> int:
    """The width of the vectors of the machine that kernels are compiled for. Where it is not known for sure,
    LLVM makes several registers of one, or one of several."""
    if not numba.config.ENABLE_AVX:
        return 128
    features = numba.config.CPU_FEATURES
    if features is None:
        features = "" if numba.config.CPU_NAME == "generic" else binding.get_host_cpu_features().flatten()
    known = features.split(",")
    return 512 if "+avx512f" in known else 256 if "+avx2" in known else 128


_REGISTER_BITS = _register_bits()
_WIDE = _REGISTER_BITS // 32


class Register(types.Type):  # type: ignore[misc]  # Numba carries no types
    """So many numbers of one kind."""

    def __init__(self, dtype: Any, count: int) -> None:
        self.dtype, self.count = dtype, count
        super().__init__(f"Register({dtype}, {count})")


@register_model(Register)
class _Model(models.PrimitiveModel):  # type: ignore[misc]  # Numba carries no types
    def __init__(self, manager: Any, kind: Register) -> None:
        number = manager.lookup(kind.dtype).get_value_type()
        fits = kind.count * kind.dtype.bitwidth <= _REGISTER_BITS
        super().__init__(manager, kind, (ir.VectorType if fits else ir.ArrayType)(number, kind.count))


def use_registers() -> None:
    """Let kernels compile with them. Call it once, before the first is compiled."""
    for operation, names in _INSTRUCTIONS.items():
        _define(operation, *_compiled_operation(*names), _OPERANDS)
    _define(fma, lambda a, b, c: _if_real(_common_kind(a, b, c)), _multiply_and_add)
    _define(registers.wide, lambda: types.intp, _count_wide)
    _define(registers.read_four, lambda row, i: _type_of_reading(row, registers.FOUR), _read)
    _define(registers.read_wide, lambda row, i: _type_of_reading(row, _WIDE), _read)
    _define(registers.read_one, lambda row, i: _type_of_reading(row, 1), _read)
    _define(registers.write_numbers, _type_of_writing, _write)
    _define(registers.write_spread, _type_of_spreading, _spread)
    _define(registers.side_by_side, lambda a, b, c, d: Register(a, 4)(a, a, a, a), _put_side_by_side)
    _define(registers.apart, lambda numbers: types.UniTuple(numbers.dtype, numbers.count), _take_apart)
    _define(registers.interleave, lambda a, b: types.UniTuple(a, 2)(a, b) if a == b else None, _interleave)
    _define(registers.full_like, _type_of_repeating, _repeat)
    _define(registers.where_greater, _type_of_choice, _choose)
    _define(registers.as_bytes, lambda numbers: Register(types.uint8, numbers.count), _shorten)
    _define(registers.square_roots, lambda numbers: _if_real(numbers), _take_roots)
    _define(registers.as_reals, lambda integers: Register(types.float32, integers.count), _convert)
    _define(registers.same_bits, _type_of_bits, _keep_bits)


_ANY = ((types.VarArg(types.Any),),)
_OPERANDS = ((Register, Register), (Register, types.Any), (types.Any, Register))


def _define(function: Any, find_type: Any, generate: Any, arguments: Any = _ANY) -> None:
    """Tell Numba what comes out of a call, None for arguments that are not ours, and how LLVM makes it."""
    type_callable(function)(lambda _context: find_type)
    for kinds in arguments:
        lower_builtin(function, *kinds)(generate)


# --- operations ---


def _common_kind(*operands: Any) -> Any:
    """The kind of what comes out of numbers of one kind, some of them in registers; None for others."""
    kinds = [kind for kind in operands if isinstance(kind, Register)]
    return kinds[0] if kinds and all(kind in (kinds[0], kinds[0].dtype) for kind in operands) else None


def _if_real(kind: Any) -> Any:
    """The kind, where there is one and it is of reals, else None."""
    return kind if kind is not None and kind.dtype == types.float32 else None


def _in_registers(target: Any, builder: Any, signature: Any, arguments: Any) -> list[Any]:
    """Operands that are single numbers, repeated as often as the result has numbers."""
    count = signature.return_type.count
    blank = target.get_value_type(signature.return_type)(ir.Undefined)
    return [
        value if isinstance(kind, Register) else _joined(builder, blank, [value] * count)
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


def _parts(builder: Any, numbers: Any) -> list[Any]:
    """Each number of a register alone."""
    if isinstance(numbers.type, ir.VectorType):
        places = [ir.IntType(32)(lane) for lane in range(numbers.type.count)]
        return [builder.extract_element(numbers, place) for place in places]
    return [builder.extract_value(numbers, lane) for lane in range(numbers.type.count)]


def _joined(builder: Any, numbers: Any, parts: list[Any]) -> Any:
    """A register with these numbers in the place of its own."""
    for lane, part in enumerate(parts):
        if isinstance(numbers.type, ir.VectorType):
            numbers = builder.insert_element(numbers, part, ir.IntType(32)(lane))
        else:
            numbers = builder.insert_value(numbers, part, lane)
    return numbers


def _compiled_operation(of_reals: str, of_integers: str, of_unsigned: str) -> tuple[Any, Any]:
    """The type of an operation of two operands, and how it is made."""

    def name_of(kind: Any) -> str:
        if isinstance(kind.dtype, types.Float):
            return of_reals
        return of_integers if kind.dtype.signed else of_unsigned

    def find_type(a: Any, b: Any) -> Any:
        kind = _common_kind(a, b)
        return kind if kind and name_of(kind) else None

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        operands = _in_registers(target, builder, signature, arguments)
        operate = getattr(builder, name_of(signature.return_type))
        if isinstance(operands[0].type, ir.VectorType):
            return operate(*operands)
        pairs = zip(*(_parts(builder, numbers) for numbers in operands), strict=True)
        return _joined(builder, operands[0], [operate(*pair) for pair in pairs])

    return find_type, generate


def _call(builder: Any, name: str, operands: list[Any]) -> Any:
    """An instruction of LLVM's that has a name instead of a sign, on registers of float32."""
    register = operands[0].type
    kind = ir.FunctionType(register, [register] * len(operands))
    function = builder.module.declare_intrinsic(f"llvm.{name}.v{register.count}f32", (), kind)
    return builder.call(function, operands)


def _multiply_and_add(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _call(builder, "fma", _in_registers(target, builder, signature, arguments))


def _take_roots(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    return _call(builder, "sqrt", list(arguments))


def _convert(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    convert = builder.sitofp if signature.args[0].dtype.signed else builder.uitofp
    return convert(arguments[0], target.get_value_type(signature.return_type))


def _type_of_repeating(numbers: Any, number: Any) -> Any:
    return Register(types.float32, numbers.count)(numbers, types.float32)


def _repeat(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    blank = target.get_value_type(signature.return_type)(ir.Undefined)
    return _joined(builder, blank, [arguments[1]] * signature.return_type.count)


def _type_of_choice(a: Any, b: Any, chosen: Any, other: Any) -> Any:
    comparable = a == b == Register(types.float32, a.count)
    return chosen if comparable and chosen == other and chosen.count == a.count else None


def _choose(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
    a, b, chosen, other = arguments
    return builder.select(builder.fcmp_ordered(">", a, b), chosen, other)


def _shorten(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.fptoui(arguments[0], target.get_value_type(signature.return_type))


def _type_of_bits(numbers: Any, kind: Any) -> Any:
    if kind.dtype not in _KINDS or kind.dtype.bitwidth != numbers.dtype.bitwidth:
        raise TypingError(f"a kind must be as wide as {numbers.dtype}, got {kind.dtype}")
    return Register(kind.dtype, numbers.count)


def _keep_bits(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return builder.bitcast(arguments[0], target.get_value_type(signature.return_type))


# --- where numbers come from and go to ---


def _put_side_by_side(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return _joined(builder, target.get_value_type(signature.return_type)(ir.Undefined), arguments)


def _take_apart(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    return target.make_tuple(builder, signature.return_type, _parts(builder, arguments[0]))


def _interleave(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    lanes = zip(*(_parts(builder, numbers) for numbers in arguments), strict=True)
    numbers, blank = list(chain(*lanes)), arguments[0].type(ir.Undefined)
    half = len(numbers) // 2
    halves = [_joined(builder, blank, part) for part in (numbers[:half], numbers[half:])]
    return target.make_tuple(builder, signature.return_type, halves)


def _count_wide(target: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
    return target.get_constant(types.intp, _WIDE)


def _register_of(row: Any, count: int) -> Register:
    """The kind of so many entries of a row, which lie side by side."""
    if not (isinstance(row, types.Array) and row.ndim == 1 and row.layout == "C" and row.dtype in _KINDS):
        raise TypingError(f"a row must be of {', '.join(map(str, _KINDS))} without gaps, got {row}")
    return Register(row.dtype, count)


def _type_of_reading(row: Any, count: int) -> Any:
    return _register_of(row, count)(row, types.intp)


def _type_of_writing(numbers: Any, row: Any, i: Any) -> Any:
    return types.void(_register_of(row, numbers.count), row, types.intp)


def _type_of_spreading(numbers: Any, row: Any, i: Any, step: Any) -> Any:
    return types.void(_register_of(row, numbers.count), row, types.intp, types.intp)


def _place(target: Any, builder: Any, row: Any, array: Any, first: Any, last: Any) -> Any:
    """Where entries begin that end at the last."""
    entries = target.make_array(row)(target, builder, array)
    for place in (first, last):
        check_place(target, builder, place, builder.extract_value(entries.shape, 0))
    return builder.gep(entries.data, [first])


def _place_of_all(target: Any, builder: Any, row: Any, array: Any, i: Any, kind: Any) -> Any:
    """Where entries begin that lie side by side, as those of a register do."""
    start = _place(target, builder, row, array, i, builder.add(i, i.type(kind.count - 1)))
    return builder.bitcast(start, target.get_value_type(kind).as_pointer())


def _read(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    row = signature.args[0]
    array, i = arguments
    place = _place_of_all(target, builder, row, array, i, signature.return_type)
    return builder.load(place, align=row.dtype.bitwidth // 8)


def _write(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, row, _ = signature.args
    numbers, array, i = arguments
    place = _place_of_all(target, builder, row, array, i, kind)
    builder.store(numbers, place, align=row.dtype.bitwidth // 8)
    return target.get_dummy_value()


def _spread(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    kind, row, _, _ = signature.args
    numbers, array, i, step = arguments
    last = builder.add(i, builder.mul(step, step.type(kind.count - 1)))
    place = _place(target, builder, row, array, i, last)
    for part in _parts(builder, numbers):
        builder.store(part, place)
        place = builder.gep(place, [step])
    return target.get_dummy_value()
