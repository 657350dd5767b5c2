"""A word beforehand to whoever waits: how much memory or time something is about to take."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Sequence
from typing import TypeVar

from . import memory

LONG_SECONDS = 5.0
"""What takes longer than this is announced."""
_FIRST_LOOK = 256
"""Items after which the time of all of them is judged."""

Item = TypeVar("Item")


def announced(items: Sequence[Item], what: str) -> Iterator[Item]:
    """The items one by one; where all of them are going to take long, a warning says after the first ones how
    long."""
    begin = time.perf_counter()
    for number, item in enumerate(items):
        if number == _FIRST_LOOK:
            seconds = (time.perf_counter() - begin) / _FIRST_LOOK * len(items)
            if seconds > LONG_SECONDS:
                warnings.warn(
                    f"{what} of {len(items):,} environments takes about {seconds:.0f} seconds", stacklevel=3
                )
        yield item


def announce_memory(what: str, size: float) -> None:
    """A warning where something takes much of the memory."""
    if size > memory.MUCH:
        warnings.warn(f"{what} takes about {memory.in_words(size)} of memory", stacklevel=3)
