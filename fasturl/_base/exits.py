"""`sys.exit` in a component of somebody else's is a fault of that component, and ends no program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def exits_are_faults() -> Iterator[None]:
    """Turn SystemExit into a RuntimeError with the same traceback, which is told as any other fault is, or
    into the BrokenPipeError that it comes from. Ctrl-C stays what it is."""
    try:
        yield
    except SystemExit as stop:
        if isinstance(stop.__context__, BrokenPipeError):  # rich exits where nobody reads what it prints
            raise stop.__context__ from None
        fault = RuntimeError(f"sys.exit({stop.code!r}) was called")
        raise fault.with_traceback(stop.__traceback__) from None
