"""The process that plays inputs: `python -m fuzz.child KIND FIRST COUNT SECONDS FOLDER`, or with a KIND and a
number alone, to play one input again and see what it is.

Before each input its number, and then its words, are written to `progress`, so that whoever started the
process knows what was played when it died. Inputs that were answered as they may not be go to `finds`, one
JSON text a line.
"""

import faulthandler
import json
import mmap
import os
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
from pathlib import Path

from .driver import PROGRESS_BYTES
from .judgement import Broken
from .kinds import kind_named

_MEMORY = 12 << 30
"""An input that wants more is broken; address space, of which threads and libraries reserve much."""


def play(kind, number, place, tell):
    """Play one input. Returns what broke, empty where nothing did."""
    try:
        kind.play(random.Random(f"{kind.name}/{number}"), place, tell)
    except Broken as broken:
        return str(broken)
    except (Exception, SystemExit):
        return traceback.format_exc(limit=-6)
    return ""


class Progress:
    """The number of the input that is played, and the input in words, for the parent process to read."""

    def __init__(self, path):
        with open(path, "r+b") as file:
            self._memory = mmap.mmap(file.fileno(), PROGRESS_BYTES)
        self.words = ""

    def begin(self, number):
        self.words, self._memory[:] = "", number.to_bytes(8).ljust(PROGRESS_BYTES, b" ")

    def tell(self, words):
        self.words = f"{self.words} {words}".strip()
        text = self.words.encode(errors="replace")[: PROGRESS_BYTES - 8]
        self._memory[8 : 8 + len(text)] = text


def main(name, first, count, seconds, folder):
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    out, end = Path(folder), time.monotonic() + float(seconds)
    kind = kind_named(name)(out)
    progress = Progress(out / "progress")
    place = Path(tempfile.mkdtemp(dir=out, prefix="input-"))
    with open(out / "finds", "a", encoding="utf-8") as finds:
        for number in range(int(first), int(first) + int(count)):
            progress.begin(number)
            broken = play(kind, number, place, progress.tell)
            if broken:
                find = {"number": number, "input": progress.words[:2000], "broken": broken}
                print(json.dumps(find), file=finds, flush=True)
            if os.listdir(place):  # a folder of its own for every input would cost more than most inputs
                shutil.rmtree(place, ignore_errors=True)
                place = Path(tempfile.mkdtemp(dir=out, prefix="input-"))
            if time.monotonic() > end:
                break
        progress.begin(number + 1)
    os._exit(0)  # threads that inputs have left behind are none of our business


def again(name, number):
    place = Path(tempfile.mkdtemp())
    broken = play(kind_named(name)(place), int(number), place, print)
    shutil.rmtree(place, ignore_errors=True)
    print(broken or "nothing broke")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 3 else again(*sys.argv[1:])
