"""`fasturl capi`: what a build of a C program needs."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ..capi import HEADER
from .options import Command


def register(app: typer.Typer) -> None:
    app.command(cls=Command)(capi)


def capi(
    header: Annotated[bool, typer.Option("--header", help="Print the path of fasturl.h.")] = False,
    cflags: Annotated[bool, typer.Option("--cflags", help="Print what the compiler needs.")] = False,
    libs: Annotated[
        bool,
        typer.Option(
            "--libs",
            help="Print what the linker needs; builds libfasturl first where there is none that is whole.",
        ),
    ] = False,
    build: Annotated[
        Path | None, typer.Option("--build", metavar="DIR", help="Build libfasturl in this folder.")
    ] = None,
) -> None:
    """Show how to build C programs against fasturl: cc program.c $(fasturl capi --cflags --libs)."""
    if not (header or cflags or libs or build):
        raise ValueError("choose at least one of --header, --cflags, --libs or --build DIR")
    if header:
        print(HEADER)
    if not (cflags or libs or build):
        return
    from ..capi import embed

    flags = embed.cflags() if cflags else []
    if build or libs:
        library = embed.build(build) if build else embed.kept_library()
        if libs:
            flags += embed.libs(library.parent)
        else:
            print(library)
    if flags:
        print(shlex.join(flags))
