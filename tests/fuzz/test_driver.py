"""The driver itself: a crash, a hang, an error and a wrong answer are found, and told with their number."""

import re
import subprocess
import sys

import pytest

from . import driver, kinds
from .driver import Tally, play_inputs, seconds_of

BAD_KIND = """
import os, signal, time
from fuzz.judgement import expect
from fuzz.kinds import Kind

class Planted(Kind):
    name = "planted"
    number = 0

    def play(self, chance, place, tell):
        number = int.from_bytes((self.folder / "progress").read_bytes()[:8])
        tell(f"input {number}")
        if number == 3:
            os.kill(os.getpid(), signal.SIGSEGV)
        if number == 5:
            raise KeyError("absent")
        if number == 7:
            expect(2 + 2 == 5, "a wrong answer")
        if number == 8:
            time.sleep(10_000)

KIND = Planted
"""


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """A kind of inputs some of which break, in a copy of the package."""
    package = tmp_path / "tests" / "fuzz"
    package.mkdir(parents=True)
    for name in ("__init__", "child", "judgement", "driver", "kinds"):
        source = (driver._TESTS / "fuzz" / f"{name}.py").read_text()
        (package / f"{name}.py").write_text(source.replace('"command-lines":', '"planted":'))
    (package / "planted.py").write_text(BAD_KIND)
    monkeypatch.setattr(driver, "_TESTS", tmp_path / "tests")
    monkeypatch.setattr(driver, "PATIENCE", 5.0)  # a child of this kind starts in a tenth of a second
    folder = tmp_path / "campaign"
    folder.mkdir()
    return folder


def test_every_kind_of_fault_is_found_and_the_rest_is_played(planted):
    tally = play_inputs("planted", planted, 0, count=11)
    assert tally.tried == 11
    finds = {find["number"]: find for find in tally.finds}
    assert sorted(finds) == [3, 5, 7, 8]
    assert finds[3]["broken"].startswith("ended by SIGSEGV")
    assert finds[3]["input"] == "input 3"
    assert "KeyError: 'absent'" in finds[5]["broken"]
    assert finds[7]["broken"] == "a wrong answer"
    assert finds[8]["broken"].startswith("hangs")


def test_a_tally_tells_how_to_play_a_find_again():
    tally = Tally("toml-files", 7, [{"number": 12, "input": "x = 1", "broken": "a wrong\nanswer"}])
    assert list(tally.lines()) == [
        "toml-files: 7 inputs, 1 broke something",
        "  python -m fuzz.child toml-files 12   # x = 1",
        "      a wrong",
        "      answer",
    ]


def test_an_input_is_the_same_whenever_it_is_played():
    command = [sys.executable, "-m", "fuzz.child", "toml-files", "12345"]  # as the page of campaigns has it
    said = [
        subprocess.run(command, capture_output=True, text=True, cwd=driver._TESTS, check=True).stdout
        for _ in range(2)
    ]
    assert said[0] == said[1]
    assert said[0].endswith("nothing broke\n")


def test_the_kinds_share_the_time_of_a_campaign():
    assert sum(kinds.KINDS.values()) == pytest.approx(1.0)
    for name in kinds.KINDS:
        assert kinds.kind_named(name).name == name


@pytest.mark.parametrize(("text", "seconds"), [("90s", 90), ("30m", 1800), ("1.5h", 5400)])
def test_times_are_written_with_their_unit(text, seconds):
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "30", "m", "-1s", "1 m", "nans"])
def test_other_times_are_refused(text):
    with pytest.raises(ValueError, match="a time must be written as 90s, 30m or 2h, got"):
        seconds_of(text)


def test_the_commands_of_the_page_are_those_that_work(tmp_path):
    root = driver._TESTS.parent
    page = (root / "docs" / "campaigns.md").read_text(encoding="utf-8")
    inputs, again, kills = re.findall(r"^```bash\n(.*?)\n```$", page, re.DOTALL | re.MULTILINE)
    assert again.split()[:3] == ["python", "-m", "fuzz.child"]
    for command, less in ((inputs.replace("30m", "2s"), ["-k", "c-calls"]), (kills, ["--collect-only"])):
        program, *words = command.split()
        assert program == "pytest"
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words, *less, f"--basetemp={tmp_path / 'temporary'}"],
            capture_output=True,
            text=True,
            cwd=root,
        )
        assert done.returncode == 0, done.stdout
        if "--campaign" in command:
            assert re.search(r"c-calls: [\d,]+ inputs, 0 broke something", done.stdout), done.stdout
