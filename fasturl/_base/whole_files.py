"""Files that are whole or not there."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .drafts import draft_removed

DRAFT_PREFIX = ".fasturl-"
"""How the names of drafts begin."""


def read_file(name: str | Path) -> bytes:
    """The bytes of a file; OSError for a pipe or a device, which may never end."""
    descriptor = os.open(name, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe would wait for a writer
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no file")
        return file.read()


@contextmanager
def whole_files(*wanted: str | Path | None) -> Iterator[list[Path | None]]:
    """Drafts of the wanted files, put in their places at the end: an output is whole or not there.

    Links are followed. A pipe or a device stays what it is and gets the finished output. Drafts are made
    before the work, so that a folder that cannot be written is known before anything is computed.
    """
    names = [name for name in wanted if name is not None]
    places = [os.path.realpath(name) for name in names]
    for position, name in enumerate(names):
        if places[position] in places[:position]:
            raise ValueError(f"cannot write {name}: two outputs have this name")
    with ExitStack() as stack:
        yield [None if name is None else stack.enter_context(_whole_file(name)) for name in wanted]


@contextmanager
def _whole_file(name: str | Path) -> Iterator[Path]:
    if name == "":
        raise ValueError("cannot write '': the name of the file is empty")
    with refusals(name):
        mode = _mode(name)
        regular = mode is None or stat.S_ISREG(mode)
        target = Path(os.path.realpath(name) if regular else name)
        folder = target.parent if regular else Path(tempfile.gettempdir())
        draft = folder / f"{DRAFT_PREFIX}{secrets.token_hex(8)}{target.suffix}"
    with draft_removed(draft):
        with refusals(name):
            draft.touch(exist_ok=False)
        yield draft
        with refusals(name):
            if not regular:
                target.write_bytes(draft.read_bytes())
                return
            if mode is not None:
                draft.chmod(stat.S_IMODE(mode))
            draft.replace(target)


def write_draft(draft: Path, name: str | Path | None, text: str) -> None:
    """Write the text of a draft; where that fails, as on a full disk, the line has the name of the file that
    is wanted."""
    with refusals(name):
        draft.write_text(text, encoding="utf-8")


def _mode(name: str | Path) -> int | None:
    """Of what is there, if something is."""
    try:
        mode = os.stat(name).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "it is a folder")
    if not os.access(name, os.W_OK):  # a rename would not ask
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return mode


@contextmanager
def refusals(name: str | Path | None) -> Iterator[None]:
    """Tell an error of the system with the name of what is written, which is not that of a draft."""
    try:
        yield
    except OSError as error:
        if error.errno is None:  # it has its own words
            raise
        raise ValueError(f"cannot write {name}: {error.strerror}") from None
