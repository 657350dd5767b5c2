"""Disks that are full or cannot be written: nothing is lost, and a sweep goes on when there is room."""

import errno
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from small_store import CELLS, files, snapshot

import fasturl as fu
from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.running import store as storing
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import complete, plan


@pytest.mark.parametrize("call", ["fsync", "replace", "write"])
def test_a_full_disk_loses_nothing_and_leaves_no_drafts(call, folder, finished, monkeypatch):
    """The error of a full disk may come when bytes are written, flushed or named."""
    files(folder)[1].unlink()
    before = snapshot(folder)
    store = Store(folder, create=True)
    (block,) = plan(store, CELLS, range(6))

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    class FullFile:
        def __init__(self, path, *_):
            path.touch(exist_ok=False)
            self.write = full

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    with monkeypatch.context() as patch:
        if call == "write":
            patch.setattr(storing, "open", FullFile, raising=False)
        else:
            patch.setattr(os, call, full)
        with pytest.raises(
            OSError, match=r"cannot write .*: No space left on device; what was written before is kept"
        ):
            complete(store, [block], fu.experiments.Local(1))
    assert snapshot(folder) == before
    pd.testing.assert_frame_equal(sweep(CELLS, 6, folder, n_jobs=1), load(finished))


@pytest.fixture
def tiny_disk(tmp_path):
    """A file system of 16 pages."""
    place = tmp_path / "disk"
    place.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root may mount a file system")
    if not shutil.which("mount"):
        pytest.skip("there is no mount here")
    size = f"size={16 * os.sysconf('SC_PAGE_SIZE')}"
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", size, "tmpfs", place], capture_output=True, text=True, check=False
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    yield place
    subprocess.run(["umount", place], check=True)


def test_a_sweep_that_filled_its_disk_goes_on_when_there_is_room(tiny_disk, tmp_path):
    cells = [
        Cell.make("lock-bernoulli", {"horizon": 2, "switch": n / 100}, "oracleq-lat", {}, 300)
        for n in range(20)
    ]
    out = tiny_disk / "out"
    with pytest.raises(OSError, match="No space left on device"):
        sweep(cells, 4, out, n_jobs=1)
    there = len(files(out))
    assert 0 < there < 20
    assert not list(out.glob(".draft-*"))
    subprocess.run(["mount", "-o", "remount,size=4m", tiny_disk], check=True)
    assert len(plan(Store(out), cells, range(4))) == 20 - there
    pd.testing.assert_frame_equal(
        sweep(cells, 4, out, n_jobs=1), sweep(cells, 4, tmp_path / "other", n_jobs=1)
    )


def test_a_disk_that_cannot_be_written_is_known_before_anything_is_computed(tiny_disk, finished):
    out = shutil.copytree(finished, tiny_disk / "out")
    subprocess.run(["mount", "-o", "remount,ro", tiny_disk], check=True)
    with pytest.raises(ValueError, match=r"cannot write .*: Read-only file system"):
        Store(out, create=True)
    pd.testing.assert_frame_equal(load(out), load(finished))
