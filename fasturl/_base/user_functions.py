"""Compiled functions of a user, made anew with our options.

A user writes plain `@njit` functions. To run inside our loops as fast as our own they must be inlined there,
without the GIL and without reference counts, and their indices must be checked, since nothing else stands
between a mistake and memory that is not theirs. So a function is compiled again with our options, and with it
every `@njit` function that it names and calls.

`fingerprint` tells two versions of such functions apart, whatever files they come from: machine code that is
kept on disk is found by it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import Enum
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

_KNOWN_TO_THE_COMPILER = {"numpy", "math", "cmath", "operator", "numba", "builtins"}


def compiled_again(functions: Iterable[Any], options: dict[str, Any]) -> list[Any]:
    """The functions, and all that they call by name, compiled with other options when they are first called.

    Without compilation (NUMBA_DISABLE_JIT) they are the functions themselves.
    """
    copies: dict[FunctionType, Any] = {}
    return [_copy(function, options, copies) for function in functions]


def _copy(function: Any, options: dict[str, Any], copies: dict[FunctionType, Any]) -> Any:
    if numba.config.DISABLE_JIT:
        return function
    original = python_function(function)
    if original in copies:
        return copies[original]
    scope = dict(original.__globals__)
    cells = tuple(CellType(cell.cell_contents) for cell in original.__closure__ or ())
    twin = FunctionType(original.__code__, scope, original.__name__, original.__defaults__, cells or None)
    twin.__qualname__, twin.__module__ = original.__qualname__, original.__module__
    # known before its callees are looked at: it may call itself
    copies[original] = numba.njit(**options)(twin)
    names = _attribute_names(original)
    for name, value in _named(original):
        copy = _copy_of_value(value, names, options, copies)
        if copy is value:
            continue
        if name in original.__code__.co_freevars:
            cells[original.__code__.co_freevars.index(name)].cell_contents = copy
        else:
            scope[name] = copy
    return copies[original]


def _copy_of_value(
    value: Any, names: set[str], options: dict[str, Any], copies: dict[FunctionType, Any]
) -> Any:
    """A compiled function compiled again; a module with such functions in their place, where some of the
    names are theirs; anything else as it is."""
    if is_jitted(value):
        return _copy(value, options, copies)
    if not isinstance(value, ModuleType):
        return value
    twin = ModuleType(value.__name__)
    twin.__dict__.update(vars(value))
    for name, member in _members(value, names):
        setattr(twin, name, _copy_of_value(member, names, options, copies))
    return twin if any(vars(twin)[name] is not member for name, member in vars(value).items()) else value


def python_function(function: Any) -> FunctionType:
    """The function that was compiled, or the function itself."""
    original: FunctionType = getattr(function, "py_func", function)
    return original


def fingerprint(functions: Iterable[Any]) -> str:
    """A digest of the code of the functions, of those that they call, and of the constants that they name."""
    total = hashlib.sha256()
    known: set[FunctionType] = set()
    for function in functions:
        _add(python_function(function), total, known)
    return total.hexdigest()[:16]


def _add(function: FunctionType, total: Any, known: set[FunctionType]) -> None:
    if function in known:
        return
    known.add(function)
    total.update(function.__qualname__.encode())
    for code in codes(function.__code__):
        plain = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
        total.update(code.co_code + repr((code.co_names, code.co_varnames, plain)).encode())
    _add_value(function.__defaults__, set(), total, known)
    names = _attribute_names(function)
    for name, value in _named(function):
        total.update(name.encode())
        _add_value(value, names, total, known)


def _add_value(value: Any, names: set[str], total: Any, known: set[FunctionType]) -> None:
    """What machine code may have been made of: functions by their code, data by its content. Where only an
    address tells a thing apart, its text is another in each process and nothing is found, which is safe."""
    if is_jitted(value) or isinstance(value, FunctionType):
        _add(python_function(value), total, known)
    elif isinstance(value, np.ndarray):
        total.update(repr((value.dtype, value.shape)).encode() + value.tobytes())
    elif isinstance(value, tuple):
        for part in (type(value).__qualname__, getattr(value, "_fields", ()), len(value)):
            total.update(repr(part).encode())
        for part in value:
            _add_value(part, names, total, known)
    elif isinstance(value, ModuleType):
        for name, member in _members(value, names):
            total.update(name.encode())
            _add_value(member, names, total, known)
    elif isinstance(value, type):
        total.update(f"{value.__module__}.{value.__qualname__}{getattr(value, '_fields', ())}".encode())
        if issubclass(value, Enum):
            total.update(repr([(member.name, member.value) for member in value]).encode())
    else:
        total.update(repr(value).encode())


def _members(module: ModuleType, names: set[str]) -> Iterator[tuple[str, Any]]:
    """What a module has under some of the names: functions, constants, and modules of its own package. The
    compiler knows some libraries itself, and their functions are as they are."""
    if module.__name__.partition(".")[0] in _KNOWN_TO_THE_COMPILER:
        return
    for name in sorted(names & vars(module).keys()):
        member = vars(module)[name]
        if not isinstance(member, ModuleType) or member.__name__.startswith(f"{module.__name__}."):
            yield name, member


def _attribute_names(function: FunctionType) -> set[str]:
    return {name for code in codes(function.__code__) for name in code.co_names}


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code object and those inside it: comprehensions and inner functions."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes(constant)


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Global and enclosing names of a function that have a value now, each once, in a fixed order."""
    for name in sorted(_attribute_names(function) & function.__globals__.keys()):
        yield name, function.__globals__[name]
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        yield name, cell.cell_contents
