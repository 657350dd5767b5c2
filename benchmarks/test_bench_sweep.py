"""What the machinery of sweeps costs: ids, plan, files, progress, and finding everything again when a sweep
is resumed."""

import dataclasses
import itertools
import sys

import numpy as np
import pytest
from conftest import best_seconds, process, report

from fasturl._base.workers import available_cores
from fasturl.experiments import Cell
from fasturl.experiments.running import sweeping as machinery
from fasturl.experiments.running.backends import Local
from fasturl.experiments.running.store import Store

RUN = {"env": "lock-bernoulli", "agent": "oracleq-lat", "agent_settings": {}}


OVERHEAD = 1.05

COSTS = """
    import resource
    import time

    from joblib.externals.loky import get_reusable_executor

    def costs(begin):
        seconds = time.perf_counter() - begin
        get_reusable_executor().shutdown()  # what the workers used is known when they have ended
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return {"seconds": seconds, "processor_seconds": sum(one.ru_utime + one.ru_stime for one in used)}
"""

BARE_LOOP = f"""{COSTS}
    from joblib import Parallel, delayed

    import fasturl as fu
    from fasturl._base.workers import available_cores

    def play(switch, seeds):
        lock = fu.LockBernoulli(20, switch)
        run = fu.train(lock, fu.OracleQ(), episodes=200_000, seeds=seeds, n_jobs=1, progress=False)
        return len(seeds), run.wall_seconds / len(seeds)

    begin = time.perf_counter()
    blocks = [(n / 100, range(first, first + 5)) for n in range(20) for first in range(0, 50, 5)]
    runs, lengths = zip(*Parallel(available_cores())(delayed(play)(*block) for block in blocks))
    print(json.dumps(costs(begin) | dict(runs=sum(runs), shortest=min(lengths))))
"""

SWEEP = f"""{COSTS}
    import os

    from fasturl.experiments import Cell, sweep

    begin = time.perf_counter()
    locks = [dict(horizon=20, switch=n / 100) for n in range(20)]
    cells = [Cell.make("lock-bernoulli", lock, "oracleq-lat", dict(), 200_000) for lock in locks]
    frame = sweep(cells, 50, os.environ["OUT"], progress=True)
    print(json.dumps(costs(begin) | dict(runs=len(frame.drop_duplicates(["cell", "seed"])))))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="processor seconds are asked for as Unix counts them")
@pytest.mark.benchmark(group="sweep: machinery beside the runs")
def test_overhead(benchmark, tmp_path):
    """A sweep of 1,000 runs of 0.1 s or longer in the default worker processes, beside a bare loop over the
    same runs in as many processes.

    The sweep has ids, a plan, files, a bar of progress on a terminal, and all its results loaded in the end;
    the loop keeps nothing. Both are processes of their own that start their workers inside the timing. What
    processors did is asserted: time on the clock belongs to everything that runs on the machine.
    """
    bare, swept = [], []

    def sweep_them():
        swept.append(
            process(SWEEP, OUT=str(tmp_path / str(len(swept))), FORCE_COLOR="1")
        )  # the bar moves as on a terminal

    benchmark.pedantic(sweep_them, setup=lambda: bare.append(process(BARE_LOOP)), rounds=2)
    assert {side["runs"] for side in bare + swept} == {1_000}
    clock, processors = (
        min(side[cost] for side in swept) / min(side[cost] for side in bare)
        for cost in ("seconds", "processor_seconds")
    )
    files, shortest = len(list((tmp_path / "0").rglob("*.parquet"))), min(side["shortest"] for side in bare)
    figures = {
        "ratio_of_processor_seconds": processors,
        "ratio_of_seconds": clock,
        "must_stay_below": OVERHEAD,
    }
    report(benchmark, **figures, seconds_of_the_shortest_run=shortest, files=files)
    assert processors < OVERHEAD


SECOND_WORKER = {
    "LockBernoulli": {"env": "lock-bernoulli", "env_settings": {"horizon": 20, "switch": 0.2}},
    "LockGaussian": {"env": "lock-gaussian", "env_settings": {"horizon": 20, "switch": 0.2, "noise": 0.2}},
}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("name", SECOND_WORKER)
def test_second_worker(benchmark, reference_rates, tmp_path, name, n_jobs):
    """60 runs of URL in processes, which share no lock of Python's. Reported and not asserted, as that of
    threads is."""
    benchmark.group = f"sweep: 60 runs of URL by number of workers, {name}"
    cell = Cell.make(agent="url", agent_settings={}, episodes=50_000, **SECOND_WORKER[name])
    folders = (tmp_path / str(n) for n in itertools.count())

    def sweep_seeds(seeds):
        machinery.sweep([cell], seeds, next(folders), n_jobs=n_jobs, progress=False)

    def start_workers():
        sweep_seeds(range(100, 110))
        return (60,), {}

    benchmark.pedantic(sweep_seeds, setup=start_workers, rounds=3)
    if seconds := best_seconds(benchmark):
        if n_jobs == 1:
            reference_rates["one process", name] = 60 / seconds
        elif ("one process", name) in reference_rates:
            ratio = 60 / seconds / reference_rates["one process", name]
            report(benchmark, ratio_to_one_worker=ratio, must_reach=1.9, cores=available_cores())


@pytest.fixture(scope="module", params=[10, 5])
def finished(request, tmp_path_factory):
    """The files of 200 cells x 50 seeds, 200 points each; what is in them is made up."""
    cells = [
        Cell.make(env_settings={"horizon": 20, "switch": n / 1000}, episodes=50_000, **RUN)
        for n in range(200)
    ]
    store = Store(tmp_path_factory.mktemp("finished") / "out", create=True)
    draws = np.random.default_rng(0)
    _, run, made_with, _ = machinery.compute(
        machinery.SeedBlock(dataclasses.replace(cells[0], episodes=200), tuple(range(request.param)))
    )
    for cell in cells:
        for first in range(0, 50, request.param):
            seeds = list(range(first, first + request.param))
            store.write(
                cell,
                dataclasses.replace(run, seeds=seeds, average_reward=draws.random(run.average_reward.shape)),
                made_with,
            )
    return store.folder, cells


@pytest.mark.benchmark(group="sweep: resuming 10,000 finished runs")
def test_resume(benchmark, finished):
    """Every byte of every file is checked, and all results are loaded."""
    folder, cells = finished
    frame = benchmark.pedantic(
        machinery.sweep, args=(cells, 50, folder), kwargs={"backend": Local(1)}, rounds=3
    )
    assert len(frame) == 10_000 * 200
    files = len(list(folder.rglob("*.parquet")))
    report(benchmark, files=files, seconds=best_seconds(benchmark) or float("nan"), must_reach="under 5 s")
