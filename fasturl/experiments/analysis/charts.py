"""The charts of the report, as Plotly takes them, but for what the reader chooses.

`report.js` adds that: it leaves out points of cells that do not pass the filter, shades the chosen band, and
picks colours for the theme. The same numbers stand in a table for each chart.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...run import reward_limits
from . import statistics, summaries
from .comparisons import slope_in_words
from .panels import agents_of, missing, rows_by, title
from .style import LineStyle, count, line_styles
from .summaries import BANDS

if TYPE_CHECKING:
    import pandas

MOST_POINTS = 200
"""Points of a curve in the page; longer ones are thinned."""
_TABLE_POINTS = 5
"""Rows of a curve in the table of its chart."""
_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "D": "diamond",
    "^": "triangle-up",
    "v": "triangle-down",
    "P": "cross",
    "X": "x",
    "*": "star",
}
"""Matplotlib's markers as Plotly calls them."""
LAYOUT: dict[str, Any] = {
    "showlegend": False,
    "hovermode": "x unified",
    "scattermode": "group",
    "scattergap": 0.8,
    "margin": {"l": 40, "r": 12, "t": 8, "b": 40},
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "font": {"family": "system-ui, sans-serif", "size": 11},
}
"""What the layouts of all charts have in common: points of several series at one x stand side by side."""
AXIS: dict[str, Any] = {"zeroline": False, "automargin": True}


@dataclass(frozen=True)
class Series:
    """One line of a chart."""

    label: str
    cells: list[str]
    """The cell of each point; one if all points are of that cell."""
    style: dict[str, str]
    """Its colour on a light and on a dark page."""
    trace: dict[str, Any]
    """As Plotly takes it, without colours; lists have an entry for each point."""
    bands: dict[str, tuple[list[Any], list[Any]]]
    """Lower and upper ends of the intervals of all points by the name of the band, None where there is none;
    "any" is drawn whatever band is chosen."""


@dataclass(frozen=True)
class Chart:
    """One panel of the report."""

    section: str
    title: str
    layout: dict[str, Any]
    """As Plotly takes it."""
    series: list[Series]
    fits: list[dict[str, Any]] = field(default_factory=list)
    """Fitted lines: label and style of a series, the line as a shape of Plotly, and its slope in words."""

    @property
    def cells(self) -> list[str]:
        return list(dict.fromkeys(cell for series in self.series for cell in series.cells))

    @property
    def axis_names(self) -> tuple[str, str]:
        return self.layout["xaxis"]["title"]["text"], self.layout["yaxis"]["title"]["text"]

    def data(self) -> dict[str, Any]:
        """The chart as the script of the page reads it."""
        return asdict(self)


def charts(frame: pandas.DataFrame, table: pandas.DataFrame) -> list[Chart]:
    """All charts of a report: learning curves of each environment, and, of environments that differ in the
    horizon alone, success rates and trajectories to near-optimal against it.

    table
        `summaries.cell_table` of the frame.
    """
    labels = summaries.labels(frame)
    styles = line_styles(agents_of(frame, labels))
    rows_of_cell = dict(iter(frame.groupby("cell", sort=False)))
    table = table.set_index("cell", drop=False).loc[list(labels)].assign(label=labels.values())
    places = ["env", *summaries.env_settings(frame)]
    result = [_curve_chart(cells, rows_of_cell, styles) for cells in rows_by(table, places)]
    families = rows_by(table, [name for name in places if name != "horizon"])
    families = [cells for cells in families if cells["horizon"].nunique() > 1]
    result += [_success_chart(cells, styles) for cells in families]
    return result + [_scaling_chart(cells, styles) for cells in families]


def _curve_chart(
    cells: pandas.DataFrame, rows_of_cell: Mapping[str, Any], styles: Mapping[str, LineStyle]
) -> Chart:
    series, lows, highs = [], [], []
    for cell, label in zip(cells["cell"], cells["label"], strict=True):
        curve, line = thinned(summaries.curve(rows_of_cell[cell])), styles[label]
        trace = _trace(line, curve.trajectories.tolist(), _short(curve.mean))
        trace["mode"] = "lines" if len(trace["x"]) > 1 else "markers"  # a line of one point has no length
        bands = {band: _ends(*curve.band(band)) for band in BANDS}
        series.append(Series(label, [cell], colours(line), trace, bands))
        lows += [min(low) for low, _ in bands.values()]
        highs += [max(high) for _, high in bands.values()]
    optimum = float(cells["v_star"].max())
    lowest_mean = min(min(one.trace["y"]) for one in series)
    y_range = list(reward_limits(optimum, lowest_mean, min(optimum, *lows), max(optimum, *highs)))
    x_axis: dict[str, Any] = {"title": _axis_title("number of trajectories"), "tickformat": "~s"}
    x_axis |= {"range": [0, max(one.trace["x"][-1] for one in series)]}
    x_axis |= {"unifiedhovertitle": {"text": "number of trajectories %{x:,}"}}
    at_right: dict[str, Any] = {"xref": "paper", "x": 1, "xanchor": "right", "yanchor": "bottom"}
    line_of_optimum = {"type": "line", "xref": "paper", "x0": 0, "x1": 1, "y0": optimum, "y1": optimum}
    layout = {
        "xaxis": x_axis,
        "yaxis": {"title": _axis_title("average reward"), "range": y_range},
        "shapes": [line_of_optimum | {"line": {"dash": "4px,3px", "width": 1, "color": "#888888"}}],
        "annotations": [{"text": "V*", "y": optimum, "showarrow": False} | at_right],
    }
    return Chart("curves", title(cells), layout, series)


def thinned(curve: summaries.Curve) -> summaries.Curve:
    """A curve of at most `MOST_POINTS` points, its last one among them."""
    stride = max(1, math.ceil(curve.trajectories.size / MOST_POINTS))
    first = (curve.trajectories.size - 1) % stride  # so that the last one is among them
    return summaries.Curve(curve.trajectories[first::stride], curve.samples[:, first::stride])


def _success_chart(cells: pandas.DataFrame, styles: Mapping[str, LineStyle]) -> Chart:
    series = []
    for label, rows in _by_label(cells):
        rates, low, high = (rows[f"success_{name}"].tolist() for name in ("rate", "low", "high"))
        texts = [f"{rate:.0%} [{a:.0%}, {b:.0%}]" for rate, a, b in zip(rates, low, high, strict=True)]
        trace = _trace(styles[label], rows["horizon"].tolist(), rates)
        trace |= {"mode": "lines+markers", "customdata": texts, "offsetgroup": label}
        trace["hovertemplate"] = "%{customdata}"
        owners, bands = rows["cell"].tolist(), {"any": (low, high)}
        series.append(Series(label, owners, colours(styles[label]), trace, bands))
    y_axis = {"title": _axis_title("success rate"), "range": [-0.04, 1.04], "tickformat": ".0%"}
    layout = {"xaxis": _horizon_axis(cells["horizon"], float, 0.4), "yaxis": y_axis, "shapes": []}
    return Chart("success", title(cells), layout, series)


def _scaling_chart(cells: pandas.DataFrame, styles: Mapping[str, LineStyle]) -> Chart:
    # positions on the x axis are logarithms, so that series stand side by side at one distance everywhere
    x_axis = _horizon_axis(cells["horizon"], math.log10, 0.06)
    series, fits, heights = [], [], []
    for label, rows in _by_label(cells):
        needed, played = [plain(value) for value in rows["needed"]], rows["trajectories"].tolist()
        reached = [value is not None for value in needed]
        ys = [most if value is None else value for value, most in zip(needed, played, strict=True)]
        bars = _bars(rows)
        trace = _trace(styles[label], [math.log10(x) for x in rows["horizon"]], ys)
        symbol = trace["marker"]["symbol"]
        trace["marker"] |= {"symbol": [symbol if there else f"{symbol}-open" for there in reached]}
        trace |= {"mode": "markers+text", "text": ["" if there else "↑" for there in reached]}
        trace |= {"customdata": [needed_in_words(row) for _, row in rows.iterrows()], "offsetgroup": label}
        trace |= {"hovertemplate": "%{customdata}", "textposition": "top center"}
        series.append(Series(label, rows["cell"].tolist(), colours(styles[label]), trace, {"any": bars}))
        fits += _fits(label, styles[label], list(zip(rows["horizon"], needed, strict=True)))
        heights += [height for height in (*ys, *bars[0], *bars[1]) if height is not None]
    room_above = 1.5 if all(cells["needed"].map(math.isfinite)) else 2.5  # for arrows
    y_range = [math.log10(min(heights) / 1.5), math.log10(max(heights) * room_above)]
    y_axis = {"title": _axis_title("trajectories"), "type": "log", "range": y_range, "tickformat": "~s"}
    y_axis["dtick"] = "D2" if y_range[1] - y_range[0] > 1 else "D1"
    layout = {"xaxis": x_axis, "yaxis": y_axis, "shapes": []}
    return Chart("scaling", title(cells), layout, series, fits)


def _bars(rows: pandas.DataFrame) -> tuple[list[Any], list[Any]]:
    """Lower and upper ends of the intervals of medians; None where no median or no interval is known.

    An interval without an upper end reaches to the number of trajectories that were played.
    """
    has_interval = rows["needed"].map(math.isfinite) & rows["needed_low"].notna()
    low, high = rows["needed_low"].clip(lower=1), rows[["needed_high", "trajectories"]].min(axis="columns")
    return (
        [plain(end) if has_one else None for end, has_one in zip(low, has_interval, strict=True)],
        [plain(end) if has_one else None for end, has_one in zip(high, has_interval, strict=True)],
    )


def _by_label(cells: pandas.DataFrame) -> list[tuple[str, pandas.DataFrame]]:
    labels = dict.fromkeys(cells["label"])
    return [(label, cells[cells["label"] == label].sort_values("horizon")) for label in labels]


def _trace(line: LineStyle, x: list[Any], y: list[Any]) -> dict[str, Any]:
    dashes = "solid" if line.dashes == "-" else ",".join(f"{1.6 * length:.1f}px" for length in line.dashes[1])
    style = {"line": {"dash": dashes, "width": 1.9}, "marker": {"symbol": _SYMBOLS[line.marker], "size": 8}}
    return {"x": x, "y": y, **style}


def colours(line: LineStyle) -> dict[str, str]:
    return {"light": line.colour, "dark": line.dark}


def _fits(label: str, line: LineStyle, pairs: list[tuple[float, Any]]) -> list[dict[str, Any]]:
    """The power law of horizons and medians, if two different horizons have a median; pairs are of a horizon
    and its median, or None."""
    horizons = [x for x, y in pairs if y]
    medians = [y for _, y in pairs if y]
    if len(set(horizons)) < 2:
        return []
    slope = statistics.log_log_slope(horizons, medians)
    left, right = min(horizons), max(horizons)
    shape = {"type": "line", "layer": "below", "line": _trace(line, [], [])["line"]}
    shape |= {"x0": math.log10(left), "y0": math.exp(slope.intercept) * left**slope.slope}
    shape |= {"x1": math.log10(right), "y1": math.exp(slope.intercept) * right**slope.slope}
    return [{"label": label, "style": colours(line), "shape": shape, "slope": slope_in_words(slope)}]


def _axis_title(text: str) -> dict[str, Any]:
    return {"text": text, "standoff": 6}  # with it Plotly makes room for the title


def _horizon_axis(horizons: Any, position: Callable[[float], float], least_room: float) -> dict[str, Any]:
    """An axis with a tick at each horizon, and some room at both ends."""
    values = sorted(set(horizons))
    ticks = [position(value) for value in values]
    room = max(0.08 * (ticks[-1] - ticks[0]), least_room)
    span = {"range": [ticks[0] - room, ticks[-1] + room]}
    return {
        "title": _axis_title("horizon"),
        "tickvals": ticks,
        "ticktext": [f"H = {count(x)}" for x in values],
    } | span


def needed_in_words(row: Mapping[str, Any]) -> str:
    """The median number of trajectories to near-optimal of a cell, with its interval."""
    if not math.isfinite(row["needed"]):
        return f"over\u00a0{row['trajectories']:,} ({row['reached']} of {row['seeds']} got there)"
    if missing(row["needed_low"]):
        return f"{row['needed']:,.0f} [too few seeds]"
    high = "∞" if math.isinf(row["needed_high"]) else f"{row['needed_high']:,.0f}"
    return f"{row['needed']:,.0f} [{row['needed_low']:,.0f}, {high}]"


def in_words(chart: Chart) -> str:
    """A chart as a screen reader tells it."""
    last_values = [f"{one.label} {_value_text(one, -1)}" for one in chart.series]
    x, y = chart.axis_names
    return f"{chart.title}: {y} against {x}. At the right end: {'; '.join(last_values)}."


def as_table(chart: Chart) -> str:
    """A chart as an HTML table: a row for each point, of curves only for some of their points."""
    rows = []
    for one in chart.series:
        size = len(one.trace["x"])
        step = math.ceil(size / _TABLE_POINTS) if chart.section == "curves" else 1
        for i in range((size - 1) % step, size, step):
            cell = one.cells[i] if len(one.cells) > 1 else one.cells[0]
            x, y = _x_text(chart, one.trace["x"][i]), _value_text(one, i)
            name = f'<th scope="row">{html.escape(one.label)}</th>'
            rows.append(
                f'<tr data-cells="{html.escape(cell)}">{name}<td>{x}</td><td>{html.escape(y)}</td></tr>'
            )
    names = ("Agent", *(name.capitalize() for name in chart.axis_names))
    head = "".join(f'<th scope="col">{name}</th>' for name in names)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def _x_text(chart: Chart, x: Any) -> str:
    axis = chart.layout["xaxis"]
    return str(axis["ticktext"][axis["tickvals"].index(x)]) if "tickvals" in axis else f"{x:,}"


def _value_text(one: Series, i: int) -> str:
    if "customdata" in one.trace:
        return str(one.trace["customdata"][i])
    low, high = one.bands["std"]
    return f"{one.trace['y'][i]:.3f} ± {(high[i] - low[i]) / 2:.3f}"


def plain(value: Any) -> float | int | None:
    """A number of JSON, which has neither infinity nor numbers that are none."""
    if value is None or not math.isfinite(value):
        return None
    number = float(value)
    return int(number) if number.is_integer() else number


def _ends(low: Any, high: Any) -> tuple[list[float], list[float]]:
    return _short(low), _short(high)


def _short(values: Any) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
