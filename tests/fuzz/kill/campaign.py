"""One sweep after another is disturbed at a random moment, and the next ones go on where it was.

After some disturbances of one folder an undisturbed sweep ends the work. Then its table is that of a sweep
that was never disturbed, bit for bit; every file that was there after a disturbance is still there,
unchanged; no process of a disturbed sweep is alive; and nothing lies about, in the folder or among temporary
files.
"""

import contextlib
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pandas as pd

from fasturl.experiments import load

from .cluster import Cluster
from .disks import small_disk
from .sweep_process import SweepProcess, wait_until_gone

SPEC = """
seeds = 16
episodes = 15_000
points = 20
env = {name = "lock-bernoulli", horizon = 6}
agent = {name = "oracleq-lat", confidence = [0.001, 0.002, 0.003, 0.004]}
"""
LOCAL, ALONE = ("--n-jobs", "2"), ("--n-jobs", "1")
SMALL, LARGE = 96, 4096
"""Kilobytes of a disk that is full before the sweep ends, and of one that is not."""


class KillCampaign:
    """Disturbs sweeps; `tally` counts how often in which way.

    at_a_folder
        Disturbances of one folder before its sweep is run to the end.
    tell
        Called with a line whenever a folder is finished.
    """

    def __init__(self, folder, seed, at_a_folder, tell=lambda line: None):
        self.tell = tell
        self.folder, self.chance, self.at_a_folder = folder, random.Random(f"kills/{seed}"), at_a_folder
        self.spec = folder / "spec.toml"
        self.spec.write_text(SPEC)
        self.tally, self.ended_before, self.finished = Counter(), 0, 0
        self.cluster = Cluster(self._fresh("cluster"))
        self.table, self.seconds = None, {}
        self.processes = set()

    def _fresh(self, name):
        path = self.folder / f"{name}-{time.time_ns()}"
        path.mkdir()
        return path

    def measure(self, words, kind):
        """Run a sweep that nobody disturbs, for its table and its time."""
        place, begin = self._fresh("undisturbed"), time.monotonic()
        self._finish(place / "out", place, words)
        self.seconds[kind] = time.monotonic() - begin
        table = load(place / "out")
        if self.table is None:
            self.table = table
        assert_same_bits(table, self.table)

    def run(self, kills, ways):
        """So many disturbances, in these ways by turns."""
        self.measure(LOCAL, "local")
        if any(way.startswith("dask") for way in ways):
            self.cluster.start()
            self.measure(("--dask", self.cluster.address), "dask")
        try:
            turn = 0
            while sum(self.tally.values()) < kills:
                left = kills - sum(self.tally.values())
                self._disturb_a_folder(ways[turn % len(ways)], min(self.at_a_folder, left))
                turn += 1
        finally:
            self.cluster.end()

    def _disturb_a_folder(self, way, count):
        place = self._fresh(way.replace(" ", "-"))
        with contextlib.ExitStack() as stack:
            disk, resize = place / "disk", None
            if way == "full disk":
                resize = stack.enter_context(small_disk(disk, SMALL))
            else:
                disk.mkdir()
            out, kept = disk / "out", {}
            for _ in range(count):
                if self._disturb(way, out, place):
                    self.tally[way] += 1
                else:
                    self.ended_before += 1
                    break
                now = stored(out)
                assert kept.items() <= now.items(), f"lost or changed: {kept.keys() - now.keys()}"
                kept = now
            if resize:
                resize(LARGE)
            self._finish(out, place, ALONE)
            assert kept.items() <= stored(out).items(), "a file was lost or written again"
            assert_same_bits(load(out), self.table)
            assert_nothing_lies_about(out, place, self.processes)
            self.finished += 1
            self.tell(f"{way}: {dict(self.tally)}, {self.finished} folders finished")

    def _disturb(self, way, out, place):
        """Start a sweep and disturb it at a random moment. Returns whether it had not ended by then."""
        on_dask = way.startswith("dask")
        if on_dask:
            self.cluster.start()
        words = ("--dask", self.cluster.address) if on_dask else LOCAL
        slow = self.chance.randrange(1, 10**6) if way == "slow disk" else 0
        sweep = self._start(out, place, words, slow)
        try:
            if way == "full disk" and self.chance.random() < 0.5:  # it ends by itself
                code, _, err = sweep.end()
                assert (code, "No space left" in err) == (2, True), (code, err)
                assert_one_line(err)
                return True
            kind, begin = "dask" if on_dask else "local", time.monotonic()
            if sweep.wait(self.chance.uniform(0, self.seconds[kind])):
                # the machine is less busy than when the time of a sweep was measured
                self.seconds[kind] = min(self.seconds[kind], time.monotonic() - begin)
                assert_ended_well(sweep.end(), (0, 2) if way == "full disk" else (0,))
                return False
            expected = self._kill(way, sweep)
            assert_ended_well(sweep.end(), expected)
            wait_until_gone(sweep.process.pid)
        finally:
            sweep.end_all()
        return True

    def _start(self, out, place, words, slow=0):
        sweep = SweepProcess(self.spec, out, temporary(place), words=words, slow=slow)
        self.processes.add(sweep.process.pid)
        return sweep

    def _kill(self, way, sweep):
        """SIGKILL of what the way names. Returns the exit codes with which the sweep may end."""
        if way == "dask worker":
            self.cluster.kill_worker(self.chance)
            return (0, 2)
        if way == "dask scheduler":
            self.cluster.kill_scheduler()
            return (0, 2)
        workers = sweep.workers() if way == "a worker" else []
        if workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.chance.choice(workers), signal.SIGKILL)
            return (0, 2)
        sweep.kill()
        return (-signal.SIGKILL,)

    def _finish(self, out, place, words):
        sweep = self._start(out, place, words)
        try:
            assert_ended_well(sweep.end(), (0,))
            wait_until_gone(sweep.process.pid)
        finally:
            sweep.end_all()

    def lines(self):
        """In words."""
        yield f"kills: {sum(self.tally.values())} sweeps were disturbed, {self.ended_before} ended before"
        yield from (f"  {way}: {count}" for way, count in self.tally.items())
        yield f"  {self.finished} folders were finished, each with the table of an undisturbed sweep"


def temporary(place):
    """The folder of temporary files of the sweeps of a place."""
    folder = place / "temporary"
    folder.mkdir(exist_ok=True)
    return folder


def stored(out):
    """The files of results: name, bytes."""
    return {path: path.read_bytes() for path in sorted(out.glob("results/*/*.parquet"))}


def assert_one_line(err):
    lines = err.splitlines()
    waiting = [line for line in lines if line.startswith("the Dask cluster at ")]
    assert len(lines) - len(waiting) <= 1, err
    assert all(line.startswith("fasturl: ") for line in lines if line not in waiting), err


def assert_ended_well(ending, codes):
    code, _, err = ending
    assert code in codes, ending
    if code >= 0:
        assert_one_line(err)
        assert bool(err) or code == 0, ending


def assert_same_bits(table, expected):
    pd.testing.assert_frame_equal(table, expected, check_exact=True)
    for column in ("average_reward", "value", "value_error", "optimal_value"):
        assert table[column].to_numpy().tobytes() == expected[column].to_numpy().tobytes(), column


def assert_nothing_lies_about(out, place, processes):
    """No drafts, no damaged or doubled files, no temporary files, no semaphores of the sweeps."""
    assert sorted(path.name for path in out.iterdir()) == ["fasturl-results.json", "results"]
    strange = [path for path in (out / "results").rglob("*") if path.is_file() and path.suffix != ".parquet"]
    assert not strange, strange
    left = sorted(path.name for path in temporary(place).rglob("*"))
    assert not left, f"temporary files: {left}"
    shared = [path.name for path in Path("/dev/shm").glob("*loky-*")]
    dead = [name for name in shared if int(name.split("-")[1]) in processes]
    assert not dead, f"semaphores of sweeps that have ended: {dead}"
