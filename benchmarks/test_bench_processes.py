"""What a whole process costs: import, compilation, first result, memory.

Seconds depend on the machine, so they are reported beside the figure to reach and not asserted.
"""

import sys

import pytest
from conftest import best_seconds, process, report

IMPORT = """
    import time
    begin = time.perf_counter()
    import numba
    middle = time.perf_counter()
    import fasturl
    end = time.perf_counter()
    print(json.dumps({"numba_seconds": middle - begin, "fasturl_seconds_beyond_numba": end - middle}))
"""

FIRST_RESULT = """
    import fasturl as fu
    run = fu.train(fu.LockBernoulli(20, 0.2), fu.OracleQ(), episodes=100)
    print(json.dumps({"average_reward": run.average_reward[0, -1]}))
"""

FIRST_RESULT_OF_THE_COMMAND = """
    import sys
    from fasturl.cli.main import main
    command = "train lock-bernoulli --switch 0.2 --agent oracleq-lat --episodes 100 --seeds 1 --json -"
    sys.argv = ["fasturl", *command.split()]
    main()
"""

FIRST_RUN_OF_URL = """
    import time
    import fasturl as fu
    seconds = []
    for _ in range(2):
        begin = time.perf_counter()
        fu.train(fu.LockBernoulli(5), fu.URL(), episodes=100)
        seconds.append(time.perf_counter() - begin)
    print(json.dumps({"first_run_seconds": seconds[0], "second_run_seconds": seconds[1]}))
"""

FIFTY_SEEDS = """
    import fasturl as fu
    run = fu.train(fu.LockBernoulli(20, 0.2), fu.OracleQ(), episodes=50_000, seeds=50)
    figures = {"train_seconds": run.wall_seconds, "success_rate": run.success_rate}
    print(json.dumps({**figures, "peak_megabytes": peak_megabytes()}))
"""


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache folder that holds the kernels of a training run."""
    folder = tmp_path_factory.mktemp("cache")
    process(FIRST_RESULT, FASTURL_CACHE_DIR=str(folder))
    return folder


@pytest.mark.benchmark(group="process: import")
def test_import(benchmark, warm):
    figures = []
    benchmark.pedantic(
        lambda: figures.append(process(IMPORT, FASTURL_CACHE_DIR=str(warm))), rounds=5, warmup_rounds=1
    )
    report(
        benchmark,
        **min(figures, key=lambda one: one["fasturl_seconds_beyond_numba"]),
        must_reach="0.2 s beyond numba",
    )


@pytest.mark.benchmark(group="process: first result")
def test_first_result_ever_compiling_included(benchmark, tmp_path):
    folders = iter(range(2))
    benchmark.pedantic(
        lambda: process(FIRST_RESULT, FASTURL_CACHE_DIR=str(tmp_path / str(next(folders)))), rounds=2
    )
    report(benchmark, seconds=best_seconds(benchmark), must_reach="20 s")


@pytest.mark.parametrize(
    "program", [FIRST_RESULT, FIRST_RESULT_OF_THE_COMMAND], ids=["python", "command line"]
)
@pytest.mark.benchmark(group="process: first result")
def test_first_result_of_a_later_process(benchmark, warm, program):
    benchmark.pedantic(process, args=(program,), kwargs={"FASTURL_CACHE_DIR": str(warm)}, rounds=5)
    report(benchmark, seconds=best_seconds(benchmark), must_reach="2 s")


@pytest.mark.benchmark(group="process: first result")
def test_first_run_of_url_in_a_later_process(benchmark, warm):
    """Beyond what its second run takes, the first one loads kernels and what they need."""
    figures = []
    benchmark.pedantic(
        lambda: figures.append(process(FIRST_RUN_OF_URL, FASTURL_CACHE_DIR=str(warm))),
        rounds=5,
        warmup_rounds=1,
    )
    report(benchmark, **min(figures, key=lambda one: one["first_run_seconds"]))


@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak memory in /proc")
@pytest.mark.benchmark(group="process: 50 seeds x 50,000 episodes")
def test_fifty_seeds(benchmark, warm):
    figures = []
    benchmark.pedantic(lambda: figures.append(process(FIFTY_SEEDS, FASTURL_CACHE_DIR=str(warm))), rounds=2)
    report(
        benchmark,
        **max(figures, key=lambda one: one["peak_megabytes"]),
        must_reach="a few seconds, 400 MB",
    )
