"""Ctrl-C: one line and exit code 130 within a second, whatever the program is doing.

An interrupt raises KeyboardInterrupt in the main thread, and the command winds down as after any error. But
Python raises it only between two of its own instructions. While LLVM compiles, while a kernel runs, and while
threads that do so are waited for at the end, the main thread comes to none. So the signal also wakes a thread
of its own, which ends the process where it is still there after a moment. Drafts of files are removed first;
worker processes end with their parent.

What is interrupted before the command line is imported is answered by `startup`.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .._base.drafts import remove_drafts
from .._base.standard_error import write_line

EXIT_CODE = 130
_PATIENCE = 0.5
"""Seconds that a command has to wind down by itself."""
_LINE = "fasturl: interrupted"
_SHOW_CURSOR = b"\x1b[?25h"
"""What a terminal is told at the end of a progress bar."""
_said = threading.Lock()
"""Taken by whoever prints the line."""


def say() -> int:
    """Print the line, the first time; returns the exit code."""
    if _said.acquire(blocking=False):
        write_line(_LINE)
    return EXIT_CODE


def end_now(*_: object) -> None:
    """End the process without winding down."""
    remove_drafts()
    with suppress(OSError):  # nobody is there to read it
        if os.isatty(2):
            os.write(2, _SHOW_CURSOR)
        # not by sys.stderr, which another thread may hold
        if _said.acquire(blocking=False):
            os.write(2, f"{_LINE}\n".encode())
    os._exit(EXIT_CODE)


@contextmanager
def answered() -> Iterator[None]:
    """Answer Ctrl-C inside, and in the same way the time limit of a cluster (SIGTERM) and a lost terminal
    (SIGHUP): they leave no draft of a file and no worker behind either."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    atexit.register(_end_without_teardown)
    before = {number: signal.getsignal(number) for number in _signals()}
    for number in before:
        signal.signal(number, _interrupt)
    hook, sys.unraisablehook = sys.unraisablehook, _unraisable
    watch = None if sys.platform == "win32" else _Watch()
    try:
        yield
    finally:
        interrupted = any(signal.getsignal(number) is end_now for number in before)
        if not interrupted:  # else the watch goes on until the process has ended
            atexit.unregister(_end_without_teardown)
            if watch is not None:
                watch.end()
            sys.unraisablehook = hook
            for number, handler in before.items():
                signal.signal(number, handler)


def _end_without_teardown() -> None:
    """End an interrupted process after what others have to do at its exit: to take LLVM and Numba apart would
    be a second's work for nothing."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed, or nobody is there to read it
            stream.flush()
    os._exit(EXIT_CODE)


def _signals() -> list[int]:
    """Those that are not ignored, as they are in the background of a shell script, or handled by others."""
    known = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    startup = getattr(sys.modules.get("_fasturl_command"), "end", None)
    ours = (signal.SIG_DFL, signal.default_int_handler, startup)
    return [number for number in known if signal.getsignal(number) in ours]


def _interrupt(_number: int, _frame: object) -> None:
    """The first interrupt winds down, the next one ends."""
    for number in _answered_numbers():
        signal.signal(number, end_now)
    raise KeyboardInterrupt


def _unraisable(problem: Any) -> None:
    """An interrupt that came inside a callback of C, where Python cannot raise it and would print it."""
    if problem.exc_type is not None and issubclass(problem.exc_type, KeyboardInterrupt):
        end_now()
    sys.__unraisablehook__(problem)


class _Watch:
    """A thread that Python's C handler wakes as soon as a signal comes, by writing its number to a pipe."""

    def __init__(self) -> None:
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._numbers = set(_answered_numbers())
        self._before = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._ended = threading.Event()
        threading.Thread(target=self._wait, name="fasturl-interrupts", daemon=True).start()

    def end(self) -> None:
        """Stop watching."""
        signal.set_wakeup_fd(self._before)
        self._ended.set()
        os.write(self._write, b"\0")

    def _wait(self) -> None:
        while not self._ended.is_set():
            if self._numbers.intersection(os.read(self._read, 1)) and not self._ended.is_set():
                self._ended.wait(_PATIENCE)
                end_now()
        os.close(self._read)
        os.close(self._write)


def _answered_numbers() -> list[int]:
    return [number for number in signal.valid_signals() if signal.getsignal(number) is _interrupt]
