"""Results of several families in one folder: columns and their types come from declarations."""

import dataclasses
import glob
import json
import subprocess
import sys

import duckdb
import numpy as np
import pandas as pd
import polars
import pytest
from corridor import Burrow, Cautious, Corridor, Threshold
from registrations import registered

import fasturl as fu
from fasturl.experiments import Cell, load, parse_spec, sweep
from fasturl.experiments.analysis import summaries
from fasturl.experiments.running.store import Store

SEEDS = 4


@pytest.fixture(scope="module", autouse=True)
def known():
    with registered(Corridor, Burrow, Threshold, Cautious):
        yield


@pytest.fixture(scope="module")
def cells():
    return [
        Cell.make("corridor", {"length": 2, "slip": 0.25}, "oracleq-lat", {}, 60, 3),
        Cell.make(
            "corridor", {"length": 3, "doors": 4, "lit": False}, "cautious-lat", {"patience": 7}, 60, 3
        ),
        Cell.make(
            "corridor",
            {"length": 2},
            "url",
            {"oracle": Threshold(0.25), "learner": {"name": "cautious", "patience": 3}},
            200,
            3,
        ),
        Cell.make(
            "lock-gaussian", {"horizon": 2, "noise": 0.2}, "pooled-ucbvi-lat", {"novelty": 0.75}, 60, 3
        ),
        Cell.make("lock-bernoulli", {"horizon": 2}, "url", {}, 200, 3),
    ]


@pytest.fixture(scope="module")
def folder(cells, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed") / "out"
    sweep(cells, SEEDS, folder, n_jobs=1)
    return folder


@pytest.fixture(scope="module")
def frame(folder):
    return load(folder)


def of_cell(frame, cell):
    return frame[frame["cell"] == cell.id]


def test_columns_are_the_declared_settings_in_their_order(frame):
    columns = list(frame.columns)
    assert columns[: columns.index("agent")] == [
        *("cell", "env", "horizon", "length", "slip", "doors", "lit", "paint", "switch", "noise")
    ]
    assert {"agent.confidence", "agent.patience", "oracle.margin", "learner.patience"} < set(columns)
    assert summaries.env_settings(frame) == [
        *("horizon", "length", "slip", "doors", "lit", "paint", "switch", "noise")
    ]


def test_types_are_the_declared_kinds_and_what_a_family_does_not_have_is_missing(frame, cells):
    types = frame.dtypes.astype(str)
    assert types[["length", "doors", "agent.patience"]].tolist() == ["Int64"] * 3
    assert types[["slip", "switch", "noise", "agent.confidence"]].tolist() == ["float64"] * 4
    assert types[["lit", "paint", "oracle", "learner"]].tolist() == ["boolean", "str", "str", "str"]
    assert types[["horizon", "seed", "episodes", "points"]].tolist() == ["int64"] * 4
    corridor, lock = of_cell(frame, cells[1]).iloc[0], of_cell(frame, cells[3]).iloc[0]
    assert corridor[["horizon", "length", "doors", "lit", "paint", "agent.patience"]].tolist() == [
        3,
        3,
        4,
        False,
        "white",
        7,
    ]
    assert corridor[["switch", "noise", "agent.confidence"]].isna().all()
    assert lock[["length", "doors", "lit", "paint", "learner", "oracle"]].isna().all()


def test_parts_have_their_names_and_settings(frame, cells):
    of_url = of_cell(frame, cells[2]).iloc[0]
    parts = ["oracle", "oracle.margin", "learner", "learner.patience", "learner.learning_rate"]
    assert of_url[parts].tolist() == ["threshold", 0.25, "cautious", 3, 0.1]
    by_default = of_cell(frame, cells[4]).iloc[0]
    assert by_default[["oracle", "learner"]].tolist() == ["kmeans", "pooled-ucbvi"]
    assert by_default[["oracle.margin", "learner.patience"]].isna().all()


def test_v_star_is_that_of_each_seed(frame, cells):
    rows = of_cell(frame, cells[1])
    own = {seed: Corridor(3).optimal_value(seed) for seed in range(SEEDS)}
    assert rows.groupby("seed")["optimal_value"].unique().map(list).to_dict() == {
        seed: [value] for seed, value in own.items()
    }
    assert len(set(own.values())) == SEEDS
    assert rows["v_star"].unique().tolist() == [np.mean(list(own.values()))]
    assert of_cell(frame, cells[3])["v_star"].unique().tolist() == [0.5]
    run = fu.train(Corridor(3), Cautious(patience=7), 60, SEEDS, sees="latent", points=3)
    assert rows["near_optimal"].tolist() == np.repeat(run.near_optimal, 3).tolist()
    assert run.v_star == rows["v_star"].iloc[0]


def test_summaries_judge_each_seed_by_its_own_v_star(frame, cells):
    table = summaries.cell_table(frame).set_index("cell")
    rows = of_cell(frame, cells[1])
    curve, runs = summaries.curve(rows), rows.drop_duplicates("seed")
    needed = [
        summaries.statistics.near_optimal_from(curve.trajectories, samples, best, success)
        for samples, best, success in zip(
            curve.samples, runs["optimal_value"], runs["near_optimal"], strict=True
        )
    ]
    line = table.loc[cells[1].id]
    assert line["reached"] == np.isfinite(needed).sum()
    assert line["needed"] == summaries.statistics.median(needed)
    assert line["v_star"] == rows["v_star"].iloc[0]
    assert line["successes"] == runs["near_optimal"].sum()


def test_cells_of_mixed_families_are_named_selected_and_sorted(frame, cells):
    assert list(summaries.labels(frame)) == list(dict.fromkeys(summaries.labels(frame)))
    assert set(summaries.select(frame, ["doors=4"])["cell"]) == {cells[1].id}
    assert set(summaries.select(frame, ["lit=false"])["cell"]) == {cells[1].id}
    assert set(summaries.select(frame, ["patience=3"])["cell"]) == {cells[2].id}
    # what one agent has itself another has in its learner
    assert set(summaries.select(frame, ["novelty=0.75"])["cell"]) == {cells[3].id}
    assert set(summaries.select(frame, ["novelty=0.3"])["cell"]) == {cells[4].id}
    assert summaries.cell_table(frame)["env"].tolist() == ["corridor"] * 3 + [
        "lock-bernoulli",
        "lock-gaussian",
    ]


READERS = {
    "polars": lambda files: (
        polars.concat([polars.scan_parquet(file) for file in glob.glob(files)], how="diagonal_relaxed")
        .collect()
        .to_pandas()
    ),
    "DuckDB": lambda files: duckdb.sql(f"FROM read_parquet('{files}', union_by_name = true)").df(),
}


@pytest.mark.parametrize("reader", READERS)
def test_other_readers_take_all_files_for_one_table(reader, folder, frame):
    table = READERS[reader](f"{folder}/results/*/*.parquet")
    table = table.sort_values(["cell", "seed", "trajectories"], ignore_index=True)
    assert {"length", "slip", "doors", "lit", "paint", "horizon", "switch", "noise"} < set(table.columns)
    for column in table:
        assert [None if pd.isna(value) else value for value in table[column]] == [
            None if pd.isna(value) else value for value in frame[column]
        ], column


def test_one_name_with_two_kinds_is_a_number_or_a_text(tmp_path):
    cells = [
        Cell.make("burrow", {}, "oracleq-lat", {}, 60, 2),
        Cell.make("corridor", {"length": 2, "slip": 0.25, "doors": 4}, "oracleq-lat", {}, 60, 2),
        Cell.make("corridor", {"length": 2}, "oracleq-lat", {}, 60, 2),
    ]
    frame = sweep(cells, 2, tmp_path, n_jobs=1)
    first = [of_cell(frame, cell).iloc[0] for cell in cells]
    assert frame["slip"].dtype == "float64"
    assert [row["slip"] for row in first] == [1.0, 0.25, 0.0]
    assert [row["doors"] if pd.notna(row["doors"]) else None for row in first] == ["many", "4", None]
    assert [row["paint"] for row in first] == ["0.5", "white", "white"]
    assert set(summaries.select(frame, ["doors=4"])["cell"]) == {cells[1].id}
    assert len(summaries.cell_table(frame)) == 3
    for reader in READERS.values():
        assert len(reader(f"{tmp_path}/results/*/*.parquet")) == len(frame)


def test_a_folder_is_read_where_its_classes_are_not_known(folder, frame):
    program = "import sys, fasturl; f = fasturl.load(sys.argv[1]); print(f.to_json(orient='split'))"
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, str(folder)], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == json.loads(frame.to_json(orient="split"))


def test_metadata_tells_where_each_component_came_from(folder, cells):
    about = {one["cell"]: one for one in Store(folder).about()}
    origins = about[cells[2].id]["config"]["origins"]
    assert origins == {
        "environment corridor": "corridor",
        "agent url": f"fasturl {fu.__version__}",
        "oracle threshold": "corridor",
        "learner cautious": "corridor",
    }
    assert about[cells[1].id]["optimal_values"] == [Corridor(3).optimal_value(seed) for seed in range(SEEDS)]


def test_files_of_sweeps_take_families_by_name():
    spec = parse_spec(
        {
            "episodes": 200,
            "env": {"name": ["corridor"], "length": [2, 3], "lit": [True, False]},
            "agent": [{"name": "url"}, {"name": "cautious-lat"}],
            "oracle": {"name": "threshold", "margin": [0.0, 0.5]},
            "learner": {"name": "cautious", "patience": 2},
        }
    )
    assert len(spec.cells) == 4 * (2 + 1)
    assert {cell.agent_settings.get("patience") for cell in spec.cells} == {None, 2}
    assert {(cell.agent_settings.get("learner") or {}).get("patience") for cell in spec.cells} == {None, 2}


@pytest.mark.parametrize(
    ("env", "agent", "message"),
    [
        ({"name": "corridor"}, {}, r"\[env\] length is missing: corridor needs it$"),
        (
            {"name": "corridor", "lenght": 3},
            {},
            r"\[env\] length is missing: corridor needs it \(is lenght meant to be length\?\)",
        ),
        (
            {"name": "corridor", "length": 2, "slipp": 0},
            {},
            r"slipp is not a setting of corridor \(did you mean slip\?\)",
        ),
        ({"name": "corridr", "length": 2}, {}, r"name must be one of .* \(did you mean corridor\?\)"),
        (
            {"name": "corridor", "length": 2},
            {"name": "cautious-lat"},
            r"\[agent\] patience is missing: cautious-lat needs it",
        ),
        (
            {"name": "corridor", "length": 2},
            {"name": "url", "learner": "cautious"},
            "url on corridor: patience is missing: cautious needs it",
        ),
    ],
)
def test_what_is_missing_or_unknown_is_found_from_declarations(env, agent, message):
    content = {"episodes": 60, "env": env, "agent": {"name": "oracleq-lat"} | agent}
    with pytest.raises(ValueError, match=message) as refusal:
        parse_spec(content)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("name", ["seeds", "label", "optimal_value", "needed", "curve"])
def test_no_environment_may_call_a_setting_like_a_column_of_results(name):
    cls = dataclasses.make_dataclass(
        "Clash",
        [(name, int, fu.setting(1, help="Clashes."))],
        bases=(fu.Environment,),
        frozen=True,
        namespace={"draw": Corridor.draw, "horizon": 2},
    )
    with pytest.raises(ValueError, match=f"{name} is a column of results and cannot be a setting of Clash"):
        fu.register(cls)
