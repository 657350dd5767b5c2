"""How every kernel is compiled: one decorator, so that the options are written once. Its types are in
`compiling.pyi`."""

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload

# Kernels allocate nothing, so Numba's reference counting is switched off (`_nrt`): its atomic increments
# inside the loops made learning four times slower, and without it an allocation in a kernel fails to compile.
# None is called through a pointer of C's either: an entry for that would only take time to compile.
OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False, "no_cfunc_wrapper": True}


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
    """a * b + c with one rounding where it is compiled, by the same instruction on every machine; of several
    numbers at a time too (see `registers`).

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
    if all(isinstance(kind, types.Number) for kind in (a, b, c)):
        return lambda a, b, c: _fma_instruction(a, b, c)
    return None


def add_product(total: float, a: float, b: float) -> float:
    """total + a b, by `fma` where they are float32, so that a sum of products takes one instruction less."""
    return fma(a, b, total) if isinstance(a, np.float32) else total + a * b


@overload(add_product, jit_options={"forceinline": True})
def _compiled_add_product(total, a, b):
    if a == types.float32:
        return lambda total, a, b: _fma_instruction(a, b, total)
    return lambda total, a, b: total + a * b


def count_ones(word: np.uint64) -> np.uint64:
    """How many bits of a word are set, by one instruction where it is compiled."""
    return np.uint64(int(word).bit_count())


@intrinsic
def _count_instruction(_context, word):
    def generate(_target, builder, _signature, arguments):
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@overload(count_ones, jit_options={"forceinline": True})
def _compiled_count(word):
    return lambda word: _count_instruction(word)


LANES = 8
"""Sums side by side in `four_dots`."""


def four_dots(
    left: np.ndarray, a: int, right: np.ndarray, b: int
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """left[a] . right[b], ..., left[a] . right[b + 3], for float32 tables of whole rows of a multiple of 8
    entries.

    Each is summed in eight lanes, entry i in lane i modulo 8, and the lanes are added by halves: an order
    that is the same on every machine. The layer above makes vector instructions of it, which takes more of
    Numba than is used here. Numba may not reorder a plain sum to that end, and what it makes of eight sums
    beside each other is five times slower.
    """
    lanes = np.zeros((4, LANES), np.float32)
    for i in range(0, left.shape[1], LANES):
        factors = left[a, i : i + LANES].astype(np.float64)
        products = factors * right[b : b + 4, i : i + LANES].astype(np.float64)
        lanes = (products + lanes).astype(np.float32)
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[0, 0], lanes[1, 0], lanes[2, 0], lanes[3, 0]
