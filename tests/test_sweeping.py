"""How the work of a sweep is cut, computed and told of."""

import math
import re
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import fasturl as fu
from fasturl.experiments import Cell, Dask, sweep
from fasturl.experiments.running import backends, sweeping
from fasturl.experiments.running.store import Store
from fasturl.experiments.running.sweeping import SeedBlock, complete, estimate_seconds, plan
from fasturl.experiments.running.time_left import TimeLeft

CELLS = [
    Cell.make("lock-bernoulli", {"horizon": 2, "switch": 0.5}, "oracleq-lat", {}, 60, 4),
    Cell.make("lock-gaussian", {"horizon": 3}, "qlearning-lat", {"learning_rate": 0.5}, 50, 5),
]


def test_a_sweep_of_very_many_seeds_makes_some_thousand_files():
    blocks = plan(None, CELLS, range(1_000_000))
    assert len(blocks) <= 2_000 + len(CELLS)
    assert sum(len(block.seeds) for block in blocks) == 2_000_000


def test_few_runs_of_one_cell_keep_many_workers_busy_to_the_end():
    """Sixty runs of a million steps: blocks of which some more or less make little difference."""
    cell = Cell.make("lock-bernoulli", {"horizon": 20}, "url", {}, 50_000)
    sizes = [len(block.seeds) for block in plan(None, [cell], range(60))]
    assert sum(sizes) == 60
    assert max(sizes) <= 3


def test_a_worker_with_another_version_is_refused(tmp_path):
    class Elsewhere:
        def map(self, function, items):
            for item in items:
                made = function(item)
                yield made._replace(packages=made.packages | {"fasturl": "0.0.1"})

    store = Store(tmp_path / "out", create=True)
    with pytest.raises(
        ValueError,
        match=rf"a worker has fasturl 0\.0\.1, this machine has {fu.__version__}: install the same",
    ):
        complete(store, plan(store, CELLS, range(2)), Elsewhere())
    assert not list((tmp_path / "out").rglob("*.parquet"))


def test_off_a_terminal_progress_is_a_line_now_and_then(tmp_path, capsys, monkeypatch):
    store = Store(tmp_path / "out", create=True)
    monkeypatch.setattr(sweeping, "LINE_SECONDS", math.inf)
    complete(store, plan(store, CELLS, range(2)), fu.experiments.Local(1))
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sweeping, "LINE_SECONDS", 0.0)
    complete(store, plan(store, CELLS, range(2, 6)), fu.experiments.Local(1))
    first, last = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"cells 1/2  seeds 4/8  about \d+ min left", first)
    assert last == "cells 2/2  seeds 8/8  about 0 min left"


def test_on_a_terminal_the_time_left_is_told_however_far_apart_blocks_are(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "150")
    clock = iter(range(0, 10_000, 120))
    clocks = SimpleNamespace(monotonic=lambda: next(clock), perf_counter=time.perf_counter)
    monkeypatch.setattr(sweeping, "time", clocks)

    class Slow:
        def map(self, function, items):
            for item in items:
                yield function(item)
                time.sleep(1.2)  # the bar is drawn twice a second

    store = Store(tmp_path / "out", create=True)
    complete(store, plan(store, CELLS, range(4)), Slow(), progress=True)
    told = capsys.readouterr().err
    assert re.search(r"cells 0/2  seeds 0/8\b", told)
    assert re.search(r"cells 1/2  seeds 4/8  about 4 min left", told)
    assert "cells 2/2  seeds 8/8  about 0 min left" in told


def test_the_time_left_goes_by_what_blocks_of_the_same_kind_took():
    """Five seeds a block, two blocks a cell: a step of one takes ten times as long as one of the other."""
    slow, fast, fast_too = (
        Cell.make("lock-bernoulli", {"horizon": 3, "switch": switch}, agent, {}, 100)
        for agent, switch in (("url", 0.0), ("qlearning-lat", 0.0), ("qlearning-lat", 0.5))
    )
    blocks = [SeedBlock(cell, seeds) for cell in (slow, fast, fast_too) for seeds in (range(5), range(5, 10))]
    time_left = TimeLeft(blocks)
    assert time_left.estimate(1.0) is None
    time_left.finish(blocks[0], 10.0)
    # with two workers; of the fast ones nothing is known yet
    assert time_left.estimate(5.0) == pytest.approx(25.0)
    time_left.finish(blocks[2], 1.0)
    assert time_left.estimate(5.5) == pytest.approx((10.0 + 1.0 + 2.0) / 2)
    for block, seconds in zip(blocks, (0, 10.0, 0, 1.0, 1.0, 1.0), strict=True):
        if seconds:
            time_left.finish(block, seconds)
    assert time_left.estimate(12.0) == 0.0


def test_the_time_of_cells_that_cannot_be_trained_is_judged_by_the_others():
    hopeless = Cell.make("lock-gaussian", {"horizon": 3, "noise": 9.0}, "url", {"oracle": "dbscan"}, 100)
    assert estimate_seconds(plan(None, [hopeless], range(2))) >= 0
    assert estimate_seconds(plan(None, [hopeless, *CELLS], range(2))) > 0


@pytest.fixture
def cluster():
    """A Dask cluster whose one worker is a thread of this process."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    quiet = {"dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, host="127.0.0.1", protocol="tcp", **quiet
    ) as made:
        yield made


def test_a_cluster_that_has_lost_all_workers_is_waited_for_and_then_given_up(cluster, monkeypatch, capsys):
    monkeypatch.setattr(backends, "_DESERTED_SECONDS", 1.0)
    results = Dask(cluster.scheduler_address).map(abs, [-1])
    assert list(results) == [1]
    results = Dask(cluster.scheduler_address).map(time.sleep, [0.0, 4.0])
    next(results)
    cluster.scale(0)
    with pytest.raises(backends.WorkersLost, match=r"has no workers any more; what was written is kept"):
        next(results)
    assert re.fullmatch(r"the Dask cluster at tcp://\S+ has no workers, waiting\n", capsys.readouterr().err)


def test_workers_without_fasturl_are_told_before_anything_is_written(cluster, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, backends.__name__, None)
    with pytest.raises(
        ValueError, match=r"fasturl must be installed on the workers of the Dask cluster at tcp://\S+: "
    ):
        sweep(CELLS, 2, tmp_path / "out", backend=Dask(cluster.scheduler_address))
    assert not list(tmp_path.iterdir())


def test_a_backend_and_a_number_of_processes_are_one_too_many(tmp_path):
    with pytest.raises(
        ValueError,
        match="n_jobs is for processes of this machine: leave it out where a backend is given, got -7",
    ):
        sweep(CELLS, 2, tmp_path / "out", backend=fu.experiments.Local(1), n_jobs=-7)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        ([CELLS[0], "oracleq-lat"], r"cells must be made by Cell\.make\(\.\.\.\), got 'oracleq-lat'"),
        ([{"env": "lock-bernoulli"}], r"cells must be made by Cell\.make\(\.\.\.\), got \{"),
        (CELLS[0], r"cells must be several of Cell\.make\(\.\.\.\), got Cell\("),
        ("lock", r"cells must be several of Cell\.make\(\.\.\.\), got 'lock'"),
        (None, r"cells must be several of Cell\.make\(\.\.\.\), got None"),
        ([], "there is nothing to run: the grid is empty"),
    ],
)
def test_what_is_not_a_cell_is_refused_before_a_folder_is_made(cells, message, tmp_path):
    with pytest.raises(ValueError, match=message) as refusal:
        sweep(cells, 2, tmp_path / "out", n_jobs=1)
    assert "\n" not in str(refusal.value)
    assert not list(tmp_path.iterdir())


def test_no_two_files_of_the_machinery_import_each_other():
    folder = Path(backends.__file__).parent
    imports = {
        path.stem: set(
            re.findall(r"^from \.(\w+) import|^from \. import (\w+)", path.read_text(), re.MULTILINE)
        )
        for path in folder.glob("*.py")
    }
    pairs = {(file, name) for file, names in imports.items() for both in names for name in both if name}
    assert ("sweeping", "backends") in pairs
    assert not [pair for pair in pairs if pair[::-1] in pairs]
