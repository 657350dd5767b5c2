"""Where commands write: the console, figures, files, standard output."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

from rich.console import Console

from .._base import optional
from .._base.whole_files import whole_files as whole_files
from .._base.whole_files import write_draft as write_draft

FIGURE_SUFFIXES = (".png", ".pdf", ".svg")
_STANDARD_OUTPUT = 1


def wide_console() -> Console:
    """Standard output; tables are not wrapped where it is not a terminal."""
    return Console() if sys.stdout.isatty() else Console(width=200)


def check_standard_output() -> None:
    """Says before the work that nothing can be printed after it: Python has no standard output where it was
    closed at the start."""
    if sys.stdout is None:
        raise ValueError("cannot write standard output: it is closed")


class OutputError(Exception):
    """Standard output cannot be written; its text is the whole message."""


@contextmanager
def output_errors() -> Iterator[None]:
    """Raise OutputError where standard output cannot be written inside, as on a full disk: the error of the
    system does not say which file it is of. That nobody reads it any more stays a BrokenPipeError."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write standard output: {error.strerror}") from None


class _StandardOutput:
    """Standard output whose errors say what it is."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with output_errors():
            return self._stream.write(text)

    def flush(self) -> None:
        with output_errors():
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def told_output_errors() -> Iterator[None]:
    """Have whatever is printed inside raise OutputError where it cannot be written."""
    with redirect_stdout(cast(TextIO, _StandardOutput(sys.stdout))):
        yield


def discard_output() -> None:
    """Drop what is left to be printed, which Python would try to write, and complain of, at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def check_figure(target: Path) -> None:
    """Says before the work what would keep a figure from being drawn after it: the name of its file, or a
    missing matplotlib."""
    if target.name.lower() in FIGURE_SUFFIXES:
        raise ValueError(
            f"cannot write {target}: a name is needed before {target.name}, as in curve{target.name}"
        )
    if target.suffix.lower() not in FIGURE_SUFFIXES:
        raise ValueError(f"cannot write {target}: write .png, .pdf or .svg")
    optional.need("matplotlib", "experiments", "a figure")


def is_standard_output(name: str | None) -> bool:
    """Whether a file is standard output, by the name - or by another such as /dev/stdout."""
    try:
        return name == "-" or (
            name is not None and os.path.samestat(os.stat(name), os.fstat(_STANDARD_OUTPUT))
        )
    except OSError:
        return False
