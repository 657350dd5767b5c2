"""The C face: the kernels for C programs, through the stable interface that `fasturl.h` declares.

from fasturl.capi import ffi, lib

rng = ffi.new("uint64_t[4]")
lib.fasturl_seed_stream(7, ffi.new("uint32_t[1]", [lib.FASTURL_STREAM_INSTANCE]), 1, rng, 4)

`table()` is a struct of function pointers to hand to C. Nothing is compiled before it is asked for.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

HEADER = Path(__file__).with_name("fasturl.h")

__all__ = ["HEADER", "ffi", "lib", "table"]

if TYPE_CHECKING:
    from .binding import ffi as ffi
    from .binding import lib as lib
    from .binding import table as table


def __getattr__(name: str) -> Any:
    if name not in ("ffi", "lib", "table"):
        raise AttributeError(f"module 'fasturl.capi' has no attribute {name!r}")
    from . import binding

    return getattr(binding, name)
