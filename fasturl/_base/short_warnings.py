"""Warnings as the command line shows them: one line each, in its own process and in its workers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from .standard_error import write_line


def complain(text: str) -> None:
    """Say something in one line on standard error."""
    write_line(f"fasturl: {' '.join(text.split())}")


@contextmanager
def short_warnings() -> Iterator[None]:
    """Show warnings as one line each inside."""
    with warnings.catch_warnings():
        show_warnings_short()
        yield


def show_warnings_short() -> None:
    """Show warnings as one line each from now on."""
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = _show


def hide_left_out() -> None:
    """Show no more warnings of what other packages bring and `names` leaves out: where nothing is chosen by
    name, and in workers, whose parent has shown them."""
    warnings.filterwarnings("ignore", ".* of the package .* is left out: ", UserWarning)


def warnings_are_short() -> bool:
    """Whether this process shows warnings as one line each."""
    return warnings.showwarning is _show


def _show(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """What Python calls with a warning; where it comes from in the code is of no use here."""
    complain(str(message))
