"""The columns of the frame of all results."""

import math

import pandas as pd
import pyarrow.parquet
import pytest

from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.analysis import summaries
from fasturl.experiments.running.store import Store


def swept(folder, *cells, seeds=2):
    return sweep([Cell.make(*cell) for cell in cells], seeds, folder, n_jobs=1)


def test_settings_of_an_oracle_are_columns(tmp_path):
    oracles = [{"oracle": {"name": "kmeans", "n_init": n}} for n in (1, 5)] + [{}]
    cells = [Cell.make("lock-gaussian", {"horizon": 2}, "url", settings, 60, 3) for settings in oracles]
    frame = sweep(cells, 2, tmp_path, n_jobs=1)
    found = frame.drop_duplicates("cell").set_index("cell")["oracle.n_init"].fillna(-1)
    assert [found[cell.id] for cell in cells] == [1, 5, -1]
    assert "agent.oracle" not in frame
    assert summaries.columns_called(frame, "n_init") == ["oracle.n_init"]
    assert summaries.select(frame, ["n_init=5"])["cell"].unique().tolist() == [cells[1].id]
    assert len(set(summaries.labels(frame).values())) == 3


def test_cells_that_differ_in_points_alone_can_be_told_apart(tmp_path):
    frame = swept(
        tmp_path, *(("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 60, points) for points in (3, 6))
    )
    assert frame.groupby("cell")["points"].unique().map(list).sort_values().tolist() == [[3], [6]]
    assert frame.groupby("points").size().to_dict() == {3: 2 * 3, 6: 2 * 6}


@pytest.mark.parametrize("switch", [0, 0.5])
def test_columns_have_the_types_of_the_files_whatever_they_hold(switch, tmp_path):
    frame = swept(tmp_path, ("lock-bernoulli", {"horizon": 2, "switch": switch}, "oracleq-lat", {}, 60, 3))
    table = pyarrow.parquet.read_table(tmp_path / "results").to_pandas()
    numbers = table.select_dtypes("number").columns
    assert {"horizon", "switch", "episodes", "optimal_value"} <= set(numbers)
    assert frame[numbers].dtypes.to_dict() == table[numbers].dtypes.to_dict()
    assert frame[["v_star", "agent.confidence"]].dtypes.tolist() == ["float64"] * 2


def test_every_run_has_an_id_that_its_rows_and_its_file_give_back(tmp_path):
    cell = Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 60, 3)
    sweep([cell], [5, 8], tmp_path, n_jobs=1)
    runs = load(tmp_path)[["cell", "seed"]].drop_duplicates()
    assert [f"{run.cell}-{run.seed}" for run in runs.itertuples()] == [cell.run_id(5), cell.run_id(8)]
    (about,) = Store(tmp_path).about()
    assert Cell.from_config(about["config"]) == cell


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([0.1, 0.1, math.nan, 1e-7], index=[5, 3, 2, 9]),
        pd.Series([20, 5, 20], dtype="Int64"),
        pd.Series([True, None, False], dtype="boolean"),
        pd.Series(["kmeans", None, "true", "kmeans"], dtype="string"),
        pd.Series([True, 1, 1.0, "1", None], dtype=object),
        pd.Series([], dtype=float),
    ],
    ids=["numbers", "whole numbers", "yes or no", "words", "of all sorts", "none"],
)
def test_columns_of_settings_are_shown_value_by_value(values):
    pd.testing.assert_series_equal(
        summaries.shown(values).astype(object), values.map(summaries.show).astype(object), check_names=False
    )
