"""Drafts of files that this process is writing, so that they can be removed where it ends in the middle."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_DRAFTS: set[str] = set()


@contextmanager
def draft_removed(draft: str | Path) -> Iterator[None]:
    """Remove a draft at the end, if it still has its name by then."""
    _DRAFTS.add(str(draft))
    try:
        yield
    finally:
        with suppress(OSError):
            os.unlink(draft)
        _DRAFTS.discard(str(draft))


def remove_drafts() -> None:
    """Remove all drafts, before the process ends without winding down."""
    for draft in tuple(_DRAFTS):
        with suppress(OSError):
            os.unlink(draft)
