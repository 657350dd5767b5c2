"""Settings as options of the command line: their names, and the texts that become their values."""

import json

import pytest
import typer
from command_line import fasturl

import fasturl as fu
from fasturl._base.schema import Setting
from fasturl.cli.main import app
from fasturl.cli.options import parsed_value
from fasturl.registry import SettingNames


def test_the_options_of_train_are_those_that_settings_are_told_apart_from():
    params = typer.main.get_command(app).commands["train"].params
    options = {option.removeprefix("--").replace("-", "_") for param in params for option in param.opts}
    assert options - {"env"} | {"help"} == SettingNames.OPTIONS


@pytest.mark.parametrize(
    "words",
    [
        "--horizon 3 --switch 0.2 --agent url --oracle kmeans --n-init 5 --learner oracleq --confidence 1e-4",
        "--env.horizon 3 --env.switch=0.2 --agent.oracle kmeans --oracle.n-init 5 --learner oracleq "
        "--learner.confidence 1e-4",
        "--n_init=5 --env.horizon=3 --confidence=1e-4 --switch=0.2 --learner=oracleq --agent=url",
    ],
)
def test_a_setting_may_be_written_with_its_owner_and_with_underscores(words):
    done = fasturl(
        "train", *words.split(), "lock-bernoulli", "--episodes", "300", "--seeds", "2", "--json", "-"
    )
    agent = fu.URL(oracle={"name": "kmeans", "n_init": 5}, learner=fu.OracleQ(confidence=1e-4))
    expected = fu.train(fu.LockBernoulli(3, 0.2), agent, 300, seeds=2)
    assert done.stderr == ""
    assert json.loads(done.stdout)["curve"]["mean"] == expected.average_reward.mean(axis=0).tolist()


@pytest.mark.parametrize(
    ("declared", "text", "value"),
    [
        (Setting("n", int), "3", 3),
        (Setting("n", int, None), "None", None),
        (Setting("x", float), "1e-4", 1e-4),
        (Setting("f", bool), "true", True),
        (Setting("f", bool), "No", False),
        (Setting("t", str, choices=("a", "none")), "none", "none"),
        (Setting("a", None), "3", 3),
        (Setting("a", None), "0.5", 0.5),
        (Setting("a", None), "false", False),
        (Setting("a", None), "all", "all"),
        (Setting("o", "oracle", None), "gmm", "gmm"),
        (Setting("o", "oracle", None), "none", None),
    ],
)
def test_a_text_becomes_the_value_that_is_declared(declared, text, value):
    parsed = parsed_value(declared, text)
    assert (type(parsed), parsed) == (type(value), value)


@pytest.mark.parametrize(
    ("declared", "text", "message"),
    [
        (Setting("n", int, least=1), "1.5", "n must be an integer >= 1, got '1.5'"),
        (Setting("n", int, least=1), "none", "n must be an integer >= 1, got 'none'"),
        (Setting("n", int, least=1), "9" * 5000, "n must be an integer >= 1, got '999"),
        (Setting("x", float, least=0, below=1), "1", r"x must be a number in \[0, 1\), got 1.0"),
        (Setting("x", float), "far", "x must be a number in .*, got 'far'"),
        (Setting("f", bool), "maybe", "f must be True or False, got 'maybe'"),
    ],
)
def test_a_text_that_is_not_what_is_declared_is_refused(declared, text, message):
    with pytest.raises(ValueError, match=message):
        parsed_value(declared, text)
