"""The command `fasturl sweep` as a process that can be killed, and what it may leave behind."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

PATIENCE = 600.0
"""Seconds that a sweep of this campaign, or the end of its processes, may take."""
PROGRAM = """
import json, math, os, random, sys, time

settings = json.loads(sys.argv.pop(1))

if settings["slow"]:
    # a disk on which every step of writing a file takes its time
    chance = random.Random(settings["slow"])

    def slowly(call):
        def slow(*words, **options):
            time.sleep(chance.uniform(0.0, 0.1))
            return call(*words, **options)

        return slow

    for name in ("fsync", "replace", "unlink", "mkdir"):
        setattr(os, name, slowly(getattr(os, name)))

from fasturl.cli.main import main
from fasturl.experiments.running import sweeping

sweeping.LINE_SECONDS = math.inf  # says nothing, however slow it is
sweeping._BLOCK_SEEDS = settings["block_seeds"]
main()
"""


class SweepProcess:
    """A running sweep in a session of its own, with a folder for temporary files of its own."""

    def __init__(self, spec, out, temporary, *, words, slow=0, block_seeds=4):
        settings = json.dumps({"slow": slow, "block_seeds": block_seeds})
        command = [
            sys.executable,
            "-P",
            "-c",
            PROGRAM,
            settings,
            "sweep",
            str(spec),
            "--out",
            str(out),
            *words,
        ]
        environment = os.environ | {"TMPDIR": str(temporary), "JOBLIB_TEMP_FOLDER": str(temporary)}
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,
        )

    def wait(self, seconds):
        """Whether it has ended by then."""
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def end(self):
        """Exit code and what it said."""
        out, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, out, err

    def workers(self):
        """Its worker processes."""
        return [pid for pid in session_members(self.process.pid) if "popen_loky" in command_of(pid)]

    def kill(self):
        """SIGKILL of the command alone: its workers have to find out."""
        self.process.kill()

    def end_all(self):
        """Whatever is left of it, where a test has failed."""
        for pid in session_members(self.process.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def session_members(session):
    """The processes of a session that have not ended."""
    members = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # the name, which may hold anything, stands in brackets
                state, _, _, its_session = (folder / "stat").read_text().rpartition(")")[2].split()[:4]
            except OSError:
                continue  # has just ended
            if int(its_session) == session and state != "Z":
                members.append(int(folder.name))
    return members


def command_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace")
    except OSError:
        return ""


def wait_until_gone(session):
    """AssertionError where a process of the session outlives it."""
    end = time.monotonic() + PATIENCE
    while members := session_members(session):
        assert time.monotonic() < end, f"orphans: {[(pid, command_of(pid)) for pid in members]}"
        time.sleep(0.05)
