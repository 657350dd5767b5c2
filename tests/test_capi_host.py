"""C programs for real: built against the header and the library, run, and equal to Python bit for bit."""

import ctypes
import errno
import hashlib
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
from c_face import Training, done, needs_cc, needs_shared_python, oracleq, run_program
from strategies import latent_labels
from typer.testing import CliRunner

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.capi import HEADER, embed, header
from fasturl.cli.main import app, main
from fasturl.learners.learner import Task

ROOT = Path(__file__).parents[1]
EXAMPLE = ROOT / "examples" / "oracleq.c"
STRICT = ["-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror"]


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A folder with libfasturl in it."""
    made = tmp_path_factory.mktemp("lib")
    assert embed.build(made) == made / embed.LIBRARY
    return made


@pytest.fixture(scope="session")
def host(folder):
    program = folder / "oracleq"
    subprocess.run(
        ["cc", *STRICT, "-g", str(EXAMPLE), *embed.cflags(), *embed.libs(folder), "-o", str(program)],
        check=True,
    )
    return program


def python_s(horizon, switch, episodes, seed):
    """The lines that the program must print."""
    streams = Streams(seed)
    model = fu.LockBernoulli(horizon, switch).draw(streams)
    memory = fu.OracleQ().start(Task(horizon, 3, 4, 1.0, episodes, streams.row("policy")))
    returns = np.empty(episodes)
    memory.learn_episodes(
        model.dynamics, latent_labels(episodes, horizon, 3), streams.row("dynamics"), returns
    )
    return [float(returns.sum()), 0.5, *memory.tables.q.ravel().tolist()]


def numbers(output):
    return [float.fromhex(line.split()[-1]) for line in output.splitlines()]


@needs_shared_python
@pytest.mark.parametrize("case", [(4, 0.2, 700, 7), (20, 0.0, 300, 0), (3, 0.5, 1000, 2**63)])
def test_a_c_program_trains_as_python_does(host, case):
    ran = run_program(host, *case)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert numbers(ran.stdout) == python_s(*case)


@needs_shared_python
def test_a_c_program_is_told_what_is_wrong(host):
    ran = run_program(host, 4, 1.5, 10, 7)
    assert (ran.returncode, ran.stderr) == (1, "lock: a number is not finite, or not in its interval\n")


@needs_shared_python
def test_a_library_that_cannot_load_the_package_gives_a_status(host, tmp_path):
    """An unfit package stands before ours: the table is null, and nothing crashes."""
    (tmp_path / "fasturl").mkdir()
    (tmp_path / "fasturl" / "__init__.py").write_text("raise ImportError('not this one')")
    ran = run_program(host, 4, 0.2, 10, 7, PYTHONPATH=str(tmp_path))
    assert ran.returncode == 1
    assert "not this one" in ran.stderr


SANITIZED = ["cc", *STRICT, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
"""The interpreter keeps memory until the process ends."""


@pytest.fixture
def sanitizers(tmp_path):
    """Skips where a program that does nothing cannot be built with them, or cannot be run."""
    (tmp_path / "nothing.c").write_text("int main(void) { return 0; }\n")
    built = subprocess.run(
        [*SANITIZED, tmp_path / "nothing.c", "-o", tmp_path / "nothing"], capture_output=True, text=True
    )
    if built.returncode != 0:
        pytest.skip(f"the compiler has no sanitizers here: {built.stderr.strip()}")
    ran = run_program(tmp_path / "nothing", **NO_LEAKS)
    if ran.returncode != 0:
        pytest.skip(f"programs with sanitizers do not run here: {ran.stderr.strip() or ran.returncode}")


@needs_shared_python
def test_the_program_is_clean_under_the_sanitizers(folder, sanitizers):
    program = folder / "oracleq_sanitized"
    subprocess.run([*SANITIZED, EXAMPLE, *embed.cflags(), *embed.libs(folder), "-o", program], check=True)
    ran = run_program(program, 4, 0.2, 50, 7, **NO_LEAKS)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert numbers(ran.stdout) == python_s(4, 0.2, 50, 7)


# --- the table handed to C that runs inside Python ---

GUEST = r"""
#define FASTURL_NO_PROTOTYPES
#include "fasturl.h"

double chance_of_first(const fasturl_table *table, uint64_t seed, int64_t horizon,
                       double *memory, int64_t length)
{
    uint64_t stream[4];
    uint32_t name = FASTURL_STREAM_INSTANCE;
    if (table->abi_major != FASTURL_ABI_MAJOR || table->size < sizeof(fasturl_table))
        return -1.0;
    if (table->seed_stream(seed, &name, 1, stream, 4))
        return -2.0;
    if (table->draw_lock(stream, 4, horizon, 0.3, memory, length))
        return -3.0;
    return memory[0];
}
"""


@needs_cc
def test_c_code_inside_python_is_handed_the_table(tmp_path):
    (tmp_path / "guest.c").write_text(GUEST)
    subprocess.run(
        [
            "cc",
            *STRICT,
            "-shared",
            "-fPIC",
            f"-I{HEADER.parent}",
            str(tmp_path / "guest.c"),
            "-o",
            tmp_path / "guest.so",
        ],
        check=True,
    )
    from fasturl.capi import ffi, table

    other = type(ffi)()
    other.cdef(
        "double chance_of_first(const void *table, uint64_t seed, int64_t horizon,"
        " double *memory, int64_t length);"
    )
    guest, out = other.dlopen(str(tmp_path / "guest.so")), np.zeros((5, 3, 4, 3))
    memory = other.from_buffer("double[]", out)
    assert guest.chance_of_first(other.cast("void *", table()), 7, 5, memory, out.size) == out[0, 0, 0, 0]
    assert np.array_equal(out, fu.LockBernoulli(5, 0.3).instance(7).transitions)


def test_calls_from_many_threads_do_not_disturb_each_other():
    """They begin together, and each takes far longer than it takes to begin the others."""
    model, settings, gate = fu.LockBernoulli(4, 0.2).instance(1), oracleq(), threading.Barrier(8)
    alone, together = (
        [Training(model, latent_labels(8, 4, 3), 300_000, seed) for seed in range(8)] for _ in range(2)
    )
    for training in alone:
        done("train_oracleq", training.struct(), settings)

    def train(training):
        gate.wait()
        done("train_oracleq", training.struct(), settings)

    threads = [threading.Thread(target=train, args=(training,)) for training in together]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(alone, together, strict=True):
        assert np.array_equal(one.q, other.q)
        assert np.array_equal(one.returns, other.returns)
    assert not np.array_equal(together[0].returns, together[1].returns)


# --- the command ---


def shown(*arguments):
    ran = CliRunner().invoke(app, ["capi", *arguments])
    assert ran.exit_code == 0, ran.output
    return ran.stdout.splitlines()


def test_the_command_prints_the_header_s_path_alone():
    assert shown("--header") == [str(HEADER)]
    assert HEADER.exists()


def test_the_command_prints_what_the_compiler_needs():
    assert shown("--cflags") == [f"-I{HEADER.parent}"]


@needs_shared_python
def test_the_command_builds_the_library_and_prints_what_the_linker_needs(tmp_path):
    library = tmp_path / embed.LIBRARY
    assert shown("--build", str(tmp_path)) == [str(library)]
    os.utime(library, (0, 0))
    flags = shown("--build", str(tmp_path), "--libs")
    assert flags == [f"-L{tmp_path} -lfasturl -Wl,-rpath,{tmp_path}"]
    assert library.stat().st_mtime_ns > 0


@pytest.fixture(scope="session")
def kept_by_the_command(tmp_path_factory):
    """A folder with a library that the command has built and keeps; nobody writes to it."""
    kept = tmp_path_factory.mktemp("kept")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(embed.binding, "folder", lambda: kept)
        shown("--libs")
    return kept


@pytest.fixture
def cached_library(kept_by_the_command, monkeypatch, tmp_path):
    """The path of such a library in a copy of the folder, to do with as a test likes."""
    shutil.copytree(kept_by_the_command, tmp_path, dirs_exist_ok=True)
    monkeypatch.setattr(embed.binding, "folder", lambda: tmp_path)
    return embed.default_folder() / embed.LIBRARY


def flipped(position):
    """A file with one bit changed, at a share of its length."""

    def damage(path):
        content = bytearray(path.read_bytes())
        content[int(position * (len(content) - 1))] ^= 1
        path.write_bytes(content)

    return damage


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


@needs_shared_python
@pytest.mark.parametrize(
    "damage",
    [flipped(0.0), flipped(0.3), flipped(0.7), flipped(1.0), cut, Path.unlink],
    ids=["first bit", "a bit", "another bit", "last bit", "cut", "gone"],
)
@pytest.mark.parametrize("file", ["library", "digest"])
def test_a_damaged_library_is_built_again(cached_library, file, damage):
    damage(cached_library if file == "library" else embed.digest_of(cached_library))
    shown("--libs")
    assert (
        embed.digest_of(cached_library).read_bytes() == hashlib.sha256(cached_library.read_bytes()).digest()
    )
    assert ctypes.CDLL(str(cached_library)).fasturl_get_table


@needs_shared_python
def test_a_library_that_is_whole_is_not_built_again(cached_library, monkeypatch):
    monkeypatch.setattr(embed, "build", None)
    assert shown("--libs") == [f"-L{cached_library.parent} -lfasturl -Wl,-rpath,{cached_library.parent}"]


def test_the_command_wants_to_know_what_to_show(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["fasturl", "capi"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "choose at least one of --header" in capsys.readouterr().err


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
def test_a_full_disk_is_told_with_the_name_of_the_library(monkeypatch, tmp_path):
    class Builder:
        def emit_c_code(self, path):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(embed, "_builder", Builder)
    line = f"cannot write {tmp_path / embed.LIBRARY}: No space left on device"
    with pytest.raises(ValueError, match=f"^{re.escape(line)}$"):
        embed.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_shared_python
@pytest.mark.parametrize("compiler", ["nocompiler", "/dev/null"])
def test_without_a_compiler_the_error_says_how_to_name_one(compiler, monkeypatch, tmp_path):
    monkeypatch.setenv("CC", f"{compiler} -O1")
    with pytest.raises(
        OSError,
        match=rf"^libfasturl needs a C compiler .*, and '{compiler}' cannot be run: CC names the compiler$",
    ):
        embed.build(tmp_path)
    assert list(tmp_path.iterdir()) == []


@needs_shared_python
def test_an_empty_name_of_a_compiler_is_none(monkeypatch):
    monkeypatch.setenv("CC", " ")
    assert embed._compiler()[0] == "cc"


def test_each_python_environment_has_a_library_of_its_own(monkeypatch, tmp_path):
    """The interpreter and its folders are built into the library: another environment's would load another
    package."""
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
