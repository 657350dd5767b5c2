"""Cumulative regret against the number of trajectories on logarithmic axes, a panel for each environment.

The regret of a run after n trajectories is n V* minus what it has earned. Regret that grows as n^b is a line
of slope b here, which is how learners are compared: 1 for one that never learns, 1/2 for a bound of sqrt(n).
The slope in the legend is that of the mean over seeds, over the second half of the trajectories
(`statistics.second_half_slope`).

Returns are random, so the mean of few lucky seeds may be 0 or less, where a logarithm has no place: these
points are left out of line and slope, and the figure says how many they are.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..._base import checks, optional
from ..._base.words import counted
from ...run import draw_curve
from . import statistics, summaries
from .curves import caption
from .panels import agents_of, finish, legend_below, panels_by, require_results, title
from .style import TEXT_LINE, LineStyle, count, line_styles, style, write_titles
from .summaries import BANDS

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpec

_WIDE_PANELS = 3
"""Up to so many panels in a row are wide enough for two slopes side by side."""
_LINE_LENGTH = 2.0
"""Of the lines beside the slopes, in font sizes: two slopes are as wide as a panel of three."""
_ROOM_BELOW, _ROOM_ABOVE = 1.6, 1.4
"""Factors between the panel's edges and the least mean and the greatest upper edge of its lines."""
_FEW_DECADES = 1.5
"""An axis of fewer decades has ticks at 1, 2 and 5 of each."""


class _Line(NamedTuple):
    """The regret of one cell as it is drawn."""

    trajectories: NDArray[np.int64]
    mean: NDArray[np.float64]
    """nan at the points that are left out."""
    edges: statistics.Interval
    """Of the shaded area; nan at the same points."""
    slope: float
    """nan where fewer than two points of the second half remain."""

    @property
    def left_out(self) -> int:
        return int(np.isnan(self.mean).sum())

    @property
    def slope_in_words(self) -> str:
        if math.isnan(self.slope):
            return "no slope"
        return f"slope {self.slope:z.2f}".replace("-", "\N{MINUS SIGN}")


def regret(frame: pandas.DataFrame, *, band: str = "std") -> Figure:
    """Cumulative regret on logarithmic axes: a panel for each environment, a line for each agent, with the
    slope of its second half in the legend.

    band
        "std": one standard deviation; "ci": the 95 % bootstrap confidence interval of the mean. It ends at
        the lower edge of the panel where it reaches 0.
    """
    checks.choice("band", band, BANDS)
    require_results(frame)
    labels = summaries.labels(frame)
    styles = line_styles(agents_of(frame, labels))
    lines = {str(cell): _line(rows, band) for cell, rows in frame.groupby("cell", sort=False)}
    figure, all_axes, groups = panels_by(frame, ["env", *summaries.env_settings(frame)], labels=labels)
    alone = len(groups) == 1  # its slopes stand with the names, others below their panels
    names = {
        cell: f"{label}, {lines[cell].slope_in_words}" if alone else label for cell, label in labels.items()
    }
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            cells = set(rows["cell"])
            here = {cell: lines[cell] for cell in labels if cell in cells}
            _draw_panel(axes, here, names, {cell: styles[labels[cell]] for cell in here})
            if not alone:
                _write_slopes(axes, {names[cell]: line for cell, line in here.items()})
        if not alone:
            _make_room_for_slopes(figure, max(rows["cell"].nunique() for rows in groups))
        words = _caption(frame, band, lines)
        finish(figure, all_axes, names, "number of trajectories", "cumulative regret", words)
        write_titles(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def _line(rows: pandas.DataFrame, band: str) -> _Line:
    """The line of the rows of one cell."""
    curve = summaries.curve(rows, "regret")
    least = _rounding_error(curve.trajectories, float(rows["optimal_value"].abs().max()))
    mean = np.where(curve.mean > least, curve.mean, np.nan)
    slope = math.nan
    with contextlib.suppress(ValueError):
        slope = statistics.second_half_slope(curve.trajectories, mean).slope
    low, high = (np.where(np.isnan(mean), np.nan, edge) for edge in curve.band(band))
    return _Line(curve.trajectories, mean, statistics.Interval(low, high), slope)


def _rounding_error(trajectories: NDArray[np.int64], v_star: float) -> NDArray[np.float64]:
    """n^2 |V*| 2^-53, what the sum of n returns may be off by: a smaller regret counts as none."""
    return np.square(trajectories, dtype=np.float64) * v_star * 2.0**-53


def _draw_panel(
    axes: Axes, lines: Mapping[str, _Line], names: Mapping[str, str], styles: Mapping[str, LineStyle]
) -> None:
    """Draw the lines of some cells, with their names and styles, on axes that fit them."""
    axes.set_xscale("log")
    axes.set_yscale("log")
    bottom, top = _heights(lines.values())
    axes.set_ylim(bottom, top)
    first = min(line.trajectories[0] for line in lines.values())
    last = max(line.trajectories[-1] for line in lines.values())
    room = 1 if last > first else 2  # around a single point
    axes.set_xlim(first / room, last * room)
    _set_ticks(axes)
    for position, (cell, line) in enumerate(lines.items()):
        line_style = styles[cell]
        draw_curve(
            axes,
            line.trajectories,
            line.mean,
            (np.maximum(line.edges.low, bottom), line.edges.high),
            label=names[cell],
            marker=line_style.marker,
            zorder=3 + (len(lines) - position) / 100,  # the agents that are named first lie on top
            color=line_style.colour,
            linestyle=line_style.dashes,
        )
        _mark_lone_points(axes, line, line_style)


def _heights(lines: Collection[_Line]) -> tuple[float, float]:
    """Where the y axis of a panel begins and ends: below the least mean, above the greatest upper edge."""
    means = np.concatenate([line.mean for line in lines])
    highs = np.concatenate([line.edges.high for line in lines])
    if np.isnan(means).all():
        return 1.0, 10.0
    return float(np.nanmin(means)) / _ROOM_BELOW, float(np.nanmax(highs)) * _ROOM_ABOVE


def _mark_lone_points(axes: Axes, line: _Line, line_style: LineStyle) -> None:
    """Mark the points between two that are left out, which as a line would have no length."""
    is_missing = np.isnan(np.concatenate([[np.nan], line.mean, [np.nan]]))
    lone = ~is_missing[1:-1] & is_missing[:-2] & is_missing[2:]
    if line.mean.size > 1 and lone.any():
        axes.plot(
            line.trajectories[lone],
            line.mean[lone],
            linestyle="none",
            marker=line_style.marker,
            markersize=2,
            color=line_style.colour,
        )


def _set_ticks(axes: Axes) -> None:
    """Ticks such as 100, 1k, 10k; at 1, 2 and 5 of each decade where there are few decades."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        few = math.log10(high / low) < _FEW_DECADES
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5) if few else (1,)))
        axis.set_major_formatter(lambda value, _: count(value))
        axis.set_minor_formatter(ticker.NullFormatter())


def _write_slopes(axes: Axes, lines: Mapping[str, _Line]) -> None:
    """The slope of each line of a panel, given by its name, below the panel."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    slopes = [(handles[name], line.slope_in_words) for name, line in lines.items()]
    legend_below(axes, slopes, distance=0.22, columns=_slopes_in_a_row(axes), line_length=_LINE_LENGTH)


def _slopes_in_a_row(axes: Axes) -> int:
    """As many as fit below a panel."""
    return 2 if _grid(axes).ncols <= _WIDE_PANELS else 1


def _make_room_for_slopes(figure: Figure, most_lines: int) -> None:
    """Let the figure grow by the slopes below its panels, so that these do not shrink."""
    axes = figure.axes[0]
    lines_of_text = math.ceil(most_lines / _slopes_in_a_row(axes))
    figure.set_figheight(figure.get_figheight() + TEXT_LINE * lines_of_text * _grid(axes).nrows)


def _grid(axes: Axes) -> GridSpec:
    """The grid that a panel of a figure of panels stands in."""
    grid: GridSpec = cast(Any, axes.get_subplotspec()).get_gridspec()
    return grid


def _caption(frame: pandas.DataFrame, band: str, lines: Mapping[str, _Line]) -> str:
    """What line, band and slope are, in words, and how many points are not drawn."""
    words = f"{caption(frame, band)} Slope: of the second half of the trajectories."
    if left_out := sum(line.left_out for line in lines.values()):
        words += f" Left out: {counted(left_out, 'point')} whose mean is not positive."
    return words
