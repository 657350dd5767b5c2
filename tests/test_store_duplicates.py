"""Runs that two processes on one folder have both computed."""

import dataclasses
import shutil

import pandas as pd
import polars
import pytest
from test_store import CELLS, files, written

from fasturl.experiments import load, sweep
from fasturl.experiments.running import files as contents
from fasturl.experiments.running.store import Store


def rows(folder):
    """All rows as any reader of Parquet sees them."""
    return polars.read_parquet(f"{folder}/results/*/*.parquet").sort("cell", "seed", "trajectories")


def test_seeds_that_are_there_are_not_written_again(tmp_path):
    store, alone = Store(tmp_path / "out", create=True), Store(tmp_path / "alone", create=True)
    for seeds in ((0, 1, 2), (3, 5, 4), (9, 2, 7, 4)):
        store.write(*written(CELLS[0], seeds))
    for seeds in (range(6), (7, 9)):
        alone.write(*written(CELLS[0], seeds))
    assert rows(store.folder).equals(rows(alone.folder))
    (about,) = [one for one in store.about() if 9 in one["seeds"]]
    assert about["seeds"] == [9, 7]
    assert len(about["diagnostics"]) == 2


def written_at_the_same_moment(folder, elsewhere, cell, *blocks):
    """Files of blocks that know nothing of each other."""
    for number, seeds in enumerate(blocks):
        store = Store(elsewhere / str(number), create=True)
        store.write(*written(cell, seeds))
        shutil.copytree(store.folder, folder, dirs_exist_ok=True)


@pytest.mark.parametrize(
    ("blocks", "kept"),
    [
        ([(3, 1, 8, 20, 5), (3, 1, 8, 20, 5)], 1),
        ([range(10), range(12)], 1),
        ([range(5), range(5, 9), range(9)], 1),
        ([range(5), range(3, 9), range(2, 6)], 2),
    ],
)
def test_files_that_two_processes_wrote_at_once_are_kept_once(blocks, kept, tmp_path):
    out = tmp_path / "out"
    written_at_the_same_moment(out, tmp_path, CELLS[0], *blocks)
    assert len(files(out)) == len(blocks)
    frame = load(out)
    assert len(files(out)) == len(blocks)  # who reads touches nothing
    seeds = set().union(*blocks)
    for _ in range(2):
        pd.testing.assert_frame_equal(sweep(CELLS[:1], sorted(seeds), out, n_jobs=1), frame)
        assert len(files(out)) == kept
        assert len(list((out / "duplicates").iterdir())) == len(blocks) - kept
    assert not frame.duplicated(["seed", "trajectories"]).any()


def test_of_two_processes_that_write_at_once_the_later_sees_both_files(tmp_path, monkeypatch):
    cell, run, made_with = written(CELLS[0], (3, 1, 8))
    first, second = (Store(tmp_path, create=True) for _ in range(2))
    encode = contents.encode

    def overtaken(*words):
        monkeypatch.setattr(contents, "encode", encode)
        second.write(cell, dataclasses.replace(run, wall_seconds=9.0), made_with)
        return encode(*words)

    monkeypatch.setattr(contents, "encode", overtaken)
    first.write(cell, run, made_with)
    assert len(files(tmp_path)) == 1
    assert len(list((tmp_path / "duplicates").iterdir())) == 1
    assert first.seeds(cell) == {1, 3, 8}


def test_a_damaged_file_covers_nothing(tmp_path):
    out = tmp_path / "out"
    written_at_the_same_moment(out, tmp_path, CELLS[0], range(4), range(6))
    small, large = files(out)
    large.write_bytes(b"")
    with pytest.warns(UserWarning, match="is damaged"):
        assert Store(out, create=True).seeds(CELLS[0]) == set(range(4))
    assert files(out) == [small]
