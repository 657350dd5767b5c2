"""What the functions of a compiled learner are handed, and what they must return.

The compiler infers all types inside the loops, so where a function returns something else than a loop can
take, what it says is about the loop. Here each function is compiled by itself, which tells whose fault it is.
That takes a while, and is done only after loops could not be compiled.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numba
from numba import NumbaError, types

from .._base import user_functions

ARGUMENTS = {
    "choose": "tables, level, label, rng",
    "take_step": "tables, level, label, action, reward, next_level, next_label",
    "fill_policy": "tables, chances",
    "begin_episode": "tables, rng",
    "end_episode": "tables, rng",
    "start_at_zero": "tables, level, label",
    "look": "tables, level, label, rng",
    "take_value": "tables, level, label, action, reward, value",
}
"""What the loops hand over to each function, in this order."""

_TYPES = {
    "rng": types.uint64[::1],
    "reward": types.float64,
    "value": types.float64,
    "chances": types.float64[:, :, ::1],
}
"""The types of the arguments that are no indices."""
_IN_WORDS = {types.none: "None", types.unicode_type: "a text", types.pyobject: "an object"}


def what_is_wrong(owner: str, functions: Mapping[str, Any], tables: Any, options: dict[str, Any]) -> str:
    """The first function, in the order of `ARGUMENTS`, that cannot be compiled or returns what no loop can
    take, and what it must return; empty where each is right by itself.

    functions
        The functions that the loops call, by name.
    tables
        What they are handed as tables.
    options
        The compiler's options.
    """
    for name in ARGUMENTS:
        if name not in functions:
            continue
        try:
            result = _result_type(name, functions[name], tables, options)
        except NumbaError as error:
            return f"{name} of {owner} cannot be compiled: {compiler_reason(error)}"
        if name == "choose" and not _is_action(result):
            return f"choose of {owner} must return an action, an integer, got {_in_words(result)}"
        if name == "look" and not _is_action_and_value(result):
            return (
                f"look of {owner} must return an action and a value, an integer and a float, "
                f"got {_in_words(result)}"
            )
    return ""


def _result_type(name: str, function: Any, tables: Any, options: dict[str, Any]) -> Any:
    """The type that a function returns to a loop."""
    own = _TYPES | {"tables": numba.typeof(tables)}
    arguments = tuple(own.get(argument, types.int64) for argument in ARGUMENTS[name].split(", "))
    (compiled,) = user_functions.compiled_again([function], options)
    compiled.compile(arguments)
    return types.unliteral(compiled.nopython_signatures[-1].return_type)


def _is_action(result: Any) -> bool:
    return isinstance(result, types.Integer | types.Boolean)


def _is_action_and_value(result: Any) -> bool:
    if not (isinstance(result, types.BaseTuple) and len(result) == 2):
        return False
    action, value = (types.unliteral(part) for part in result)
    return _is_action(action) and isinstance(value, types.Float | types.Integer | types.Boolean)


def _in_words(result: Any) -> str:
    """A type as the author of a function would write it."""
    if isinstance(result, types.BaseTuple):
        parts = [_in_words(types.unliteral(part)) for part in result]
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    if isinstance(result, types.Optional):
        return f"{_in_words(result.type)} or None"
    if isinstance(result, types.Array):
        return f"an array of {result.dtype}"
    return _IN_WORDS.get(result, str(result))


def compiler_reason(error: NumbaError) -> str:
    """What the compiler says, on one line: its first lines tell where it was, the last ones what was
    wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = [
        line for line in lines if not line.startswith(("Failed in nopython", "During:", "^", "<source"))
    ]
    return " ".join(telling[:3])[:300]
