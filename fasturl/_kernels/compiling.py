"""How every kernel is compiled: one decorator, so that the options are written once. Its types are in
`compiling.pyi`."""

import numpy as np
from numba import config, njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.extending import intrinsic, overload


class _GivenFolder(CompileResultCacheImpl):
    """In `numba.config.CACHE_DIR` or nowhere: Numba would go on to a folder beside the sources, which may
    hold stale kernels."""

    _locator_classes = (UserProvidedCacheLocator,)


class _ForgivingCache(FunctionCache):
    """Numba's cache, except that what is wrong with its folder costs speed and never the run.

    The folder may be unusable from the start. A file may be damaged, gone, or unwritable, and unpickling a
    damaged one can raise nearly anything. Two processes that compile different signatures of one kernel at
    once may also give their files the same name: what is loaded must have the signature that was asked for.
    """

    _impl_class = _GivenFolder

    def __init__(self, py_func):
        try:
            super().__init__(py_func)
        except (OSError, RuntimeError):
            self._cache_path = None
            self.disable()

    def load_overload(self, sig, target_context):
        try:
            loaded = super().load_overload(sig, target_context)
        except Exception:
            self.flush()
            return None
        return loaded if loaded is not None and tuple(loaded.signature.args) == tuple(sig) else None

    def save_overload(self, sig, data):
        try:
            super().save_overload(sig, data)
        except Exception:
            self.disable()

    def flush(self):
        try:
            super().flush()
        except Exception:
            self.disable()


# Kernels allocate nothing, so Numba's reference counting is switched off (`_nrt`): its atomic increments
# inside the loops made learning four times slower, and without it an allocation in a kernel fails to compile.
_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}


def kernel(function):
    """Compile lazily, without the GIL, with C's rules for division.

    Machine code is kept on disk where `numba.config.CACHE_DIR` names a folder while the kernels are imported
    (`fasturl.compile_cache` sees to that), and in memory only where it names none or one that cannot be used.
    """
    dispatcher = njit(**_OPTIONS)(function)
    if config.CACHE_DIR and not config.DISABLE_JIT:
        dispatcher._cache = _ForgivingCache(function)
    return dispatcher


def inlined(function):
    """A piece of a kernel, pasted into its callers by LLVM: passing arrays to a call costs more than its
    work."""
    return njit(**_OPTIONS, forceinline=True)(function)


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
