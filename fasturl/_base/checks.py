"""Checks of single arguments: each returns the clean value or raises an error that names what was wrong."""

from __future__ import annotations

import difflib
import inspect
import math
import operator
import os
import traceback
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any, SupportsIndex, TypeGuard

import numpy as np
from numpy.typing import NDArray

MOST = 10**12
"""Greater counts are beyond any machine, and are refused before they overflow something."""


def short_repr(value: object) -> str:
    """A value as an error shows it, which is short."""
    try:
        text = " ".join(repr(value).split("\n"))
    except (
        Exception
    ):  # an int of more digits than Python writes, or a class of somebody else's that is broken
        text = f"one of type {type(value).__name__}"
    return text if len(text) <= 200 else f"{text[:140]} ... {text[-40:]}"


def are_several(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether there are things to go through; a text and an array without axes are one thing."""
    return (
        isinstance(value, Iterable) and not isinstance(value, str | bytes) and getattr(value, "ndim", 1) > 0
    )


def integer(
    name: str, value: object, *, least: int | None, most: float | None = None, limit: int = MOST
) -> int:
    """At most `most`, where math.inf is no limit; if that is not given, at most `limit`, which only those are
    told of who pass it."""
    bounded = most is not None and most < math.inf
    if least is None:
        allowed = f"an integer <= {most}" if bounded else "an integer"
    else:
        allowed = f"an integer from {least} to {most}" if bounded else f"an integer >= {least}"
    try:
        if isinstance(value, bool):
            raise TypeError
        # anything else raises TypeError, which is the check
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{name} must be {allowed}, got {short_repr(value)}") from None
    if (least is not None and number < least) or (most is not None and number > most):
        raise ValueError(f"{name} must be {allowed}, got {short_repr(number)}")
    if most is None and abs(number) > limit:
        lowest = -limit if least is None else least
        raise ValueError(f"{name} must be an integer from {lowest} to {limit}, got {short_repr(number)}")
    return number


def real(
    name: str,
    value: object,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    open_left: bool = False,
    open_right: bool = False,
) -> float:
    left, right = (
        "(" if open_left or least == -math.inf else "[",
        ")" if open_right or most == math.inf else "]",
    )
    allowed = f"a number in {left}{least:g}, {most:g}{right}"
    try:
        if np.asarray(value).dtype.kind not in "iufO":  # bools, texts and complex numbers have a float too
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # anything else raises TypeError, which is the check
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be {allowed}, got {short_repr(value)}") from None
    inside = (least < number if open_left else least <= number) and (
        number < most if open_right else number <= most
    )
    if not (math.isfinite(number) and inside):
        raise ValueError(f"{name} must be {allowed}, got {number!r}")
    return number


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    options = list(allowed)
    if not (isinstance(value, str) and value in options):
        raise ValueError(
            f"{name} must be one of {', '.join(map(repr, options))}, got "
            f"{short_repr(value)}{nearest(value, options)}"
        )
    return str(value)


def instance(name: str, value: object) -> None:
    """Refuse a class where an object of it is wanted."""
    if not isinstance(value, type):
        return
    try:
        inspect.signature(value).bind()
        arguments = ""
    except (TypeError, ValueError):  # it has some that must be given, or tells nobody what it takes
        arguments = "..."
    raise ValueError(
        f"{name} must be an instance, got the class {value.__name__}: write {value.__name__}({arguments})"
    )


def nearest(word: object, known: Iterable[str]) -> str:
    """A hint for whoever wrote nearly one of the known words."""
    close = difflib.get_close_matches(word, list(known), n=1) if isinstance(word, str) else []
    return f" (did you mean {close[0]}?)" if close else ""


def ends(name: str, value: object) -> tuple[float, float]:
    """The two ends of a range of numbers."""
    numbers = list(value) if are_several(value) else []
    try:
        low, high = (real(name, end) for end in numbers)
        if low > high:
            raise ValueError
    except ValueError:
        raise ValueError(f"{name} must have two ends, the lower first, got {short_repr(value)}") from None
    return low, high


def plain(value: Any) -> Any:
    """A number, truth value or text of NumPy as Python's own, which JSON can hold; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def array(name: str, value: object) -> NDArray[Any]:
    """Any array; rows that differ in length are none."""
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} must be an array, got {short_repr(value)}") from None


def real_array(name: str, value: object) -> NDArray[Any]:
    """An array of any shape, in the type of real number that it comes in."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf":
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of real numbers, got {short_repr(value)}") from None
    return array


MOST_SINGLE = float(np.finfo(np.float32).max)
"""The greatest number that float32 can hold."""


def real_table(name: str, value: object, shape: tuple[int | None, ...]) -> NDArray[np.float64]:
    """Numbers of a shape, in which None stands for any length but 0; they may be infinite."""
    table = real_array(name, value).astype(np.float64)
    fits = len(table.shape) == len(shape) and all(
        length > 0 and wanted in (None, length) for length, wanted in zip(table.shape, shape, strict=True)
    )
    if not fits or np.isnan(table).any():
        lengths = ", ".join("1 or more" if wanted is None else str(wanted) for wanted in shape)
        got = "nan" if fits else f"shape {list(table.shape)}"
        raise ValueError(f"{name} must be numbers of shape [{lengths}], got {got}")
    return table


def single_table(
    name: str, value: object, shape: tuple[int | None, ...], *, logarithms: bool = False
) -> NDArray[np.float64]:
    """As `real_table`, of finite numbers that float32 can hold. Logarithms may be those of 0."""
    table = real_table(name, value, shape)
    largest = float(np.abs(table).max(where=(table > -np.inf) if logarithms else True, initial=0.0))
    if largest > MOST_SINGLE:
        raise ValueError(f"{name} must be at most {MOST_SINGLE:g} in size, got {largest:g}")
    return table


def probabilities(name: str, value: object, over: str) -> NDArray[np.float64]:
    """Distributions along the last axis. Those of narrow types sum to 1 as well as those can, and are made to
    exactly."""
    array = real_array(name, value)
    table = array.astype(np.float64)
    narrow = array.dtype.kind == "f" and array.dtype.itemsize < 8
    with np.errstate(over="ignore", invalid="ignore"):
        sums = table.sum(axis=-1)
        off = np.abs(sums - 1)
    if not (np.all(table >= 0) and np.all(off <= (8 * np.finfo(array.dtype).eps if narrow else 1e-9))):
        raise ValueError(
            f"{name} must be probabilities that sum to 1 over {over}, "
            f"got entries {table.min():g}..{table.max():g} with sums {sums.min():.9g}..{sums.max():.9g}"
        )
    return np.asarray(table / sums[..., None]) if narrow else table


def keep(settings: object, **clean: object) -> None:
    """Put clean values into a frozen dataclass: what a person writes as a Fraction or a float32 is computed
    with as a float."""
    for name, value in clean.items():
        object.__setattr__(settings, name, value)


def seed(name: str, value: object) -> int:
    """Where streams begin: of any size, since it counts nothing."""
    return integer(name, value, least=0, most=math.inf)


MOST_SEEDS = 10**7


def seeds(value: SupportsIndex | Iterable[SupportsIndex]) -> list[int]:
    """A count n means the seeds 0..n-1; otherwise distinct non-negative integers."""
    wanted = value if are_several(value) else range(integer("seeds", value, least=1, most=math.inf))
    if (
        isinstance(wanted, range) and wanted[MOST_SEEDS:]
    ):  # told before they are gone through; the len of a long range overflows
        one_step = wanted is value and wanted.step == 1
        got = f"{wanted.start}:{wanted.stop}" if one_step else short_repr(value)
        raise ValueError(f"seeds must be at most {MOST_SEEDS:,} in number, got {got}")
    chosen = [seed("seeds", one) for one in wanted]
    if not chosen:
        raise ValueError("seeds must name at least one seed, got none")
    most_frequent, times = Counter(chosen).most_common(1)[0]
    if times > 1:
        raise ValueError(f"seeds must be distinct, got {most_frequent} more than once")
    return chosen


def parse_seeds(text: str) -> int | range:
    """Seeds as a command line writes them: a count such as 50 or a range such as 1000:1050."""
    try:
        first, colon, end = text.partition(":")
        if not colon:
            return int(text)
        chosen = range(int(first), int(end))
    except ValueError:
        raise ValueError(
            f"seeds must be a count such as 50 or a range such as 1000:1050, got {short_repr(text)}"
        ) from None
    seeds(chosen)
    return chosen


def flag(name: str, value: object) -> bool:
    """A truth value; texts such as "no" are true to Python, and are refused."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {short_repr(value)}")
    return bool(value)


def optional_flag(name: str, value: object) -> bool | None:
    """A truth value, or None."""
    if value is not None and not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True, False or None, got {short_repr(value)}")
    return None if value is None else bool(value)


def path(name: str, value: object) -> Path:
    """The name of a file or a folder."""
    if not isinstance(value, str | os.PathLike):
        raise ValueError(f"{name} must be the name of a file or a folder, got {short_repr(value)}")
    text = os.fspath(value)
    if not isinstance(text, str) or not text or "\0" in text:
        raise ValueError(f"{name} must be the name of a file or a folder, got {short_repr(text)}")
    return Path(text)


def reason_of(error: Exception) -> str:
    """An error in one line, with its notes; one that was not meant for people tells its type and place."""
    notes = ", ".join(getattr(error, "__notes__", ()))
    if isinstance(error, ValueError | ImportError | OSError):
        return f"{error} ({notes})" if notes else str(error)
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = [f"{frame.filename}, line {frame.lineno}" for frame in place]
    return f"{type(error).__name__}: {error} ({', '.join(filter(None, [notes, *where]))})"
