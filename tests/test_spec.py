"""Sweeps that are described in a file."""

import inspect
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from minimal_spec import MINIMAL, parse

import fasturl
from fasturl._base import names
from fasturl.experiments import Cell, read_spec
from fasturl.experiments.paper import cells as paper
from fasturl.experiments.running.spec import EXAMPLE
from fasturl.oracles import GMM

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_horizons_of_the_example_are_those_of_long_locks():
    spec = read_spec(EXAMPLES / "horizons.toml")
    settings = {(cell.environment().horizon, cell.env, cell.agent) for cell in spec.cells}
    horizons, locks = (5, 10, 20, 50, 100, 200, 500, 1000), ("lock-bernoulli", "lock-gaussian")
    agents = ("oracleq-lat", "pooled-ucbvi-lat", "url")
    assert settings == set(itertools.product(horizons, locks, agents))
    assert (len(spec.cells), spec.seeds) == (48, list(range(20)))


def test_the_example_of_every_seed_has_all_settings_of_the_papers_figures():
    spec = read_spec(EXAMPLES / "every-seed.toml")
    figures = [cell for cell in paper.cells(paper.FIGURES) if cell.agent == "url"]
    chosen, shown = (
        {(cell.env, *cell.env_settings.items(), cell.episodes) for cell in cells}
        for cells in (spec.cells, figures)
    )
    assert chosen == shown
    assert len(spec.cells) == 27


def test_the_families_of_the_field_are_compared_with_latent_states():
    cells = read_spec(EXAMPLES / "every-family.toml").cells
    told = {(cell.agent, cell.env) for cell in cells}
    assert {agent for agent, _ in told} == {"url", "pooled-ucbvi-lat"}
    assert len(told) == 2 * 5
    assert len(cells) == 3 * 5


def test_a_curve_has_as_many_points_as_train_gives_it():
    assert parse(MINIMAL).cells[0].points == inspect.signature(fasturl.train).parameters["points"].default


def test_a_file_without_lists_is_one_cell():
    spec = parse(MINIMAL)
    assert spec.cells == [Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 100)]
    assert spec.seeds == [0, 1, 2]


def test_lists_span_a_grid():
    spec = parse("""
        episodes = [100, 200]
        seeds = [7, 9]
        points = 10
        [env]
        name = "lock-gaussian"
        horizon = [2, 3]
        noise = [0.1, 0.2]
        [agent]
        name = ["oracleq-lat"]
        learning_rate = [0.1, 0.2, 0.3]
    """)
    assert set(spec.cells) == {
        Cell.make(
            "lock-gaussian",
            {"horizon": horizon, "noise": noise},
            "oracleq-lat",
            {"learning_rate": rate},
            episodes,
            10,
        )
        for horizon, noise, rate, episodes in itertools.product(
            (2, 3), (0.1, 0.2), (0.1, 0.2, 0.3), (100, 200)
        )
    }
    assert len(spec.cells) == 24
    assert spec.seeds == [7, 9]


def test_learner_and_oracle_settings_go_to_the_agents_that_have_them():
    spec = parse("""
        episodes = 100
        env = {name = "lock-bernoulli", horizon = 2}
        agent = [
            {name = ["oracleq-lat", "qlearning-lat"]},
            {name = "url", novelty = 0.5},
            {name = "url", oracle = "gmm"},
        ]
        learner = {confidence = 0.25, exploration_fraction = 0.75, novelty = 0.25}
        oracle = {name = ["kmeans", "dbscan"]}
    """)
    made = [(cell.agent, cell.agent_settings) for cell in spec.cells]
    wanted = [
        ("oracleq-lat", {"confidence": 0.25}),
        ("qlearning-lat", {"exploration_fraction": 0.75}),
        ("url", {"novelty": 0.5, "oracle": "kmeans"}),
        ("url", {"novelty": 0.5, "oracle": "dbscan"}),
        ("url", {"novelty": 0.25, "oracle": "gmm"}),
    ]
    assert made == [
        (name, cell.agent_settings)
        for name, settings in wanted
        for cell in [Cell.make("lock-bernoulli", {"horizon": 2}, name, settings, 100)]
    ]


def test_an_oracle_has_settings_of_its_own():
    spec = parse("""
        episodes = 100
        env = {name = "lock-bernoulli", horizon = 2}
        agent = {name = "url"}
        oracle = [{name = "kmeans", n_init = [2, 3]}, {name = "gmm", covariance = "full"}]
    """)
    assert [cell.player().oracle.get_params()["n_init"] for cell in spec.cells] == [2, 3, GMM().n_init]
    assert spec.cells[2].player().oracle.covariance == "full"


@pytest.mark.parametrize(
    "agent",
    [
        'oracle = "kmeans", n_init = [2, 3], confidence = 0.5',
        'oracle = {name = "kmeans", n_init = [2, 3]}, learner = {confidence = 0.5}',
        'oracle = [{name = "kmeans", n_init = 2}, {name = "kmeans", n_init = 3}], learner.confidence = 0.5',
        'oracle = "kmeans", "oracle.n_init" = [2, 3], "learner.confidence" = 0.5',
    ],
)
def test_settings_of_parts_may_be_flat_or_in_tables_and_lists_span_a_grid_in_both(agent, monkeypatch):
    @dataclass(frozen=True)
    class Spreading(fasturl.URL):
        learner: Any = fasturl.setting(
            fasturl.OracleQ(schedule="spread"), kind="learner", help="With a setting that is not its default."
        )

    monkeypatch.setitem(names._registered, "agent", {})
    fasturl.register(Spreading)
    spec = parse(MINIMAL.replace('name = "oracleq-lat"', f'name = "spreading", {agent}'))
    assert [cell.agent_settings["oracle"]["n_init"] for cell in spec.cells] == [2, 3]
    assert {cell.agent_settings["learner"]["confidence"] for cell in spec.cells} == {0.5}
    assert {cell.agent_settings["learner"]["schedule"] for cell in spec.cells} == {"spread"}


def test_an_agents_own_settings_of_a_part_go_before_those_of_the_shared_table():
    spec = parse("""
        episodes = 100
        env = {name = "lock-bernoulli", horizon = 2}
        agent = [{name = "url", n_init = 7}, {name = "url", learner = {novelty = 0.5}}]
        oracle = {name = "kmeans", n_init = [2, 3]}
        learner = {novelty = [0.25, 0.125]}
    """)
    assert [
        (cell.agent_settings["oracle"]["n_init"], cell.agent_settings["learner"]["novelty"])
        for cell in spec.cells
    ] == [(7, 0.25), (7, 0.125), (2, 0.5), (3, 0.5)]


def test_a_learner_with_a_name_is_that_of_the_agents_that_take_one_and_of_those_that_are_it():
    spec = parse("""
        episodes = 100
        env = {name = "lock-bernoulli", horizon = 2}
        agent = [{name = ["oracleq-lat", "qlearning-lat", "url"]}, {name = "url", learner = "oracleq"}]
        learner = {name = "qlearning", learning_rate = [0.5, 0.25]}
    """)
    rates = [
        (cell.agent, (cell.agent_settings.get("learner") or cell.agent_settings)["learning_rate"])
        for cell in spec.cells
    ]
    assert rates == [
        ("oracleq-lat", None),
        ("qlearning-lat", 0.5),
        ("qlearning-lat", 0.25),
        ("url", 0.5),
        ("url", 0.25),
        ("url", None),
    ]
    assert [cell.agent_settings["learner"]["name"] for cell in spec.cells[3:]] == ["qlearning"] * 2 + [
        "oracleq"
    ]


def test_groups_have_the_top_level_as_defaults():
    spec = parse("""
        episodes = 100
        seeds = "1000:1002"
        env = {name = "lock-bernoulli", switch = 0.5}
        agent = {name = "oracleq-lat", learning_rate = 0.5}
        [[group]]
        env.horizon = 2
        [[group]]
        episodes = 300
        env = {horizon = 3, switch = 0.25}
        agent = [{name = "qlearning-lat"}]
    """)
    assert spec.cells == [
        Cell.make(
            "lock-bernoulli", {"horizon": 2, "switch": 0.5}, "oracleq-lat", {"learning_rate": 0.5}, 100
        ),
        Cell.make("lock-bernoulli", {"horizon": 3, "switch": 0.25}, "qlearning-lat", {}, 300),
    ]
    assert spec.seeds == [1000, 1001]


def test_the_same_cell_twice_is_one_cell():
    assert len(parse(MINIMAL.replace("horizon = 2", "horizon = [2, 2], switch = [0, 0.0]")).cells) == 1


def test_a_cell_keeps_its_id_however_a_number_is_written():
    first, second = (
        Cell.make("lock-bernoulli", {"horizon": 2, "switch": zero}, "oracleq-lat", {}, 100)
        for zero in (0, 0.0)
    )
    assert first.id == second.id
    assert first.config == second.config


def test_the_id_of_a_cell_depends_on_everything_in_it():
    basis = ("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {"learning_rate": 0.5}, 100, 10)
    others = [
        ("lock-gaussian", *basis[1:]),
        (basis[0], {"horizon": 3}, *basis[2:]),
        (*basis[:2], "oracleq-obs", *basis[3:]),
        (*basis[:2], "oracleq-obs", {"learning_rate": 0.5, "level_in_key": True}, *basis[4:]),
        (*basis[:3], {"learning_rate": 0.25}, *basis[4:]),
        (*basis[:4], 101, 10),
        (*basis[:5], 11),
    ]
    assert len({Cell.make(*words).id for words in [basis, *others]}) == 8


def test_a_sweep_tells_agents_the_level_or_not(tmp_path):
    path = tmp_path / "levels.toml"
    path.write_text(
        'episodes = 10\nseeds = 1\nenv = {name = "lock-bernoulli", horizon = 2}\n'
        'agent = {name = ["oracleq-obs", "qlearning-obs"], level_in_key = [true, false]}\n'
    )
    cells = read_spec(path).cells
    assert [(cell.agent, cell.agent_settings["level_in_key"]) for cell in cells] == [
        (agent, level_in_key) for agent in ("oracleq-obs", "qlearning-obs") for level_in_key in (True, False)
    ]


def test_the_example_is_a_sweep(tmp_path):
    path = tmp_path / "example.toml"
    path.write_text(EXAMPLE)
    spec = read_spec(path)
    assert len(spec.seeds) == 50
    assert {cell.agent for cell in spec.cells} == {"oracleq-lat", "url"}
    assert {(cell.env_settings["horizon"], cell.episodes) for cell in spec.cells} == {
        (5, 20_000),
        (10, 20_000),
        (20, 60_000),
    }
    oracles = [cell.agent_settings["oracle"] for cell in spec.cells if cell.agent == "url"]
    assert {(oracle["name"], oracle["n_init"]) for oracle in oracles} == {("kmeans", 5)}
