"""The kernels' `four_dots` in vector instructions.

A lane of its sums is an entry of a vector register:

    sums[j] <- fma(left[a, i : i + 8], right[b + j, i : i + 8], sums[j])    for j = 0..3 and i = 0, 8, 16, ...

LLVM has such vectors on every machine, made of smaller ones where registers are short, and adds the lanes in
the order that is written here.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from .._kernels.compiling import LANES, four_dots

_VECTOR = ir.VectorType(ir.FloatType(), LANES)


def use_vectors() -> None:
    """Let kernels compile `four_dots` to vector instructions. Call it once, before the first is compiled."""

    @overload(four_dots, jit_options={"forceinline": True})  # type: ignore[untyped-decorator]  # of Numba, as below
    def compiled(left: Any, a: Any, right: Any, b: Any) -> Any:
        def call(left: Any, a: Any, right: Any, b: Any) -> Any:
            return _vector_dots(left, a, right, b)

        return call


@intrinsic  # type: ignore[untyped-decorator]  # as above
def _vector_dots(_typing: Any, left: Any, a: Any, right: Any, b: Any) -> Any:
    """Typed by Numba: two tables of float32 with whole rows, each with the number of a row."""

    def generate(target: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        table, row, tables, first_row = arguments
        one, width = _start_of_row(target, builder, left, table, row)
        rows = [builder.add(first_row, first_row.type(j)) for j in range(4)]
        four = [_start_of_row(target, builder, right, tables, row)[0] for row in rows]
        totals = [_total(builder, lanes) for lanes in _lane_sums(builder, one, four, width)]
        return target.make_tuple(builder, signature.return_type, totals)

    return types.UniTuple(types.float32, 4)(left, types.int64, right, types.int64), generate


def _start_of_row(target: Any, builder: Any, kind: Any, table: Any, row: Any) -> tuple[Any, Any]:
    """Where a row begins, and how many entries it has."""
    array = target.make_array(kind)(target, builder, table)
    width = builder.extract_value(array.shape, 1)
    return builder.gep(array.data, [builder.mul(row, width)]), width


def _lane_sums(builder: Any, one: Any, four: list[Any], width: Any) -> list[Any]:
    """A loop over the vectors of a row and of four others; the sums of their products by lane."""
    fma = builder.module.declare_intrinsic(
        f"llvm.fma.v{LANES}f32", (), ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    )
    before, loop = builder.block, builder.append_basic_block("dots")
    after = builder.append_basic_block("dots.end")
    builder.branch(loop)
    builder.position_at_end(loop)
    i = builder.phi(width.type)
    sums = [builder.phi(_VECTOR) for _ in four]
    factors = _entries(builder, one, i)
    added = [
        builder.call(fma, [factors, _entries(builder, start, i), lanes])
        for start, lanes in zip(four, sums, strict=True)
    ]
    following = builder.add(i, width.type(LANES))
    for variable, at_first, later in [
        (i, width.type(0), following),
        *((lanes, _VECTOR([0.0] * LANES), more) for lanes, more in zip(sums, added, strict=True)),
    ]:
        variable.add_incoming(at_first, before)
        variable.add_incoming(later, loop)
    builder.cbranch(builder.icmp_signed("<", following, width), loop, after)
    builder.position_at_end(after)
    return added


def _entries(builder: Any, start: Any, i: Any) -> Any:
    """The vector of entries from i on."""
    return builder.load(builder.bitcast(builder.gep(start, [i]), _VECTOR.as_pointer()), align=4)


def _total(builder: Any, lanes: Any) -> Any:
    """The sum of the lanes, by halves."""
    parts = [builder.extract_element(lanes, ir.IntType(32)(lane)) for lane in range(LANES)]
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [builder.fadd(parts[j], parts[j + half]) for j in range(half)]
    return parts[0]
