"""Damaged files and manifests: they are said, set aside and made again, and cost no other result."""

import errno
import os

import pandas as pd
import pytest
from small_store import CELLS, MANIFEST, files, snapshot

from fasturl.experiments import load, sweep
from fasturl.experiments.running import store as storing
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import plan

DAMAGE = {
    "cut short": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "zeros": lambda content: bytes(len(content)),
    "a flipped bit at the start": lambda content: flipped(content, 0),
    "a flipped bit in the rows": lambda content: flipped(content, 200),
    "a flipped bit in the metadata": lambda content: flipped(content, content.index(b'"seeds"') + 11),
    "a flipped bit in the footer": lambda content: flipped(content, len(content) - 6),
    "something else after it": lambda content: content + b"x",
}


def flipped(content, position):
    changed = bytearray(content)
    changed[position] ^= 1
    return bytes(changed)


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_said_set_aside_and_computed_again(damage, folder, finished):
    path = files(folder)[1]
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    damaged = path.read_bytes()
    store = Store(folder, create=True)
    with pytest.warns(
        UserWarning, match=rf"{path.name} is damaged: set aside as .*, its results count as missing"
    ):
        missing = plan(store, CELLS, range(6))
    assert [len(block.seeds) for block in missing] == [3]
    assert (folder / "damaged" / f"{path.parent.name}-{path.name}").read_bytes() == damaged
    assert not path.exists()
    frame = sweep(CELLS, 6, folder, n_jobs=1)
    pd.testing.assert_frame_equal(frame, load(finished))


def test_reading_leaves_damaged_files_out_and_where_they_are(folder):
    path = files(folder)[0]
    path.write_bytes(b"PAR1 nonsense PAR1")
    before = snapshot(folder)
    with pytest.warns(UserWarning, match=rf"{path.name} is damaged and left out"):
        frame = load(folder)
    assert len(frame) < 6 * 9
    assert snapshot(folder) == before


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_cannot_be_read_just_now_is_not_damaged(create, folder, monkeypatch):
    """A network file system that is gone for a while must not cost the results."""
    before = snapshot(folder)

    def stale(path):
        raise OSError(errno.ESTALE, os.strerror(errno.ESTALE))

    with monkeypatch.context() as patch:
        store = Store(folder, create=create)
        patch.setattr(storing, "read_file", stale)
        with pytest.raises(ValueError, match=rf"cannot read .*: {os.strerror(errno.ESTALE)}"):
            store.seeds(CELLS[0])
    assert snapshot(folder) == before


def test_a_damaged_file_that_cannot_be_set_aside_does_not_keep_its_results_from_being_written(
    folder, finished
):
    path = files(folder)[1]
    path.write_bytes(path.read_bytes() + b"x")
    (folder / "damaged").touch()  # where a folder should be
    with pytest.warns(UserWarning, match="is damaged and left out; it cannot be set aside"):
        frame = sweep(CELLS, 6, folder, n_jobs=1)
    pd.testing.assert_frame_equal(frame, load(finished))


def test_a_file_under_the_wrong_name_or_in_the_wrong_place_counts_as_damaged(folder):
    first, *_ = files(folder)
    other = next(cell for cell in CELLS if cell.id != first.parent.name)
    first.rename(folder / "results" / other.id / first.name)
    with pytest.warns(UserWarning, match="is damaged"):
        assert Store(folder, create=True).seeds(other) == set(range(6))


@pytest.mark.parametrize("content", [b"", b'{"format": ', b"[]", b"\xff\x00"])
def test_a_damaged_manifest_is_set_aside_and_written_anew(content, folder, finished):
    (folder / MANIFEST).write_bytes(content)
    assert len(load(folder)) == 6 * 9
    with pytest.warns(UserWarning, match=rf"{MANIFEST} is damaged: set aside as .*, it is written anew"):
        Store(folder, create=True)
    assert (folder / MANIFEST).read_bytes() == (finished / MANIFEST).read_bytes()
    assert next((folder / "damaged").iterdir()).read_bytes() == content


def test_what_a_file_manager_leaves_behind_does_not_make_a_folder_somebody_elses(folder, finished):
    (folder / MANIFEST).write_text("{")
    (folder / "results" / ".DS_Store").touch()
    with pytest.warns(UserWarning, match="it is written anew"):
        frame = sweep(CELLS, 6, folder, n_jobs=1)
    pd.testing.assert_frame_equal(frame, load(finished))


def test_a_lost_manifest_does_not_lose_results(folder, finished):
    (folder / MANIFEST).unlink()
    (folder / "summary.csv").write_text("made from the results")
    pd.testing.assert_frame_equal(load(folder), load(finished))
    pd.testing.assert_frame_equal(sweep(CELLS, 6, folder), load(finished))


def test_a_damaged_manifest_of_an_empty_folder_is_written_anew(tmp_path):
    Store(tmp_path, create=True)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.warns(UserWarning, match="it is written anew"):
        Store(tmp_path, create=True)
    (tmp_path / MANIFEST).unlink()
    Store(tmp_path, create=True)
