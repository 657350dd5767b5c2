"""`fasturl list`, and what becomes of packages whose components cannot be used."""

import json
import sys
from importlib import metadata
from pathlib import Path

import pytest

from fasturl import registry
from fasturl._base import names
from fasturl.cli import main

ROOT = Path(__file__).parents[1]

PLUGIN = '''
from dataclasses import dataclass
import fasturl as fu
from fasturl.problems.locks import LockBernoulli

@dataclass(frozen=True)
class Corridor(LockBernoulli):
    """A lock by another name."""
    width: int = fu.setting(3, least=1, unit="cells", help="Width of the corridor.")
    batch: int = fu.setting(1, least=1, help="A name that URL has too.")

@dataclass(frozen=True)
class Passage(Corridor):
    length: int = fu.setting(3, least=1, help="Length of the passage.")

class NotDeclared(fu.Environment):
    def __init__(self, *sizes): ...
    def draw(self, streams): ...

class Blind:
    def fit(self, observations): ...
'''


class Package:
    """Stands for an installed package."""

    name, version = "hallways", "2.1"


@pytest.fixture
def fasturl(monkeypatch, capsys, tmp_path):
    """The command line where a package is installed; gives exit code, output and complaints."""
    (tmp_path / "hallways_of_a_test.py").write_text(PLUGIN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    plain = metadata.entry_points

    def entry_points(**selection):
        more = [
            metadata.EntryPoint(name, value, group)
            for group, entries in ENTRIES.items()
            for name, value in entries.items()
        ]
        for entry in more:
            vars(entry).update(dist=Package)
        installed = plain()
        theirs = [one for group in installed.groups for one in installed.select(group=group)]
        return metadata.EntryPoints([*theirs, *more]).select(**selection)

    monkeypatch.setattr(metadata, "entry_points", entry_points)
    names.forget_installed()

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["fasturl", *words])
        try:
            main()
            code = 0
        except SystemExit as stop:
            code = stop.code or 0
        return code, *capsys.readouterr()

    yield run
    sys.modules.pop("hallways_of_a_test", None)
    monkeypatch.undo()
    names.forget_installed()


ENTRIES = {
    "fasturl.environments": {
        "corridor": "hallways_of_a_test:Corridor",
        "passage": "hallways_of_a_test:Passage",
        "gone": "hallways_of_a_test:Gone",
        "not-declared": "hallways_of_a_test:NotDeclared",
        "missing": "there_is_no_such_module:Maze",
        "lock-bernoulli": "hallways_of_a_test:Corridor",
    },
    "fasturl.oracles": {"blind": "hallways_of_a_test:Blind"},
}
TAKEN = (
    "fasturl: environment 'lock-bernoulli' of the package hallways is left out: the name is taken by fasturl"
)


def test_everything_is_listed_with_its_package_and_settings(fasturl):
    code, out, err = fasturl("list")
    assert code == 0
    assert err.startswith(TAKEN)
    assert err.count("\n") == 1
    lines = [" ".join(line.split()) for line in out.splitlines()]
    fasturl_version = metadata.version("fasturl")
    assert f"lock-gaussian (fasturl {fasturl_version})" in lines
    assert "corridor (hallways 2.1)" in lines
    assert lines[lines.index("corridor (hallways 2.1)") + 1] == "A lock by another name."
    assert lines[lines.index("passage (hallways 2.1)") + 1].startswith("horizon ")
    assert "width integer >= 1, in cells Width of the corridor. [default: 3]" in lines
    assert f"oracleq-lat (fasturl {fasturl_version}) has the settings of the learner oracleq" in lines
    assert (
        f"oracleq-obs (fasturl {fasturl_version}) has the settings of the learner oracleq and level_in_key"
        in lines
    )
    assert len([line for line in lines if line.startswith("level_in_key true or false")]) == 1
    for name in (*registry.environment_names(), *registry.agent_names(), *names.components("oracle")):
        assert any(name in line for line in lines)


@pytest.mark.parametrize(
    ("kind", "problem"),
    [
        (
            "environments",
            "environment 'gone' of the package hallways 2.1 cannot be loaded: AttributeError: "
            "module 'hallways_of_a_test' has no attribute 'Gone'",
        ),
        (
            "environments",
            "environment 'missing' of the package hallways 2.1 cannot be loaded: ModuleNotFoundError: "
            "No module named 'there_is_no_such_module'",
        ),
        ("environments", "environment 'not-declared' of the package hallways 2.1 cannot be used: sizes of"),
        ("oracles", "oracle 'blind' of the package hallways 2.1 cannot be used: Blind has no predict"),
    ],
)
def test_what_cannot_be_used_is_one_line_with_the_reason(kind, problem, fasturl):
    code, out, _ = fasturl("list", kind)
    assert code == 0
    assert len([line for line in out.splitlines() if problem in line]) == 1
    assert ("lock-gaussian" if kind == "environments" else "kmeans") in out


def test_json_has_what_is_declared(fasturl):
    code, out, _ = fasturl("list", "--json")
    listed = json.loads(out)
    assert (code, list(listed)) == (0, ["environments", "oracles", "learners", "agents"])
    by_name = {entry["name"]: entry for entries in listed.values() for entry in entries}
    assert by_name["corridor"]["package"] == "hallways"
    assert by_name["corridor"]["version"] == "2.1"
    assert by_name["corridor"]["settings"][2] == {
        "name": "width",
        "type": "integer",
        "help": "Width of the corridor.",
        "default": 3,
        "least": 1,
        "unit": "cells",
    }
    assert "cannot be loaded" in by_name["gone"]["problem"]
    assert by_name["oracleq-obs"]["learner"] == "oracleq"
    assert by_name["oracleq-obs"]["settings"][-1]["name"] == "level_in_key"
    assert by_name["oracleq-lat"]["settings"] == by_name["oracleq"]["settings"]
    learner = next(one for one in by_name["url"]["settings"] if one["name"] == "learner")
    assert (learner["type"], learner["default"]["name"]) == ("learner", "pooled-ucbvi")


def test_a_component_of_a_package_is_trained_by_name(fasturl):
    words = "train corridor --horizon 2 --width 4 --agent oracleq-lat --episodes 50 --seeds 1 --json -"
    code, out, err = fasturl(*words.split())
    assert (code, err.count("\n")) == (0, 1)
    assert (json.loads(out)["env"], json.loads(out)["width"]) == ("corridor", 4)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("train gone", "environment 'gone' of the package hallways 2.1 cannot be loaded: AttributeError"),
        ("train missing --help", "environment 'missing' of the package hallways 2.1 cannot be loaded"),
        ("train not-declared", "is not declared: its __init__ must name every setting"),
        ("train lock-gaussian --oracle blind", "oracle 'blind' of the package hallways 2.1 cannot be used"),
        ("train corridr", "(did you mean corridor?)"),
        ("train corridor --batch 3", "batch may be --env.batch or --agent.batch: write which"),
        ("train corridor --width 0", "width must be an integer >= 1, got 0"),
        ("tune gone", "environment 'gone' of the package hallways 2.1 cannot be loaded: AttributeError"),
    ],
)
def test_what_cannot_be_used_is_told_when_it_is_asked_for(words, message, fasturl):
    code, _, err = fasturl(*words.split())
    assert code == 2
    assert message in err
    *warned, complaint = err.splitlines()
    assert complaint.startswith("fasturl: ")
    assert all(line.startswith(TAKEN) for line in warned)


def test_the_page_of_settings_is_what_the_command_prints(capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["fasturl", "list", "--markdown"])
    main()
    printed = capsys.readouterr().out
    page = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    assert printed == page, "write it anew: fasturl list --markdown > docs/settings.md"
