"""Ctrl-C at any moment from the first instruction of the command on: one line, exit code 130, no drafts.

How soon is not asserted here, since machines differ; a command that would wait for what it is doing would not
end at all.
"""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Timer

import pytest
from _fasturl_command import runs_the_command

from fasturl._base import drafts
from fasturl.cli import interrupts

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")

TRAIN = "train lock-bernoulli --horizon 4 --agent url --episodes 1000000 --seeds 64 --json a.json"
TIMES = "import time:"
"""How the lines begin that Python prints after each import, where it is asked to."""


def start(words, folder, **changes):
    """A process whose interrupts are not ignored, as they are in background jobs, and without a cache."""
    return subprocess.Popen(
        words,
        cwd=folder,
        env=os.environ | {"FASTURL_CACHE_DIR": str(folder / "cache")} | changes,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def files_in(folder):
    """Drafts anywhere, and whatever is there beside the cache."""
    return [*folder.rglob(".*"), *(path for path in folder.iterdir() if path.name != "cache")]


def command():
    script = Path(sys.executable).with_name("fasturl")
    if not script.exists():
        pytest.skip("the command fasturl is not beside this interpreter")
    return str(script)


@pytest.mark.parametrize(
    ("as_module", "n_imports"),
    [*((False, n) for n in (0, 60, 200, 400, 700, 1000)), (True, 0), (True, 500)],
)
def test_ctrl_c_while_the_command_is_imported(as_module, n_imports, tmp_path):
    """From the import of the file that answers, which is the first of the package, so many imports later."""
    words = [sys.executable, "-m", "fasturl"] if as_module else [command()]
    process = start([*words, *TRAIN.split()], tmp_path, PYTHONPROFILEIMPORTTIME="1")
    while "_fasturl_command" not in process.stderr.readline():
        assert process.poll() is None
    for _ in range(n_imports):
        process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    lines = [line for line in errors.splitlines() if not line.startswith(TIMES)]
    assert (process.returncode, lines) == (130, ["fasturl: interrupted"])
    assert not files_in(tmp_path)


@pytest.mark.parametrize("delay", [0.0, 0.4, 1.0, 2.0])
def test_ctrl_c_while_kernels_are_compiled(delay, tmp_path):
    """So many seconds after the draft of the output is there, with an empty cache."""
    process = start([command(), *TRAIN.split()], tmp_path)
    while not list(tmp_path.glob(".fasturl-*")):
        assert process.poll() is None
        time.sleep(0.01)
    interrupt = Timer(delay, process.send_signal, [signal.SIGINT])
    interrupt.start()
    _, errors = process.communicate(timeout=120)
    interrupt.join()
    assert (process.returncode, errors) == (130, "fasturl: interrupted\n")
    assert not files_in(tmp_path)


STUCK = """
import atexit, ctypes, threading, time
from fasturl._base.whole_files import whole_files
from fasturl.cli import main

def stay():
    mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock
    lock(mutex)
    print("there", flush=True)
    lock(mutex)

def wait_for_a_thread():
    thread = threading.Thread(target=stay)
    thread.start()
    thread.join()

def stay_at_the_exit():
    atexit.register(stay)
    print("there", flush=True)
    time.sleep(600)

def command(standalone_mode):
    with whole_files("out.json"):
        CASE()

main.__globals__["app"] = command
main()
"""
"""A command that waits for ever in C, without Python's lock, as LLVM and kernels run."""


@pytest.mark.skipif(sys.platform != "linux", reason="knows how Linux lays out a mutex")
@pytest.mark.parametrize("case", ["stay", "wait_for_a_thread", "stay_at_the_exit"])
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_command_that_cannot_wind_down_is_ended(case, name, tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", STUCK.replace("CASE", case)],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout.readline() == "there\n"
    process.send_signal(getattr(signal, name))
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (130, "fasturl: interrupted\n")
    assert not list(tmp_path.iterdir())


def run_inside(body, folder):
    """Run a body in the place of a command; what it prints and its exit code."""
    program = f"""
import os, signal, sys, weakref
from fasturl.cli import interrupts, main
signal.signal(signal.SIGINT, signal.default_int_handler)
def command():
{body}
main.__globals__["app"] = lambda standalone_mode: command()
main()
"""
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=folder, capture_output=True, text=True, timeout=120
    )
    return done.returncode, done.stdout, done.stderr


INSIDE = {
    "a plain one": "    os.kill(os.getpid(), signal.SIGINT)\n    print('on')",
    "where Python cannot raise it": """
    class Thing: pass
    thing = Thing()
    reference = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del thing
    print('on')""",
    "two at once": """
    try:
        os.kill(os.getpid(), signal.SIGINT)
    finally:
        os.kill(os.getpid(), signal.SIGINT)
        print('on')""",
    "one that is caught by mistake": """
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except BaseException:
        import time
        time.sleep(600)""",
}


@pytest.mark.parametrize("case", INSIDE)
def test_every_interrupt_is_one_line(case, tmp_path):
    assert run_inside(INSIDE[case], tmp_path) == (130, "", "fasturl: interrupted\n")


def test_ignored_interrupts_stay_ignored(tmp_path):
    body = "    os.kill(os.getpid(), signal.SIGINT)\n    print('on')"
    ignoring = "    signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    program = ignoring + "    with interrupts.answered():\n" + body.replace("    ", "        ")
    assert run_inside(program, tmp_path) == (0, "on\n", "")


@pytest.fixture
def handlers():
    """Those of a fresh process: what other tests have started may have set its own, as Ray does."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    fresh = dict.fromkeys(before, signal.SIG_DFL) | {signal.SIGINT: signal.default_int_handler}
    for number, handler in fresh.items():
        signal.signal(number, handler)
    yield fresh
    for number, handler in before.items():
        signal.signal(number, handler)


def test_a_command_leaves_the_handlers_as_they_were(handlers):
    hook, wakeup = sys.unraisablehook, signal.set_wakeup_fd(-1)
    with interrupts.answered():
        assert all(signal.getsignal(number) is not handler for number, handler in handlers.items())
    assert {number: signal.getsignal(number) for number in handlers} == handlers
    assert sys.unraisablehook is hook
    assert signal.set_wakeup_fd(wakeup) == -1


def test_a_handler_of_others_stays(handlers):
    def own(_number, _frame):
        pass

    signal.signal(signal.SIGTERM, own)
    with interrupts.answered():
        assert signal.getsignal(signal.SIGTERM) is own
    assert signal.getsignal(signal.SIGTERM) is own


def test_drafts_are_known_until_they_are_gone(tmp_path):
    draft = tmp_path / "draft"
    with drafts.draft_removed(draft):
        draft.touch()
        drafts.remove_drafts()
        assert not draft.exists()
    drafts.remove_drafts()
    assert not drafts._DRAFTS


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["python", "/usr/bin/fasturl", "train"], True),
        (["python", "-m", "fasturl", "train"], True),
        (["python", "-X", "dev", "-W", "error", "-m", "fasturl"], True),
        (["python", "-m", "pytest", "fasturl"], False),
        (["python", "-c", "import fasturl"], False),
        (["python", "train.py", "fasturl"], False),
        (["python", "-m"], False),
        (["python"], False),
        ([], False),
    ],
)
def test_other_programs_are_left_alone(words, expected):
    assert runs_the_command(words) is expected


def test_no_other_program_imports_the_file_that_answers():
    done = subprocess.run(
        [sys.executable, "-"],
        input="import sys; print('_fasturl_command' in sys.modules)",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
