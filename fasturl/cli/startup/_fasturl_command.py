"""Ctrl-C before the command line is there to answer it.

An import of the command line takes most of a second, and an interrupt during it would print where in Numba it
came. So the package installs this file beside itself, and a `.pth` file that imports it as an interpreter
starts, where the interpreter runs the command `fasturl`. Other programs are left alone.
"""

from __future__ import annotations

import os
import signal
import sys


def runs_the_command(words: list[str]) -> bool:
    """Whether an interpreter with these words on its command line runs `fasturl` or `python -m fasturl`."""
    options = iter(words[1:])
    for word in options:
        if word == "-m":
            return next(options, "") == "fasturl"
        if word in ("-W", "-X"):
            next(options, "")
        elif word == "-c" or not word.startswith("-"):
            return os.path.basename(word) in ("fasturl", "fasturl.exe", "fasturl-script.py")
    return False


def end(_number: int, _frame: object) -> None:
    """End at once: nothing is open yet that would have to be closed."""
    os.write(2, b"fasturl: interrupted\n")
    os._exit(130)


# where interrupts are ignored, as in the background of a shell script, they stay so
if runs_the_command(sys.orig_argv) and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
    signal.signal(signal.SIGINT, end)
