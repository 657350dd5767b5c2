"""A Dask cluster of a scheduler and two workers, each a process that can be killed and started again."""

import os
import subprocess
import sys
import time


class Cluster:
    """Starts and ends its processes; `address` is that of the scheduler."""

    def __init__(self, folder):
        self.folder = folder
        self.scheduler, self.workers, self.address = None, [], ""

    def start(self):
        """A scheduler where there is none, and workers up to two."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.end()
            file = self.folder / f"scheduler-{time.time_ns()}.json"
            self.scheduler = self._process(
                "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", file
            )
            self._wait_for(file)
            self.address = self._address(file)
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < 2:
            self.workers.append(
                self._process("worker", self.address, "--no-nanny", "--nthreads", "1", "--no-dashboard")
            )

    def _process(self, role, *words):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{role}",
            "--host",
            "127.0.0.1",
            *map(str, words),
        ]
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            env=os.environ | {"TMPDIR": str(self.folder)},
            start_new_session=True,
        )

    @staticmethod
    def _address(file):
        import json

        return json.loads(file.read_text())["address"]

    def _wait_for(self, file):
        end = time.monotonic() + 60
        while not (file.exists() and file.read_text().endswith("}")):
            assert time.monotonic() < end, "the scheduler does not start"
            assert self.scheduler.poll() is None, "the scheduler has ended"
            time.sleep(0.05)

    def kill_worker(self, chance):
        chance.choice(self.workers).kill()

    def kill_scheduler(self):
        self.scheduler.kill()

    def end(self):
        for process in (*self.workers, self.scheduler):
            if process is not None:
                process.kill()
                process.wait()
        self.workers = []
