"""Files that commands write: whole or not there, and where the name leads."""

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from command_line import fasturl

from fasturl.cli import train as training
from fasturl.cli.main import main
from fasturl.cli.outputs import is_standard_output, whole_files
from fasturl.experiments.analysis import report

SIZES = "required-sizes --horizon 2 --n-states 2 --n-actions 2"


def write(name, text="new"):
    with whole_files(name) as (draft,):
        draft.write_text(text)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_finished(tmp_path):
    with whole_files(tmp_path / "result.json", None) as (draft, nothing):
        draft.write_text("new")
        assert nothing is None
        assert not (tmp_path / "result.json").exists()
    assert (tmp_path / "result.json").read_text() == "new"
    assert names(tmp_path) == ["result.json"]


def test_what_fails_leaves_everything_as_it_was(tmp_path):
    (tmp_path / "old.json").write_text("old")
    with (
        pytest.raises(ZeroDivisionError),
        whole_files(tmp_path / "old.json", tmp_path / "curve.png") as (first, _),
    ):
        first.write_text(f"new {1 / 0}")
    assert names(tmp_path) == ["old.json"]
    assert (tmp_path / "old.json").read_text() == "old"


def test_a_draft_ends_as_its_file_does(tmp_path):
    with whole_files(tmp_path / "curve.png") as (draft,):
        assert draft.suffix == ".png"


@pytest.mark.parametrize("mask", [0o022, 0o077])
def test_a_new_file_can_be_read_by_those_that_the_user_lets_read(tmp_path, mask):
    before = os.umask(mask)
    try:
        write(tmp_path / "result.json")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "result.json").stat().st_mode) == 0o666 & ~mask


def test_a_file_that_was_there_can_be_read_by_the_same_people(tmp_path):
    target = tmp_path / "result.json"
    target.write_text("old")
    target.chmod(0o640)
    write(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


@pytest.mark.parametrize("old", ["old", None])
def test_a_link_stays_and_what_it_points_to_is_written(tmp_path, old):
    (tmp_path / "kept").mkdir()
    target, link = tmp_path / "kept" / "result.json", tmp_path / "latest.json"
    if old:
        target.write_text(old)
    link.symlink_to("kept/result.json")
    write(link)
    assert link.readlink() == Path("kept/result.json")
    assert target.read_text() == "new"
    assert names(tmp_path) == ["kept", "latest.json"]
    assert names(tmp_path / "kept") == ["result.json"]


def test_a_pipe_gets_the_finished_output(tmp_path):
    pipe, read = tmp_path / "pipe.json", []
    os.mkfifo(pipe)
    reader = threading.Thread(
        target=lambda: read.append(pipe.read_text()), daemon=True
    )  # waits for ever if nobody writes
    reader.start()
    write(pipe)
    reader.join()
    assert read == ["new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe.json"]


def test_a_device_stays_a_device(tmp_path):
    link = tmp_path / "nowhere.json"
    link.symlink_to(os.devnull)
    write(link)
    assert link.readlink() == Path(os.devnull)
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "the name of the file is empty"),
        (".", "it is a folder"),
        ("missing/result.json", "No such file or directory"),
        ("file/result.json", "Not a directory"),
        ("loop.json", "Too many levels of symbolic links"),
        ("x" * 300, "File name too long"),
    ],
)
def test_what_cannot_be_written_is_told_before_the_work(tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    Path("loop.json").symlink_to("loop.json")
    Path("file").touch()
    with (
        pytest.raises(ValueError, match=f"^cannot write {name or chr(39) * 2}: {reason}$"),
        whole_files(name),
    ):
        pytest.fail("the work began")
    assert names(tmp_path) == ["file", "loop.json"]


def test_two_outputs_in_one_file_are_refused(tmp_path):
    (tmp_path / "link.png").symlink_to("curve.png")
    with (
        pytest.raises(ValueError, match=r"link.png: two outputs have this name$"),
        whole_files(tmp_path / "curve.png", tmp_path / "link.png"),
    ):
        pytest.fail("the work began")


def test_a_protected_file_is_left_alone(tmp_path, monkeypatch):
    """To root nothing is forbidden, so the answer of the file system is given here."""
    target = tmp_path / "result.json"
    target.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: not (Path(path) == target and mode & os.W_OK))
    with pytest.raises(ValueError, match=r"result.json: Permission denied$"), whole_files(target):
        pytest.fail("the work began")
    assert target.read_text() == "old"


SHORT = "train lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 50 --seeds 1"


@pytest.mark.parametrize("words", ["list", "report results --out -", f"{SHORT} --json -", SHORT])
def test_a_closed_standard_output_is_told_before_the_work(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fasturl", *words.split()])
    monkeypatch.setattr(sys, "stdout", None)  # what Python makes of >&-
    monkeypatch.setattr(training, "train", lambda *_, **__: pytest.fail("there was work"))
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == "fasturl: cannot write standard output: it is closed\n"


has_full_device = pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no device that is full"
)
FULL_OUTPUT = "fasturl: cannot write standard output: No space left on device\n"


@has_full_device
@pytest.mark.parametrize(
    "words",
    [
        "",
        "--help",
        "--version",
        "capi --header",
        "info",
        "list",
        "list --markdown",
        "report results --out -",
        SHORT,
        f"{SHORT} --json -",
        "train --help",
        "sweep --example",
        SIZES,
    ],
)
def test_a_full_disk_below_standard_output_is_told_in_one_line(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fasturl", *words.split()])
    monkeypatch.setattr(report, "page", lambda _: "page")
    with open("/dev/full", "w", encoding="utf-8") as full, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", full)
        with pytest.raises(SystemExit) as stop:
            main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == FULL_OUTPUT


@has_full_device
@pytest.mark.parametrize("environment", [{}, {"PYTHONUNBUFFERED": "1"}])
def test_a_full_disk_below_standard_output_is_told_once_by_the_program(environment):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [sys.executable, "-P", "-c", "from fasturl.cli import main; main()", "sweep", "--example"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=os.environ | environment,
        )
    assert (done.returncode, done.stderr) == (2, FULL_OUTPUT)


@has_full_device
def test_a_full_disk_is_told(tmp_path):
    with pytest.raises(ValueError, match=r"^cannot write /dev/full: No space left on device$"):
        write("/dev/full")


@pytest.fixture
def full_disk(monkeypatch):
    """Files can be made, and nothing can be written to them."""

    def write_text(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "write_text", write_text)


@pytest.mark.parametrize(
    "words", ["train lock-bernoulli --agent oracleq-lat --horizon 2 --episodes 10 --seeds 1", SIZES]
)
def test_json_on_a_full_disk_is_told_with_the_name_of_the_file(words, tmp_path, full_disk):
    done = fasturl(*words.split(), "--json", "result.json", cwd=tmp_path)
    line = "fasturl: cannot write result.json: No space left on device\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert list(tmp_path.iterdir()) == []


def test_a_figure_on_a_full_disk_is_told_with_the_name_of_the_file(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", full)
    done = fasturl(*SHORT.split(), "--plot", "curve.png", cwd=tmp_path)
    line = "fasturl: cannot write curve.png: No space left on device\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert names(tmp_path) == []


def test_a_report_on_a_full_disk_is_told_with_its_name(tmp_path, full_disk, monkeypatch):
    monkeypatch.setattr(report, "page", lambda folder: "<html>")
    done = fasturl("report", "results", cwd=tmp_path)
    line = "fasturl: cannot write report.html: No space left on device\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)


def test_standard_output_has_several_names(tmp_path):
    assert is_standard_output("-")
    assert is_standard_output("/dev/stdout")
    assert not is_standard_output(None)
    assert not is_standard_output("")
    assert not is_standard_output(str(tmp_path / "result.json"))


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_is_ended_leaves_no_draft(name, tmp_path):
    words = "train lock-bernoulli --agent oracleq-lat --episodes 1000000 --seeds 100000 --n-jobs 1"
    program = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from fasturl.cli import main
main()
"""
    command = subprocess.Popen(
        [sys.executable, "-P", "-c", program, *words.split(), "--json", "result.json", "--plot", "curve.png"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    while command.poll() is None and len(list(tmp_path.iterdir())) < 2:
        time.sleep(0.01)
    command.send_signal(getattr(signal, name))
    _, errors = command.communicate(timeout=120)
    assert (command.returncode, errors) == (130, "fasturl: interrupted\n")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (["capi", "--build", ""], "--build"),
        (["plot", ""], "DIR"),
        (["plot", "results", "--out", ""], "--out"),
        (["report", ""], "DIR"),
        (["sweep", "", "--out", "results"], "SPEC.toml"),
        (["tune", "lock-bernoulli", "--study", ""], "--study"),
    ],
)
def test_an_empty_name_is_not_the_folder_that_one_is_in(words, argument, tmp_path):
    done = fasturl(*words, cwd=tmp_path)
    line = f"fasturl: {argument} must be the name of a file or a folder, got ''\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    assert list(tmp_path.iterdir()) == []
