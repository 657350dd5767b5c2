"""How much memory this process may use, and the refusal of what needs more.

A process that asks for more than there is works for minutes before the system ends it, without a word. The
limit is the least of what the machine has, of what its control groups allow (containers, batch systems) and
of what the limits of the process (`ulimit -v`, `ulimit -d`) leave: these count libraries too, which take a
gigabyte of addresses before anything is done.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

import numpy as np

MUCH = 2**30
"""Bytes from which on a user is told beforehand what something takes."""
_KEPT_BYTES = 2**23
"""More than any array of a block of episodes takes."""
_CGROUPS = Path("/sys/fs/cgroup")
_MEMBERSHIP = Path("/proc/self/cgroup")
_PAGES_IN_USE = Path("/proc/self/statm")
_ALL_PAGES, _DATA_PAGES = 0, 5  # where that file has them


def keep_freed_memory() -> None:
    """Let the C library hand out again what is freed, instead of fresh pages, which the system fills with
    zeros.

    glibc asks the system for every large block, and gives it back, until one of that size has been freed.
    From then on blocks up to that size come from its own store, and no more than twice as much lies idle.
    """
    with suppress(MemoryError):  # where there is none for this, there is none to save time with
        np.empty(_KEPT_BYTES, np.uint8)


def memory_limit() -> float:
    """Bytes that this process may use; infinite where the system does not tell."""
    return min(_limits(), default=math.inf)


def in_words(size: float) -> str:
    """A number of bytes for a person."""
    for unit, letters in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if size >= unit:
            return f"{size / unit:.3g} {letters}"
    return f"{max(size, 1e3) / 1e3:.3g} kB"


def refuse_beyond_limit(name: str, value: object, what: str, size: float) -> None:
    """ValueError where `what` takes more bytes than there are; `name` is the setting to change, and `value`
    what it is."""
    limit = memory_limit()
    if size > limit:
        raise ValueError(
            f"{name} must be smaller: {what} would take about {in_words(size)} of memory, "
            f"and this process may use {in_words(limit)}, got {value}"
        )


def _limits() -> Iterator[float]:
    if hasattr(os, "sysconf") and {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= os.sysconf_names.keys():
        yield os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    yield from _limits_of_process()
    yield _least_limit_of_groups()


def _limits_of_process() -> Iterator[float]:
    try:
        import resource
    except ImportError:  # Windows has none
        return
    for kind, place in ((resource.RLIMIT_AS, _ALL_PAGES), (resource.RLIMIT_DATA, _DATA_PAGES)):
        soft, _ = resource.getrlimit(kind)
        if soft != resource.RLIM_INFINITY:
            yield max(0, soft - _bytes_in_use(place))


def _bytes_in_use(place: int) -> int:
    """What this process has of memory already; 0 where the system does not tell."""
    try:
        pages = _PAGES_IN_USE.read_text().split()
    except OSError:
        return 0
    return int(pages[place]) * os.sysconf("SC_PAGE_SIZE")


@cache
def _least_limit_of_groups() -> float:
    """What the control groups of this process allow, looked up once: that takes longer than a short run."""
    return min(_limits_of_groups(), default=math.inf)


def _limits_of_groups() -> Iterator[float]:
    """Those of the control groups that this process is in, and of the groups around them."""
    try:
        lines = _MEMBERSHIP.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, kinds, path = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        folder, name = (_CGROUPS / "memory", "memory.limit_in_bytes") if kinds else (_CGROUPS, "memory.max")
        group = folder / path.lstrip("/")
        for place in (group, *group.parents):
            yield from _limit_in(place / name)
            if place == folder:
                break


def _limit_in(file: Path) -> Iterator[float]:
    try:
        text = file.read_text().strip()
    except OSError:  # a container may see its own group alone, as the root
        return
    if text.isdigit():
        yield int(text)
