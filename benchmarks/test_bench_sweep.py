"""What the machinery of sweeps costs: ids, plan, files, progress, and finding everything again when a sweep is resumed."""

import dataclasses
import time

import numpy as np
import pytest
from conftest import best_seconds, report

from fasturl.experiments import Cell
from fasturl.experiments import sweeping as machinery
from fasturl.experiments.backends import Local
from fasturl.experiments.store import Store

RUN = {"env": "lock-bernoulli", "agent": "oracleq-lat", "agent_settings": {}}


class Timed:
    """In this process, one block after the other, with the seconds that the blocks themselves took."""

    def __init__(self):
        self.seconds = 0.0

    def workers(self):
        return 1

    def map(self, function, items):
        for item in items:
            begin = time.perf_counter()
            result = function(item)
            self.seconds += time.perf_counter() - begin
            yield result


@pytest.mark.benchmark(group="sweep: machinery beside the runs")
def test_overhead(benchmark, tmp_path):
    """50 runs of at least 0.1 s each, everything counted but the runs. Costs are those of runs and files: 1,000 have the same share."""
    places, shares, lengths = iter(range(100)), [], []

    def run():
        backend = Timed()
        begin = time.perf_counter()
        cells = [Cell.make(env_settings={"horizon": 20, "switch": switch}, episodes=200_000, **RUN) for switch in (0.0, 0.2)]
        store = Store(tmp_path / str(next(places)), create=True)
        machinery.complete(store, machinery.plan(store, cells, range(25)), backend, progress=True)
        shares.append((time.perf_counter() - begin - backend.seconds) / backend.seconds)
        lengths.append(backend.seconds / 50)

    benchmark.pedantic(run, rounds=3, warmup_rounds=1)
    files = len(list((tmp_path / "0").rglob("*.parquet")))
    report(benchmark, files=files, overhead_percent=100 * min(shares), must_reach="under 5", seconds_per_run=min(lengths))


@pytest.fixture(scope="module", params=[10, 5])
def finished(request, tmp_path_factory):
    """The files of 200 cells x 50 seeds, 200 points each; what is in them is made up."""
    cells = [Cell.make(env_settings={"horizon": 20, "switch": n / 1000}, episodes=50_000, **RUN) for n in range(200)]
    store = Store(tmp_path_factory.mktemp("finished") / "out", create=True)
    draws = np.random.default_rng(0)
    _, run = machinery.compute(machinery.Block(dataclasses.replace(cells[0], episodes=200), tuple(range(request.param))))
    for cell in cells:
        for first in range(0, 50, request.param):
            seeds = list(range(first, first + request.param))
            store.write(cell, dataclasses.replace(run, seeds=seeds, average_reward=draws.random(run.average_reward.shape)))
    return store.folder, cells


@pytest.mark.benchmark(group="sweep: resuming 10,000 finished runs")
def test_resume(benchmark, finished):
    """Every byte of every file is checked, and all results are loaded."""
    folder, cells = finished
    frame = benchmark.pedantic(machinery.sweep, args=(cells, 50, folder), kwargs={"backend": Local(1)}, rounds=3)
    assert len(frame) == 10_000 * 200
    files = len(list(folder.rglob("*.parquet")))
    report(benchmark, files=files, seconds=best_seconds(benchmark) or float("nan"), must_reach="under 5 s")
