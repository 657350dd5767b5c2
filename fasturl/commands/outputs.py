"""Files that are whole or not there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .. import optional

FIGURE_SUFFIXES = (".png", ".pdf", ".svg")


def check_figure(target: Path) -> None:
    """Says before the work what would keep a figure from being drawn after it: the name of its file, or a missing matplotlib."""
    if target.suffix.lower() not in FIGURE_SUFFIXES:
        raise ValueError(f"cannot write {target}: write .png, .pdf or .svg")
    optional.need("matplotlib", "experiments", "a figure")


@contextmanager
def whole_files(*wanted: str | Path | None) -> Iterator[list[Path | None]]:
    """Temporary files beside the wanted ones, renamed at the end: an output is whole or not there.

    They are made before the work, so that a folder that cannot be written is known before anything is computed.
    """
    targets = [Path(name) if name else None for name in wanted]
    drafts: list[Path | None] = []
    try:
        for target in targets:
            if target is None:
                drafts.append(None)
                continue
            if target.is_dir():
                raise ValueError(f"cannot write {target}: it is a folder")
            try:
                handle, draft = tempfile.mkstemp(dir=target.parent, prefix=f".{target.stem}-", suffix=target.suffix)
            except OSError as error:
                raise ValueError(f"cannot write {target}: {error.strerror}") from None
            os.close(handle)
            drafts.append(Path(draft))
        yield drafts
        for target, made in zip(targets, drafts, strict=True):
            if target and made:
                made.chmod(0o644)
                made.replace(target)
    finally:
        for made in drafts:
            if made:
                made.unlink(missing_ok=True)
