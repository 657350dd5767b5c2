"""Processes that leave something behind: who they are, and whether they are gone."""

from __future__ import annotations

import os
import platform


def this_process() -> tuple[str, int]:
    """Machine and number."""
    return platform.node(), os.getpid()


def is_gone(machine: str, process: int) -> bool:
    """Whether a process is known to have ended: of those of other machines nothing is known."""
    if machine != platform.node() or os.name != "posix":  # on Windows signal 0 would end it
        return False
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # it is another user's, and there
        pass
    return False
