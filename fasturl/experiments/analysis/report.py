"""One HTML page about a folder of results: charts to hover and zoom, tables, configuration and timings.

The page is self-contained: styles, scripts and data are inside it, and its own policy forbids it the network.
Tables are plain HTML. Charts are data (`charts`) that Plotly draws; `report.js` filters them.
"""

from __future__ import annotations

import base64
import gzip
import html
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..._base import optional
from ..._base.schema import PARTS
from ..._version import __version__
from ...run import NEAR_OPTIMAL
from ..running.store import Store
from . import charts, statistics, summaries
from .panels import missing, varying
from .report_tables import (
    VERDICTS,
    checked_claim,
    claims_table,
    configuration_table,
    count_in_words,
    results_table,
    timings_list,
    warnings_table,
)
from .summaries import BANDS, in_words, show

if TYPE_CHECKING:
    import pandas

CLAIMS = "claims.json"
"""The file of a folder that holds claims and their verdicts."""
VIEW = "view.json"
"""The file of a folder that says which runs its claims are of; its caveat stands with them."""
_BAND_NAMES = {"std": "standard deviation", "ci": "bootstrap", "none": "nothing"}
_TOOLS = (("+", "+", "Zoom in"), ("-", "\u2212", "Zoom out"), ("0", "⟲", "Reset zoom"))
"""The key, the sign and the name of each button of a chart."""


@dataclass(frozen=True)
class Filter:
    """One thing that the reader of the page may choose cells by."""

    key: str
    name: str
    choices: list[str]
    """The values that there are, in their order."""
    values: dict[str, str | None]
    """The value of each cell; None of one that lacks the setting, which every choice leaves in."""


def page(folder: str | os.PathLike[str]) -> str:
    """The page about the results of a folder. `claims.json` in it, a list of {claim, verdict, measured},
    becomes a table."""
    place = Path(folder)
    store = Store(folder)
    return compose(place.resolve().name, store.frame(), store.about(), read_claims(place), read_caveat(place))


def write(folder: str | os.PathLike[str], out: str | os.PathLike[str]) -> None:
    """Write the page about the results of a folder."""
    Path(out).write_text(page(folder), encoding="utf-8")


def compose(
    name: str,
    frame: pandas.DataFrame,
    about: list[dict[str, Any]],
    claims: Iterable[dict[str, Any]] = (),
    claims_caveat: str = "",
) -> str:
    """The page about results with a name.

    frame
        Results as `fasturl.experiments.load` gives them.
    about
        What the store knows of each file of results: its cell, configuration, seeds, seconds, versions and
        diagnostics.
    claims, claims_caveat
        Claims with their verdicts, and what they lack.
    """
    plotly = optional.need("plotly", "experiments", "a report")
    offline = optional.need("plotly.offline", "experiments", "a report")
    table = summaries.cell_table(frame)
    all_charts = charts.charts(frame, table)
    filters = filters_of(frame)
    labels = list(summaries.labels(frame).values())
    parts = {
        "title": html.escape(name),
        "lead": html.escape(_lead(frame, table)),
        "share": f"{NEAR_OPTIMAL:.0%}",
        "level": f"{statistics.LEVEL:.0%}",
        "claims": claims_table(list(claims), claims_caveat),
        "filters": "".join(
            _choices(one.key, one.name, {text: text for text in one.choices}) for one in filters
        ),
        "band": BANDS["std"],
        "bands": _choices("band", "Shaded", _BAND_NAMES, first_only=True),
        **{name: _section(name, all_charts, labels) for name in ("curves", "success", "scaling")},
        "results": results_table(frame, table),
        "warnings": warnings_table(frame, table, about),
        "timings": timings_list(about),
        "configuration": configuration_table(table, frame, about),
        "version": html.escape(__version__),
        "style": _file("report.css"),
        "plotly": _packed(offline.get_plotlyjs()),
        "plotly_version": html.escape(plotly.__version__),
        "script": _file("report.js"),
        "data": embed(report_data(frame, filters, all_charts)),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], _file("report.html"))


def report_data(
    frame: pandas.DataFrame, filters: list[Filter], all_charts: list[charts.Chart]
) -> dict[str, Any]:
    """What the script of the page works on: the charts, the choices of the filter, and what each cell is in
    terms of these. A cell whose value is None passes that filter whatever is chosen."""
    cells = [
        {"id": cell, **{one.key: one.values[cell] for one in filters}} for cell in frame["cell"].unique()
    ]
    meanings = {**BANDS, "none": "nothing"}
    return {
        "cells": cells,
        "filters": [{"key": one.key, "values": one.choices} for one in filters],
        "bands": [{"value": value, "meaning": meanings[value]} for value in _BAND_NAMES],
        "layout": charts.LAYOUT,
        "axis": charts.AXIS,
        "charts": [chart.data() for chart in all_charts],
    }


def filters_of(frame: pandas.DataFrame) -> list[Filter]:
    """The choices that the page offers: environments, their settings that vary, agents, and the parts of
    agents that vary."""
    rows = frame.drop_duplicates("cell")
    columns = {"environment": "env"} | {name: name for name in varying(frame)} | {"agent": "agent"}
    for part in PARTS:
        column = next((name for name in (part, f"agent.{part}") if name in frame), None)
        if column and frame[column].dropna().nunique() > 1:
            columns[part] = column
    filters = []
    for key, column in columns.items():
        # a setting without a value is the default of an environment that has it; others lack it, as agents
        # without an oracle do
        envs_with_setting: set[str] = set()
        if key not in PARTS:
            envs_with_setting = {env for env, own in rows.groupby("env") if own[column].notna().any()}
        values: dict[str, str | None] = {}
        for _, row in rows.iterrows():
            lacks_it = missing(row[column]) and row["env"] not in envs_with_setting
            values[row["cell"]] = None if lacks_it else show(row[column])
        order = summaries.agent_rank if key == "agent" else summaries.setting_rank
        choices = sorted({value for value in values.values() if value is not None}, key=order)
        filters.append(Filter(key, in_words(key).capitalize(), choices, values))
    return filters


def embed(content: dict[str, Any]) -> str:
    """JSON for inside a page: nothing in it can end the element that holds it."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def read_claims(folder: Path) -> list[dict[str, Any]]:
    """The claims of a folder; none if it has no file of them."""
    path = folder / CLAIMS
    if not path.exists():
        return []
    try:
        claims = json.loads(path.read_text(encoding="utf-8"))
        return [checked_claim(one) for one in claims]
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        raise ValueError(
            f"cannot read {path}: it must be a list of objects with claim, measured and a verdict, which is "
            f"one of {', '.join(VERDICTS)}"
        ) from None


def read_caveat(folder: Path) -> str:
    """What the verdicts of a folder lack, as the file that says what its claims are of tells it."""
    path = folder / VIEW
    if not path.exists():
        return ""
    try:
        return str(json.loads(path.read_text(encoding="utf-8")).get("caveat", ""))
    except (OSError, ValueError, AttributeError):
        raise ValueError(f"{path} is damaged: remove it or choose another folder") from None


def _lead(frame: pandas.DataFrame, table: pandas.DataFrame) -> str:
    total = int((table["seeds"] * table["trajectories"]).sum())
    counts = [count_in_words(len(table), "cell"), count_in_words(int(table["seeds"].sum()), "run")]
    counts.append(count_in_words(total, "trajectory", "trajectories"))
    seeds, agents = frame["seed"].nunique(), frame["agent"].nunique()
    return f"{', '.join(counts)}; {count_in_words(seeds, 'seed')}, {count_in_words(agents, 'agent')}."


def _choices(key: str, name: str, values: dict[str, str], *, first_only: bool = False) -> str:
    """A group of check boxes, all of them checked, or of radio buttons with the first one checked."""
    kind = "radio" if first_only else "checkbox"
    boxes = []
    for position, (value, text) in enumerate(values.items()):
        checked = "" if first_only and position else " checked"
        box = f'<input type="{kind}" name="{html.escape(key)}" value="{html.escape(value)}"{checked}>'
        boxes.append(f"<label>{box}{html.escape(text)}</label>")
    return f'<fieldset class="choices"><legend>{html.escape(name)}</legend>{"".join(boxes)}</fieldset>'


def _section(name: str, all_charts: list[charts.Chart], labels: list[str]) -> str:
    """Legend and panels of a section; the script draws into the elements of class plot."""
    numbered = [(number, chart) for number, chart in enumerate(all_charts) if chart.section == name]
    panels = "".join(_panel(number, chart) for number, chart in numbered)
    return f'{_legend([chart for _, chart in numbered], labels)}<div class="panels">{panels}</div>'


def _legend(charts_here: list[charts.Chart], labels: list[str]) -> str:
    """The lines of all charts of a section, in the order of their labels."""
    cells: dict[str, list[str]] = {}
    by_label: dict[str, charts.Series] = {}
    for series in (series for chart in charts_here for series in chart.series):
        cells.setdefault(series.label, []).extend(series.cells)
        by_label[series.label] = series
    items = []
    for label in sorted(by_label, key=labels.index):
        dashes = by_label[label].trace["line"]["dash"].replace("px", "").replace("solid", "none")
        line = f'<path stroke-dasharray="{dashes}" d="M0,6H36"/>'
        items.append(
            f'<li data-cells="{_ids(cells[label])}" style="{_colour(by_label[label].style)}">'
            f'<svg viewBox="0 0 36 12" aria-hidden="true">{line}</svg>{html.escape(label)}</li>'
        )
    return f'<ul class="legend">{"".join(items)}</ul>'


def _colour(style: dict[str, str]) -> str:
    return f"--colour:light-dark({style['light']}, {style['dark']})"


def _panel(number: int, chart: charts.Chart) -> str:
    title, words = html.escape(chart.title), html.escape(charts.in_words(chart))
    buttons = "".join(
        f'<button type="button" value="{key}" title="{name}" aria-label="{name}: {title}">{sign}</button>'
        for key, sign, name in _TOOLS
    )
    fits = "".join(
        f'<li style="{_colour(fit["style"])}">{html.escape(fit["label"])}: slope {fit["slope"]}</li>'
        for fit in chart.fits
    )
    return (
        f'<figure class="panel" data-cells="{_ids(chart.cells)}" data-chart="{number}">'
        f'<figcaption><span>{title}</span><span class="tools screen-only">{buttons}</span></figcaption>'
        f'<div class="plot" tabindex="0" role="group" aria-label="{words}"></div>'
        f"{f'<ul class=fits>{fits}</ul>' if fits else ''}"
        f"<details><summary>Values as a table</summary>{charts.as_table(chart)}</details></figure>"
    )


def _ids(cells: Iterable[str]) -> str:
    return html.escape(" ".join(cells))


def _packed(script: str) -> str:
    """A script in a third of its size; the same one gives the same text."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def _file(name: str) -> str:
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
