"""The example lines of every command's help are accepted: each as it stands, on less work."""

import re

import pytest
import typer
from command_line import fasturl

from fasturl.cli.main import app
from fasturl.experiments.paper import reproduce

LESS_WORK = {
    "train": {"--horizon": "2", "--episodes": "5", "--seeds": "1"},
    "tune": {"--horizon": "2", "--episodes": "50", "--seeds": "100:101", "--trials": "2"},
    "sweep": {"--n-jobs": "1"},
}
"""Options that take the place of those that an example gives."""
SPEC = """
episodes = 100
seeds = 3
env = {name = "lock-bernoulli", horizon = [2, 3], switch = 0.2}
agent = {name = "oracleq-lat", learning_rate = [0.1, 0.3], confidence = [0.001, 0.01]}
"""


def examples():
    epilogs = [app.info.epilog, *(command.epilog for command in app.registered_commands)]
    lines = re.findall(r"^(?:Example: )?fasturl (.*)$", "\n".join(filter(None, epilogs)), re.MULTILINE)
    # tests/test_docs_commands.py has a Dask cluster
    return [line for line in lines if "--dask" not in line]


def on_less_work(line):
    words = line.partition(" > ")[0].split()
    if "--example" in words:
        return words
    for option, value in LESS_WORK.get(words[0], {}).items():
        while option in words:
            place = words.index(option)
            del words[place : place + 2]
        words += [option, value]
    return words


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With the file and the results that the examples name."""
    place = tmp_path_factory.mktemp("examples")
    (place / "sweep.toml").write_text(SPEC)
    done = fasturl("sweep", "sweep.toml", "--out", "results", "--n-jobs", "1", cwd=place)
    assert done.returncode == 0, done.stderr
    return place


def test_the_commands_that_train_have_examples():
    assert {"train", "sweep", "reproduce", "tune"} <= {line.split()[0] for line in examples()}


@pytest.mark.parametrize("line", examples())
def test_an_example_is_accepted(line, folder, monkeypatch):
    def planned_and_no_more(*_):
        raise typer.Exit

    monkeypatch.setattr(reproduce.Plan, "carry_out", planned_and_no_more)
    done = fasturl(*on_less_work(line), cwd=folder)
    assert done.returncode == 0, done.stderr
