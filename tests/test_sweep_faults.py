"""Sweeps whose processes are killed: running them again completes the missing work, and nothing tells that
there was a fault."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
import pytest

from fasturl.experiments import load, read_spec, sweep

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds the processes to kill in /proc")

SPEC = f"""
seeds = 25
episodes = 10_000
env = {{name = "lock-bernoulli", horizon = 5}}
agent = {{name = "oracleq-lat", confidence = {[n / 1000 for n in range(1, 25)]}}}
"""
PATIENCE = 120


@pytest.fixture(scope="module")
def spec(tmp_path_factory):
    path = tmp_path_factory.mktemp("spec") / "spec.toml"
    path.write_text(SPEC)
    return path


@pytest.fixture(scope="module")
def undisturbed(spec, tmp_path_factory):
    described = read_spec(spec)
    return sweep(described.cells, described.seeds, tmp_path_factory.mktemp("undisturbed") / "out", n_jobs=1)


COMMAND = """
import math, sys, time
from pathlib import Path
from fasturl.cli.main import main
from fasturl.experiments.running import sweeping

compute, tickets = sweeping.compute, Path(sys.argv.pop(1))

def compute_with_a_ticket(block):
    while True:
        for ticket in tickets.iterdir():
            try:
                ticket.unlink()
            except FileNotFoundError:  # the other worker was faster
                continue
            return compute(block)
        time.sleep(0.01)

sweeping.compute = compute_with_a_ticket
sweeping.LINE_SECONDS = math.inf
main()
"""
"""A worker computes a block only with a ticket, so a sweep that is to be killed cannot be too fast for it; a
slow one says nothing more."""


class Sweep:
    """The command in a process group of its own, as a terminal starts it. It computes so many blocks, and
    waits."""

    def __init__(self, spec, out, n_jobs, blocks):
        self.tickets = Path(tempfile.mkdtemp(dir=out.parent))
        self.allow(range(blocks))
        command = [
            sys.executable,
            "-P",
            "-c",
            COMMAND,
            str(self.tickets),
            "sweep",
            str(spec),
            "--out",
            str(out),
            "--n-jobs",
            str(n_jobs),
        ]
        self.out = out
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
        )

    def allow(self, tickets):
        for ticket in tickets:
            (self.tickets / str(ticket)).touch()

    def wait_for_files(self, count):
        end = time.monotonic() + PATIENCE
        while len(files(self.out)) < count:
            assert time.monotonic() < end
            assert self.process.poll() is None, self.process.communicate()
            time.sleep(0.005)

    def workers(self):
        return [
            int(process.name)
            for process in Path("/proc").iterdir()
            if process.name.isdigit() and is_worker(process, self.process.pid)
        ]

    def end(self):
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def kill(self):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


@pytest.fixture
def start():
    """Starts a sweep that does not outlive the test, whatever fails in it."""
    started = []

    def start(*words, **settings):
        started.append(Sweep(*words, **settings))
        return started[-1]

    yield start
    for running in started:
        running.kill()


def is_worker(process, parent):
    try:
        return (
            f"\nPPid:\t{parent}\n" in (process / "status").read_text()
            and "popen_loky" in (process / "cmdline").read_text()
        )
    except OSError:
        return False  # has just ended


def files(out):
    return sorted(out.glob("results/*/*.parquet"))


def is_gone(process):
    """Or has ended, and waits for a parent to ask how: orphans wait for ever where process 1 does not ask."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return True


def wait_until_gone(processes):
    end = time.monotonic() + PATIENCE
    while not all(map(is_gone, processes)):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_sweep_that_is_killed_again_and_again_ends_as_if_undisturbed(spec, undisturbed, start, tmp_path):
    out = tmp_path / "out"

    running = start(spec, out, n_jobs=2, blocks=2)
    running.wait_for_files(2)
    orphans = running.workers()
    assert len(orphans) == 2
    running.process.kill()
    assert running.end()[0] == -signal.SIGKILL
    wait_until_gone(orphans)
    kept = {path: path.stat().st_mtime_ns for path in files(out)}
    assert len(kept) == 2

    running = start(spec, out, n_jobs=2, blocks=3)
    running.wait_for_files(5)
    os.kill(running.workers()[0], signal.SIGKILL)
    assert running.end() == (
        2,
        "",
        "fasturl: a worker process died (killed, or out of memory): what was written is kept, "
        "and the same command continues from there\n",
    )
    assert len(files(out)) == 5

    running = start(spec, out, n_jobs=2, blocks=4)
    running.wait_for_files(9)
    workers = running.workers()
    os.killpg(running.process.pid, signal.SIGINT)
    assert running.end() == (130, "", "fasturl: interrupted\n")
    wait_until_gone(workers)
    assert len(files(out)) == 9

    both = [start(spec, out, n_jobs=1, blocks=15), start(spec, out, n_jobs=1, blocks=15)]
    assert [running.end()[0] for running in both] == [0, 0]
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert not (out / "damaged").exists()
    assert not list(out.glob(".draft-*"))
    pd.testing.assert_frame_equal(load(out), undisturbed)


def test_a_lost_terminal_is_answered_as_an_interrupt_is(spec, start, tmp_path):
    """It is told to all processes of the sweep, those that clean up after it among them."""
    running = start(spec, tmp_path / "out", n_jobs=2, blocks=2)
    running.wait_for_files(2)
    workers = running.workers()
    os.killpg(running.process.pid, signal.SIGHUP)
    assert running.end() == (130, "", "fasturl: interrupted\n")
    wait_until_gone(workers)
    assert len(files(running.out)) == 2


def test_an_interrupt_is_answered_by_the_parent_alone(spec, undisturbed, start, tmp_path):
    """A terminal sends Ctrl-C to workers too, whatever they are doing: they leave it to their parent, which
    ends them."""
    running = start(spec, tmp_path / "out", n_jobs=2, blocks=2)
    running.wait_for_files(2)
    for worker in running.workers():
        os.kill(worker, signal.SIGINT)
    running.allow(range(2, 24))
    code, _, err = running.end()
    assert (code, err) == (0, "")
    pd.testing.assert_frame_equal(load(tmp_path / "out"), undisturbed)


KILLED_WHILE_WRITING = """
import os, signal, sys
from fasturl.experiments import read_spec, sweep

described = read_spec(sys.argv[1])

def die_at(name, call):
    real = getattr(os, name)
    calls = iter(range(1, 1000))

    def dying(*words, **options):
        if next(calls) == call:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*words, **options)

    setattr(os, name, dying)

for moment in sys.argv[3:]:
    name, call = moment.split(":")
    if (child := os.fork()) == 0:
        die_at(name, int(call))
        sweep(described.cells, described.seeds, sys.argv[2], n_jobs=1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    print(status, len([name for name in os.listdir(sys.argv[2]) if name.startswith(".draft-")]))
"""


def test_killed_at_every_step_of_writing_a_file(spec, undisturbed, tmp_path):
    """The first two moments fall on the folder's own file; the calls to unlink are those that remove a draft
    of the one before."""
    moments = [
        "fsync:1",
        "replace:1",
        "chmod:2",
        "fsync:2",
        "replace:1",
        "unlink:1",
        "unlink:3",
        "fsync:3",
        "replace:4",
    ]
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-P", "-c", KILLED_WHILE_WRITING, spec, out, *moments],
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    statuses, drafts = zip(*(map(int, line.split()) for line in done.stdout.splitlines()), strict=True)
    assert statuses == (signal.SIGKILL,) * len(moments)
    assert drafts == (1, 1, 1, 1, 1, 1, 0, 1, 1)  # each start removes what the one before has left
    described = read_spec(spec)
    pd.testing.assert_frame_equal(sweep(described.cells, described.seeds, out, n_jobs=1), undisturbed)
    assert not (out / "damaged").exists()
    assert not list(out.glob(".draft-*"))


LEAVE = """
import os, threading, time
from fasturl.experiments.running.backends import Local

results = Local(2).map(time.sleep, [5, 5, 5])
threading.Timer(1.5, os._exit, [130]).start()
next(results)
"""


def test_what_an_interrupted_sweep_leaves_is_removed_without_a_word():
    """Semaphores and folders of workers, by processes that outlive it for a moment."""
    done = subprocess.run([sys.executable, "-P", "-c", LEAVE], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
