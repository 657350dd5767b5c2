"""A disk that fills up: a small file system in memory, mounted where only root may."""

import contextlib
import os
import subprocess


@contextlib.contextmanager
def small_disk(folder, kilobytes):
    """A file system of so many kilobytes on a folder; yields what changes its size."""
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)],
        check=True,
        capture_output=True,
    )

    def resize(size):
        subprocess.run(["mount", "-o", f"remount,size={size}k", str(folder)], check=True, capture_output=True)

    try:
        yield resize
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True, capture_output=True)


def why_no_small_disk(folder):
    """Why there can be none here; empty where there can."""
    if os.geteuid() != 0:
        return "only root can mount a small disk"
    try:
        with small_disk(folder / "probe", 64):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        return f"a small disk cannot be mounted: {error}"
