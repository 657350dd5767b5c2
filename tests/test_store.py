"""Results on disk."""

import dataclasses
import glob
import json
import os
import platform
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars
import pyarrow
import pyarrow.parquet
import pytest
from small_store import CELLS, MANIFEST, files, fill, snapshot, written

import fasturl as fu
from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.running import store as storing
from fasturl.experiments.running.files import RESULTS
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import plan


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


def test_nothing_is_moved_in_a_folder_that_is_not_used(tmp_path):
    (tmp_path / MANIFEST).write_text("{")
    (tmp_path / "thesis.tex").touch()
    before = snapshot(tmp_path)
    with pytest.raises(ValueError, match="is not empty and holds no results"):
        Store(tmp_path, create=True)
    assert snapshot(tmp_path) == before


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


def test_a_folder_whose_maker_was_killed_at_once_is_used(tmp_path):
    (tmp_path / ".draft-elsewhere-1-abc").write_bytes(b"{")
    Store(tmp_path, create=True)
    assert (tmp_path / MANIFEST).exists()
