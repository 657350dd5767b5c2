"""`fasturl info`: this machine."""

from __future__ import annotations

import platform
from importlib import metadata

import numba
import typer
from rich.console import Console
from rich.table import Table

from .. import CACHE_FOLDER
from .._base import compile_cache
from .._base.workers import available_cores
from .._version import __version__
from .options import Command


def register(app: typer.Typer) -> None:
    app.command(cls=Command)(info)


def info() -> None:
    """Show versions, cores and the cache of compiled kernels."""
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_row("fasturl", __version__)
    table.add_row("python", platform.python_version())
    for package in ("numba", "numpy", "scikit-learn", "cffi"):
        table.add_row(package, metadata.version(package))
    table.add_row("cores", str(available_cores()))
    table.add_row(
        "cache folder",
        str(CACHE_FOLDER) if CACHE_FOLDER else "none can be used: kernels are compiled in memory",
    )
    table.add_row("cache", _cache())
    Console().print(table)


def _cache() -> str:
    if numba.config.DISABLE_JIT:
        return "not used: compilation is switched off by NUMBA_DISABLE_JIT"
    n_kernels = compile_cache.kernels_in(CACHE_FOLDER)
    return (
        f"warm: {n_kernels} compiled kernels are kept"
        if n_kernels
        else "cold: the first run compiles for a while"
    )
