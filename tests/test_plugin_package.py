"""A package of somebody else's, known by its entry points alone, works wherever what fasturl brings works.

`plugin_package` is installed into a virtual environment of its own, which sees the packages of this one; every
test then runs commands and programs there.
"""

import json
import os
import shutil
import site
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent / "plugin_package"
AGENTS = ["url", "url-as-written", "pcid", "scout", "oracleq-lat", "qlearning-lat", "counts-lat"]
AGENTS += ["oracleq-obs", "qlearning-obs"]


class Installation:
    """A virtual environment with the package, and how to run things in it."""

    def __init__(self, folder):
        self.python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"

    def run(self, *words, cwd, code=0):
        """What a program prints; it must end with this exit code."""
        done = subprocess.run([self.python, *map(str, words)], cwd=cwd, capture_output=True, text=True)
        assert done.returncode == code, done.stderr
        return done.stdout if code == 0 else done.stderr

    def fasturl(self, *words, cwd, code=0):
        return self.run("-m", "fasturl", *words, cwd=cwd, code=code)


@pytest.fixture(scope="session")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plugin")
    source = shutil.copytree(PACKAGE, folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    installation = Installation(folder / "venv")
    packages = installation.run("-c", "import site; print(site.getsitepackages()[0])", cwd=folder).strip()
    lines = [f"import site; site.addsitedir({path!r})" for path in site.getsitepackages()]
    Path(packages, "packages_of_the_tests.pth").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "--python", installation.python, "--quiet"]
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", *offline, source], check=True, cwd=folder)
    return installation


def train(installed, folder, *words):
    return json.loads(installed.fasturl("train", "corridor", *words, "--json", "-", cwd=folder))


def test_the_list_shows_where_components_come_from_and_what_they_can_be_told(installed, tmp_path):
    text = " ".join(installed.fasturl("list", cwd=tmp_path).split())
    for name in ("corridor", "nearest-centre", "counts", "scout", "lock-bernoulli", "kmeans", "oracleq", "url"):
        assert name in text
    assert "corridors 0.3.0" in text
    for setting in ("width", "slip", "door", "rounds", "plan_every", "share"):
        assert setting in text


@pytest.mark.parametrize("agent", AGENTS)
def test_every_agent_is_trained_on_the_corridor(agent, installed, tmp_path):
    sizes = ["--length", 2, "--width", 3, "--slip", 0.2, "--coins", 2, "--seeds", 2]
    more = {
        "url-as-written": ["--episodes", 20, "--batch", 20, "--epsilon", 0.3, "--delta", 0.3],
        "scout": ["--episodes", 600, "--oracle", "nearest-centre", "--learner", "counts"],
    }
    told = train(installed, tmp_path, "--agent", agent, *sizes, *more.get(agent, ["--episodes", 600]))
    assert (told["env"], told["length"], told["width"], told["slip"]) == ("corridor", 2, 3, 0.2)
    assert (told["agent"], told["seeds"]) == (agent, 2)
    assert 0 < told["v_star"] <= 0.8
    assert 0 <= told["value_mean"] <= 1
    if agent not in ("oracleq-obs", "qlearning-obs"):
        assert told["value_mean"] > 0.5 * told["v_star"]


def test_the_learner_and_the_oracle_go_into_the_agents_of_fasturl(installed, tmp_path):
    parts = ["--oracle", "nearest-centre", "--rounds", 4, "--learner", "counts", "--bonus", 0.2]
    told = train(installed, tmp_path, "--agent", "url", *parts, "--episodes", 500, "--seeds", 2)
    assert told["oracle"] == "nearest-centre"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--slip", 1], "slip must be a number in [0, 1), got 1.0"),
        (["--width", 1], "width must be an integer from 2 to 60, got 1"),
        (["--door", "lft"], "door must be one of 'random', 'left', 'right', got 'lft'; did you mean 'left'?"),
        (["--agent", "scout", "--share", 0], "share must be a number in (0, 1), got 0.0"),
        (["--agent", "counts-lat", "--bonus", -1], "bonus must be a number in [0, inf), got -1.0"),
        (["--agent", "counts-obs"], "agent must be a learner with rules"),
    ],
)
def test_bad_input_gets_one_line(words, message, installed, tmp_path):
    answer = installed.fasturl("train", "corridor", *words, "--episodes", 50, "--seeds", 1, cwd=tmp_path, code=2)
    assert message in answer
    assert answer.count("\n") == 1
