"""Files of machine code that prove themselves before anything in them is used.

A kernel compiled for one signature and one processor is one file. Its name is a digest of everything that the
code depends on, so that processes which compile different things at once, on one machine or on several that
share a folder, never write the same file, and those which compile the same thing write the same content. The
file begins with a digest of the rest. Where that does not match, nothing is read: bytes that are not what was
written would be run as machine code.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .whole_files import DRAFT_PREFIX, whole_files

ENDING = ".kernel"
_DIGEST_SIZE = hashlib.sha256().digest_size
_ABANDONED_AFTER = 3600.0
"""Age in seconds from which a draft belongs to a process that was killed: writing one takes milliseconds."""


class KernelFiles:
    """The files of one kernel in a folder: what Numba's cache calls its index and data.

    folder
        Where the files are; it exists.
    stem
        How the names of this kernel's files begin.
    dump, parse
        Turn what is kept into bytes and back; `parse` sees nothing but what `dump` has made.
    """

    def __init__(
        self, folder: str, stem: str, dump: Callable[[Any], bytes], parse: Callable[[bytes], Any]
    ) -> None:
        self._folder, self._stem, self._dump, self._parse = Path(folder), stem, dump, parse

    def load(self, key: object) -> Any:
        """What was saved under a key; None where there is nothing, or nothing that is whole."""
        try:
            content = self._path(key).read_bytes()
        except OSError:
            return None
        digest, kept = content[:_DIGEST_SIZE], content[_DIGEST_SIZE:]
        return self._parse(kept) if digest == self._digest(key, kept) else None

    def save(self, key: object, data: Any) -> None:
        """Keep data under a key, in the place of what may be there."""
        kept = self._dump(data)
        self._remove_abandoned_drafts()
        with whole_files(self._path(key)) as (draft,):
            assert draft is not None, "as one is asked for"
            draft.write_bytes(self._digest(key, kept) + kept)

    def flush(self) -> None:
        """Forget all that is kept of this kernel."""
        for file in self._folder.iterdir():
            if file.name.startswith(f"{self._stem}.") and file.suffix == ENDING:
                file.unlink(missing_ok=True)

    def _path(self, key: object) -> Path:
        return self._folder / f"{self._stem}.{hashlib.sha256(repr(key).encode()).hexdigest()[:32]}{ENDING}"

    @staticmethod
    def _digest(key: object, kept: bytes) -> bytes:
        """Of the key too: a whole file under the name of another is no answer."""
        return hashlib.sha256(repr(key).encode() + b"\0" + kept).digest()

    def _remove_abandoned_drafts(self) -> None:
        for draft in self._folder.glob(f"{DRAFT_PREFIX}*{ENDING}"):
            with suppress(OSError):  # another process may be faster
                if time.time() - draft.stat().st_mtime > _ABANDONED_AFTER:
                    draft.unlink()
