"""The same sweep on a real Dask cluster: two worker processes behind a scheduler on the loopback device."""

import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pandas as pd
import pytest

from fasturl.experiments import Cell, Dask, load, sweep
from fasturl.experiments.running import backends
from fasturl.experiments.running import sweeping as machinery

distributed = pytest.importorskip("distributed", reason="Dask is not installed")

pytestmark = pytest.mark.filterwarnings(
    "ignore:Creating scratch directories"
)  # of a busy disk; only what a sweep does is judged here

CELLS = [
    *(
        Cell.make("lock-bernoulli", {"horizon": 5}, "oracleq-lat", {"confidence": n / 1000}, 20_000)
        for n in range(1, 9)
    ),
    Cell.make("lock-gaussian", {"horizon": 3}, "url", {}, 400),
]
SEEDS = range(30, 54)


@pytest.fixture(scope="module")
def cluster():
    # Its own threads log late clocks and connections that end.
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as made:
        yield made


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(machinery, "_BLOCK_SEEDS", 4)


def test_a_worker_that_is_killed_changes_nothing(cluster, tmp_path):
    remote, local = tmp_path / "remote", tmp_path / "local"

    class LosesAWorker(Dask):
        def map(self, function, items):
            for number, result in enumerate(super().map(function, items)):
                if number == 1:  # the other results are being computed, or wait in the memory of the workers
                    os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
                yield result

    frame = sweep(CELLS, SEEDS, remote, backend=LosesAWorker(cluster.scheduler_address, timeout=60))
    expected = sweep(CELLS, SEEDS, local, n_jobs=1)
    pd.testing.assert_frame_equal(frame, expected, check_exact=True)
    for column in ("average_reward", "value", "value_error"):
        assert frame[column].to_numpy().tobytes() == expected[column].to_numpy().tobytes()


COMMAND = """
import math
from fasturl.cli.main import main
from fasturl.experiments.running import sweeping

sweeping.LINE_SECONDS = math.inf  # says nothing, however slow it is
main()
"""


def test_the_command_computes_on_the_cluster(cluster, tmp_path):
    spec = tmp_path / "spec.toml"
    spec.write_text(
        "episodes = 50\nseeds = 2\n"
        'env = {name = "lock-bernoulli", horizon = 2}\nagent = {name = "oracleq-lat"}'
    )
    words = ["sweep", str(spec), "--out", str(tmp_path / "out"), "--dask", cluster.scheduler_address]
    done = subprocess.run(
        [sys.executable, "-P", "-c", COMMAND, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 runs computed" in done.stdout
    assert load(tmp_path / "out")["seed"].unique().tolist() == [0, 1]


def test_what_fails_in_a_worker_fails_here_with_its_reason(cluster):
    with pytest.raises(ValueError, match="invalid literal"):
        list(Dask(cluster.scheduler_address, timeout=60).map(int, ["1", "one"]))


def test_a_scheduler_that_cannot_be_reached_is_known_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match=r"cannot reach a Dask scheduler at tcp://127.0.0.1:9: "):
        sweep(CELLS, SEEDS, tmp_path / "out", backend=Dask("tcp://127.0.0.1:9", timeout=0.5))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b""], ids=["in words", "not at all"])
def test_who_listens_and_is_no_scheduler_is_told_so(answer, tmp_path, monkeypatch):
    """As the port of a dashboard does, or of any other server."""
    monkeypatch.setattr(backends, "_CONNECT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"

        def answer_one():
            connection, _ = server.accept()
            with connection, suppress(ConnectionError):
                connection.sendall(answer)
                connection.recv(1)  # until the other side hangs up

        thread = threading.Thread(target=answer_one)
        thread.start()
        with pytest.raises(
            ValueError, match=rf"^cannot reach a Dask scheduler at {address}: (who|timed out)"
        ):
            sweep(CELLS, SEEDS, tmp_path / "out", backend=Dask(address))
        thread.join()
    assert not list(tmp_path.iterdir())


def test_a_scheduler_without_workers(tmp_path):
    with (
        distributed.LocalCluster(
            n_workers=0, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0", silence_logs=50
        ) as empty,
        pytest.raises(ValueError, match=r"the Dask scheduler at tcp://127.0.0.1:\d+ has no workers"),
    ):
        sweep(CELLS, SEEDS, tmp_path / "out", backend=Dask(empty.scheduler_address, timeout=0.5))
    assert not list(tmp_path.iterdir())
