"""How every kernel is compiled: one decorator, so that the options are written once. Its types are in
`compiling.pyi`."""

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

# Kernels allocate nothing, so Numba's reference counting is switched off (`_nrt`): its atomic increments
# inside the loops made learning four times slower, and without it an allocation in a kernel fails to compile.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}


_KERNELS: list = []
_ACTIONS: list = []


def kernel(function):
    """Compile when it is first called, without the GIL, with C's rules for division."""
    dispatcher = njit(**OPTIONS)(function)
    _KERNELS.append(dispatcher)
    for action in _ACTIONS:
        action(dispatcher)
    return dispatcher


def for_each_kernel(action):
    """Call `action` with every kernel, those that are defined later included.

    So the layer above can give kernels a cache, which takes more of Numba than is used here.
    """
    _ACTIONS.append(action)
    for dispatcher in _KERNELS:
        action(dispatcher)


def inlined(function):
    """A piece of a kernel, pasted into its callers by LLVM: passing arrays to a call costs more than its
    work."""
    return njit(**OPTIONS, forceinline=True)(function)


def fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32:
    """a * b + c with one rounding where it is compiled, by the same instruction on every machine.

    Plain Python has no such operation for float32: here the sum is rounded to float64 first, which all but
    never matters.
    """
    return np.float32(np.float64(a) * np.float64(b) + np.float64(c))


@intrinsic
def _fma_instruction(_context, a, b, c):
    def generate(_target, builder, _signature, arguments):
        return builder.fma(*arguments)

    return types.float32(types.float32, types.float32, types.float32), generate


@overload(fma, jit_options={"forceinline": True})
def _compiled_fma(a, b, c):
    return lambda a, b, c: _fma_instruction(a, b, c)
