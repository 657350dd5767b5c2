"""What is said beside the results: whole lines, whichever process or thread says them."""

from __future__ import annotations

import sys


def write_line(text: str) -> None:
    """Write a line on standard error at once: `print` writes where it ends by itself if nothing is buffered,
    and other processes write in between. Programs without a terminal may have no standard error."""
    if sys.stderr is not None:
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()


def is_terminal() -> bool:
    """Whether somebody watches standard error as it is written."""
    return sys.stderr is not None and sys.stderr.isatty()
