"""Functions written in C that are called inside compiled loops: where their address comes from, and how they
get to another process.

A function comes as a cffi function pointer, a ctypes function or a Numba `cfunc`, and must have the signature
that fasturl.h gives. The object that it came as is kept alive with it. It is pickled as the path of its
library and the name of its symbol, so for worker processes it must be exported by a shared library, and its
context must be a NumPy array, which is pickled by value.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._kernels.records import CFunctionCall
from . import checks, numba_internals, plugin_loops
from .c_signatures import SIGNATURES

_CTYPES_FUNCTION: Any = ctypes.CFUNCTYPE(None).__mro__[1]  # what every function of ctypes is


class CFunction:
    """A C function, kept alive."""

    def __init__(self, pointer: Any, signature: str) -> None:
        self.signature = signature
        self._pointer = pointer
        self.address, codes = _address_and_codes(pointer)
        if self.address == 0:
            raise ValueError("pointer must point to a function, got a null pointer")
        if codes is not None and codes != SIGNATURES[signature].codes:
            raise ValueError(
                f"pointer must have the signature of {signature} in fasturl.h, "
                f"got {checks.short_repr(pointer)}"
            )
        self.library, self.symbol = _library_and_symbol(self.address)

    @classmethod
    def load(cls, library: str, symbol: str, signature: str) -> Self:
        """The function of a shared library."""
        return cls(getattr(ctypes.CDLL(library), symbol), signature)

    @property
    def name(self) -> str:
        return self.symbol or getattr(self._pointer, "__name__", None) or f"the function at {self.address:#x}"

    def __reduce__(self) -> Any:
        if not self.library or not self.symbol:
            raise TypeError(
                f"{self.name} cannot be sent to another process: no shared library exports it, so there is "
                "no path and symbol to load it by"
            )
        return CFunction.load, (self.library, self.symbol, self.signature)

    def __deepcopy__(self, memo: Any) -> CFunction:
        return self


class Context:
    """What a C function gets as its `context`, kept alive and never copied inside a process."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.address = self._address()

    def _address(self) -> int:
        value = self.value
        if value is None:
            return 0
        if isinstance(value, np.ndarray):
            if not value.flags.c_contiguous:
                raise ValueError("context must be a contiguous array, got one with gaps")
            return int(value.ctypes.data)
        if _is_cffi(value):
            import cffi

            return int(cffi.FFI().cast("intptr_t", value))
        if isinstance(value, ctypes.c_void_p):
            return value.value or 0
        if isinstance(value, ctypes._Pointer):
            return ctypes.cast(value, ctypes.c_void_p).value or 0
        if isinstance(value, ctypes.Structure | ctypes.Array):
            return ctypes.addressof(value)
        raise ValueError(
            "context must be None, a NumPy array, or a pointer of cffi or ctypes, "
            f"got {checks.short_repr(value)}"
        )

    def __reduce__(self) -> Any:
        if self.value is not None and not isinstance(self.value, np.ndarray):
            raise TypeError(
                f"a context that is {checks.short_repr(self.value)} cannot be sent to another process: "
                "give a NumPy array"
            )
        return Context, (self.value,)

    def __deepcopy__(self, memo: Any) -> Context:
        return self


def call_of(function: CFunction, context: Context) -> CFunctionCall:
    """What the loops of `plugin_loops` take: the addresses of a function and of its context."""
    return CFunctionCall(np.uint64(function.address), np.uint64(context.address))


def explain(problem: NDArray[np.int64], function: CFunction, expected: str) -> None:
    """Raise an error where a loop has found one."""
    kind, level, value = problem.tolist()
    if kind == plugin_loops.FAILED:
        raise ValueError(f"{function.name} failed at level {level}: it returned {value}")
    if kind != 0:
        raise ValueError(f"{function.name} must give {expected}, got {value} at level {level}")


def _is_cffi(value: Any) -> bool:
    backend = sys.modules.get("_cffi_backend")
    return backend is not None and isinstance(value, backend._CDataBase)


def _address_and_codes(pointer: Any) -> tuple[int, tuple[str, str] | None]:
    """The address, and the codes of the signature as `c_signatures` writes them, None where the pointer does
    not tell."""
    signature = numba_internals.callback_signature(pointer)
    if signature is not None:
        result, arguments = signature
        return int(pointer.address), (_numba_code(result), "".join(map(_numba_code, arguments)))
    if isinstance(pointer, _CTYPES_FUNCTION):
        address = ctypes.cast(pointer, ctypes.c_void_p).value or 0
        if not pointer.argtypes:
            return address, None
        return address, (_ctypes_code(pointer.restype), "".join(map(_ctypes_code, pointer.argtypes)))
    if _is_cffi(pointer):
        import cffi

        kind = cffi.FFI().typeof(pointer)
        address = int(cffi.FFI().cast("intptr_t", pointer))
        if kind.kind == "function":
            return address, (_cffi_code(kind.result), "".join(map(_cffi_code, kind.args)))
        if kind.kind == "pointer" and kind.item.kind == "void":
            return address, None
    raise ValueError(
        "pointer must be a cffi function pointer (of a compiled module: ffi.addressof(lib, 'name')), a "
        f"ctypes function or a Numba cfunc, got {checks.short_repr(pointer)}"
    )


def _cffi_code(kind: Any) -> str:
    import cffi

    if kind.kind == "pointer":
        return "p"
    whole = kind.kind == "primitive" and kind.cname not in ("float", "double", "long double")
    return f"{'i' if whole else kind.cname}{cffi.FFI().sizeof(kind) if kind.kind == 'primitive' else ''}"


def _ctypes_code(kind: Any) -> str:
    if kind is None or getattr(kind, "_type_", "P") in ("P", "z") or issubclass(kind, ctypes._Pointer):
        return "p"
    return f"{'i' if kind._type_ in 'bBhHiIlLqQ' else kind._type_}{ctypes.sizeof(kind)}"


def _numba_code(kind: Any) -> str:
    from numba import types

    if isinstance(kind, types.CPointer) or kind == types.voidptr:
        return "p"
    return f"i{kind.bitwidth // 8}" if isinstance(kind, types.Integer) else str(kind)


class _Symbol(ctypes.Structure):
    """Dl_info of dlfcn.h."""

    _fields_ = (
        ("file", ctypes.c_char_p),
        ("base", ctypes.c_void_p),
        ("name", ctypes.c_char_p),
        ("address", ctypes.c_void_p),
    )


def _library_and_symbol(address: int) -> tuple[str | None, str | None]:
    """The shared library that exports a function, and its name in it, where there is one."""
    if sys.platform == "win32":
        return None, None
    symbol = _Symbol()
    if (
        not ctypes.CDLL(None).dladdr(ctypes.c_void_p(address), ctypes.byref(symbol))
        or symbol.address != address
    ):
        return None, None
    return os.path.abspath(os.fsdecode(symbol.file)), os.fsdecode(symbol.name)
