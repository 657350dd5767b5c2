"""`fasturl reproduce`: the cells, figures and claims of the paper."""

import dataclasses
import json
import shutil
import subprocess
import sys
from itertools import product

import pandas as pd
import pytest
from command_line import fasturl

from fasturl.experiments import Local, reproduce
from fasturl.experiments.paper import cells as paper
from fasturl.experiments.paper.claims import Claim
from fasturl.experiments.paper.figures import draw
from fasturl.experiments.paper.hyperparameters import best_model
from fasturl.experiments.paper.published import compare_oracles, oracle_table
from fasturl.experiments.paper.reproduce import planned
from fasturl.experiments.paper.summary import summarise
from fasturl.experiments.paper.view import VIEW, View
from fasturl.experiments.running.store import Store


def models_of(cells):
    return [cell.agent_settings["model"] for cell in cells if cell.agent == "pcid"]


def test_every_figure_has_nine_panels_with_all_its_agents():
    fig1, fig2 = paper.cells(["fig1"]), paper.cells(["fig2"])
    more_oracles = 3 * 2  # at H = 5
    assert len(fig1) == 9 * 7 + more_oracles
    assert len(fig2) == 9 * 5 + more_oracles
    assert {cell.env_settings["noise"] for cell in fig2} == {0.1}
    assert {(cell.env_settings["horizon"], cell.episodes) for cell in fig1} == {
        (5, 20_000),
        (10, 20_000),
        (20, 50_000),
    }


@pytest.mark.parametrize("figure", paper.FIGURES)
def test_a_panel_has_the_best_model_of_pcid_or_all_of_them(figure):
    best = [best_model(figure, *panel) for panel in product(paper.HORIZONS, paper.SWITCHES)]
    assert models_of(paper.cells([figure])) == best
    assert models_of(paper.cells([figure], all_models=True)) == ["linear", "neural"] * 9


@pytest.mark.parametrize("figure", paper.FIGURES)
def test_each_oracle_of_the_paper_has_its_cells_and_every_panel_the_one_that_is_shown(figure):
    cells = [cell for cell in paper.cells([figure]) if cell.agent == paper.URL_AS_PUBLISHED]
    oracles = {
        panel: [
            cell.agent_settings["oracle"]["name"]
            for cell in cells
            if (cell.env_settings["horizon"], cell.env_settings["switch"]) == panel
        ]
        for panel in product(paper.HORIZONS, paper.SWITCHES)
    }
    assert {panel: named for panel, named in oracles.items() if panel[0] > 5} == {
        panel: ["pca-kmeans"] for panel in product((10, 20), paper.SWITCHES)
    }
    assert all(oracles[5, switch] == ["pca-kmeans", "pca-dbscan", "full-gmm"] for switch in paper.SWITCHES)


def test_a_scale_shortens_every_run():
    assert {cell.episodes for cell in paper.cells(["fig3"], episodes_scale=0.01)} == {200, 500}


def test_a_missing_matplotlib_is_told_before_anything_is_computed(tmp_path):
    program = "import sys; sys.modules['matplotlib'] = None; from fasturl.cli import main; main()"
    command = [sys.executable, "-P", "-c", program, "reproduce", "--out", str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    message = "fasturl: a reproduction needs matplotlib: pip install 'fasturl[experiments]'\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", message)
    assert not list(tmp_path.iterdir())


def test_a_figure_shows_the_model_of_pcid_that_tuning_has_chosen_whatever_the_runs_say():
    best = best_model("fig1", 5, 0.0)
    (other,) = set(paper.MODELS) - {best}
    cells = [("pcid", best, 0.1), ("pcid", other, 0.4), ("url", None, 0.4)]
    # of URL as published a figure shows one oracle, in the same way
    cells += [("url-as-published", oracle, 0.3) for oracle in paper.PUBLISHED_ORACLES]
    frame = pd.DataFrame(
        {
            "cell": [f"{agent} {model}" for agent, model, _ in cells],
            "trajectories": 20,
            "average_reward": [reward for *_, reward in cells],
            "env": "lock-bernoulli",
            "horizon": 5,
            "switch": 0.0,
            "agent": [agent for agent, *_ in cells],
            "agent.model": [model for _, model, _ in cells],
            "oracle": [part for _, part, _ in cells],
        }
    )
    shown = [f"pcid {best}", "url None", "url-as-published pca-kmeans"]
    assert list(paper.shown_rows(frame, "fig1")["cell"]) == shown
    assert paper.shown_rows(frame, "fig2").empty


SHAPE = {"seeds": [7], "only": "fig2", "episodes_scale": 0.005}


@pytest.fixture(scope="module")
def quick_look(tmp_path_factory):
    """The second figure with one short run of each cell; nobody writes to its folder."""
    return reproduce(tmp_path_factory.mktemp("fig2") / "out", **SHAPE, n_jobs=1, progress=False)


def test_all_models_are_compared_and_the_figure_names_the_one_that_it_shows(quick_look, tmp_path):
    assert quick_look.models is None
    assert not (quick_look.folder / "models.csv").exists()
    shutil.copytree(quick_look.folder, tmp_path / "out")
    done = reproduce(tmp_path / "out", **SHAPE, all_models=True, n_jobs=1)
    pd.testing.assert_frame_equal(quick_look.summary, done.summary)
    table = pd.read_csv(tmp_path / "out" / "models.csv")
    assert list(table["model"]) == ["linear", "neural"] * 9
    shown = table[table["shown"]]
    assert list(shown["model"]) == [
        best_model("fig2", *panel) for panel in product(paper.HORIZONS, paper.SWITCHES)
    ]
    of_pcid = done.summary[done.summary["agent"] == "pcid"]
    assert list(of_pcid["model"]) == list(shown["model"])
    assert list(of_pcid["average_reward_mean"]) == pytest.approx(list(shown["average_reward_mean"]), rel=1e-5)
    again = reproduce(tmp_path / "out", **SHAPE, n_jobs=1)
    assert again.models is not None  # a folder that compares models goes on doing so

    frame = Store(tmp_path / "out").frame()
    frame.loc[frame["horizon"] == 5, "average_reward"] += 0.5  # beyond V* in some panels
    drawing = draw(frame, "fig2")
    assert all(axes.dataLim.ymax < axes.get_ylim()[1] for axes in drawing.axes)
    titles = [axes.get_title() for axes in drawing.axes]
    assert [title.rsplit(" ", 1)[1] for title in titles] == [
        best_model("fig2", horizon, switch) for switch, horizon in product(paper.SWITCHES, paper.HORIZONS)
    ]


def test_one_command_gives_figures_success_rates_and_claims(tmp_path):
    words = [
        "reproduce",
        "--only",
        "fig2",
        "--seeds",
        "100:102",
        "--episodes-scale",
        "0.005",
        "--out",
        str(tmp_path / "out"),
    ]
    first = fasturl(*words)
    assert first.returncode == 0, first.stderr
    assert "102 of 102 runs to do" in " ".join(first.stdout.split())
    assert (tmp_path / "out" / "fig2.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "out" / "fig2.pdf").read_bytes().startswith(b"%PDF")
    assert (
        b"/Type3" not in (tmp_path / "out" / "fig2.pdf").read_bytes()
    )  # publishers refuse fonts of that kind
    assert sorted(path.name for path in (tmp_path / "out").glob("*fig2*")) == ["fig2.pdf", "fig2.png"]
    table = pd.read_csv(tmp_path / "out" / "summary.csv")
    assert len(table) == 9 * 5 + 3 * 2  # two more oracles of URL as published at H = 5
    oracles = pd.read_csv(tmp_path / "out" / "oracles.csv")
    assert len(oracles) == 9 + 3 * 2
    assert "url-as-published beside the paper's words" in first.stdout
    assert (table["seeds"] == 2).all()
    judged = json.loads((tmp_path / "out" / "claims.json").read_text())
    fields = {field.name for field in dataclasses.fields(Claim)}
    assert all(set(claim) == fields and claim["figure"] == "LockGaussian 0.1" for claim in judged)
    printed = " ".join(first.stdout.split())
    for claim in judged:
        assert all(claim[name] in printed for name in fields)
    assert "A quick look with 2 seeds instead of 50 and runs of 0.005 times the paper's episodes" in " ".join(
        first.stdout.split()
    )

    again = fasturl(*words)
    assert "0 of 102 runs to do" in " ".join(again.stdout.split())
    pd.testing.assert_frame_equal(table, pd.read_csv(tmp_path / "out" / "summary.csv"))

    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    less = fasturl(*("1" if word == "100:102" else word for word in words))
    assert (less.returncode, less.stderr.count("\n")) == (2, 1)
    assert (
        "fig2 of 1 seed at episodes-scale 0.005 would not show all of that: choose another folder"
        in less.stderr
    )
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


def test_the_oracles_are_set_beside_what_the_paper_says():
    """Two seeds of a cell at H = 20 and of one at H = 5, whose decoders took 2,000 and 100 trajectories."""
    places = {"long": (20, 0.2, "pca-kmeans", 2000), "short": (5, 0.0, "full-gmm", 100)}
    frame = pd.DataFrame(
        {
            "cell": cell,
            "env": "lock-bernoulli",
            "horizon": horizon,
            "switch": switch,
            "agent": paper.URL_AS_PUBLISHED,
            "oracle": oracle,
            "agent.model": None,
            "seed": seed,
            "trajectories": 100,
            "average_reward": 0.4,
            "regret": 10.0,
            "value": 0.5 * seed,
            "optimal_value": 0.5,
            "v_star": 0.5,
            "near_optimal": seed == 1,
            "warnings": 0,
        }
        for cell, (horizon, switch, oracle, _) in places.items()
        for seed in (0, 1)
    )
    about = [
        {
            "cell": cell,
            "config": {"agent": paper.URL_AS_PUBLISHED},
            "seeds": [0, 1, 2],
            "diagnostics": [{"decoder_trajectories": spent}] * 3,
        }
        for cell, (*_, spent) in places.items()
    ]
    about.append({"cell": "url", "config": {"agent": "url"}, "seeds": [0], "diagnostics": [{}]})
    table = compare_oracles(summarise(frame, about)).set_index("horizon")
    assert table["decoder_trajectories"].to_dict() == {5: 100, 20: 2000}
    assert table["paper_decoder_trajectories"].to_dict() == {5: "100", 20: "1,000 to 2,500"}
    assert table["paper_success_rate"].to_dict() == {5: "", 20: "80 %"}
    assert table["success_rate"].to_dict() == {5: 0.5, 20: 0.5}
    assert table["shown"].to_dict() == {5: False, 20: True}
    assert oracle_table(table.reset_index()).row_count == 2


def test_python_does_what_the_command_does(quick_look, tmp_path):
    plan = planned(tmp_path / "out", **SHAPE, all_models=False, place=Local(1))
    assert plan.to_do == f"51 cells x 1 seed; 51 of 51 runs to do; results in {tmp_path / 'out'}"
    done = quick_look
    assert (done.folder.name, done.figures) == ("out", ("fig2",))
    assert [path.name for path in sorted(done.folder.iterdir())] == [
        *(
            "claims.json",
            "fasturl-results.json",
            "fig2.pdf",
            "fig2.png",
            "oracles.csv",
            "results",
            "summary.csv",
            "view.json",
        )
    ]
    assert len(done.summary) == 9 * 5 + 3 * 2
    assert [claim["claim"] for claim in json.loads((done.folder / "claims.json").read_text())] == [
        claim.claim for claim in done.claims
    ]
    assert done.caveat.startswith("A quick look with 1 seed instead of 50")
    assert json.loads((done.folder / "view.json").read_text())["caveat"] == done.caveat


NAMES = "'fig1', 'fig2', 'fig3', 'assumptions', 'rich-lock'"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"only": ["fig9"]}, f"only must be one of {NAMES}, got 'fig9'"),
        ({"only": ["rich-lock", "fig9"]}, f"only must be one of {NAMES}, got 'fig9'"),
        ({"only": "assumptions", "all_models": True}, "all_models must be left out for assumptions alone"),
        ({"episodes_scale": 2}, r"episodes_scale must be a number in \(0, 1\], got 2"),
        ({"seeds": 0}, "seeds must be an integer >= 1, got 0"),
        ({"n_jobs": 0}, "n_jobs must be an integer >= 1, got 0"),
        ({"n_jobs": 2, "backend": Local(1)}, "n_jobs is for processes of this machine"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_written(settings, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        reproduce(tmp_path / "out", **settings)
    assert not list(tmp_path.iterdir())


FULL = View(("fig1", "fig2"), tuple(range(50)), 1.0, False)


@pytest.mark.parametrize("change", [{}, {"figures": ("fig1", "fig2", "fig3")}, {"seeds": tuple(range(60))}])
@pytest.mark.parametrize("present", [None, FULL, View(("fig2",), (4, 3), 0.1)])
def test_a_run_that_shows_at_least_as_much_replaces_what_a_folder_shows(present, change):
    asked = dataclasses.replace(FULL, **change)
    assert asked.in_place_of(present, "out") == asked


def test_figures_of_the_same_runs_join_those_that_are_there():
    asked = dataclasses.replace(FULL, figures=("fig3",))
    assert asked.in_place_of(FULL, "out").figures == ("fig1", "fig2", "fig3")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"seeds": tuple(range(5))}, "fig1, fig2 of 5 seeds"),
        ({"seeds": tuple(range(1000, 1050))}, "fig1, fig2 of 50 seeds, not the same ones"),
        ({"episodes_scale": 0.1}, "fig1, fig2 of 50 seeds at episodes-scale 0.1"),
        ({"figures": ("fig1",), "seeds": tuple(range(100))}, "fig1 of 100 seeds"),
    ],
)
def test_less_never_takes_the_place_of_more(change, said):
    asked = dataclasses.replace(FULL, **change)
    with pytest.raises(
        ValueError,
        match=f"out shows fig1, fig2 of 50 seeds; {said} would not show all of that: choose another folder",
    ):
        asked.in_place_of(FULL, "out")


def test_a_folder_that_compares_models_goes_on_doing_so():
    compared = dataclasses.replace(FULL, all_models=True)
    assert FULL.in_place_of(compared, "out") == compared
    assert compared.in_place_of(FULL, "out") == compared
    more = dataclasses.replace(FULL, seeds=tuple(range(60)))
    assert more.in_place_of(compared, "out").all_models


def test_what_a_folder_shows_is_kept_beside_it(tmp_path):
    assert View.of(tmp_path) is None
    FULL.write(tmp_path / VIEW)
    assert View.of(tmp_path) == FULL
    (tmp_path / VIEW).write_text("{}")
    with pytest.raises(ValueError, match=r"view\.json is damaged: remove it or choose another folder"):
        View.of(tmp_path)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--only fig9", f"only must be one of {NAMES}, got 'fig9'"),
        ("--only rich-lock --only fig9", f"only must be one of {NAMES}, got 'fig9'"),
        ("--episodes-scale 0", "episodes_scale must be a number in (0, 1], got 0.0"),
        ("--seeds none", "seeds must be a count such as 50"),
        ("--out /dev/null/results", "/dev/null/results: Not a directory"),
        ("--n-jobs 0", "n_jobs must be an integer >= 1, got 0"),
    ],
)
def test_bad_input_gets_one_line_and_nothing_is_written(words, message, tmp_path):
    done = fasturl("reproduce", *words.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []
