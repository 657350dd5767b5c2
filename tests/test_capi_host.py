"""C programs for real: built against the header and the library, run, and equal to Python bit for bit."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import fasturl as fu
from fasturl.agents import latent_labels
from fasturl.capi import HEADER, embed, header
from fasturl.cli import app
from fasturl.learners import Task
from fasturl.streams import Streams

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "oracleq.c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]

needs_shared_python = pytest.mark.skipif(
    not sysconfig.get_config_var("Py_ENABLE_SHARED"), reason="this Python has no shared library to embed"
)


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with libfasturl in it."""
    made = tmp_path_factory.mktemp("lib")
    assert embed.build(made) == made / embed.LIBRARY
    return made


@pytest.fixture(scope="session")
def host(folder):
    program = folder / "oracleq"
    subprocess.run(["cc", *STRICT, "-g", str(EXAMPLE), *embed.cflags(), *embed.libs(folder), "-o", str(program)], check=True)
    return program


def python_s(horizon, switch, episodes, seed):
    """The lines that the program must print."""
    streams = Streams(seed)
    model = fu.LockBernoulli(horizon, switch).draw(streams)
    memory = fu.OracleQ().start(Task(horizon, 3, 4, 1.0, episodes, streams.row("policy")))
    returns = np.empty(episodes)
    memory.learn(model.dynamics, latent_labels(episodes, horizon, 3), streams.row("dynamics"), returns)
    return [float(returns.sum()), 0.5, *memory.q.ravel().tolist()]


def numbers(output):
    return [float.fromhex(line.split()[-1]) for line in output.splitlines()]


@needs_shared_python
@pytest.mark.parametrize("case", [(4, 0.2, 700, 7), (20, 0.0, 300, 0), (3, 0.5, 1000, 2**63)])
def test_a_c_program_trains_as_python_does(host, case):
    done = subprocess.run([host, *map(str, case)], check=True, capture_output=True, text=True)
    assert numbers(done.stdout) == python_s(*case)
    assert done.stderr == ""


@needs_shared_python
def test_a_c_program_is_told_what_is_wrong(host):
    done = subprocess.run([host, "4", "1.5", "10", "7"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "lock: a number is not finite, or not in its interval\n")


@needs_shared_python
def test_a_library_that_cannot_load_the_package_gives_a_status(host, tmp_path):
    """An unfit package stands before ours: the table is null, and nothing crashes."""
    (tmp_path / "fasturl").mkdir()
    (tmp_path / "fasturl" / "__init__.py").write_text("raise ImportError('not this one')")
    done = subprocess.run([host, "4", "0.2", "10", "7"], env=os.environ | {"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True)
    assert done.returncode == 1
    assert "not this one" in done.stderr


@needs_shared_python
@pytest.mark.skipif(not shutil.which("valgrind"), reason="valgrind is not installed")
def test_the_program_s_own_memory_is_clean_under_valgrind(host):
    """Errors count where our program or the functions of the table are on the stack; the interpreter's own are not ours to judge."""
    command = ["valgrind", "--error-exitcode=0", "--xml=no", "--num-callers=40", "--leak-check=no", "--undef-value-errors=no", str(host)]
    settings = os.environ | {"PYTHONMALLOC": "malloc"}
    try:
        done = subprocess.run([*command, "2", "0.2", "20", "7"], env=settings, capture_output=True, text=True, timeout=240)
    except subprocess.TimeoutExpired:
        pytest.skip("the interpreter takes too long under valgrind here")
    if done.returncode != 0:
        why = next((line for line in done.stderr.splitlines() if line.startswith("valgrind:")), f"exit code {done.returncode}")
        pytest.skip(f"the interpreter does not run under valgrind here: {why}")
    assert numbers(done.stdout) == python_s(2, 0.2, 20, 7)
    assert own_errors(done.stderr) == []


def own_errors(stderr):
    """The reports of valgrind that have our program on the stack. A line with nothing but the process's number ends a report."""
    reports = [block for block in re.split(r"^==\d+== *$", stderr, flags=re.MULTILINE) if "Invalid " in block]
    return [report for report in reports if "oracleq" in report or "libfasturl" in report]


def test_valgrind_s_reports_are_told_apart():
    head = "==7== Command: ./oracleq 2\n==7== \n"
    theirs = "==7== Invalid read of size 4\n==7==    at 0x1: unicode_dealloc (in /usr/lib/libpython3.so)\n==7== \n"
    ours = "==7== Invalid write of size 8\n==7==    at 0x2: main (oracleq.c:20)\n"
    assert own_errors(head + theirs + "==7== \n") == []
    assert [report.strip() for report in own_errors(head + theirs + ours + "==7== \n" + theirs)] == [ours.strip()]


@needs_shared_python
def test_the_program_is_clean_under_the_sanitizers(folder):
    program = folder / "oracleq_sanitized"
    checks = ["-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
    build = ["cc", *STRICT, *checks, str(EXAMPLE), *embed.cflags(), *embed.libs(folder), "-o", str(program)]
    built = subprocess.run(build, capture_output=True, text=True)
    if built.returncode != 0:
        pytest.skip(f"the compiler has no sanitizers here: {built.stderr.strip()}")
    settings = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}  # the interpreter keeps memory until the process ends
    done = subprocess.run([program, "4", "0.2", "50", "7"], env=settings, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert numbers(done.stdout) == python_s(4, 0.2, 50, 7)


# --- the table handed to C that runs inside Python -----------------------------------------------------------------

GUEST = r"""
#define FASTURL_NO_PROTOTYPES
#include "fasturl.h"

double chance_of_first(const fasturl_table *table, uint64_t seed, int64_t horizon, double *memory, int64_t length)
{
    uint64_t stream[4];
    uint32_t name = FASTURL_STREAM_LOCK;
    if (table->abi_major != FASTURL_ABI_MAJOR || table->size < sizeof(fasturl_table))
        return -1.0;
    if (table->seed_stream(seed, &name, 1, stream, 4) || table->draw_lock(stream, 4, horizon, 0.3, memory, length))
        return -2.0;
    return memory[0];
}
"""


def test_c_code_inside_python_is_handed_the_table(tmp_path):
    (tmp_path / "guest.c").write_text(GUEST)
    subprocess.run(
        ["cc", *STRICT, "-shared", "-fPIC", f"-I{HEADER.parent}", str(tmp_path / "guest.c"), "-o", tmp_path / "guest.so"], check=True
    )
    from fasturl.capi import ffi, table

    other = type(ffi)()
    other.cdef("double chance_of_first(const void *table, uint64_t seed, int64_t horizon, double *memory, int64_t length);")
    guest, out = other.dlopen(str(tmp_path / "guest.so")), np.zeros((5, 3, 4, 3))
    memory = other.from_buffer("double[]", out)
    assert guest.chance_of_first(other.cast("void *", table()), 7, 5, memory, out.size) == out[0, 0, 0, 0]
    assert np.array_equal(out, fu.LockBernoulli(5, 0.3).instance(7).transitions)


def test_calls_from_many_threads_do_not_disturb_each_other():
    from c_face import Training, call, struct

    model = fu.LockBernoulli(4, 0.2).instance(1)
    settings = struct("fasturl_oracleq", learning_rate=0.3, confidence=1e-3, max_return=1.0)
    trainings = [Training(model, latent_labels(8, 4, 3), 3_000, seed) for seed in range(8)]
    threads = [threading.Thread(target=call, args=("train_oracleq", training.struct(), settings)) for training in trainings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed, training in enumerate(trainings):
        alone = Training(model, latent_labels(8, 4, 3), 3_000, seed)
        call("train_oracleq", alone.struct(), settings)
        assert np.array_equal(training.q, alone.q)
    assert not np.array_equal(trainings[0].returns, trainings[1].returns)


# --- the command ---------------------------------------------------------------------------------------------------


def shown(*arguments):
    done = CliRunner().invoke(app, ["capi", *arguments])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()


def test_the_command_prints_the_header_s_path_alone():
    assert shown("--header") == [str(HEADER)]
    assert HEADER.exists()


def test_the_command_prints_what_the_compiler_needs():
    assert shown("--cflags") == [f"-I{HEADER.parent}"]


@needs_shared_python
def test_the_command_builds_the_library_and_prints_what_the_linker_needs(tmp_path):
    assert shown("--build", str(tmp_path)) == [str(tmp_path / embed.LIBRARY)]
    first = (tmp_path / embed.LIBRARY).stat().st_mtime_ns
    flags = shown("--build", str(tmp_path), "--libs")
    assert flags == [f"-L{tmp_path} -lfasturl -Wl,-rpath,{tmp_path}"]
    assert (tmp_path / embed.LIBRARY).stat().st_mtime_ns > first


def test_the_command_wants_to_know_what_to_show(capsys, monkeypatch):
    from fasturl import cli

    monkeypatch.setattr(sys, "argv", ["fasturl", "capi"])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    assert "say what to show" in capsys.readouterr().err


def test_a_python_without_a_shared_library_says_what_is_missing(monkeypatch, tmp_path):
    monkeypatch.setattr(embed.sysconfig, "get_config_var", lambda name: 0)
    with pytest.raises(OSError, match="built as a shared library"):
        embed.build(tmp_path)


@needs_shared_python
def test_a_compiler_that_fails_is_heard(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "cc -fno-such-flag")
    with pytest.raises(OSError, match=r"libfasturl could not be built: .*no-such-flag"):
        embed.build(tmp_path)


@needs_shared_python
@pytest.mark.parametrize("compiler", ["nocompiler", "/dev/null"])
def test_without_a_compiler_the_error_says_how_to_name_one(compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{compiler} -O1")
    with pytest.raises(OSError, match=rf"^libfasturl needs a C compiler .*, and '{compiler}' cannot be run: CC names the compiler$"):
        embed.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_shared_python
def test_an_empty_name_of_a_compiler_is_none(monkeypatch):
    monkeypatch.setenv("CC", " ")
    assert embed._compiler()[0] == "cc"


def test_each_python_environment_has_a_library_of_its_own(monkeypatch, tmp_path):
    """The interpreter and its folders are built into the library: another environment's would load another package."""
    monkeypatch.setattr(embed.binding, "folder", lambda: tmp_path)
    ours = embed.default_folder()
    assert (ours.parent, embed.default_folder()) == (tmp_path, ours)
    paths, variable = sysconfig.get_paths(), sysconfig.get_config_var
    changes = [
        (sys, "version", "3.99.0"),
        (sys, "prefix", "/other"),
        (sysconfig, "get_paths", lambda: paths | {"purelib": "/other/site-packages"}),
        (sysconfig, "get_config_var", lambda name: "/other/lib" if name == "LIBDIR" else variable(name)),
    ]
    found = {ours}
    for change in changes:
        with monkeypatch.context() as patch:
            patch.setattr(*change)
            found.add(embed.default_folder())
    assert len(found) == 1 + len(changes)


def test_every_function_has_a_forwarder():
    text = "".join(embed._forwarders())
    for name, kind in header.FUNCTIONS.items():
        (call,) = [line for line in text.splitlines() if f"table->{name}(" in line]
        assert call.count(",") == len(kind.args) - 1
