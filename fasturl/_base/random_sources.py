"""Random numbers that a user's compiled functions would draw beside the streams of a run.

The generators of NumPy and of Python belong to a thread of the process, so what is drawn from them is another
number whenever a run is repeated. The compiler knows them, and says nothing.
"""

from __future__ import annotations

import dis
import random
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.extending import is_jitted

from .user_functions import codes, python_function

_MODULES = ("numpy.random", "random")


def random_source(function: Any) -> str:
    """The module that a function, or a compiled one that it calls, draws from by itself; empty where there is
    none."""
    return next(_sources(python_function(function), set()), "")


def _sources(function: FunctionType, known: set[FunctionType]) -> Iterator[str]:
    if function in known:
        return
    known.add(function)
    for value in _values_read(function):
        if source := _source_of(value):
            yield source
        elif _is_compiled(value):
            yield from _sources(python_function(value), known)


def _values_read(function: FunctionType) -> Iterator[Any]:
    """What a function reads by name: globals, enclosing variables, and members of modules among them."""
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    enclosing = {name: cell.cell_contents for name, cell in cells}
    for code in codes(function.__code__):
        value: Any = None
        for instruction in dis.get_instructions(code):
            operation, name = instruction.opname, instruction.argval
            if operation == "EXTENDED_ARG":
                continue
            if operation == "LOAD_GLOBAL":
                value = function.__globals__.get(name)
            elif operation == "LOAD_DEREF":
                value = enclosing.get(name)
            elif operation in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(value, ModuleType):
                value = getattr(value, name, None)
            else:
                value = None
            yield value


def _source_of(value: Any) -> str:
    """The module that a value draws from; empty for one that draws nothing."""
    if isinstance(value, ModuleType):
        return value.__name__ if value.__name__ in _MODULES else ""
    owner = getattr(value, "__self__", None)  # of `from random import random`
    if isinstance(owner, np.random.RandomState):
        return "numpy.random"
    return "random" if isinstance(owner, random.Random) else ""


def _is_compiled(value: Any) -> bool:
    """Whether the compiler would read the function, or would if it were not off."""
    if numba.config.DISABLE_JIT:
        return isinstance(value, FunctionType) and not str(value.__module__).startswith("numpy")
    return bool(is_jitted(value))
