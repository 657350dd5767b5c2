"""Checks of single arguments: each returns the clean value or raises an error that names what was wrong."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable


def integer(name: str, value: object, *, least: int, most: int | None = None) -> int:
    allowed = f"an integer >= {least}" if most is None else f"an integer from {least} to {most}"
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)  # type: ignore[arg-type]  # anything else raises TypeError, which is the check
    except TypeError:
        raise ValueError(f"{name} must be {allowed}, got {value!r}") from None
    if number < least or (most is not None and number > most):
        raise ValueError(f"{name} must be {allowed}, got {number}")
    return number


def real(
    name: str, value: object, *, least: float = -math.inf, most: float = math.inf, open_left: bool = False, open_right: bool = False
) -> float:
    left, right = "(" if open_left or least == -math.inf else "[", ")" if open_right or most == math.inf else "]"
    allowed = f"a number in {left}{least:g}, {most:g}{right}"
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)  # type: ignore[arg-type]  # anything else raises TypeError, which is the check
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {allowed}, got {value!r}") from None
    inside = (least < number if open_left else least <= number) and (number < most if open_right else number <= most)
    if not (math.isfinite(number) and inside):
        raise ValueError(f"{name} must be {allowed}, got {number!r}")
    return number


def choice(name: str, value: object, allowed: Iterable[str]) -> str:
    options = list(allowed)
    if value not in options:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {value!r}")
    return str(value)


MOST_SEEDS = 10**7


def seeds(value: int | Iterable[int]) -> list[int]:
    """A count n means the seeds 0..n-1; otherwise distinct non-negative integers."""
    if not isinstance(value, Iterable) or isinstance(value, str) or getattr(value, "ndim", 1) == 0:
        value = range(integer("seeds", value, least=1))
    if isinstance(value, range) and value.stop - value.start > MOST_SEEDS:  # told before they are counted one by one
        raise ValueError(f"seeds must be at most {MOST_SEEDS:,} in number, got {value.start}:{value.stop}")
    chosen = [integer("seeds", seed, least=0) for seed in value]
    if not chosen:
        raise ValueError("seeds must name at least one seed, got none")
    if len(set(chosen)) < len(chosen):
        twice = next(seed for seed in chosen if chosen.count(seed) > 1)
        raise ValueError(f"seeds must be distinct, got {twice} more than once")
    return chosen


def parse_seeds(text: str) -> int | range:
    """Seeds as a command line writes them: a count such as 50 or a range such as 1000:1050."""
    try:
        first, colon, end = text.partition(":")
        if not colon:
            return int(text)
        chosen = range(int(first), int(end))
    except ValueError:
        raise ValueError(f"seeds must be a count such as 50 or a range such as 1000:1050, got {text!r}") from None
    seeds(chosen)
    return chosen
