"""Loops that call a user's C functions: decoders and emissions with the signatures of fasturl.h.

A function is its address, and so is its context. What a function gives is checked before it is used. Where it
is wrong, or where the function says that it failed, the loop ends and `problem` (int64[3]) tells what was
wrong, at which level, and the value.

These are kernels in all but their imports: a call by address needs what the ground floor does without.
"""

import ctypes

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload
from numba.np.arrayobj import make_array

from .._kernels.compiling import kernel
from .._kernels.rng import fill_bits_in_lanes

FAILED, LABEL, NUMBER = 1, 2, 3
"""What is wrong: the function failed, a label is out of range, a number is not finite."""

_UNSET = np.int32(-1)
_ADDRESS, _INT = ctypes.c_void_p, ctypes.c_int64
_DECODER = ctypes.CFUNCTYPE(ctypes.c_int32, _ADDRESS, _INT, _INT, _INT, _ADDRESS, _ADDRESS)
_EMISSION = ctypes.CFUNCTYPE(ctypes.c_int32, _ADDRESS, _INT, _INT, _ADDRESS, _INT, _ADDRESS)

_I8, _I32, _I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)
_C_DECODER = ir.FunctionType(
    _I32, [ir.FloatType().as_pointer(), _I64, _I64, _I64, _I32.as_pointer(), _I8.as_pointer()]
)
_C_EMISSION = ir.FunctionType(
    _I32, [_I64.as_pointer(), _I64, _I64, ir.FloatType().as_pointer(), _I64, _I8.as_pointer()]
)


def call_decoder(
    function: np.uint64, observations: np.ndarray, level: int, labels: np.ndarray, context: np.uint64
) -> int:
    """observations float32[D, n], labels int32[n]."""
    dimension, n = observations.shape
    return _DECODER(int(function))(
        observations.ctypes.data, n, dimension, level, labels.ctypes.data, int(context)
    )


def call_emission(
    function: np.uint64, stream: np.ndarray, level: int, state: int, out: np.ndarray, context: np.uint64
) -> int:
    """stream uint64[4], out float32[D]."""
    return _EMISSION(int(function))(stream.ctypes.data, level, state, out.ctypes.data, out.size, int(context))


@intrinsic
# called by the compiler
def _decoder_instruction(_context, function, observations, level, labels, context):  # type: ignore[no-untyped-def]
    # called by the compiler
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        seen = make_array(signature.args[1])(target, builder, arguments[1])
        given = make_array(signature.args[3])(target, builder, arguments[3])
        dimension, n = (builder.extract_value(seen.shape, axis) for axis in range(2))
        callee = builder.inttoptr(arguments[0], _C_DECODER.as_pointer())
        return builder.call(
            callee,
            [
                seen.data,
                n,
                dimension,
                arguments[2],
                given.data,
                builder.inttoptr(arguments[4], _I8.as_pointer()),
            ],
        )

    return types.int32(types.uint64, observations, types.int64, labels, types.uint64), generate


@intrinsic
# called by the compiler
def _emission_instruction(_context, function, stream, level, state, out, context):  # type: ignore[no-untyped-def]
    # called by the compiler
    def generate(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
        row = make_array(signature.args[1])(target, builder, arguments[1])
        seen = make_array(signature.args[4])(target, builder, arguments[4])
        callee = builder.inttoptr(arguments[0], _C_EMISSION.as_pointer())
        dimension, own = (
            builder.extract_value(seen.shape, 0),
            builder.inttoptr(arguments[5], _I8.as_pointer()),
        )
        return builder.call(callee, [row.data, arguments[2], arguments[3], seen.data, dimension, own])

    return types.int32(types.uint64, stream, types.int64, types.int64, out, types.uint64), generate


@overload(call_decoder, jit_options={"forceinline": True})
# called by the compiler
def _compiled_call_decoder(function, observations, level, labels, context):  # type: ignore[no-untyped-def]
    return lambda function, observations, level, labels, context: _decoder_instruction(
        function, observations, level, labels, context
    )


@overload(call_emission, jit_options={"forceinline": True})
# called by the compiler
def _compiled_call_emission(function, stream, level, state, out, context):  # type: ignore[no-untyped-def]
    return lambda function, stream, level, state, out, context: _emission_instruction(
        function, stream, level, state, out, context
    )


@kernel
def decoder_labels(
    observations: tuple,
    level: int,
    call: tuple,
    workspace: tuple,
    relabel: np.ndarray,
    labels: np.ndarray,
    problem: np.ndarray,
) -> None:
    """Labels uint8[E, L, S] of `RealObservations`, the first level being `level` (counted from 1).

    The function of `call` is called for all levels of an episode at once. `workspace` is a `DecoderWorkspace`.
    """
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    points, answers = workspace.points, workspace.labels
    n_states, dimension, n_levels = means.shape
    n_labels = relabel.size
    for e in range(noise.shape[0]):
        for j in range(n_informative, dimension):
            for h in range(n_levels):
                points[j, h] = noise[e, j, h]
        for s in range(n_states):
            for j in range(n_informative):
                for h in range(n_levels):
                    points[j, h] = noise[e, j, h] + means[s, j, h]
            for h in range(n_levels):
                answers[h] = _UNSET
            status = call_decoder(call.function, points, level, answers, call.context)
            if status != 0:
                problem[0], problem[1], problem[2] = FAILED, level, status
                return
            for h in range(n_levels):
                if answers[h] < 0 or answers[h] >= n_labels:
                    problem[0], problem[1], problem[2] = LABEL, level + h, answers[h]
                    return
                labels[e, h, s] = relabel[answers[h]]


@kernel
def emission_observations(
    rngs: np.ndarray, call: tuple, workspace: tuple, out: np.ndarray, problem: np.ndarray
) -> None:
    """Observations of every state, out float32[E, L, S, D]; each level takes four words from the emission's rngs.

    `workspace` is an `EmissionWorkspace`. The function of `call` is told levels that count from 1.
    """
    seeds, rng = workspace.seeds, workspace.rng
    for e in range(out.shape[0]):
        for h in range(out.shape[1]):
            fill_bits_in_lanes(rngs, seeds)
            seeds[0, 0] |= np.uint64(1)  # a generator of zeros gives nothing else
            for s in range(out.shape[2]):
                for i in range(4):
                    rng[i] = seeds[0, i]
                for j in range(out.shape[3]):
                    out[e, h, s, j] = np.nan  # what the function does not write is no number
                status = call_emission(call.function, rng, h + 1, s, out[e, h, s], call.context)
                if status != 0:
                    problem[0], problem[1], problem[2] = FAILED, h + 1, status
                    return
                for j in range(out.shape[3]):
                    if not np.isfinite(out[e, h, s, j]):
                        problem[0], problem[1], problem[2] = NUMBER, h + 1, j
                        return
