"""Results on disk."""

import dataclasses
import errno
import glob
import json
import os
import platform
import shutil
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow
import pyarrow.parquet
import pytest

import fasturl as fu
from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.running import store as storing
from fasturl.experiments.running.files import RESULTS
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import SeedBlock, complete, compute, plan

CELLS = [
    Cell.make("lock-bernoulli", {"horizon": 2, "switch": 0.5}, "oracleq-lat", {}, 60, 4),
    Cell.make("lock-gaussian", {"horizon": 3}, "qlearning-lat", {"learning_rate": 0.5}, 50, 5),
]
MANIFEST = "fasturl-results.json"


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Both cells over seeds 0..5 in four files."""
    folder = tmp_path_factory.mktemp("finished") / "out"
    fill(Store(folder, create=True))
    return folder


@pytest.fixture
def folder(finished, tmp_path):
    return shutil.copytree(finished, tmp_path / "out")


def fill(store):
    for cell in CELLS:
        for seeds in ((0, 1, 2), (3, 5, 4)):
            store.write(*written(cell, seeds))


def written(cell, seeds):
    made = compute(SeedBlock(cell, seeds))
    return cell, made.run, made.packages


def files(folder):
    return sorted((folder / "results").rglob("*.parquet"))


def test_the_frame_is_tidy(finished):
    frame = load(finished)
    assert list(frame.groupby("cell").size().sort_values()) == [6 * 4, 6 * 5]
    first = frame[frame["cell"] == CELLS[0].id]
    run = fu.train(fu.LockBernoulli(2, 0.5), fu.OracleQ(), 60, seeds=6, points=4)
    assert first["seed"].tolist() == np.repeat(range(6), 4).tolist()
    assert first["trajectories"].tolist() == run.trajectories.tolist() * 6
    assert first["average_reward"].to_numpy().tobytes() == run.average_reward.tobytes()
    assert first["regret"].to_numpy().tobytes() == run.regret.tobytes()
    assert first["value"].to_numpy().tobytes() == np.repeat(run.values, 4).tobytes()
    assert first["near_optimal"].tolist() == np.repeat(run.near_optimal, 4).tolist()
    same = first[
        ["env", "horizon", "switch", "agent", "episodes", "v_star", "agent.confidence", "agent.schedule"]
    ].drop_duplicates()
    assert same.values.tolist() == [["lock-bernoulli", 2, 0.5, "oracleq-lat", 60, 0.5, 1e-3, "constant"]]
    assert first[["noise", "oracle", "agent.exploration_fraction"]].isna().all(axis=None)
    assert frame.loc[frame["cell"] == CELLS[1].id, "noise"].unique() == [0.1]


def test_the_files_of_a_family_open_in_plain_pyarrow_as_one_table(tmp_path):
    agents = [("oracleq-lat", {}), ("url", {"oracle": "kmeans"}), ("pcid", {})]
    cells = [Cell.make("lock-gaussian", {"horizon": 2}, *agent, 300, 3) for agent in agents]
    frame = sweep(cells, 3, tmp_path, n_jobs=1)
    table = pyarrow.parquet.read_table(tmp_path / "results").to_pandas()
    described = ["cell", "env", "horizon", "switch", "noise", "agent", "oracle", "learner", "episodes"]
    assert list(table.columns) == described + list(RESULTS)
    table = table.sort_values(["cell", "seed", "trajectories"], ignore_index=True)
    pd.testing.assert_frame_equal(table, frame[table.columns], check_dtype=False)
    assert table.dtypes[["horizon", "switch", "noise"]].tolist() == ["int64", "float64", "float64"]


READERS = {
    "polars": lambda files: (
        polars.concat(
            [polars.read_parquet(file) for file in sorted(glob.glob(files))], how="diagonal_relaxed"
        )
        .sort("cell", "seed", "trajectories")
        .to_dict(as_series=False)
    ),
    "DuckDB": lambda files: {
        name: values.tolist()
        for name, values in duckdb.sql(
            f"FROM read_parquet('{files}', union_by_name = true) ORDER BY cell, seed, trajectories"
        )
        .fetchnumpy()
        .items()
    },
    "pyarrow": lambda files: (
        union_of_files(files)
        .sort_by([(name, "ascending") for name in ("cell", "seed", "trajectories")])
        .to_pydict()
    ),
}


def union_of_files(files):
    tables = [pyarrow.parquet.read_table(file) for file in glob.glob(files)]
    return pyarrow.concat_tables(tables, promote_options="permissive")


@pytest.mark.parametrize("reader", READERS)
def test_other_readers_of_parquet_see_the_same_table_of_mixed_families(reader, tmp_path):
    cells = [*CELLS, Cell.make("lock-gaussian", {"horizon": 2, "noise": 0.2}, "url", {}, 100, 3)]
    frame = sweep(cells, 3, tmp_path / "out", n_jobs=1)
    table = READERS[reader](f"{tmp_path}/out/results/*/*.parquet")
    assert set(table) > {"horizon", "switch", "noise", "oracle", "learner", "optimal_value"}
    for column, values in table.items():
        assert [None if pd.isna(value) else value for value in values] == [
            None if pd.isna(value) else value for value in frame[column]
        ], column


def test_metadata_tells_configuration_versions_and_timings(finished):
    about = Store(finished).about()
    assert len(about) == 4
    assert sorted((Cell.from_config(one["config"]).id, sorted(one["seeds"])) for one in about) == sorted(
        (cell.id, seeds) for cell in CELLS for seeds in ([0, 1, 2], [3, 4, 5])
    )
    assert all(one["versions"]["fasturl"] == fu.__version__ and one["wall_seconds"] > 0 for one in about)


def test_rows_do_not_depend_on_who_computed_them_or_how_long_it_took(tmp_path):
    cell, run, _ = written(CELLS[0], (0, 1))
    tables = []
    for name, seconds in (("a", 1.0), ("b", 2.0)):
        store = Store(tmp_path / name, create=True)
        diagnostics = [{"seconds": np.float64(seconds), "n": np.int64(1)}] * 2
        store.write(
            cell,
            dataclasses.replace(run, wall_seconds=seconds, diagnostics=diagnostics),
            {"fasturl": fu.__version__, "numpy": name},
        )
        (path,) = files(tmp_path / name)
        tables.append(pyarrow.parquet.read_table(path).replace_schema_metadata(None))
    assert tables[0].equals(tables[1])


def test_what_is_there_is_not_computed_again(folder):
    store = Store(folder, create=True)
    assert [store.seeds(cell) for cell in CELLS] == [set(range(6))] * 2
    assert plan(store, CELLS, range(6)) == []
    assert [block.seeds for block in plan(store, CELLS, [2, 8, 3, 7])] == [(8, 7)] * 2
    before = {path: path.stat().st_mtime_ns for path in files(folder)}
    frame = sweep(iter(CELLS), 6, folder)
    assert {path: path.stat().st_mtime_ns for path in files(folder)} == before
    pd.testing.assert_frame_equal(frame, load(folder))


def test_seeds_with_gaps_are_found_again(tmp_path):
    store = Store(tmp_path / "out", create=True)
    store.write(*written(CELLS[0], (9, 2, 5)))
    assert store.seeds(CELLS[0]) == {2, 5, 9}


def test_a_block_that_is_written_twice_is_kept_once(folder):
    before = files(folder)
    fill(Store(folder))
    assert files(folder) == before


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


@pytest.mark.parametrize("name", ["results/mine/data.parquet", "results/{cell}/copy of data.parquet"])
def test_files_of_other_names_are_nobodys_business(name, folder, finished):
    mine = folder / name.format(cell=CELLS[0].id)
    mine.parent.mkdir(exist_ok=True)
    mine.write_bytes(b"mine")
    pd.testing.assert_frame_equal(sweep(CELLS, 6, folder, n_jobs=1), load(finished))
    assert mine.read_bytes() == b"mine"


def test_a_folder_with_somebodys_own_results_is_not_used(tmp_path):
    (tmp_path / "results" / "mine").mkdir(parents=True)
    with pytest.raises(ValueError, match="is not empty and holds no results: choose another folder"):
        Store(tmp_path, create=True)


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


def test_nothing_is_moved_in_a_folder_that_is_not_used(tmp_path):
    (tmp_path / MANIFEST).write_text("{")
    (tmp_path / "thesis.tex").touch()
    before = snapshot(tmp_path)
    with pytest.raises(ValueError, match="is not empty and holds no results"):
        Store(tmp_path, create=True)
    assert snapshot(tmp_path) == before


def test_a_lost_manifest_does_not_lose_results(folder, finished):
    (folder / MANIFEST).unlink()
    (folder / "summary.csv").write_text("made from the results")
    pd.testing.assert_frame_equal(sweep(CELLS, 6, folder), load(finished))


def test_results_of_another_format_are_neither_continued_nor_touched(folder, monkeypatch):
    (folder / MANIFEST).write_text(json.dumps({"format": 99, "version": "9.9"}))
    before = snapshot(folder)
    made = r"were made by fasturl 9.9 in format 99; this fasturl \(.*\)"
    with pytest.raises(ValueError, match=rf"{made} writes format {storing.FORMAT}: choose another folder"):
        Store(folder, create=True)
    with pytest.raises(
        ValueError, match=rf"{made} reads format {storing.FORMAT}: use the one that made them"
    ):
        load(folder)
    assert snapshot(folder) == before


def test_results_of_another_version_can_be_read_and_are_not_continued(folder):
    about = json.loads((folder / MANIFEST).read_text())
    (folder / MANIFEST).write_text(json.dumps(about | {"version": "0.0.1"}))
    Store(folder)
    with pytest.raises(
        ValueError, match=r"were made by fasturl 0\.0\.1, which this version \(.*\) does not continue"
    ):
        Store(folder, create=True)


def test_files_of_another_format_are_refused_without_a_manifest_too(folder, monkeypatch):
    (folder / MANIFEST).unlink()
    monkeypatch.setattr(storing, "FORMAT", storing.FORMAT + 1)
    Store(folder, create=True)
    with pytest.raises(ValueError, match=f"in format {storing.FORMAT - 1}; .* reads format {storing.FORMAT}"):
        load(folder)


def snapshot(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_with_other_things_in_it_is_not_used(tmp_path):
    (tmp_path / "thesis.tex").write_text("unsaved")
    with pytest.raises(ValueError, match="is not empty and holds no results: choose another folder"):
        Store(tmp_path, create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("place", ["file/out", "file"])
def test_a_folder_that_cannot_be_made(place, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match=r"cannot (write|read) .*"):
        Store(tmp_path / place, create=True)


@pytest.mark.parametrize("there", [False, True])
def test_where_nothing_is_there_is_nothing_to_load(there, tmp_path):
    if there:
        Store(tmp_path / "out", create=True)
    with pytest.raises(ValueError, match="there are no results in"):
        load(tmp_path / "out")


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


def test_drafts_of_killed_processes_are_removed_and_those_of_live_ones_are_not(folder):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    node = platform.node()
    drafts = {
        name: folder / name
        for name in (
            f".draft-{node}-{dead.pid}-abc",
            f".draft-{node}-{os.getpid()}-abc",
            ".draft-elsewhere-1-abc",
        )
    }
    old = folder / ".draft-elsewhere-2-abc"
    for draft in [*drafts.values(), old]:
        draft.write_bytes(b"half")
    os.utime(old, (0, 0))
    Store(folder, create=True)
    assert [draft.exists() for draft in drafts.values()] == [False, True, True]
    assert not old.exists()
    assert len(load(folder)) == 6 * 9


def test_of_two_processes_that_make_a_folder_at_once_neither_is_refused(tmp_path, monkeypatch):
    """One writes the manifest when the other has just seen that there is none."""
    real = storing._manifest

    def late(path):
        try:
            return real(path)
        finally:
            path.write_text(json.dumps({"format": storing.FORMAT, "version": fu.__version__}))

    monkeypatch.setattr(storing, "_manifest", late)
    monkeypatch.setattr(storing.Path, "exists", lambda path: False)
    Store(tmp_path, create=True)


def test_a_damaged_manifest_of_an_empty_folder_is_written_anew(tmp_path):
    Store(tmp_path, create=True)
    (tmp_path / MANIFEST).write_text("{")
    with pytest.warns(UserWarning, match="it is written anew"):
        Store(tmp_path, create=True)
    (tmp_path / MANIFEST).unlink()
    Store(tmp_path, create=True)


def test_a_folder_whose_maker_was_killed_at_once_is_used(tmp_path):
    (tmp_path / ".draft-elsewhere-1-abc").write_bytes(b"{")
    Store(tmp_path, create=True)
    assert (tmp_path / MANIFEST).exists()
