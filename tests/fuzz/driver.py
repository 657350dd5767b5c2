"""Plays inputs of one kind in child processes until their number or their time is used up.

A child that dies takes one input with it: the one whose number it wrote down last. That input is a find, and
the next child goes on behind it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE = 600.0
"""Seconds that one input may take before it counts as one that hangs: the first of a kind compiles."""
PROGRESS_BYTES = 2048
"""Size of the file in which a child tells what it plays: a number of 8 bytes, and words."""
_BATCH = 1_000_000
_TESTS = Path(__file__).parents[1]
_UNITS = {"s": 1, "m": 60, "h": 3600}


@dataclass
class Tally:
    """What came of the inputs of one kind."""

    kind: str
    tried: int = 0
    finds: list[dict] = field(default_factory=list)

    def lines(self):
        """In words, with how to play each find again."""
        yield f"{self.kind}: {self.tried:,} inputs, {len(self.finds)} broke something"
        for find in self.finds:
            yield f"  python -m fuzz.child {self.kind} {find['number']}   # {find['input'][:300]}"
            yield from (f"      {line}" for line in find["broken"].splitlines())


def seconds_of(text):
    """A time such as 90s, 30m or 2h in seconds."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh])", text)
    if not match:
        raise ValueError(f"a time must be written as 90s, 30m or 2h, got {text!r}")
    return float(match[1]) * _UNITS[match[2]]


def play_inputs(kind, folder, first, *, count=_BATCH, seconds=1e9):
    """A tally of the inputs `first`, `first` + 1, ... of a kind: so many, or as many as there is time for."""
    tally, end, number = Tally(kind), time.monotonic() + seconds, first
    (folder / "finds").touch()
    while number < first + count and time.monotonic() < end:
        (folder / "progress").write_bytes(number.to_bytes(8).ljust(PROGRESS_BYTES, b" "))
        left = (first + count - number, end - time.monotonic())
        reason = _run_child([kind, number, *left, folder], folder)
        progress = (folder / "progress").read_bytes()
        reached, words = int.from_bytes(progress[:8]), progress[8:].decode(errors="replace").strip()
        if reason:
            last_words = (folder / "stderr").read_text(errors="replace")[-1500:]
            if not words:
                raise RuntimeError(f"the child {reason} before it had an input\n{last_words}")
            crash = {"number": reached, "input": words, "broken": f"{reason}\n{last_words}"}
            tally.finds.append(crash)
            reached += 1
        tally.tried += reached - number
        number = reached
    tally.finds += [json.loads(line) for line in (folder / "finds").read_text().splitlines()]
    return tally


def _run_child(words, folder):
    """Why a child ended, empty where all is well."""
    path = os.pathsep.join([str(_TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONHASHSEED": "0", "MPLBACKEND": "Agg"}
    with open(folder / "stderr", "wb") as stderr:
        child = subprocess.Popen(
            [sys.executable, "-m", "fuzz.child", *map(str, words)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
    last, since = b"", time.monotonic()
    try:
        while child.poll() is None:
            now = (folder / "progress").read_bytes()[:8]
            if now != last:
                last, since = now, time.monotonic()
            if time.monotonic() - since > PATIENCE:
                return f"hangs: no answer after {PATIENCE:.0f} seconds"
            time.sleep(0.05)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    if child.returncode < 0:
        return f"ended by {signal.Signals(-child.returncode).name}"
    return f"ended with exit code {child.returncode}" if child.returncode else ""
