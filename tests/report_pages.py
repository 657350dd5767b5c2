"""Pages about results, for the tests of the report: of a small sweep, and of frames that no store has."""

import json
import re
from html.parser import HTMLParser

import numpy as np
from stored_results import AGENTS, HORIZONS, SWITCHES, frame_of, run_small_sweep, turning

from fasturl.experiments.analysis import report

CLAIMS = [
    {
        "claim": "URL learns <em>fast</em> & well",
        "figure": "LockBernoulli",
        "form": "url",
        "threshold": "over 0.3",
        "source": "ours",
        "measured": "0.4",
        "verdict": "holds",
    },
    {"claim": "Pigs fly", "measured": "0 of 4 pigs", "verdict": "fails"},
    {"claim": "Horses fly", "measured": "no horses", "verdict": "missing"},
]
PANELS = len(HORIZONS) * len(SWITCHES)
CELLS = PANELS * len(AGENTS)


def run_sweep(folder):
    """A small sweep with claims."""
    run_small_sweep(folder)
    (folder / report.CLAIMS).write_text(json.dumps(CLAIMS))
    return folder


def write_page(folder):
    """The page about a folder, beside it."""
    path = folder.parent / "report.html"
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


def series_of(page):
    """The series of the learning curves of a page, by cell."""
    charts = [chart for chart in embedded(page)["charts"] if chart["section"] == "curves"]
    return {series["cells"][0]: series for chart in charts for series in chart["series"]}


def page_of(frame, path):
    """A page about a frame that no store has."""
    config = {"agent_settings": {"learning_rate": 0.1}, "episodes": 100}
    known = {"seeds": [0], "diagnostics": [{}], "versions": {"numba": "1"}}
    about = {"config": config, "oracle": None, "wall_seconds": 1.0, **known}
    path.write_text(
        report.compose("synthetic", frame, [{"cell": cell} | about for cell in frame["cell"].unique()])
    )
    return path


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


def ratio(*shades):
    """The contrast of two colours, as WCAG 2 defines it."""
    lightness = []
    for shade in shades:
        linear = [
            c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in np.array(list(shade)) / 255
        ]
        lightness.append(float(np.dot([0.2126, 0.7152, 0.0722], linear)))
    return (max(lightness) + 0.05) / (min(lightness) + 0.05)
