"""The page about results in a real browser: filter, hover, zoom, bands, keyboard, themes, phone and print."""

import json
import re

import chromium
import pytest
from report_pages import (
    CELLS,
    PANELS,
    embedded,
    mixed_families,
    page_of,
    ratio,
    run_sweep,
    series_of,
    write_page,
)
from stored_results import AGENTS, SWITCHES

from fasturl.experiments import Cell, sweep
from fasturl.experiments.analysis import report


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run_sweep(tmp_path_factory.mktemp("report") / "results")


@pytest.fixture(scope="module")
def page(folder):
    return write_page(folder)


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
    elements = f"[...document.querySelectorAll({json.dumps(selector)})]"
    return browser.value(f"{elements}.filter(one => one.getClientRects().length).length")


def visible_rows(browser):
    return visible(browser, "#results tbody tr")


def hover_text(browser, section):
    """What the first chart of a section tells of the place that is hovered."""
    return browser.value(f"document.querySelector('#{section} .hoverlayer').textContent")


def until_hover_text(browser, section, words):
    """Plotly shows at most one place in 50 milliseconds."""
    layer = f"document.querySelector('#{section} .hoverlayer')"
    browser.until(f"{layer}.textContent.startsWith({json.dumps(words)})")


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
    captions = "[...document.querySelectorAll('#curves .panel:not([hidden]) figcaption span:first-child')]"
    titles = tab.value(f"{captions}.map(one => one.textContent)")
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
    left, top, width, height = box(browser, "#curves .nsewdrag")
    browser.move(left + width - 2, top + height / 2)
    until_hover_text(browser, "curves", "number of trajectories 400")
    text = hover_text(browser, "curves")
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
        until_hover_text(browser, "curves", f"number of trajectories {expected}")
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
        until_hover_text(browser, section, "H = 3")


def test_keys_work_on_a_chart_that_was_never_in_view(tab, page):
    open_page(tab, page, width=390, height=300)
    tab.value("document.querySelector('#scaling .plot').focus({preventScroll: true})")
    assert visible(tab, "#scaling .main-svg") == 0
    tab.press("ArrowRight")
    assert tab.value("document.getElementById('reading').textContent").startswith("H = 2: ")
    tab.value("document.querySelector('#success .plot').focus({preventScroll: true})")
    assert tab.problems == []


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
    until_hover_text(tab, "scaling", "H = 3")
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


def contrast(browser, selector, paint="color"):
    """Of text against the page."""
    shades = browser.value(
        f"[getComputedStyle(document.querySelector('{selector}')).{paint},"
        " getComputedStyle(document.body).backgroundColor]"
        ".map(shade => shade.match(/[\\d.]+/g).slice(0, 3).map(Number))"
    )
    return ratio(*shades)


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
    first = f"getComputedStyle(document.querySelector('{LINES}')).stroke"
    tab.until(f"{first} !== {json.dumps(lines[0])}")
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
    light = {tuple(bytes.fromhex(one["style"]["light"][1:])) for one in series_of(page).values()}
    tab.call("Emulation.setEmulatedMedia", media="print")
    tab.settle()
    assert (
        visible(tab, "#filter") + visible(tab, "#theme") + visible(tab, ".tools") + visible(tab, "#band") == 0
    )
    assert tab.value("document.documentElement.scrollWidth") <= 720
    assert visible(tab, LINES) == CELLS  # those that were never in view too
    assert {tuple(map(int, re.findall(r"\d+", shade))) for shade in colours(tab)} == light
    assert tab.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.call("Emulation.setEmulatedMedia", media="")
