"""Results against a setting: the share of near-optimal seeds, the trajectories it takes to get there, and the
seconds that a run takes."""

from __future__ import annotations

import contextlib
import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from ..._base import optional
from . import statistics, summaries
from .panels import (
    ERROR_BARS,
    agents_of,
    finish,
    legend_below,
    numeric_setting,
    panels_by,
    require_results,
    seeds_in_words,
    series_labels,
    title,
)
from .style import TEXT_LINE, LineStyle, count, line_styles, style, write_titles
from .summaries import in_words, show

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_LONE_STEP = 1.0
"""Distance from a value that is alone in a panel to the next one, if there were one: of logarithms, where the
axis is logarithmic."""
_LONE_ROOM = 0.3 * _LONE_STEP
"""How far a panel with one value reaches to both sides of it."""


class _Comparison(NamedTuple):
    """What a figure against a setting shows."""

    table: pandas.DataFrame
    """One row for each cell, as `summaries.cell_table` gives it."""
    across: str
    """The column of the setting on the x axis."""
    labels: dict[str, str]
    """The label of each cell."""
    styles: Mapping[str, LineStyle]
    """The style of each label."""


def success(frame: pandas.DataFrame, *, x: str = "horizon") -> Figure:
    """The share of near-optimal seeds against a setting, with Wilson intervals: a panel for each setting of
    the rest."""
    comparison = _comparison(frame, x)
    figure, all_axes, groups = _panels(comparison)
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            for label, line, shift in _series(rows, comparison, logarithmic=False):
                _draw_share(
                    axes,
                    line[comparison.across].to_numpy(float) + shift,
                    line,
                    label,
                    comparison.styles[label],
                )
            axes.set_ylim(-0.04, 1.04)
            axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
            _set_ticks(axes, rows[comparison.across])
        words = f"Bars: {statistics.LEVEL:.0%} Wilson interval, {seeds_in_words(frame)}."
        x_name = in_words(comparison.across)
        finish(figure, all_axes, comparison.labels, x_name, "share of near-optimal seeds", words)
        write_titles(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def scaling(frame: pandas.DataFrame, *, x: str = "horizon") -> Figure:
    """Trajectories to near-optimal against a setting on logarithmic axes: the median over seeds, and the
    slope b of x^b.

    `statistics.near_optimal_from` defines the number of a run. Where at least half of the seeds did not get
    there an arrow stands at the number of trajectories that were played.
    """
    comparison = _comparison(frame, x)
    arrows = "arrows: at least half of the seeds did not get there"
    bars = _bars_in_words(comparison.table["needed_low"])
    words = f"Points: median over {seeds_in_words(frame)}; {bars}; {arrows}."
    return _power_laws(comparison, x, _draw_needed, "trajectories to near-optimal", words)


def seconds(frame: pandas.DataFrame, about: list[dict[str, Any]], *, x: str = "horizon") -> Figure:
    """Seconds a run against a setting on logarithmic axes: the mean over seeds, and the slope b of x^b.

    frame
        Results, from `fasturl.experiments.load`.
    about
        What the store knows of each file of them (`Store.about`).
    x
        The setting on the x axis.

    They are of the machine that the runs were played on, with whatever else it had to do. Each run plays the
    trajectories that it was told to, whether or not it needs them.
    """
    total_seconds: dict[str, float] = defaultdict(float)
    runs: dict[str, int] = defaultdict(int)
    for block in about:
        total_seconds[block["cell"]] += block["wall_seconds"]
        runs[block["cell"]] += len(block["seeds"])
    draw = partial(_draw_seconds, {cell: total_seconds[cell] / runs[cell] for cell in runs})
    words = f"Points: mean over {seeds_in_words(frame)}, a run on one core."
    return _power_laws(_comparison(frame, x), x, draw, "seconds a run", words)


def _power_laws(
    comparison: _Comparison,
    x: str,
    draw: Callable[[Axes, pandas.DataFrame, str, float, str, LineStyle], list[tuple[Any, str]]],
    y_name: str,
    words: str,
) -> Figure:
    """A figure with logarithmic axes; `draw` draws the points of a line and gives it its slope."""
    if (comparison.table[comparison.across] <= 0).any():
        raise ValueError(f"{x} is not always positive in these results: it cannot be a logarithmic axis")
    figure, all_axes, groups = _panels(
        comparison, extra_height=TEXT_LINE * len(set(comparison.labels.values()))
    )
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            slopes: list[tuple[Any, str]] = []
            for label, line, shift in _series(rows, comparison, logarithmic=True):
                slopes += draw(axes, line, comparison.across, shift, label, comparison.styles[label])
            _finish_scaling(axes, comparison.across, slopes)
            _set_ticks(axes, rows[comparison.across])
        finish(figure, all_axes, comparison.labels, "", y_name, words)
        write_titles(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def _comparison(frame: pandas.DataFrame, x: str) -> _Comparison:
    require_results(frame)
    across = numeric_setting(frame, x)
    labels = series_labels(frame, across)
    table = summaries.cell_table(frame)
    return _Comparison(table[table[across].notna()], across, labels, line_styles(agents_of(frame, labels)))


def _panels(comparison: _Comparison, extra_height: float = 0.0) -> tuple[Figure, list[Axes], list[Any]]:
    keys = [name for name in ["env", *summaries.env_settings(comparison.table)] if name != comparison.across]
    return panels_by(comparison.table, keys, height=2.1 + extra_height, labels=comparison.labels)


def _series(
    rows: pandas.DataFrame, comparison: _Comparison, *, logarithmic: bool
) -> list[tuple[str, pandas.DataFrame, float]]:
    """The label and the rows of each line of a panel, and how far it is shifted along x, so that bars of
    several lines stand side by side."""
    labels = rows["cell"].map(comparison.labels)
    order = [label for label in dict.fromkeys(comparison.labels.values()) if (labels == label).any()]
    values = np.unique(rows[comparison.across].to_numpy(float))
    step = min(np.diff(np.log(values) if logarithmic else values), default=_LONE_STEP)
    return [
        (
            label,
            rows[labels == label].sort_values(comparison.across),
            (i - (len(order) - 1) / 2) * step * 0.04,
        )
        for i, label in enumerate(order)
    ]


def _set_ticks(axes: Axes, values: Any) -> None:
    """A tick at each value of the panel's setting, if there are not too many. Around a value that is alone
    there is room, so that the lines stand close to its tick."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    ticks = sorted(values.unique())
    if len(ticks) == 1 and axes.get_xscale() == "log":
        axes.set_xlim(ticks[0] * math.exp(-_LONE_ROOM), ticks[0] * math.exp(_LONE_ROOM))
    elif len(ticks) == 1:
        axes.set_xlim(ticks[0] - _LONE_ROOM, ticks[0] + _LONE_ROOM)
    if len(ticks) <= 8:
        axes.set_xticks(ticks, [show(tick) for tick in ticks])
        axes.xaxis.set_minor_locator(ticker.NullLocator())


def _point_style(line_style: LineStyle) -> dict[str, Any]:
    return {
        "color": line_style.colour,
        "marker": line_style.marker,
        "markersize": 3.5,
        "markeredgewidth": 0.6,
    }


def _draw_share(axes: Axes, xs: Any, line: pandas.DataFrame, label: str, line_style: LineStyle) -> None:
    share = line["success_rate"].to_numpy()
    bars = np.array([share - line["success_low"], line["success_high"] - share]).clip(0)
    points = _point_style(line_style)
    axes.errorbar(xs, share, bars, linestyle=line_style.dashes, label=label, **points, **ERROR_BARS)


def _draw_needed(
    axes: Axes, line: pandas.DataFrame, across: str, shift: float, label: str, line_style: LineStyle
) -> list[tuple[Any, str]]:
    """Medians with their intervals, and an arrow where runs do not get there."""
    transforms = optional.need("matplotlib.transforms", "experiments", "a figure")
    points = _point_style(line_style)
    xs = line[across].to_numpy(float)
    shifted = xs * math.exp(shift)
    needed, played = line["needed"].to_numpy(), line["trajectories"].to_numpy()
    has_median = np.isfinite(needed)
    slopes = _draw_fit(axes, xs, needed, label, line_style)
    # an interval without an upper end reaches to the number of trajectories that were played; where there is
    # none (nan) no bar is drawn
    high = np.minimum(line["needed_high"].to_numpy(), played)
    low = np.maximum(line["needed_low"].to_numpy(), 1)
    medians = needed[has_median]
    bars = np.array([medians - low[has_median], high[has_median] - medians]).clip(0)
    axes.errorbar(shifted[has_median], medians, bars, linestyle="none", **points, **ERROR_BARS)
    axes.plot(shifted[~has_median], played[~has_median], linestyle="none", fillstyle="none", **points)
    above = axes.transData + transforms.ScaledTranslation(0, 5 / 72, cast(Any, axes.figure).dpi_scale_trans)
    arrow: dict[str, Any] = {"marker": r"$\uparrow$", "markersize": 5, "color": line_style.colour}
    axes.plot(shifted[~has_median], played[~has_median], linestyle="none", transform=above, **arrow)
    return slopes


def _draw_seconds(
    seconds_by_cell: Mapping[str, float],
    axes: Axes,
    line: pandas.DataFrame,
    across: str,
    shift: float,
    label: str,
    line_style: LineStyle,
) -> list[tuple[Any, str]]:
    xs, ys = line[across].to_numpy(float), line["cell"].map(seconds_by_cell).to_numpy(float)
    slopes = _draw_fit(axes, xs, ys, label, line_style)
    axes.plot(xs * math.exp(shift), ys, linestyle="none", **_point_style(line_style))
    return slopes


def _draw_fit(axes: Axes, xs: Any, ys: Any, label: str, line_style: LineStyle) -> list[tuple[Any, str]]:
    """The line that was fitted and its slope in words; nothing where there are too few points."""
    # named here, so that legends show line and marker; the points themselves are drawn by the caller
    points = _point_style(line_style)
    (artist,) = axes.plot(
        [], [], linestyle=line_style.dashes, linewidth=0.9, label=label, markevery=[], **points
    )
    with contextlib.suppress(ValueError):
        slope = statistics.log_log_slope(xs, ys)
        known_xs = xs[np.isfinite(ys)]
        ends = np.array([known_xs.min(), known_xs.max()])
        artist.set_data(ends, np.exp(slope.intercept) * ends**slope.slope)
        return [(artist, f"slope {slope_in_words(slope)}")]
    return []


def slope_in_words(slope: statistics.Slope) -> str:
    """A slope with its standard error, if there is one."""
    return f"{slope.slope:.2f}" + ("" if math.isnan(slope.error) else f" ± {slope.error:.2f}")


def _bars_in_words(low: Any) -> str:
    """What the bars of a figure of medians are, where there are any."""
    if low.isna().all():
        return "too few seeds for an interval"
    few = ", where there are seeds enough" if low.isna().any() else ""
    return f"bars: {statistics.LEVEL:.0%} interval of the median{few}"


def _finish_scaling(axes: Axes, across: str, slopes: list[tuple[Any, str]]) -> None:
    """Logarithmic axes, and the slopes below the panel, where they hide nothing."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.1)  # room for arrows
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: count(value))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel(in_words(across))
    if slopes:
        legend_below(axes, slopes, distance=0.34)
