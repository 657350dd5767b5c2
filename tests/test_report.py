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
from fasturl.experiments.analysis import report, statistics, summaries
from fasturl.experiments.analysis import style as looks
from fasturl.experiments.paper.figures import figures as paper

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
    assert "url(" not in text.replace("url(#", "")


def test_the_data_of_the_page_are_the_stored_results(folder, page):
    data, frame = embedded(page), load(folder)
    assert len(data["cells"]) == CELLS
    for cell in data["cells"]:
        rows = frame[frame["cell"] == cell["id"]]
        table = rows.pivot(index="seed", columns="trajectories", values="average_reward").to_numpy()
        assert cell["agent"] == rows["agent"].iloc[0]
        assert cell["curve"]["trajectories"] == sorted(rows["trajectories"].unique())
        np.testing.assert_allclose(cell["curve"]["mean"], table.mean(axis=0), rtol=1e-3)
        np.testing.assert_allclose(cell["curve"]["std"], table.std(axis=0), rtol=1e-3, atol=1e-6)
        low, high = statistics.bootstrap_interval(table)
        np.testing.assert_allclose(cell["curve"]["low"], low, rtol=1e-3)
        np.testing.assert_allclose(cell["curve"]["high"], high, rtol=1e-3)
        successes = int(rows.groupby("seed")["near_optimal"].first().sum())
        assert (cell["seeds"], cell["success"]["count"]) == (len(SEEDS), successes)
        assert (cell["success"]["low"], cell["success"]["high"]) == pytest.approx(
            statistics.wilson_interval(successes, len(SEEDS))
        )


def test_the_filter_offers_what_there_is(page):
    assert {filter["key"]: filter["values"] for filter in embedded(page)["filters"]} == {
        "environment": ["lock-bernoulli"],
        "horizon": ["2", "3"],
        "switch": ["0", "0.2"],
        "agent": ["url", "oracleq-lat", "qlearning-lat"],
    }


def test_tables_stand_in_the_page_itself(folder, page):
    text = re.sub(r"</?span>", "", page.read_text()).replace("\u00a0", " ")
    row = summaries.cell_table(load(folder)).iloc[0]
    assert (
        f"{row['reward_mean']:.3f} ± {row['reward_std']:.3f} [{row['reward_low']:.3f}, {row['reward_high']:.3f}]"
        in text
    )
    assert f"{row['success_rate']:.0%} [{row['success_low']:.0%}, {row['success_high']:.0%}]" in text
    assert text.count("<tr data-cell=") == 2 * CELLS
    assert "Claims: 1 of 2 hold" in text
    assert "URL learns &lt;em&gt;fast&lt;/em&gt; &amp; well" in text
    assert "numba" in text
    assert "exploration fraction 0.5" in text


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
    paper.View(("fig1",), tuple(range(seeds)), scale).write(copy / paper.VIEW)
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


def test_data_cannot_end_their_element():
    hostile = "</script><script>alert(1)</script>"
    frame = frame_of(({"agent": hostile}, np.full((3, 5), 0.2), [True] * 3))
    data = report.report_data(frame, summaries.cell_table(frame))
    assert data["cells"][0]["agent"] == hostile
    assert "<" not in report.embed(data)
    assert json.loads(report.embed(data)) == data


def test_long_curves_are_thinned_and_keep_their_end():
    frame = frame_of(({}, np.linspace(0, 0.5, 3000) * np.ones((3, 1)), [True] * 3))
    (cell,) = report.report_data(frame, summaries.cell_table(frame))["cells"]
    assert len(cell["curve"]["trajectories"]) == len(cell["curve"]["mean"]) == 200
    assert (cell["curve"]["trajectories"][-1], cell["curve"]["mean"][-1]) == (30_000, 0.5)


def test_runs_that_never_get_there_are_null_not_infinity():
    frame = frame_of(({}, np.zeros((3, 20)), [False] * 3))
    (cell,) = report.report_data(frame, summaries.cell_table(frame))["cells"]
    assert cell["needed"] == {"median": None, "low": None, "high": None, "reached": 0}


def test_too_few_seeds_for_an_interval_are_told():
    frame = frame_of(({}, [turning(100, 40)] * 5, [True] * 5))
    (cell,) = report.report_data(frame, summaries.cell_table(frame))["cells"]
    assert cell["needed"] == {"median": 100, "low": None, "high": None, "reached": 5}
    assert "100 <span>[too few seeds]</span>" in report._results_table([cell])


def test_the_wheel_holds_the_files_of_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(Path(__file__).parents[1])
    with zipfile.ZipFile(tmp_path / hatchling.build.build_wheel(str(tmp_path))) as wheel:
        assert {f"fasturl/experiments/report.{kind}" for kind in ("html", "css", "js", "py")} <= set(
            wheel.namelist()
        )


@pytest.fixture(scope="module")
def tab():
    if chromium.PROGRAM is None:
        pytest.skip("there is no Chromium here: on Debian, apt-get install chromium")
    browser = chromium.Browser()
    yield browser
    browser.close()


@pytest.fixture
def browser(tab, page):
    tab.open(page)
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


def count(browser, selector):
    return browser.value(f"document.querySelectorAll({json.dumps(selector)}).length")


def visible_rows(browser):
    return browser.value(
        "[...document.querySelectorAll('#results tbody tr')].filter(row => row.offsetParent).length"
    )


def test_the_curves_are_there(browser, page):
    assert count(browser, "#curves .panel") == PANELS
    assert count(browser, "#curves .series path.line") == count(browser, "#curves .series path.band") == CELLS
    paths = browser.value(
        "[...document.querySelectorAll('#curves path.line')].map(path => [path.getTotalLength(), path.getAttribute('d')])"
    )
    drawn = [(length, data) for length, data in paths if data != "M0,6H36"]
    assert all(length > 100 for length, _ in drawn)
    assert all(data.count(",") == 40 for _, data in drawn)
    assert "NaN" not in browser.value("document.querySelector('main').innerHTML")
    assert count(browser, "#success .panel") == count(browser, "#scaling .panel") == len(SWITCHES)
    assert count(browser, "#success .dot") == count(browser, "#success .bar") == CELLS
    assert count(browser, "#scaling .dot") == CELLS
    assert count(browser, "#scaling .bar") == 0  # 4 seeds are too few for an interval of the median


def test_a_curve_is_drawn_where_its_numbers_are(browser, page):
    """The last point of a line lies at its share of the height between the ticks 0 and 0.4."""
    place, label, height, ticks = browser.value(
        """(() => {
            const panel = document.querySelector('#curves .panel');
            const series = panel.querySelector('.series');
            const texts = [...panel.querySelectorAll('text[text-anchor=end]')];
            const ticks = Object.fromEntries(texts.map(text => [text.textContent, +text.getAttribute('y') - 4]));
            const y = +series.querySelector('.line').getAttribute('d').split(',').at(-1);
            return [panel.querySelector('figcaption span').textContent, series.dataset.label, y, ticks];
        })()"""
    )
    (cell,) = [cell for cell in embedded(page)["cells"] if (cell["place"], cell["label"]) == (place, label)]
    assert 0.4 * (height - ticks["0"]) / (ticks["0.4"] - ticks["0"]) == pytest.approx(
        cell["curve"]["mean"][-1], abs=0.002
    )


def test_the_filter_works(browser):
    click(browser, "#filter input[name=horizon][value='2']")
    assert count(browser, "#curves .panel") == len(SWITCHES)
    assert count(browser, "#success .panel") == 0  # one horizon is no axis
    assert visible_rows(browser) == CELLS // 2
    click(browser, "#filter input[name=agent][value=url]")
    assert count(browser, "#curves .series") == len(SWITCHES) * (len(AGENTS) - 1)
    assert visible_rows(browser) == len(SWITCHES) * (len(AGENTS) - 1)
    assert f"{visible_rows(browser)} of {CELLS} cells" in browser.value(
        "document.getElementById('count').textContent"
    )
    click(browser, "#filter input[name=environment]")
    assert count(browser, "#curves .panel") == visible_rows(browser) == 0
    assert browser.value("document.getElementById('count').textContent") == "Nothing matches the filter."
    click(browser, "#filter input[name=environment]")
    click(browser, "#filter input[name=agent][value=url]")
    click(browser, "#filter input[name=horizon][value='2']")
    assert count(browser, "#curves .series") == visible_rows(browser) == CELLS


def test_hovering_shows_the_values(browser, page):
    left, top, width, height = box(browser, "#curves .plot")
    assert browser.value("document.querySelector('#curves .tip').hidden")
    browser.move(left + width - 12, top + height / 2)
    place, text = browser.value(
        "[document.querySelector('#curves figcaption span').textContent, document.querySelector('#curves .tip').innerText]"
    )
    assert "number of trajectories 400" in text
    for cell in embedded(page)["cells"]:
        if cell["place"] == place:
            assert re.search(
                rf"{cell['label']}\s+{cell['curve']['mean'][-1]:.3f}\s+± {cell['curve']['std'][-1]:.3f}", text
            )
    browser.move(5, 5)
    assert browser.value("document.querySelector('#curves .tip').hidden")


def test_the_band_can_be_chosen_and_is_named(browser):
    assert browser.value("document.getElementById('band-said').textContent") == "one standard deviation"
    before = browser.value("document.querySelector('#curves .band').getAttribute('d')")
    click(browser, "#band input[value=ci]")
    assert "bootstrap confidence interval" in browser.value(
        "document.getElementById('band-said').textContent"
    )
    assert browser.value("document.querySelector('#curves .band').getAttribute('d')") != before
    click(browser, "#band input[value=none]")
    assert count(browser, "#curves .band") == 0


X_TICKS = "[...document.querySelectorAll('#curves .panel:first-child text[text-anchor=middle]')].map(t => t.textContent)"


def test_dragging_zooms_and_a_double_click_goes_back(browser):
    whole = browser.value(X_TICKS)
    left, top, width, height = box(browser, "#curves .plot")
    browser.drag((left + 0.3 * width, top + 0.5 * height), (left + 0.5 * width, top + 0.5 * height))
    inner = width - 56  # the margins of the figure
    ends = [(share * width - 46) / inner * 400 for share in (0.3, 0.5)]
    ticks = [float(text) for text in browser.value(X_TICKS)[:-2]]
    assert len(ticks) >= 2
    assert ends[0] - 3 <= min(ticks) < max(ticks) <= ends[1] + 3
    for clicks in (1, 2):
        for kind in ("mousePressed", "mouseReleased"):
            browser.mouse(kind, left + width / 2, top + height / 2, button="left", clickCount=clicks)
    browser.settle()
    assert browser.value(X_TICKS) == whole


def test_buttons_and_keys_do_what_the_mouse_does(browser):
    whole = browser.value(X_TICKS)
    click(browser, "#curves .tools button:nth-child(1)")
    assert browser.value(X_TICKS) != whole
    click(browser, "#curves .tools button:nth-child(3)")
    assert browser.value(X_TICKS) == whole
    browser.value("document.querySelector('#curves .plot').focus()")
    browser.press("ArrowRight")
    assert "number of trajectories 10\n" in browser.value("document.querySelector('#curves .tip').innerText")
    browser.press("ArrowRight")
    assert "number of trajectories 20\n" in browser.value("document.querySelector('#curves .tip').innerText")
    browser.press("+")
    assert browser.value(X_TICKS) != whole
    browser.press("Escape")
    assert browser.value(X_TICKS) == whole
    assert browser.value("document.querySelector('#curves .tip').hidden")


def test_readable_at_the_width_of_a_phone(tab, page):
    tab.open(page, width=390, height=844)
    assert tab.value("document.documentElement.scrollWidth") <= 390
    assert tab.value(
        "[...document.querySelectorAll('.scroll')].every(part => part.scrollWidth <= part.clientWidth)"
    )
    sizes = tab.value(
        """[...document.querySelectorAll('main *')]
            .filter(one => one.offsetParent && [...one.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim()))
            .map(one => parseFloat(getComputedStyle(one).fontSize))"""
    )
    assert min(sizes) >= 11
    assert tab.value(
        "[...document.querySelectorAll('.panel')].every(panel => panel.getBoundingClientRect().right <= 390)"
    )
    left, top, width, height = box(tab, "#scaling .plot")
    tab.tap(left + width - 60, top + height / 2)
    assert "horizon 3" in tab.value("document.querySelector('#scaling .tip').innerText")
    tip = tab.value(
        "(({left, right}) => [left, right])(document.querySelector('#scaling .tip').getBoundingClientRect())"
    )
    assert 0 <= tip[0] < tip[1] <= 390
    assert tab.problems == []


@pytest.mark.parametrize("width", [1024, 1280, 1920])
def test_tables_fit_the_screen(tab, page, width):
    tab.open(page, width=width)
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
    tab.open(tmp_path / "one.html")
    assert count(tab, "#curves .series .dot") == count(tab, "#curves .series .bar") == 1
    assert tab.problems == []


def test_no_variant_of_an_agent_is_paler_than_the_agent():
    agents = [
        {"agent": agent, "agent.learning_rate": rate}
        for agent in looks.COLOURS
        for rate in (0.1, 0.2, 0.3, 0.4)
    ]
    frame = frame_of(*((settings, np.full((3, 2), 0.4), [True] * 3) for settings in agents))
    cells = report.report_data(frame, summaries.cell_table(frame))["cells"]
    for theme, sheet in (("light", (255, 255, 255)), ("dark", (21, 23, 27))):
        for agent in looks.COLOURS:
            shades = [bytes.fromhex(cell["look"][theme][1:]) for cell in cells if cell["agent"] == agent]
            contrasts = [ratio(shade, sheet) for shade in shades]
            assert contrasts == sorted(set(contrasts), reverse=True)
            assert contrasts[-1] > 2


def contrast(browser, selector):
    """Of text against the page."""
    shades = browser.value(
        f"[getComputedStyle(document.querySelector('{selector}')).color, getComputedStyle(document.body).backgroundColor]"
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
    tab.open(page, dark=dark)
    background = tab.value("getComputedStyle(document.body).backgroundColor")
    assert (background != "rgb(255, 255, 255)") is dark
    for selector in ("h1", ".note", ".holds", ".fails", "td", "legend"):
        assert contrast(tab, selector) >= 4.5
    click(tab, "#theme")
    assert tab.value("getComputedStyle(document.body).backgroundColor") != background
    assert tab.problems == []


def test_every_control_has_a_name(browser):
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    kinds = {"button", "checkbox", "radio", "region", "table"}
    found = [
        (node["role"]["value"], node.get("name", {}).get("value", ""))
        for node in nodes
        if not node["ignored"]
    ]
    controls = [(role, name) for role, name in found if role in kinds]
    assert {role for role, _ in controls} == kinds
    assert [role for role, name in controls if not name and role != "table"] == []


def test_it_prints_without_its_controls(tab, page):
    tab.open(page, width=720)
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.settle()
    assert tab.value(
        "['#filter', '#theme', '.tools', '#band'].every(name => !document.querySelector(name).offsetParent)"
    )
    assert tab.value("document.documentElement.scrollWidth") <= 720
    assert count(tab, "#curves .series path.line") == CELLS
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.call("Emulation.setEmulatedMedia", media="")
