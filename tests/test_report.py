"""The page about results: its data, and what it does in a real browser."""

import json
import re
import shutil
import zipfile
from html.parser import HTMLParser
from pathlib import Path

import chromium
import hatchling.build
import numpy as np
import pytest
from stored_results import AGENTS, HORIZONS, SEEDS, SWITCHES, frame_of, run_small_sweep, turning

from fasturl.experiments import Cell, load, sweep
from fasturl.experiments.analysis import charts, report, statistics, style, summaries
from fasturl.experiments.analysis.report_tables import results_table
from fasturl.experiments.paper import view
from fasturl.experiments.paper.view import View

CLAIMS = [
    {"claim": "URL learns <em>fast</em> & well", "holds": True, "figures": "0.4 against 0.3"},
    {"claim": "Pigs fly", "holds": False, "figures": "0 of 4 pigs"},
]
PANELS = len(HORIZONS) * len(SWITCHES)
CELLS = PANELS * len(AGENTS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("report") / "results"
    run_small_sweep(place)
    (place / report.CLAIMS).write_text(json.dumps(CLAIMS))
    return place


@pytest.fixture(scope="module")
def page(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    report.write(folder, path)
    return path


class Elements(HTMLParser):
    """Tags with their attributes, and whether all that is opened is closed."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "link", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def embedded(page):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(), re.DOTALL)[1]
    )


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


def series_of(page):
    """The series of the learning curves of a page, by cell."""
    charts = [chart for chart in embedded(page)["charts"] if chart["section"] == "curves"]
    return {series["cells"][0]: series for chart in charts for series in chart["series"]}


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
    interval = f"[{row['reward_low']:.3f}, {row['reward_high']:.3f}]"
    assert f"{row['reward_mean']:.3f} ± {row['reward_std']:.3f} {interval}" in text
    assert f"{row['success_rate']:.0%} [{row['success_low']:.0%}, {row['success_high']:.0%}]" in text
    for kind in ("results", "cells"):
        assert f'="{kind}"' in text
    assert "Claims: 1 of 2 hold" in text
    assert "URL learns &lt;em&gt;fast&lt;/em&gt; &amp; well" in text
    assert "numba" in text
    assert "exploration fraction 0.5" in text


def test_every_chart_is_a_table_too(folder, page):
    tables = re.findall(r"<details>.*?</details>", page.read_text(), re.DOTALL)
    assert len(tables) == len(embedded(page)["charts"]) == PANELS + 2 * len(SWITCHES)
    row = load(folder).query("trajectories == 400").groupby("cell")["average_reward"].mean()
    assert all(any(f"{mean:.3f} ±" in table for table in tables) for mean in row)
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
            "A quick look with 3 seeds instead of 50 and runs of 0.1 times the paper&#x27;s episodes: the verdicts may be others in full.",
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


def test_claims_that_cannot_be_read_are_named(folder, tmp_path):
    copy = shutil.copytree(folder, tmp_path / "copy")
    (copy / report.CLAIMS).write_text('[{"claim": 1}]')
    with pytest.raises(
        ValueError,
        match=r"cannot read .*claims.json: it must be a list of objects with claim, holds and figures",
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


def page_of(frame, path):
    """A page about a frame that no store has."""
    config = {"agent_settings": {"learning_rate": 0.1}, "episodes": 100}
    about = {"config": config, "oracle": None, "wall_seconds": 1.0, "seeds": [0], "versions": {"numba": "1"}}
    path.write_text(
        report.compose("synthetic", frame, [{"cell": cell} | about for cell in frame["cell"].unique()])
    )
    return path


def test_data_cannot_end_their_element(tmp_path):
    hostile = "</script><script>alert(1)</script>"
    frame = frame_of(({"agent": hostile}, np.full((3, 5), 0.2), [True] * 3))
    data = data_of(frame)
    assert data["charts"][0]["series"][0]["label"] == hostile
    assert "<" not in report.embed(data)
    assert json.loads(report.embed(data)) == json.loads(json.dumps(data))
    assert Elements(page_of(frame, tmp_path / "page.html").read_text()).open == []


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


def mixed_families():
    """Locks beside a family with settings of its own, one of them a word, on which returns are below 0."""
    runs = np.stack([turning(40, 30)] * 6)
    cells = []
    for horizon in (4, 8):
        for switch in (0.0, 0.2):
            lock = {"horizon": horizon, "switch": switch, "slip": np.nan, "width": np.nan}
            cells += [(lock | {"agent": agent}, runs, [True] * 6) for agent in ("url", "theirs")]
        for slip in (0.1, 0.3):
            ice = {"env": "ice", "horizon": horizon, "switch": np.nan, "slip": slip, "width": "wide"}
            optimum = {"v_star": -0.5, "optimal_value": -0.5}
            cells += [
                (ice | optimum | {"agent": agent}, runs - 1, [True] * 6) for agent in ("pcid", "theirs")
            ]
    return frame_of(*cells)


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


@pytest.fixture(scope="module")
def tab():
    if chromium.PROGRAM is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium")
    browser = chromium.Browser()
    yield browser
    browser.close()


TALL = 6000
"""A window that shows all charts, which are drawn when they come into view."""


def open_page(tab, page, **window):
    tab.open(page, **{"height": TALL} | window)
    tab.until("'ready' in document.documentElement.dataset")
    tab.settle()


@pytest.fixture
def browser(tab, page):
    open_page(tab, page)
    yield tab
    assert tab.problems == []
    assert tab.requests in ([], [page.as_uri()])


def box(browser, selector):
    """Left, top, width and height on the screen, after scrolling there."""
    element = f"document.querySelector({json.dumps(selector)})"
    browser.value(f"{element}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    browser.settle()
    return browser.value(
        f"(({{left, top, width, height}}) => [left, top, width, height])({element}.getBoundingClientRect())"
    )


def click(browser, selector):
    browser.value(f"document.querySelector({json.dumps(selector)}).click()")
    browser.settle()


def visible(browser, selector):
    """How many elements of a kind can be seen."""
    return browser.value(
        f"[...document.querySelectorAll({json.dumps(selector)})].filter(one => one.getClientRects().length).length"
    )


def visible_rows(browser):
    return visible(browser, "#results tbody tr")


def hover_text(browser, section):
    """What the first chart of a section tells of the place that is hovered."""
    return browser.value(f"document.querySelector('#{section} .hoverlayer').textContent")


def colours(browser):
    return browser.value(
        "[...document.querySelectorAll('#curves .js-line')].map(line => getComputedStyle(line).stroke)"
    )


LINES, BANDS = "#curves .js-line", "#curves .js-fill"


def test_the_curves_are_there(browser, page):
    assert visible(browser, "#curves .panel") == PANELS
    assert visible(browser, LINES) == visible(browser, BANDS) == CELLS
    lengths = browser.value(f"[...document.querySelectorAll('{LINES}')].map(line => line.getTotalLength())")
    assert min(lengths) > 100
    assert "NaN" not in browser.value("document.querySelector('main').innerHTML")
    assert visible(browser, "#success .panel") == visible(browser, "#scaling .panel") == len(SWITCHES)
    assert visible(browser, "#success path.point") == visible(browser, "#scaling path.point") == CELLS
    heights = "[...document.querySelectorAll('#%s .yerror')].filter(bar => bar.getBBox().height > 0).length"
    assert browser.value(heights % "success") == CELLS
    assert browser.value(heights % "scaling") == 0  # 4 seeds are too few for an interval of the median


def test_a_curve_is_drawn_where_its_numbers_are(browser, page):
    """The last point of a line lies at its share of the height between two ticks."""
    number, label, height, ticks = browser.value(
        """(() => {
            const panel = document.querySelector('#curves .panel'), plot = panel.querySelector('.plot');
            const layer = plot.querySelector('.cartesianlayer .plot').getBoundingClientRect();
            const texts = [...plot.querySelectorAll('.ytick text')];
            const middle = text => (({top, height}) => top + height / 2)(text.getBoundingClientRect());
            const ticks = Object.fromEntries(texts.map(text => [text.textContent, middle(text)]));
            const line = plot.querySelector('.js-line'), matrix = line.getScreenCTM();
            const end = line.getPointAtLength(line.getTotalLength()).matrixTransform(matrix);
            const names = plot.data.filter(trace => trace.hoverinfo !== 'skip').map(trace => trace.name);
            return [panel.dataset.chart, names.at(-1), end.y, ticks];
        })()"""
    )
    (series,) = [one for one in embedded(page)["charts"][int(number)]["series"] if one["label"] == label]
    assert 0.4 * (height - ticks["0"]) / (ticks["0.4"] - ticks["0"]) == pytest.approx(
        series["trace"]["y"][-1], abs=0.01
    )


def test_the_filter_works(browser):
    click(browser, "#filter input[name=horizon][value='2']")
    assert visible(browser, "#curves .panel") == len(SWITCHES)
    assert visible(browser, "#success") == visible(browser, "#scaling .panel") == 0  # one horizon is no axis
    assert visible_rows(browser) == CELLS // 2
    click(browser, "#filter input[name=agent][value=url]")
    assert visible(browser, LINES) == len(SWITCHES) * (len(AGENTS) - 1)
    assert visible_rows(browser) == len(SWITCHES) * (len(AGENTS) - 1)
    assert visible(browser, "#curves .legend li") == len(AGENTS) - 1
    assert f"{visible_rows(browser)} of {CELLS} cells" in browser.value(
        "document.getElementById('count').textContent"
    )
    click(browser, "#filter input[name=environment]")
    assert visible(browser, "#curves .panel") == visible_rows(browser) == 0
    assert browser.value("document.getElementById('count').textContent") == "Nothing matches the filter."
    click(browser, "#filter input[name=environment]")
    click(browser, "#filter input[name=agent][value=url]")
    click(browser, "#filter input[name=horizon][value='2']")
    assert (
        visible(browser, LINES) == visible_rows(browser) == visible(browser, "#success path.point") == CELLS
    )


def test_the_filter_of_a_setting_leaves_families_without_it_alone(tab, tmp_path):
    open_page(tab, page_of(mixed_families(), tmp_path / "mixed.html"))
    assert visible(tab, "#curves .panel") == 8
    assert visible(tab, "#success .panel") == 4
    click(tab, "#filter input[name=slip][value='0.1']")
    titles = tab.value(
        "[...document.querySelectorAll('#curves .panel:not([hidden]) figcaption span')].map(one => one.textContent)"
    )
    assert [title for title in titles if title.startswith("ice")] == [
        "ice, H = 4, slip 0.3, width wide", "ice, H = 8, slip 0.3, width wide",
    ]  # fmt: skip
    assert sum(title.startswith("lock") for title in titles) == 4
    assert tab.problems == []


def test_charts_are_drawn_when_they_come_into_view(tab, page):
    open_page(tab, page, width=390, height=300)
    drawn = visible(tab, "#curves .main-svg")
    assert visible(tab, "#scaling .main-svg") == 0
    box(tab, "#scaling .plot")
    tab.until("document.querySelector('#scaling .main-svg')")
    assert drawn < 3 * PANELS


def test_hovering_shows_the_values(browser, page):
    left, top, width, height = box(browser, "#curves .plot")
    browser.move(left + width - 14, top + height / 2)
    browser.until("document.querySelector('#curves .hoverlayer').textContent")
    text = hover_text(browser, "curves")
    assert "number of trajectories 400" in text
    for one in embedded(page)["charts"][0]["series"]:
        low, high = (edge[-1] for edge in one["bands"]["std"])
        value = f"{one['trace']['y'][-1]:.3f} [{low:.3f}, {high:.3f}]".replace("-", "[-\u2212]")
        assert re.search(
            re.escape(one["label"]) + " : " + value.replace("[", r"\[").replace("]", r"\]"), text
        )
    browser.move(5, 5)
    browser.until("!document.querySelector('#curves .hoverlayer').textContent")


def test_the_band_can_be_chosen_and_is_named(browser):
    name, shape = (
        "document.getElementById('band-name').textContent",
        f"document.querySelector('{BANDS}').getAttribute('d')",
    )
    assert browser.value(name) == "one standard deviation"
    before = browser.value(shape)
    click(browser, "#band input[value=ci]")
    assert "bootstrap confidence interval" in browser.value(name)
    assert browser.value(shape) != before
    click(browser, "#band input[value=none]")
    assert visible(browser, BANDS) == 0
    assert visible(browser, LINES) == CELLS


RANGE = "document.querySelector('#curves .plot').layout.xaxis.range"


def test_dragging_zooms_and_a_double_click_goes_back(browser):
    left, top, width, height = box(browser, "#curves .nsewdrag")
    browser.drag((left + 0.3 * width, top + 0.5 * height), (left + 0.5 * width, top + 0.5 * height))
    browser.until(f"{RANGE}[0] > 0")
    assert browser.value(RANGE) == pytest.approx([120, 200], abs=5)
    click(browser, "#band input[value=ci]")
    assert browser.value(RANGE) == pytest.approx([120, 200], abs=5)  # what is chosen leaves it as it is
    box(browser, "#curves .nsewdrag")
    for clicks in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            browser.mouse(kind, left + width / 2, top + height / 2, button="left", clickCount=clicks)
    browser.until(f"{RANGE}[0] === 0")
    assert browser.value(RANGE) == [0, 400]


def test_buttons_and_keys_do_what_the_mouse_does(browser):
    click(browser, "#curves .tools button:nth-child(1)")
    assert browser.value(RANGE) == [100, 300]
    click(browser, "#curves .tools button:nth-child(2)")
    assert browser.value(RANGE) == [0, 400]
    click(browser, "#curves .tools button:nth-child(1)")
    click(browser, "#curves .tools button:nth-child(3)")
    assert browser.value(RANGE) == [0, 400]
    browser.value("document.querySelector('#curves .plot').focus()")
    reading = "document.getElementById('reading').textContent"
    for expected in (10, 20):
        browser.press("ArrowRight")
        assert browser.value(reading).startswith(f"number of trajectories {expected}: ")
        assert f"number of trajectories {expected}" in hover_text(browser, "curves")
    for agent in AGENTS:
        assert re.search(rf"{agent} \d\.\d\d\d \[", browser.value(reading))
    browser.press("+")
    assert browser.value(RANGE) == [10, 210]
    browser.press("Escape")
    assert browser.value(RANGE) == [0, 400]
    browser.until("!document.querySelector('#curves .hoverlayer').textContent")
    browser.press("ArrowLeft")
    assert browser.value(reading).startswith("number of trajectories 400: ")


def test_keys_read_charts_against_the_horizon(browser):
    for section in ("success", "scaling"):
        box(browser, f"#{section} .plot")
        browser.value(f"document.querySelector('#{section} .plot').focus()")
        browser.press("ArrowLeft")
        assert browser.value("document.getElementById('reading').textContent").startswith("H = 3: ")
        assert "H = 3" in hover_text(browser, section)


def test_readable_at_the_width_of_a_phone(tab, page):
    open_page(tab, page, width=390, height=844)
    assert tab.value("document.documentElement.scrollWidth") <= 390
    assert tab.value(
        "[...document.querySelectorAll('.scroll')].every(part => part.scrollWidth <= part.clientWidth)"
    )
    sizes = tab.value(
        """[...document.querySelectorAll('main *')]
            .filter(one => one.getClientRects().length
                && [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim()))
            .map(one => parseFloat(getComputedStyle(one).fontSize))"""
    )
    assert min(sizes) >= 11
    assert tab.value(
        "[...document.querySelectorAll('.panel')].every(panel => panel.getBoundingClientRect().right <= 390)"
    )
    box(tab, "#scaling .plot")
    tab.until("document.querySelector('#scaling .nsewdrag')")
    left, top, width, height = box(tab, "#scaling .nsewdrag")
    tab.tap(left + 0.9 * width, top + height / 2)
    tab.until("document.querySelector('#scaling .hoverlayer').textContent")
    assert "H = 3" in hover_text(tab, "scaling")
    edges = "document.querySelector('#scaling .hoverlayer .legend').getBoundingClientRect()"
    assert 0 <= tab.value(f"{edges}.left") < tab.value(f"{edges}.right") <= 390
    assert tab.problems == []


@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_tables_fit_the_screen(tab, page, width):
    open_page(tab, page, width=width)
    assert tab.value(
        "[...document.querySelectorAll('.scroll')].every(part => part.scrollWidth <= part.clientWidth)"
    )


def test_a_curve_of_one_point_is_a_dot(tab, tmp_path):
    sweep(
        [Cell.make("lock-bernoulli", {"horizon": 2}, "oracleq-lat", {}, 50, points=1)],
        2,
        tmp_path / "one",
        n_jobs=1,
        progress=False,
    )
    report.write(tmp_path / "one", tmp_path / "one.html")
    open_page(tab, tmp_path / "one.html")
    assert visible(tab, "#curves path.point") == 1
    assert tab.value("document.querySelectorAll('#curves .yerror').length") == 1
    assert tab.problems == []


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


def contrast(browser, selector, paint="color"):
    """Of text against the page."""
    shades = browser.value(
        f"[getComputedStyle(document.querySelector('{selector}')).{paint}, getComputedStyle(document.body).backgroundColor]"
        ".map(shade => shade.match(/[\\d.]+/g).slice(0, 3).map(Number))"
    )
    return ratio(*shades)


def ratio(*shades):
    """The contrast of two colours, as WCAG 2 defines it."""
    lightness = []
    for shade in shades:
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(list(shade)) / 255
        ]
        lightness.append(float(np.dot([0.2126, 0.7152, 0.0722], linear)))
    return (max(lightness) + 0.05) / (min(lightness) + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_light_and_dark_are_both_legible(tab, page, dark):
    open_page(tab, page, dark=dark)
    background, lines = tab.value("getComputedStyle(document.body).backgroundColor"), colours(tab)
    assert (background != "rgb(255, 255, 255)") is dark
    for _ in range(2):
        for selector in ("h1", ".note", ".holds", ".fails", "td", "legend"):
            assert contrast(tab, selector) >= 4.5
        for selector in ("#curves .xtick text", "#curves .ytitle", "#curves .annotation-text"):
            assert contrast(tab, selector, "fill") >= 4.5
        for selector in ("#curves .js-line", "#scaling .legend path"):
            assert contrast(tab, selector, "stroke") >= 2
        click(tab, "#theme")
    assert colours(tab) == lines
    click(tab, "#theme")
    assert tab.value("getComputedStyle(document.body).backgroundColor") != background
    assert not set(colours(tab)) & set(lines)
    assert tab.problems == []


def test_the_page_follows_the_theme_of_the_system(tab, page):
    open_page(tab, page)
    lines = colours(tab)
    tab.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    tab.settle()
    assert not set(colours(tab)) & set(lines)


def test_every_control_has_a_name(browser):
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    kinds = {"button", "checkbox", "radio", "region", "table"}
    names = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]
    controls = [(role, name) for role, name in names if role in kinds]
    assert {role for role, _ in controls} == kinds
    assert [role for role, name in controls if not name and role != "table"] == []
    charts = [name for role, name in names if role == "group" and "At the right end: " in name]
    assert len(charts) == PANELS + 2 * len(SWITCHES)
    assert browser.value("[...document.querySelectorAll('.plot')].every(plot => plot.tabIndex === 0)")


def test_it_prints_without_its_controls(tab, page):
    open_page(tab, page, width=720, height=600, dark=True)
    light = {cell["style"]["light"].lower() for cell in series_of(page).values()}
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.settle()
    assert (
        visible(tab, "#filter") + visible(tab, "#theme") + visible(tab, ".tools") + visible(tab, "#band") == 0
    )
    assert tab.value("document.documentElement.scrollWidth") <= 720
    assert visible(tab, LINES) == CELLS  # those that were never in view too
    assert {"#%02x%02x%02x" % tuple(map(int, re.findall(r"\d+", shade))) for shade in colours(tab)} == light
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.call("Emulation.setEmulatedMedia", media="")
