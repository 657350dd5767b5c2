"""What the help of the command line shows."""

import inspect

import pytest
from command_line import fasturl

import fasturl as fu
from fasturl.cli.main import app


@pytest.mark.parametrize("command", app.registered_commands, ids=lambda command: command.callback.__name__)
def test_a_paragraph_of_help_is_one_line_which_the_terminal_folds(command):
    texts = [inspect.getdoc(command.callback), command.epilog or ""]
    assert all("\n" not in paragraph.strip("\n") for text in texts for paragraph in text.split("\n\n"))


@pytest.mark.parametrize("command", [[], ["train"]])
def test_help_teaches_by_example(command):
    done = fasturl(*command, "--help", COLUMNS="200")
    assert done.returncode == 0
    assert "fasturl train lock-bernoulli --horizon 20" in done.stdout


def test_help_of_train_says_how_to_see_the_settings():
    done = fasturl("train", "--help", COLUMNS="200")
    assert "fasturl train ENV --agent NAME --help" in done.stdout
    assert "true or false is written with its value, as --rotation false" in done.stdout
    assert "How many runs are computed at the same time." in done.stdout
    assert "--horizon  " not in done.stdout


@pytest.mark.parametrize(
    "words", ["--agent url --help", "--help --agent url", "--agent url --horizon 3 --help"]
)
def test_help_shows_the_settings_of_what_is_named(words):
    done = fasturl("train", "lock-bernoulli", *words.split(), COLUMNS="200")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    for title in ("lock-bernoulli", "url", "oracle kmeans", "learner pooled-ucbvi"):
        assert any(f"Settings of {title} " in line for line in lines)
    for option, *texts in (
        ("--horizon", ">= 1", "Number of levels that are acted in.", "[default: 20]"),
        ("--switch", ">= 0 and <= 1", "[default: 0]"),
        ("--n-states", "<= 256"),
        ("--oracle.n-states", "integer from 2 to 256 or auto"),
        ("--n-init", "[default: 3]"),
        ("--deviations", ">= 0", f"[default: {fu.URL().learner.deviations:g}]"),
        ("--novelty", ">= 0", f"[default: {fu.URL().learner.novelty:g}]"),
    ):
        (line,) = [line for line in lines if f"{option}  " in line]
        assert all(text in line for text in texts)


def test_help_shows_the_choices_of_a_setting():
    words = "train lock-bernoulli --learner oracleq --help"
    done = fasturl(*words.split(), COLUMNS="200")
    (line,) = [line for line in done.stdout.splitlines() if "--schedule  " in line]
    assert "constant, jin or spread" in line
    assert f"[default: {fu.OracleQ().schedule}]" in line


@pytest.mark.parametrize("words", ["--help", "sweep --help", "train lock-bernoulli --help", "capi --help"])
def test_a_flag_is_shown_without_a_value(words):
    done = fasturl(*words.split(), COLUMNS="200")
    assert "--help" in done.stdout
    assert "<bool>" not in done.stdout


def test_help_shows_the_named_oracle_and_learner_instead_of_the_defaults():
    words = "train lock-gaussian --oracle dbscan --learner qlearning --help"
    done = fasturl(*words.split(), COLUMNS="200")
    assert "--eps " in done.stdout
    assert "--exploration-fraction" in done.stdout
    assert "Settings of oracle dbscan" in done.stdout
    assert "Settings of learner qlearning" in done.stdout
    assert "Number of starts of k-means" not in done.stdout
    assert "in standard errors of the estimated value" not in done.stdout
