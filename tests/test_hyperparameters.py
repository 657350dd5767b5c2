"""The hyperparameters that were found for the paper's figures."""

import re
import shlex
from importlib import resources
from itertools import product

import pytest
import typer

from fasturl import registry
from fasturl.cli.main import app
from fasturl.cli.options import parse_seeds, written_settings
from fasturl.experiments.paper import hyperparameters
from fasturl.experiments.paper.cells import (
    AGENTS,
    BITS_ONLY,
    FIGURES,
    HORIZONS,
    MODELS,
    SWITCHES,
    URL_AS_PUBLISHED,
    published_oracles,
)
from fasturl.experiments.tuning.problem import TUNING_SEEDS

ENVIRONMENTS = sorted({env for env, _ in FIGURES.values()})
ENTRIES = [
    (agent, horizon, env)
    for agent, horizons in hyperparameters.all_tuned_settings().items()
    for horizon in horizons
    for env in ENVIRONMENTS
]


def agent_of(entry):
    """The agent of an entry, which may be of one of its models or oracles."""
    return next((agent for agent in ("pcid", URL_AS_PUBLISHED) if entry.startswith(f"{agent}-")), entry)


@pytest.mark.parametrize(("agent", "horizon", "env"), ENTRIES)
def test_every_tuned_entry_is_accepted(agent, horizon, env):
    name = agent_of(agent)
    for switch in (None, 0.0, 0.2, 0.5):
        settings = hyperparameters.tuned_settings(agent, env, int(horizon), switch)
        assert settings
        complete = registry.agent_settings(name, settings)
        parts = [complete.get(part) or {} for part in ("learner", "oracle")]
        for key, value in settings.items():
            if key in ("learner", "oracle"):
                assert value == complete[key]["name"]
            else:
                assert value in [one[key] for one in (complete, *parts) if key in one]


@pytest.mark.parametrize("horizon", HORIZONS)
def test_the_skyline_has_the_learner_of_url(horizon):
    """A skyline with another learner, or one that was tuned less, would be none."""
    settings = hyperparameters.tuned_settings("url", "lock-bernoulli", horizon)
    learner = dict(registry.agent_settings("url", settings)["learner"])
    assert learner.pop("name") == "oracleq"
    skyline = hyperparameters.tuned_settings("oracleq-lat", "lock-bernoulli", horizon)
    assert learner == registry.agent_settings("oracleq-lat", skyline)
    assert {"schedule": "spread"}.items() <= learner.items()


FILE = (
    resources.files("fasturl.experiments.paper").joinpath("hyperparameters.toml").read_text(encoding="utf-8")
)
TABLES = re.findall(r"((?:^# fasturl tune (?:.*\\\n)*.*\n)+)\[(.*)\].*\n((?:\w.*\n?)+)", FILE, re.MULTILINE)


def test_every_table_has_the_commands_that_found_it():
    assert len(TABLES) == len(re.findall(r"^\[", FILE, re.MULTILINE))


@pytest.mark.parametrize(("commands", "table", "settings"), TABLES, ids=[table for _, table, _ in TABLES])
def test_a_recorded_command_can_be_run_and_can_find_what_is_recorded(commands, table, settings):
    agent, horizon, *place = re.match(r"([a-z-]+)\.(\d+)(?:\.(.*))?", table).groups()
    found = dict(line.split(" = ") for line in settings.split("\n") if line)
    for command in re.split(r"^# fasturl tune ", re.sub(r"\\\n#", "", commands), flags=re.MULTILINE)[1:]:
        words = shlex.split(command)
        context = typer.main.get_command(app).commands["tune"].make_context("tune", words)
        options, settings_of_env = context.params, {}
        for name, text in written_settings(context):
            settings_of_env.setdefault(name, []).append(text)
        assert options["agent"] == agent_of(agent)
        assert settings_of_env["horizon"] == [horizon]
        assert min(parse_seeds(options["seeds"])) >= min(TUNING_SEEDS)
        tried = dict(search.split("=") for search in options["search"] or [])
        for name, values in tried.items():
            assert name not in found or float(found[name]) in map(float, values.split(","))
        for name, value in (setting.split("=") for setting in options["fixed"] or []):
            assert name not in found or found[name] == f'"{value}"'
        of_agent = {"oracle", "scale", "learning_rate", "confidence"}
        for name in of_agent & settings_of_env.keys() & found.keys():
            assert found[name].strip('"') == settings_of_env[name][0]
        if place[0] and "switch" in place[0]:
            assert [f"switch {switch}" for switch in settings_of_env["switch"]] == [
                re.search(r"switch [\d.]+", place[0]).group()
            ]


@pytest.mark.parametrize(
    ("commands", "settings"),
    [(commands, settings) for commands, table, settings in TABLES if re.match(r"(oracleq-lat|url)\.", table)],
)
def test_no_winner_of_the_skyline_and_of_url_lies_at_an_edge_of_its_grid(commands, settings):
    found = dict(line.split(" = ") for line in settings.split("\n") if line)
    for name, values in re.findall(r"--search (\w+)=([\d.,]+)", commands):
        tried = sorted(map(float, values.split(",")))
        assert name not in found or tried[0] < float(found[name]) < tried[-1]


def test_every_table_inside_an_entry_is_read():
    inside = {
        name
        for horizons in hyperparameters.all_tuned_settings().values()
        for entry in horizons.values()
        for name, value in entry.items()
        if isinstance(value, dict)
    }
    switches = ["switch 0", "switch 0.2", "switch 0.5"]
    assert inside <= {
        *ENVIRONMENTS,
        *switches,
        *(f"{env}, {switch}" for env in ENVIRONMENTS for switch in switches),
    }


def test_the_table_of_an_environment_and_a_switch_goes_before_those_of_either():
    places = [
        ("lock-bernoulli", 0.2),
        ("lock-bernoulli", 0.5),
        ("lock-gaussian", 0.2),
        ("lock-gaussian", 0.5),
    ]
    assert [
        hyperparameters.tuned_settings("pcid-linear", env, 5, switch)["n_clusters"] for env, switch in places
    ] == [3, 6, 3, 12]


@pytest.mark.parametrize("figure", FIGURES)
def test_every_panel_has_a_score_of_each_model_of_pcid_and_shows_the_best(figure):
    for horizon, switch in product(HORIZONS, SWITCHES):
        scores = hyperparameters.model_scores(figure, horizon, switch)
        assert tuple(scores) == MODELS
        assert all(0 <= score <= 0.5 for score in scores.values())
        assert scores[hyperparameters.best_model(figure, horizon, switch)] == max(scores.values())


def test_tuned_settings_are_there_for_the_papers_horizons_alone():
    agents = {*AGENTS, *BITS_ONLY, *(f"pcid-{model}" for model in MODELS)} - {"pcid", URL_AS_PUBLISHED}
    oracles = {(oracle, horizon) for horizon in HORIZONS for oracle in published_oracles(horizon)}
    assert {(agent, horizon) for agent, horizon, _ in ENTRIES} == {
        *((agent, str(horizon)) for agent in agents for horizon in HORIZONS),
        *((f"{URL_AS_PUBLISHED}-{oracle}", str(horizon)) for oracle, horizon in oracles),
    }
    with pytest.raises(ValueError, match="horizon must be one of 5, 10, 20"):
        hyperparameters.tuned_settings("url", "lock-bernoulli", 7)
    with pytest.raises(ValueError, match="agent must be one of"):
        hyperparameters.tuned_settings("dqn", "lock-bernoulli", 5)


def test_default_seeds_are_not_those_of_judging():
    assert not set(TUNING_SEEDS) & set(range(50))
