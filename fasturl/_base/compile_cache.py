"""Where compiled kernels are kept between processes.

Numba notices an edit only in the file of the function that it loads, not in the files of the functions which
that one calls. So the folder is named by a digest of all kernel sources: any edit or upgrade starts a fresh
folder, and nothing stale can be loaded. Without sources or a folder that can be written, kernels are compiled
in memory. A kernel looks its machine code up when it is first called.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numba

from .._kernels.compiling import for_each_kernel
from . import numba_internals
from .kernel_files import ENDING

PACKAGE = Path(__file__).parents[1]
_KERNELS = (
    "_kernels/*.py",
    "_base/plugin_loops.py",
    "_base/kernel_files.py",
    "_base/numba_internals.py",
    "_base/numba_names.py",
    "_base/c_signatures.py",
    "_base/flat_entries.py",
    "_base/vector_dots.py",
    "_base/vector_registers.py",
)


def _sources() -> list[Path]:
    sources = sorted(source for pattern in _KERNELS for source in PACKAGE.glob(pattern))
    if not sources:
        raise FileNotFoundError(f"no kernel sources in {PACKAGE}")
    return sources


def digest() -> str:
    """A digest of every kernel source file, by name and content, and of whether indices are checked."""
    total = hashlib.sha256(str(numba.config.BOUNDSCHECK).encode())  # Numba itself keeps both in one place
    for source in _sources():
        total.update(source.name.encode())
        total.update(source.read_bytes())
    return total.hexdigest()[:16]


def _root() -> Path:
    if chosen := os.environ.get("FASTURL_CACHE_DIR"):
        return Path(chosen).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "fasturl"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "fasturl"
    xdg = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (
        xdg if xdg.is_absolute() else Path.home() / ".cache"
    ) / "fasturl"  # the XDG standard: ignore a relative one


def is_writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def find_folder() -> Path | None:
    """The cache folder of this version of the kernels, or None where there are no sources or no place that
    can be written.

    Where our own place cannot be written, it falls back to NUMBA_CACHE_DIR, which container images often set.
    """
    try:
        name = digest()
    except OSError:  # sources that are absent or cannot be read
        return None
    for root in (_root, _numbas_root):
        with contextlib.suppress(RuntimeError, OSError):  # no home folder
            if (place := root()) and is_writable(folder := place.absolute() / name):
                return folder
    return None


@cache
def folder() -> Path | None:
    """What `find_folder` found first: a process that changes its working directory keeps its cache."""
    return find_folder()


def keep_kernels() -> None:
    """Let every kernel keep its machine code in `folder()`; Numba's own settings stay as they are."""
    for_each_kernel(lambda kernel: numba_internals.keep_kernel(kernel, lambda: folder()))


def keep_tagged(kernel: Any, tag: str, *, with_users: bool) -> None:
    """As `keep_kernels`, for a kernel with other functions inside, a user's or ours: the tag tells them
    apart."""
    numba_internals.keep_kernel(kernel, lambda: folder(), tag, with_users=with_users)


def _numbas_root() -> Path | None:
    setting = os.environ.get("NUMBA_CACHE_DIR")
    return Path(setting) / "fasturl" if setting else None


def kernels_in(folder: Path | None) -> int:
    """How many compiled kernels the folder keeps for this installation: Numba gives each folder of sources
    one of its own there."""
    if folder is None:
        return 0
    own = {numba_internals.cache_subfolder(source) for source in _sources()}
    return sum(1 for place in own for _ in (folder / place).glob(f"*{ENDING}"))
