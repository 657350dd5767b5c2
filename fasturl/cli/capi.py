"""`fasturl capi`: what a build of a C program needs."""

from __future__ import annotations

import shlex
from typing import Annotated

import typer

from .._base import checks
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
        str | None, typer.Option("--build", metavar="DIR", help="Build libfasturl in this folder.")
    ] = None,
) -> None:
    """Show how to build C programs against fasturl: cc program.c $(fasturl capi --cflags --libs)."""
    folder = None if build is None else checks.path("--build", build)
    if not (header or cflags or libs or folder):
        raise ValueError("choose at least one of --header, --cflags, --libs or --build DIR")
    if header:
        print(HEADER)
    if not (cflags or libs or folder):
        return
    from ..capi import embed

    flags = embed.cflags() if cflags else []
    if folder or libs:
        library = embed.build(folder) if folder else embed.kept_library()
        if libs:
            flags += embed.libs(library.parent)
        else:
            print(library)
    if flags:
        print(shlex.join(flags))
