"""The comparison on the rich lock: the rules of "solved", the table, the figure, and small real runs."""

import io
import math

import numpy as np
import pandas as pd
import pytest
from command_line import fasturl
from rich.console import Console

from fasturl.experiments import reproduce
from fasturl.experiments.paper import rich_lock as comparison
from fasturl.experiments.paper.published_budgets import ORDER, PUBLISHED
from fasturl.experiments.paper.rich_lock import EPISODES, rich_lock, rich_lock_cells
from fasturl.experiments.paper.rich_lock_figure import draw, solving_table, sources
from fasturl.experiments.paper.solving import (
    RULES,
    five_evaluations_at,
    near_optimal_from,
    solved_by_seed,
    sum_up,
)
from fasturl.experiments.paper.view import View
from fasturl.experiments.running.backends import Local


def evaluations(values, lowest=None):
    return {
        "trajectories": [25 * (n + 1) for n in range(len(values))],
        "values": values,
        "lowest_returns": values if lowest is None else lowest,
    }


@pytest.mark.parametrize(
    ("values", "solved"),
    [
        ([0.1, 0.9, 0.95, 1.0], 50),
        ([0.1, 1.0, 0.89, 0.9], 100),
        ([1.0, 1.0], 25),
        ([1.0, 1.0, 0.1], math.inf),
        ([0.0], math.inf),
    ],
)
def test_near_optimal_is_where_the_value_stays_at_least_nine_tenths_of_the_best(values, solved):
    assert near_optimal_from(evaluations(values), v_star=1.0) == solved
    assert near_optimal_from(evaluations([value / 2 for value in values]), v_star=0.5) == solved


@pytest.mark.parametrize(
    ("lowest", "solved"),
    [
        ([0, 1, 1, 1, 1, 1, 1], 150),
        ([1, 1, 1, 1, 0, 1, 1, 1, 1], math.inf),
        ([1, 1, 1, 1, 1, 0, 0], 125),
        ([0.1] * 9, math.inf),
    ],
)
def test_the_rule_of_the_literature_asks_for_five_successive_evaluations(lowest, solved):
    assert five_evaluations_at(evaluations([0.5] * len(lowest), lowest)) == solved


def about(agent, horizon, budget, runs):
    """The metadata of a file of results: `runs` are evaluations by seed."""
    return {
        "config": {"agent": agent, "env_settings": {"horizon": horizon}, "episodes": budget},
        "seeds": list(runs),
        "optimal_values": [1.0] * len(runs),
        "diagnostics": [{"evaluations": one} for one in runs.values()],
    }


def test_runs_that_do_not_solve_the_lock_are_counted_and_never_left_out():
    late, never = evaluations([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), evaluations([0.0] * 6)
    files = [about("url", 6, 150, {0: late, 1: late, 2: never}), about("pcid", 6, 150, {0: never, 1: never})]
    by_seed = solved_by_seed([*files, files[0]], [0, 1, 2])
    assert len(by_seed) == 10
    table = sum_up(by_seed, ("pcid", "url")).set_index(["agent", "rule"])
    assert table["solved"].tolist() == [0, 0, 2, 2]
    assert table["seeds"].tolist() == [2, 2, 3, 3]
    assert table["median"].tolist() == [math.inf, math.inf, 50, 150]
    assert table["highest"].tolist() == [math.inf] * 4
    assert table["lowest"].tolist() == [math.inf, math.inf, 50, 150]
    assert set(solved_by_seed(files, [2])["seed"]) == {2}


def test_the_median_of_an_even_number_is_infinite_where_one_of_its_two_is():
    half = {0: evaluations([1.0]), 1: evaluations([0.0])}
    table = sum_up(solved_by_seed([about("url", 6, 25, half)], half), ["url"])
    assert table[table["rule"] == RULES[0]]["median"].tolist() == [math.inf]
    both = {0: evaluations([1.0]), 1: evaluations([0.0, 1.0])}
    table = sum_up(solved_by_seed([about("url", 6, 50, both)], both), ["url"])
    assert table[table["rule"] == RULES[0]]["median"].tolist() == [37.5]


@pytest.fixture
def made_up():
    """A table in which URL is solved everywhere but once, and PCID nowhere."""
    rows = []
    for horizon, budget in EPISODES.items():
        for agent in ORDER:
            solved = 0 if agent == "pcid" else 50 - (agent == "url" and horizon == 100)
            times = [20.0 * horizon + seed if seed < solved else np.inf for seed in range(50)]
            rows += [
                (agent, horizon, seed, rule, budget, at) for rule in RULES for seed, at in enumerate(times)
            ]
    names = ["agent", "horizon", "seed", "rule", "budget", "trajectories"]
    return comparison.with_published(sum_up(pd.DataFrame(rows, columns=names), ORDER))


def test_the_table_has_the_published_numbers_with_their_sources(made_up):
    published = made_up[made_up["rule"] == "published"]
    took = published.dropna(subset="median").set_index(["agent", "horizon"])["median"]
    assert took.to_dict() == {("MusIK", 25): 73_000, ("MusIK", 50): 320_000, ("MusIK", 100): 1_210_000}
    assert published[published["agent"] == "BRIEE"]["budget"].tolist() == [10_000_000]
    assert all("as reported" in source for source in published["source"])
    assert set(made_up["source"]) - set(published["source"]) == {"this run"}
    assert len(sources()) == 2


def test_the_figure_shows_every_agent_and_number_and_what_was_not_solved(made_up):
    figure = draw(made_up)
    for axes in figure.axes:
        labels = axes.get_legend_handles_labels()[1]
        assert [label.split(",")[0].split()[0] for label in labels] == [
            *ORDER,
            "MusIK",
            "BRIEE",
            "seeds",
        ]
        texts = [text.get_text() for text in axes.texts]
        assert texts.count("50 of 50") == len(EPISODES)
        assert texts.count("1 of 50") == 1
        assert {"73k", "320k", "1.21M", "10M"} <= set(texts)
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
        low, high = axes.get_ylim()
        assert low < 120
        assert high > max(one.episodes for one in PUBLISHED)


def test_the_printed_table_says_what_was_not_solved(made_up):
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(solving_table(made_up))
    lines = console.export_text().splitlines()
    assert not any("…" in line for line in lines)
    most = f"{EPISODES[100]:,}"
    assert any("pcid" in line and f"more than {most}" in line and "0/50" in line for line in lines)
    assert any("url" in line and f"2,024 (2,000->{most})" in line and "49/50" in line for line in lines)
    assert sum("MusIK" in line for line in lines) == 3
    assert sum("BRIEE" in line for line in lines) == len(EPISODES)


def test_pcid_gets_as_many_trajectories_as_all_its_levels_take():
    budgets = {cell.env_settings["horizon"]: cell.episodes for cell in rich_lock_cells("pcid")}
    assert budgets == {6: 5_750, 12: 10_250, 25: 20_000, 50: 38_750, 100: 76_250}


def test_url_and_its_skylines_solve_the_lock_and_pcid_does_not(tmp_path):
    """On the two seeds from 10,000 on. A second call computes nothing and writes the same files."""
    done = rich_lock(tmp_path, seeds=[10_000, 10_001], horizons=[6], n_jobs=1, progress=False)
    runs = done.table[done.table["rule"] != "published"].set_index(["agent", "rule"])
    assert runs["solved"].to_dict() == {
        (agent, rule): 0 if agent == "pcid" else 2 for agent in ORDER for rule in RULES
    }
    strict, value = runs.xs(RULES[1], level="rule"), runs.xs(RULES[0], level="rule")
    assert (strict["median"] >= value["median"]).all()
    assert value.loc["url", "highest"] <= 500
    names = ("rich-lock.png", "rich-lock.pdf", "rich-lock.csv", "rich-lock-seeds.csv")
    contents = [(tmp_path / name).read_bytes() for name in names]
    plan = comparison.planned(
        tmp_path, seeds=[10_000, 10_001], episodes_scale=1, place=Local(1), horizons=[6]
    )
    assert plan.to_do.startswith("4 cells x 2 seeds; 0 of 8 runs to do")
    plan.carry_out(False)
    assert [(tmp_path / name).read_bytes() for name in names] == contents


def test_each_run_of_url_is_kept_as_soon_as_it_is_there(tmp_path):
    plan = comparison.planned(tmp_path, seeds=4, episodes_scale=1, place=Local(1), horizons=[50])
    assert [block.seeds for block in plan.missing["url"]] == [(0,), (1,), (2,), (3,)]


@pytest.mark.parametrize("horizons", [[], [7], 6, [6, "12"]])
def test_other_horizons_are_refused(tmp_path, horizons):
    with pytest.raises(ValueError, match="horizons must be some of 6, 12, 25, 50, 100, got"):
        rich_lock(tmp_path, horizons=horizons)


def test_from_the_command_line(tmp_path):
    shape = ["--seeds", "10000:10001", "--episodes-scale", "0.001", "--n-jobs", "1", "--out", str(tmp_path)]
    result = fasturl("reproduce", "--only", "rich-lock", *shape)
    assert result.returncode == 0, result.stderr
    assert "20 cells x 1 seed; 20 of 20 runs to do" in result.stdout
    assert "Mhammedi" in result.stdout
    assert (tmp_path / "rich-lock.png").exists()
    assert not (tmp_path / "view.json").exists()


def test_figures_that_are_named_beside_it_are_made_too(tmp_path):
    shape = ["--seeds", "10000:10001", "--episodes-scale", "0.001", "--n-jobs", "1", "--out", str(tmp_path)]
    result = fasturl("reproduce", "--only", "rich-lock", "--only", "fig2", *shape)
    assert result.returncode == 0, result.stderr
    assert "51 of 51 runs to do" in result.stdout
    assert "20 of 20 runs to do" in result.stdout
    assert {"fig2.png", "summary.csv", "rich-lock.png", "rich-lock.csv"} <= {
        path.name for path in tmp_path.iterdir()
    }
    # view.json tells what summary.csv and claims.json show, which is not the rich lock
    assert View.of(tmp_path).figures == ("fig2",)


def test_python_does_what_the_command_does(tmp_path):
    done = reproduce(tmp_path, only="rich-lock", seeds=1, episodes_scale=0.001, n_jobs=1, progress=False)
    assert done.figures == ("rich-lock",)
    assert (len(done.summary), len(done.oracles), done.claims) == (0, 0, [])
    assert set(done.comparison.by_seed["horizon"]) == set(EPISODES)
    assert not (tmp_path / "view.json").exists()


def test_an_option_that_the_comparison_has_no_use_for_is_refused(tmp_path):
    result = fasturl("reproduce", "--only", "rich-lock", "--all-models", "--out", str(tmp_path / "results"))
    assert (result.returncode, result.stdout) == (2, "")
    assert "all_models must be left out for rich-lock alone" in result.stderr
    assert len(result.stderr.splitlines()) == 1
