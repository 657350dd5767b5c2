"""The page about results: its data and tables."""

import json
import re
import shutil
import zipfile
from pathlib import Path

import hatchling.build
import numpy as np
import pytest
from report_pages import (
    CELLS,
    PANELS,
    Elements,
    embedded,
    mixed_families,
    page_of,
    ratio,
    run_sweep,
    series_of,
    write_page,
)
from stored_results import AGENTS, SEEDS, SWITCHES, frame_of, turning

from fasturl.experiments import load
from fasturl.experiments.analysis import charts, report, statistics, style, summaries
from fasturl.experiments.analysis.report_tables import results_table
from fasturl.experiments.paper import view
from fasturl.experiments.paper.view import View


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_sweep(tmp_path_factory.mktemp("report") / "results")


@pytest.fixture(scope="module")
def page(folder):
    return write_page(folder)


def test_the_page_is_whole_and_asks_for_nothing_else(page):
    text = page.read_text()
    elements = Elements(text)
    assert elements.open == []
    assert "{{" not in text
    for tag, attributes in elements.tags:
        assert "src" not in attributes, tag
        assert attributes.get("href", "data:,") == "data:,"
    assert "@import" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_the_data_of_the_page_are_the_stored_results(folder, page):
    series, frame = series_of(page), load(folder)
    assert len(series) == CELLS
    for cell, one in series.items():
        rows = frame[frame["cell"] == cell]
        table = rows.pivot(index="seed", columns="trajectories", values="average_reward").to_numpy()
        assert one["label"] == rows["agent"].iloc[0]
        assert one["trace"]["x"] == sorted(rows["trajectories"].unique())
        mean, deviation = table.mean(axis=0), table.std(axis=0)
        np.testing.assert_allclose(one["trace"]["y"], mean, rtol=1e-3)
        np.testing.assert_allclose(one["bands"]["std"], [mean - deviation, mean + deviation], atol=1e-3)
        np.testing.assert_allclose(one["bands"]["ci"], statistics.bootstrap_interval(table), rtol=1e-3)
    rates = [chart for chart in embedded(page)["charts"] if chart["section"] == "success"]
    for one in (one for chart in rates for one in chart["series"]):
        for i, cell in enumerate(one["cells"]):
            runs = frame[frame["cell"] == cell].drop_duplicates("seed")
            low, high = (edge[i] for edge in one["bands"]["any"])
            expected = statistics.wilson_interval(runs["near_optimal"].sum(), len(SEEDS))
            assert (low, high) == pytest.approx(expected)


def test_charts_are_what_plotly_takes(page):
    go = pytest.importorskip("plotly.graph_objects")
    data = embedded(page)
    for chart in data["charts"]:
        go.Figure(
            data=[{"type": "scatter", **series["trace"]} for series in chart["series"]],
            layout=data["layout"] | chart["layout"],
        ).update_xaxes(data["axis"])


def test_the_filter_offers_what_there_is(page):
    assert {filter["key"]: filter["values"] for filter in embedded(page)["filters"]} == {
        "environment": ["lock-bernoulli"],
        "horizon": ["2", "3"],
        "switch": ["0", "0.2"],
        "agent": sorted(AGENTS, key=summaries.agent_rank),
    }


def test_tables_stand_in_the_page_itself(folder, page):
    text = re.sub(r"</?span>", "", page.read_text()).replace("\u00a0", " ")
    row = summaries.cell_table(load(folder)).iloc[0]
    interval = f"[{row['average_reward_low']:.3f}, {row['average_reward_high']:.3f}]"
    assert f"{row['average_reward_mean']:.3f} ± {row['average_reward_std']:.3f} {interval}" in text
    assert f"{row['success_rate']:.0%} [{row['success_low']:.0%}, {row['success_high']:.0%}]" in text
    regret = [row[f"regret_{name}"] for name in ("mean", "std", "low", "high")]
    amounts = [f"{amount:#.3g}" if amount < 99.95 else f"{amount:,.0f}" for amount in regret]
    assert "{} ± {} [{}, {}]".format(*amounts) in text
    for kind in ("results", "cells"):
        assert f'="{kind}"' in text
    assert "Claims: 1 of 3 hold, 1 cannot be judged" in text
    assert "<td>LockBernoulli</td><td>url</td><td>over 0.3</td><td>ours</td><td>0.4</td>" in text
    assert '<td class="missing">? missing</td><th scope="row">Horses fly</th>' in text
    assert "URL learns &lt;em&gt;fast&lt;/em&gt; &amp; well" in text
    assert "numba" in text
    assert "exploration fraction 0.5" in text


def test_every_chart_is_a_table_too(folder, page):
    tables = re.findall(r"<details>.*?</details>", page.read_text(), re.DOTALL)
    assert len(tables) == len(embedded(page)["charts"]) == PANELS + 2 * len(SWITCHES)
    row = load(folder).query("trajectories == 400").groupby("cell")["average_reward"].mean()
    shortened = [float(f"{mean:.4g}") for mean in row]  # as the page holds them
    assert all(any(f"{mean:.3f} ±" in table for table in tables) for mean in shortened)
    rates = summaries.cell_table(load(folder))["success_rate"]
    assert all(any(f"<td>{rate:.0%} [" in table for table in tables) for rate in rates)


def test_the_page_is_small_and_most_of_it_is_not_our_script(page):
    assert page.stat().st_size < 3_000_000
    assert len(report._file("report.js").splitlines()) < 200


def test_without_claims_there_is_no_table_of_them(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / report.CLAIMS).unlink()
    assert "claims-title" not in report.page(copy)


@pytest.mark.parametrize(
    ("seeds", "scale", "said"),
    [
        (
            3,
            0.1,
            "A quick look with 3 seeds instead of 50 and runs of 0.1 times the paper&#x27;s episodes: "
            "the verdicts may be others in full.",
        ),
        (1, 1, "A quick look with 1 seed instead of 50: the verdicts"),
        (50, 0.5, "A quick look with runs of 0.5 times the paper&#x27;s episodes: the verdicts"),
        (50, 1, ""),
    ],
)
def test_claims_of_a_quick_look_say_so(folder, tmp_path, seeds, scale, said):
    copy = shutil.copytree(folder, tmp_path / "copy")
    View(("fig1",), tuple(range(seeds)), scale).write(copy / report.VIEW)
    text = report.page(copy)
    assert said in text
    assert ("quick look" in text) is bool(said)


@pytest.mark.parametrize(
    "content",
    ['[{"claim": 1}]', '["a claim"]', '[{"claim": "Pigs fly", "measured": "0", "verdict": "perhaps"}]'],
)
def test_claims_that_cannot_be_read_are_named(content, folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / report.CLAIMS).write_text(content)
    with pytest.raises(
        ValueError,
        match=r"cannot read .*claims.json: it must be a list of objects with claim, measured and a verdict",
    ):
        report.page(copy)


def test_the_caveat_is_read_where_the_paper_writes_it():
    assert view.VIEW == report.VIEW


def data_of(frame):
    return report.report_data(
        frame, report.filters_of(frame), charts.charts(frame, summaries.cell_table(frame))
    )


def series_in(frame, section):
    (chart,) = [
        chart for chart in charts.charts(frame, summaries.cell_table(frame)) if chart.section == section
    ]
    return chart.series


def test_data_cannot_end_their_element(tmp_path):
    hostile = "</script><script>alert(1)</script>"
    frame = frame_of(({"agent": hostile}, np.full((3, 5), 0.2), [True] * 3))
    data = data_of(frame)
    assert data["charts"][0]["series"][0]["label"] == hostile
    assert "<" not in report.embed(data)
    assert json.loads(report.embed(data)) == json.loads(json.dumps(data))
    assert Elements(page_of(frame, tmp_path / "page.html").read_text()).open == []


@pytest.mark.parametrize("shift", [0.3, -0.3])
def test_bands_are_inside_the_chart(shift):
    samples = np.random.default_rng(3).random((6, 20)) / 2 + shift
    frame = frame_of(({}, samples, [True] * 6))
    (chart,) = (one for one in charts.charts(frame, summaries.cell_table(frame)) if one.section == "curves")
    low, high = chart.layout["yaxis"]["range"]
    mean, deviation = samples.mean(axis=0), samples.std(axis=0)
    assert high > max(0.5, (mean + deviation).max())
    assert low == 0 if shift > 0 else low < (mean - deviation).min()


def test_long_curves_are_thinned_and_keep_their_end():
    frame = frame_of(({}, np.linspace(0, 0.5, 3000) * np.ones((3, 1)), [True] * 3))
    (one,) = series_in(frame, "curves")
    assert len(one.trace["x"]) == len(one.trace["y"]) == len(one.bands["ci"][1]) == 200
    assert (one.trace["x"][-1], one.trace["y"][-1]) == (30_000, 0.5)


def two_horizons(samples, near_optimal):
    return frame_of(*(({"horizon": horizon}, samples, near_optimal) for horizon in (4, 8)))


def test_runs_that_never_get_there_are_told_by_what_they_played():
    (one,) = series_in(two_horizons(np.zeros((3, 20)), [False] * 3), "scaling")
    assert one.trace["y"] == [200, 200]
    assert one.trace["text"] == ["↑"] * 2
    assert one.bands["any"] == ([None, None], [None, None])
    assert one.trace["customdata"] == ["over\u00a0200 (0 of 3 got there)"] * 2


def test_too_few_seeds_for_an_interval_are_told():
    frame = two_horizons([turning(100, 40)] * 5, [True] * 5)
    (one,) = series_in(frame, "scaling")
    assert (one.trace["y"], one.bands["any"]) == ([100, 100], ([None, None], [None, None]))
    assert "100 <span>[too few seeds]</span>" in results_table(frame, summaries.cell_table(frame))


def test_filters_and_columns_are_the_settings_that_vary():
    frame = mixed_families()
    data = data_of(frame)
    assert [filter["key"] for filter in data["filters"]] == [
        "environment",
        "horizon",
        "switch",
        "slip",
        "agent",
    ]
    assert next(one["values"] for one in data["filters"] if one["key"] == "slip") == ["0.1", "0.3"]
    assert {
        (cell["environment"], cell["switch"] is None, cell["slip"] is None) for cell in data["cells"]
    } == {
        ("lock-bernoulli", False, True),
        ("ice", True, False),
    }
    table = results_table(frame, summaries.cell_table(frame))
    head = re.findall(r"<th [^>]*>(.*?)</th>", table)
    assert head[:5] == ["Environment", "H", "Switch", "Slip", "Agent"]


def test_oracles_and_learners_are_filters_where_they_vary():
    cells = [{"agent": "url", "oracle": oracle, "learner": "oracleq"} for oracle in ("kmeans", "gmm")] + [
        {"agent": "oracleq-lat", "oracle": None, "learner": None}
    ]
    data = data_of(frame_of(*((cell, np.full((3, 5), 0.2), [True] * 3) for cell in cells)))
    assert {one["key"]: one["values"] for one in data["filters"]}["oracle"] == ["gmm", "kmeans"]
    assert "learner" not in {one["key"] for one in data["filters"]}
    assert [cell["oracle"] for cell in data["cells"]] == ["kmeans", "gmm", None]


def test_a_setting_left_at_its_default_can_be_chosen():
    frame = frame_of(*(({"noise": noise}, np.full((3, 5), 0.2), [True] * 3) for noise in (0.1, 0.2, np.nan)))
    assert {one["key"]: one["values"] for one in data_of(frame)["filters"]}["noise"] == [
        "default",
        "0.1",
        "0.2",
    ]


def test_the_wheel_holds_the_files_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    with zipfile.ZipFile(tmp_path / hatchling.build.build_wheel(str(tmp_path))) as wheel:
        place = "fasturl/experiments/analysis"
        assert {f"{place}/report.{kind}" for kind in ("html", "css", "js", "py")} <= set(wheel.namelist())


def test_no_variant_of_an_agent_is_paler_than_the_agent():
    agents = [*style.COLOURS, *(f"theirs-{number}" for number in range(len(style.OTHER_COLOURS)))]
    rates = (0.1, 0.2, 0.3, 0.4)
    lines = style.line_styles({f"{agent}, rate {rate}": agent for agent in agents for rate in rates})
    for theme, sheet in (("colour", (255, 255, 255)), ("dark", (21, 23, 27))):
        for agent in agents:
            shades = [bytes.fromhex(getattr(lines[f"{agent}, rate {rate}"], theme)[1:]) for rate in rates]
            contrasts = [ratio(shade, sheet) for shade in shades]
            assert contrasts == sorted(set(contrasts), reverse=True)
            assert contrasts[-1] > 2
