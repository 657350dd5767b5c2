"""Learning curves: average reward against the number of trajectories, a panel for each environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..._base import checks
from ...run import draw_curve, finish_curves
from . import summaries
from .panels import agents_of, finish, panels_by, require_results, seeds_in_words, title
from .style import LineStyle, count_axis, line_styles, style, write_titles
from .summaries import BANDS

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def curves(frame: pandas.DataFrame, *, band: str = "std") -> Figure:
    """Learning curves: a panel for each environment, a line for each agent.

    band
        "std": one standard deviation; "ci": the 95 % bootstrap confidence interval of the mean.
    """
    checks.choice("band", band, BANDS)
    require_results(frame)
    labels = summaries.labels(frame)
    styles = line_styles(agents_of(frame, labels))
    figure, all_axes, groups = panels_by(frame, ["env", *summaries.env_settings(frame)], labels=labels)
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            curve_panel(axes, rows, band=band, labels=labels, styles=styles)
        finish(figure, all_axes, labels, "number of trajectories", "average reward", caption(frame, band))
        write_titles(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def curve_panel(
    axes: Axes,
    frame: pandas.DataFrame,
    *,
    band: str = "std",
    legend: bool = False,
    labels: Mapping[str, str] | None = None,
    styles: Mapping[str, LineStyle] | None = None,
) -> None:
    """Learning curves of the cells of one environment: the mean over seeds as a line, with a band.

    band
        "std": one standard deviation; "ci": the 95 % bootstrap confidence interval of the mean. `caption`
        says so in words.
    legend
        Whether the panel has a legend of its own.
    labels
        Names of the cells, where several panels share them; if not given, what tells the cells of this panel
        apart.
    styles
        The style of each label, where several panels share them; if not given, `style.line_styles` of the
        labels.
    """
    checks.choice("band", band, BANDS)
    require_results(frame)
    names = labels or summaries.labels(frame)
    groups = dict(iter(frame.groupby("cell", sort=False)))
    labels_here = {cell: label for cell, label in names.items() if cell in groups}
    line_style = styles or line_styles(agents_of(frame, names))
    for position, (cell, label) in enumerate(labels_here.items()):
        curve, line = summaries.curve(groups[cell]), line_style[label]
        draw_curve(
            axes,
            curve.trajectories,
            curve.mean,
            curve.band(band),
            label=label,
            marker=line.marker,
            zorder=3 + (len(labels_here) - position) / 100,  # the agents that are named first lie on top
            color=line.colour,
            linestyle=line.dashes,
        )
    finish_curves(axes, float(frame["v_star"].max()))
    count_axis(axes)
    if legend:
        axes.legend()


def caption(frame: pandas.DataFrame, band: str = "std") -> str:
    """What line and band of a figure of learning curves are, in words."""
    spread = BANDS[checks.choice("band", band, BANDS)]
    return f"Line: mean over {seeds_in_words(frame)}. Shaded: {spread}."
