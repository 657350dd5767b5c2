"""Where compiled kernels are kept: never stale, never a reason to fail."""

import compileall
import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

import fasturl
from fasturl._base import compile_cache
from fasturl._base.kernel_files import KernelFiles

LOCK = """
import numpy as np
import fasturl
from fasturl._kernels.dynamics import draw_lock
out = np.empty((3, 3, 4, 3))
draw_lock(np.array([1, 2, 3, 4], np.uint64), 0.0, np.empty(4, np.int64), out)
hits, misses = draw_lock.stats.cache_hits, draw_lock.stats.cache_misses
print(*out[:, 0, :, 0].argmax(axis=1), sum(hits.values()), sum(misses.values()))
"""
"""Prints where the way on is at each of three levels, then how often the cache had the kernel and how often
not."""


def environment(**changes):
    """This process's environment, with compilation and without a cache folder of its own."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("NUMBA_DISABLE_JIT", "FASTURL_CACHE_DIR", "XDG_CACHE_HOME")
    }
    return kept | {name: str(value) for name, value in changes.items()}


def start(source, **changes):
    return subprocess.Popen(
        [sys.executable, "-P", "-c", source],
        env=environment(**changes),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output(process):
    out, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return out.split()


@pytest.fixture
def package(tmp_path):
    """A copy of the package to edit, with its byte code, and the folder to put on the path for it."""
    return shutil.copytree(Path(fasturl.__file__).parent, tmp_path / "copy" / "fasturl")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """What a process prints that compiles into an empty folder, and the folder; nobody writes to it."""
    folder = tmp_path_factory.mktemp("compiled")
    return output(start(LOCK, FASTURL_CACHE_DIR=folder)), folder


# --- between processes ---


def test_a_later_process_loads_and_an_edit_to_a_helper_in_another_file_is_never_missed(package, tmp_path):
    settings = {"FASTURL_CACHE_DIR": tmp_path / "cache", "PYTHONPATH": package.parent}
    first, later = (output(start(LOCK, **settings)) for _ in range(2))
    assert first[:3] == later[:3] != ["0", "0", "0"]
    assert (first[3:], later[3:]) == (["0", "1"], ["1", "0"])

    helper = package / "_kernels" / "rng.py"
    kept = helper.read_text()
    edited = kept.replace("other = below(rng, last + 1)", "other = last")  # a shuffle that moves nothing
    assert edited != kept
    helper.write_text(edited)
    assert output(start(LOCK, **settings)) == ["0", "0", "0", "0", "1"]

    helper.write_text(kept)
    assert output(start(LOCK, **settings)) == later


def test_processes_that_compile_into_one_empty_folder_at_once_all_succeed(tmp_path):
    processes = [start(LOCK, FASTURL_CACHE_DIR=tmp_path) for _ in range(4)]
    first, *others = [output(process)[:3] for process in processes]
    assert others == [first] * 3
    assert output(start(LOCK, FASTURL_CACHE_DIR=tmp_path)) == [*first, "1", "0"]
    assert not list(tmp_path.rglob(".*"))


def test_two_installations_share_a_folder(package, tmp_path):
    """As two machines do that mount it: each finds its own kernels, and neither those of the other."""
    places = [Path(fasturl.__file__).parents[1], package.parent]
    for misses in ("1", "0"):
        both = [start(LOCK, FASTURL_CACHE_DIR=tmp_path / "cache", PYTHONPATH=place) for place in places]
        assert [output(process)[4] for process in both] == [misses, misses]


@pytest.mark.parametrize("folder", ["/dev/null/x", None], ids=["cannot be made", "no home"])
def test_without_a_place_to_write_kernels_are_compiled_in_memory(folder):
    changes = {"HOME": "/nonexistent/home"} | ({"FASTURL_CACHE_DIR": folder} if folder else {})
    if folder is None and os.access("/", os.W_OK):
        changes["HOME"] = "/dev/null/home"  # root can make any folder, but none below a file
    out = output(start(LOCK + "print(fasturl.CACHE_FOLDER, draw_lock.stats.cache_path)", **changes))
    assert out[-2:] == ["None", "None"]


def flip_bits(content, random):
    """One, four or a hundred flipped bits, anywhere."""
    changed = bytearray(content)
    for _ in range(random.choice([1, 4, 100])):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


DAMAGES = {
    "flipped bits": flip_bits,
    "cut short": lambda content, random: content[: random.randrange(len(content))],
    "a hole": lambda content, random: bytes(len(content) // 2) + content[len(content) // 2 :],
    "too long": lambda content, random: content + random.randbytes(7),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_nothing_of_a_damaged_file_is_read(damage, tmp_path):
    """300 times for each kind of damage: what is not whole is not there, and is replaced by the next."""
    random = Random(f"damage {damage}")

    def refuse(content):
        raise AssertionError("damaged content was parsed")

    files = KernelFiles(str(tmp_path), "kernel", bytes, bytes)
    suspicious = KernelFiles(str(tmp_path), "kernel", bytes, refuse)
    for trial in range(300):
        files.save("key", content := random.randbytes(random.randrange(1, 2000)))
        (file,) = tmp_path.iterdir()
        whole = file.read_bytes()
        while (damaged := DAMAGES[damage](whole, random)) == whole:
            pass
        file.write_bytes(damaged)
        assert suspicious.load("key") is None, trial
        files.save("key", content)
        assert files.load("key") == content


@pytest.mark.parametrize("damage", ["flipped bits", "cut short"])
def test_a_damaged_folder_costs_a_compilation_and_not_the_run(damage, compiled, tmp_path):
    """Every file in it; the run after the next finds all kernels again."""
    good, folder = compiled
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    kept = list(tmp_path.rglob("*.kernel"))
    assert kept
    random = Random(f"folder with {damage}")
    for file in kept:
        file.write_bytes(DAMAGES[damage](file.read_bytes(), random))
    assert output(start(LOCK, FASTURL_CACHE_DIR=tmp_path)) == good
    assert output(start(LOCK, FASTURL_CACHE_DIR=tmp_path)) == [*good[:3], "1", "0"]


def test_drafts_of_processes_that_were_killed_are_removed_in_the_end(tmp_path):
    old, new = (tmp_path / f".fasturl-{age}.kernel" for age in ("old", "new"))
    for draft in (old, new):
        draft.touch()
    os.utime(old, (0, 0))
    KernelFiles(str(tmp_path), "kernel", bytes, bytes).save("key", b"content")
    assert new.exists()
    assert not old.exists()


def test_a_folder_that_is_spoilt_inside_is_not_replaced_by_one_beside_the_sources(package, tmp_path):
    settings = {"FASTURL_CACHE_DIR": tmp_path / "cache", "PYTHONPATH": package.parent}
    output(start(LOCK, **settings))
    (folder,) = (tmp_path / "cache").glob("*/_kernels_*")
    shutil.rmtree(folder)
    folder.touch()
    assert output(start(LOCK + "print(draw_lock.stats.cache_path)", **settings))[3:] == ["0", "1", "None"]
    assert not list(package.rglob("*.kernel"))


def test_without_sources_kernels_are_compiled_in_memory(package, tmp_path):
    compileall.compile_dir(package, legacy=True, quiet=1)
    for source in package.rglob("*.py"):
        source.unlink()
    settings = {"FASTURL_CACHE_DIR": tmp_path / "cache", "PYTHONPATH": package.parent}
    *_, file, folder = output(start(LOCK + "print(fasturl.__file__, fasturl.CACHE_FOLDER)", **settings))
    assert (file, folder) == (str(package / "__init__.pyc"), "None")


def test_settings_of_numba_do_not_bring_stale_kernels_in(package, tmp_path):
    settings = {
        "FASTURL_CACHE_DIR": tmp_path / "cache",
        "PYTHONPATH": package.parent,
        "NUMBA_CACHE_LOCATOR_CLASSES": "InTreeCacheLocator",
    }
    output(start(LOCK, **settings))
    assert list((tmp_path / "cache").rglob("*.kernel"))
    assert not list(package.rglob("*.kernel"))


def test_where_ours_cannot_be_written_numbas_own_folder_is_used(tmp_path):
    settings = {"FASTURL_CACHE_DIR": "/dev/null/x", "NUMBA_CACHE_DIR": tmp_path}
    *_, folder = output(start(LOCK + "print(fasturl.CACHE_FOLDER)", **settings))
    assert folder == str(tmp_path / "fasturl" / compile_cache.digest())
    assert list(Path(folder).rglob("*.kernel"))


# --- the folder ---


KERNEL_SOURCES = [
    "_kernels/rng.py",
    "_base/plugin_loops.py",
    "_base/numba_internals.py",
    "_base/vector_dots.py",
    "_base/vector_registers.py",
]


@pytest.mark.parametrize(
    ("source", "change"),
    [*itertools.product(KERNEL_SOURCES, ["edit", "remove", "rename"]), ("_kernels/rng.py", "add")],
)
def test_any_change_of_a_kernel_source_changes_the_digest(package, monkeypatch, source, change):
    monkeypatch.setattr(compile_cache, "PACKAGE", package)
    before = compile_cache.digest()
    source = package / source
    match change:
        case "edit":
            source.write_text(source.read_text() + "\n")
        case "add":
            source.with_name("new.py").touch()
        case "remove":
            source.unlink()
        case "rename":
            source.rename(source.with_stem("renamed"))
    assert compile_cache.digest() != before


def test_nothing_else_changes_the_digest(package, monkeypatch):
    before = compile_cache.digest()
    monkeypatch.setattr(compile_cache, "PACKAGE", package)
    (package / "models.py").write_text("")
    (package / "_kernels" / "__pycache__").mkdir(exist_ok=True)
    (package / "_kernels" / "__pycache__" / "rng.pyc").write_bytes(b"compiled")
    assert compile_cache.digest() == before


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="other places there")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"FASTURL_CACHE_DIR": "chosen", "XDG_CACHE_HOME": "xdg"}, "chosen"),
        ({"XDG_CACHE_HOME": "xdg"}, "xdg/fasturl"),
        ({"HOME": "home"}, "home/.cache/fasturl"),
        ({"HOME": "home", "XDG_CACHE_HOME": ""}, "home/.cache/fasturl"),
    ],
)
def test_the_folder_is_the_chosen_one_or_the_user_s_cache(tmp_path, monkeypatch, settings, expected):
    for name in ("FASTURL_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, str(tmp_path / value) if value else "")
    assert compile_cache.find_folder() == tmp_path / expected / compile_cache.digest()


@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="other places there")
@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"FASTURL_CACHE_DIR": "chosen"}, "chosen"),
        (
            {"XDG_CACHE_HOME": "xdg", "HOME": "home"},
            "home/.cache/fasturl",
        ),  # the standard says to ignore such an XDG_CACHE_HOME
        ({"FASTURL_CACHE_DIR": "/dev/null/x", "NUMBA_CACHE_DIR": "numba"}, "numba/fasturl"),
    ],
)
def test_a_relative_setting_does_not_follow_the_working_directory(tmp_path, monkeypatch, settings, expected):
    for name in ("FASTURL_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert compile_cache.find_folder() == tmp_path / expected / compile_cache.digest()


def test_a_folder_that_cannot_be_written_is_none(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("FASTURL_CACHE_DIR", str(tmp_path / "file"))
    assert compile_cache.find_folder() is None


def test_a_read_only_folder_is_none(tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise PermissionError("read-only file system")

    monkeypatch.setenv("FASTURL_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(compile_cache.tempfile, "TemporaryFile", refuse)
    assert compile_cache.find_folder() is None


def test_no_home_is_none(monkeypatch):
    def homeless():
        raise RuntimeError("Could not determine home directory.")

    for name in ("FASTURL_CACHE_DIR", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert compile_cache.find_folder() is None


COUNT = "print(fasturl._base.compile_cache.kernels_in(fasturl.CACHE_FOLDER))"
INFO = "from fasturl.cli.info import info; info()"


def test_only_the_kernels_that_this_installation_would_load_are_counted(compiled, package):
    _, folder = compiled
    settings = {"FASTURL_CACHE_DIR": folder}
    (kept,) = output(start("import fasturl;" + COUNT, **settings))
    assert int(kept) == len(list(folder.rglob("*.kernel"))) > 0
    assert output(start("import fasturl;" + COUNT, **settings, PYTHONPATH=package.parent)) == ["0"]
    assert "cold:" in output(start(INFO, **settings, PYTHONPATH=package.parent))


def test_no_folder_keeps_no_kernels():
    assert compile_cache.kernels_in(None) == 0


def test_info_says_that_compilation_is_switched_off(tmp_path):
    told = " ".join(output(start(INFO, FASTURL_CACHE_DIR=tmp_path, NUMBA_DISABLE_JIT=1)))
    assert "compilation is switched off by NUMBA_DISABLE_JIT" in told
    assert "cold" not in told


SETTINGS = """
import numba
before = dict(vars(numba.config))
import fasturl, fasturl.oracles
from fasturl._kernels.rng import fill_uniforms
import numpy as np
fill_uniforms(np.ones(4, np.uint64), np.empty(1))
print(before == dict(vars(numba.config)), numba.config.CACHE_DIR)
"""


def test_numba_s_own_settings_stay_as_they_are(tmp_path):
    own = {"FASTURL_CACHE_DIR": tmp_path / "ours", "NUMBA_CACHE_DIR": tmp_path / "user"}
    assert output(start(SETTINGS, **own)) == ["True", str(tmp_path / "user")]
    assert not (tmp_path / "user").exists()


def test_a_process_that_changes_its_folder_has_one_cache(tmp_path):
    program = f"""
import os
os.chdir({str(tmp_path)!r})
import fasturl
os.mkdir("other")
os.chdir("other")
import fasturl.envs
from fasturl.capi import binding
binding.folder()
"""
    output(start(program, FASTURL_CACHE_DIR="here"))
    assert [path.name for path in tmp_path.iterdir() if any(path.iterdir())] == ["here"]
