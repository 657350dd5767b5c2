"""Calls of a user's C functions: decoders, emissions and learners with the signatures of fasturl.h.

A function is its address, and so is its context. What a function gives is checked before it is used. Where it
is wrong, or where the function says that it failed, the loop ends and `problem` (int64[3]) tells what was
wrong, at which level (counted from 1), and the value. The loops that call decoders and emissions are here; a
learner in C is called from the loops of all learners (see `learners.c_learner`).

These are kernels in all but their imports: a call by address needs what the ground floor does without.
"""

import numpy as np
from numba.extending import overload

from .._kernels.compiling import kernel
from .._kernels.rng import fill_bits_in_lanes
from .c_signatures import DECODER, EMISSION, LEARNER
from .numba_internals import c_call

FAILED, LABEL, NUMBER, ACTION, CHANCES, STREAM = range(1, 7)
"""What is wrong: the function failed, a label is out of range, a number is not finite, an action is out of
range, chances do not add up to 1, a stream has become zeros, from which nothing can be drawn."""
Memory = np.ndarray | np.uint64
"""An array, or an address."""
NOWHERE = np.uint64(0)
"""The null pointer."""

_UNSET = np.int32(-1)
_DECODER, _EMISSION, _LEARNER = (signature.ctypes_function() for signature in (DECODER, EMISSION, LEARNER))
_compiled_decoder, _compiled_emission, _compiled_learner = map(c_call, (DECODER, EMISSION, LEARNER))


def call_decoder(
    function: np.uint64, observations: np.ndarray, level: int, labels: np.ndarray, context: np.uint64
) -> int:
    """Labels int32[n] of observations float32[D, n]."""
    dimension, n = observations.shape
    return _DECODER(int(function))(
        observations.ctypes.data, n, dimension, level, labels.ctypes.data, int(context)
    )


def call_emission(
    function: np.uint64, rng: np.ndarray, level: int, state: int, out: np.ndarray, context: np.uint64
) -> int:
    """One observation, out float32[D], with the generator rng uint64[4]."""
    return _EMISSION(int(function))(rng.ctypes.data, level, state, out.ctypes.data, out.size, int(context))


def call_learner(
    call: tuple, operation: int, lesson: tuple, numbers: np.ndarray, chances: Memory, rng: Memory
) -> int:
    """One operation of a learner, whose structs are in `lesson`: chances and rng are arrays, or NOWHERE."""
    places = [
        int(memory) if isinstance(memory, np.uint64) else memory.ctypes.data
        for memory in (*lesson, numbers, chances, rng)
    ]
    return _LEARNER(int(call.function))(operation, *places, int(call.context))


@overload(call_decoder, jit_options={"forceinline": True})
# Numba wants the very parameters of the lambda, which has no annotations
def _overload_decoder(function, observations, level, labels, context):  # type: ignore[no-untyped-def]
    return lambda function, observations, level, labels, context: _compiled_decoder(
        function, (observations, observations.shape[1], observations.shape[0], level, labels, context)
    )


@overload(call_emission, jit_options={"forceinline": True})
# as above
def _overload_emission(function, rng, level, state, out, context):  # type: ignore[no-untyped-def]
    return lambda function, rng, level, state, out, context: _compiled_emission(
        function, (rng, level, state, out, out.size, context)
    )


@overload(call_learner, jit_options={"forceinline": True})
# as above
def _overload_learner(call, operation, lesson, numbers, chances, rng):  # type: ignore[no-untyped-def]
    return lambda call, operation, lesson, numbers, chances, rng: _compiled_learner(
        call.function,
        (operation, lesson.sizes, lesson.step, lesson.rewards, numbers, chances, rng, call.context),
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

    The function of `call` is called for all levels of an episode at once. `workspace` is a
    `DecoderWorkspace`.
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
    """Observations of every state, out float32[E, L, S, D]; each level takes four words from the emission's
    rngs.

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
