"""Figures from stored results, for papers: `curves`, `success`, `scaling` and `heatmap` take a frame from
`fasturl.experiments.load`.

They say which measure of spread is drawn. `looks` has their colours and sizes.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._base import checks, optional
from . import statistics, summaries
from .style import (
    PANEL_HEIGHT,
    STYLE,
    TEXT_LINE,
    TEXT_WIDTH,
    count,
    count_axis,
    folded,
    head,
    inches,
    lay_out,
    look,
    panels,
    style,
)
from .summaries import BANDS, in_words, show

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BARS: dict[str, Any] = {"elinewidth": 0.9, "capsize": 1.5}
_SAMPLE = 2.8
"""Length of a line in a legend: its dashes show on both sides of the marker."""
_AROUND_SAMPLE = 0.55
"""Inches of a legend that are not its words: the line, and the space on both sides."""
_CAPTION = 6.5
"""Points."""
_NUMBERS = (6.0, 4.0)
"""Points: the size of numbers in a heat map, and the least that can be read."""
_MOST_PANELS = 48
_MOST_LINES = 12

SHOWN = {"average-reward": "reward_mean", "success-rate": "success_rate", "value": "value_mean"}
_SHOWN_NAMES = {
    "average-reward": "mean average reward at the last trajectory",
    "success-rate": "share of near-optimal seeds",
    "value": "mean value of the final policy",
}


def curve_panel(
    axes: Axes,
    frame: pandas.DataFrame,
    *,
    band: str = "std",
    legend: bool = False,
    labels: Mapping[str, str] | None = None,
) -> None:
    """Learning curves of the cells of one environment: the mean over seeds as a line, with a band.

    band
        "std": one standard deviation; "ci": the 95 % bootstrap confidence interval of the mean. `caption`
        says so in words.
    labels
        Names of the cells, where several panels share them; if not given, what tells the cells of this panel
        apart.
    """
    checks.choice("band", band, BANDS)
    every = labels or summaries.labels(_something(frame))
    present = set(frame["cell"])
    named = {cell: label for cell, label in every.items() if cell in present}
    groups = dict(iter(frame.groupby("cell", sort=False)))
    limit = 0
    for position, (cell, label) in enumerate(named.items()):
        rows = groups[cell]
        drawn = summaries.curve(rows)
        paint, line, marker, _ = look(rows["agent"].iloc[0], label, every.values())
        front = 3 + (len(named) - position) / 100  # the agents that are named first lie on top
        low, high = drawn.band(band)
        if drawn.trajectories.size == 1:  # a line of one point has no length
            bars = [drawn.mean - low, high - drawn.mean]
            axes.errorbar(
                drawn.trajectories,
                drawn.mean,
                bars,
                color=paint,
                fmt=marker,
                markersize=3.5,
                clip_on=False,
                **_BARS,
            )
        axes.plot(drawn.trajectories, drawn.mean, color=paint, linestyle=line, label=label, zorder=front)
        axes.fill_between(
            drawn.trajectories, low, high, color=paint, alpha=0.18, linewidth=0, zorder=front - 1
        )
        limit = max(limit, int(drawn.trajectories[-1]))
    v_star = float(frame["v_star"].max())
    axes.axhline(v_star, color="0.35", linewidth=0.7, linestyle=(0, (4, 3)), zorder=1, label="_V*")
    axes.set_xlim(0, limit)
    axes.set_ylim(0, v_star * 1.12)
    axes.annotate(
        "V*",
        (1, v_star),
        xycoords=("axes fraction", "data"),
        xytext=(-1, 1.5),
        textcoords="offset points",
        ha="right",
        va="bottom",
        fontsize=6,
        color="0.35",
    )
    count_axis(axes)
    if legend:
        axes.legend()


def caption(frame: pandas.DataFrame, band: str = "std") -> str:
    """What line and band of a figure of learning curves are."""
    return f"Line: mean over {_seeds(frame)}. Shaded: {BANDS[checks.choice('band', band, BANDS)]}."


def title(rows: pandas.DataFrame) -> str:
    """Environment, noise, horizon and switch in words, as far as they are the same in all rows."""
    words = [str(rows["env"].iloc[0])] if rows["env"].nunique() == 1 else []
    for name in summaries.env_settings(rows):
        values = rows[name].unique()
        if len(values) == 1 and show(values[0]) != "default":
            words.append(f"{'H =' if name == 'horizon' else name} {show(values[0])}")
    return ", ".join(words)


def curves(frame: pandas.DataFrame, *, band: str = "std") -> Figure:
    """Learning curves: a panel for each environment, a line for each agent."""
    _something(frame)
    named = summaries.labels(frame)
    switches = frame["switch"].nunique() if "switch" in frame else 0
    keys = ["env", *summaries.env_settings(frame)]
    figure, all_axes, groups = _panels_of(frame, keys, columns=switches if switches > 1 else 3, named=named)
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            curve_panel(axes, rows, band=band, labels=named)
        _finish(figure, all_axes, named, "number of trajectories", "average reward", caption(frame, band))
        head(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def success(frame: pandas.DataFrame, *, x: str = "horizon") -> Figure:
    """The share of near-optimal seeds against a parameter, with Wilson intervals: a panel for each setting of
    the rest."""
    return _against(frame, x, "success")


def scaling(frame: pandas.DataFrame, *, x: str = "horizon") -> Figure:
    """Trajectories to near-optimal against a parameter on logarithmic axes: the median over seeds, and the
    slope b of x^b.

    `statistics.near_optimal_from` defines the number of a run. Where at least half of the seeds did not get
    there an arrow stands at the number of trajectories that were played.
    """
    return _against(frame, x, "scaling")


def heatmap(frame: pandas.DataFrame, x: str, y: str, *, of: str = "average-reward") -> Figure:
    """Colour over two parameters, a panel for each agent and setting of the rest: `of` is "average-reward",
    "success-rate" or "value"."""
    _something(frame)
    checks.choice("of", of, SHOWN)
    across, up = _numeric(frame, x), _numeric(frame, y)
    if across == up:
        raise ValueError(f"a heat map needs two different parameters, got {x} twice")
    table = summaries.cell_table(frame)
    named = _series(frame, across, up)
    pd = optional.need("pandas", "experiments", "a figure")
    order = pd.CategoricalDtype(list(dict.fromkeys(named.values())), ordered=True)
    table = table.assign(label=table["cell"].map(named).astype(order))
    table = table[table[across].notna() & table[up].notna()]
    if table.empty:
        raise ValueError(f"there is nothing to plot: no agent here has both {x} and {y}")
    apart = [name for name in ("env", *summaries.env_settings(frame)) if name not in (across, up)]
    figure, all_axes, groups = _panels_of(table, [*apart, "label"], columns=3, height=2.1)
    top = float(table["v_star"].max()) if of != "success-rate" else 1.0
    titles = {}
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            grid = (
                rows.pivot_table(index=up, columns=across, values=SHOWN[of], dropna=False)
                .sort_index()
                .sort_index(axis=1)
            )
            image = axes.imshow(
                grid.to_numpy(float), origin="lower", aspect="auto", cmap="cividis", vmin=0, vmax=top
            )
            axes.set_xticks(range(grid.shape[1]), [show(value) for value in grid.columns])
            axes.set_yticks(range(grid.shape[0]), [show(value) for value in grid.index])
            axes.tick_params(length=0)
            axes.spines[:].set_visible(False)
            where = title(rows) if any(_varies(table, name) for name in apart) or len(groups) == 1 else ""
            titles[axes] = ", ".join(filter(None, [where, str(rows["label"].iloc[0])]))
        share = 0.9 if len(groups) <= 3 else 0.5
        figure.colorbar(image, ax=list(all_axes), shrink=share, pad=0.02, aspect=25).outline.set_visible(
            False
        )
        _name_axes(figure, all_axes, in_words(across), in_words(up))
        words = f"Colour: {_SHOWN_NAMES[of]}, {_seeds(frame)}."
        figure.suptitle(folded(words, figure.get_figwidth(), _CAPTION), fontsize=_CAPTION)
        head(figure, titles)
        for axes in all_axes:
            _write_numbers(axes, "{:.0%}" if of == "success-rate" else "{:.2f}", top)
    return figure


def _write_numbers(axes: Axes, form: str, top: float) -> None:
    """The numbers of a heat map and its ticks, as small and as few as its cells ask for."""
    figure = cast(Any, axes.figure)
    numbers = np.ma.filled(cast(Any, axes.images[0].get_array()), np.nan)
    labels = [label.get_text() for label in axes.get_xticklabels()]
    size = STYLE["xtick.labelsize"]
    width = axes.get_window_extent().width / figure.dpi / numbers.shape[1]
    if max(inches(label, size) for label in labels) > 0.9 * width:
        axes.tick_params(axis="x", rotation=90)
        lay_out(figure)  # labels that stand take height from the cells
    height = axes.get_window_extent().height / figure.dpi / numbers.shape[0]
    for axis, room in ((axes.xaxis, width), (axes.yaxis, height)):
        every = math.ceil(1.1 * size / 72 / room)
        axis.set_ticks(
            axis.get_ticklocs()[::every], [label.get_text() for label in axis.get_ticklabels()][::every]
        )
    largest, least = _NUMBERS
    widest = max(inches(form.format(number), largest) for number in numbers[np.isfinite(numbers)])
    size = min(largest, largest * 0.8 * width / widest, 0.8 * 72 * height)
    if size < least:
        return
    for (row, column), number in np.ndenumerate(numbers):
        if math.isfinite(number):
            ink = "white" if number < top / 2 else "black"
            axes.text(column, row, form.format(number), ha="center", va="center", fontsize=size, color=ink)


def _against(frame: pandas.DataFrame, x: str, kind: str) -> Figure:
    _something(frame)
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    across = _numeric(frame, x)
    table = summaries.cell_table(frame)
    table = table[table[across].notna()]
    if kind == "scaling" and (table[across] <= 0).any():
        raise ValueError(f"{x} is not always positive in these results: it cannot be a logarithmic axis")
    named = _series(frame, across)
    apart = [name for name in ["env", *summaries.env_settings(frame)] if name != across]
    room = TEXT_LINE * len(set(named.values())) if kind == "scaling" else 0.0
    figure, all_axes, groups = _panels_of(table, apart, columns=3, height=2.1 + room, named=named)
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            _draw_series(axes, rows, across, named, kind)
            ticks = sorted(table[across].unique())
            if len(ticks) <= 8:
                axes.set_xticks(ticks, [show(tick) for tick in ticks])
                axes.xaxis.set_minor_locator(ticker.NullLocator())
        if kind == "success":
            words = f"Bars: {statistics.LEVEL:.0%} Wilson interval, {_seeds(frame)}."
            _finish(figure, all_axes, named, in_words(across), "share of near-optimal seeds", words)
        else:
            half = "arrows: at least half of the seeds did not get there"
            words = f"Points: median over {_seeds(frame)}; {_bars(table['needed_low'])}; {half}."
            _finish(figure, all_axes, named, "", "trajectories to near-optimal", words)
        head(figure, dict(zip(all_axes, map(title, groups), strict=True)))
    return figure


def _bars(low: Any) -> str:
    """What the bars of a figure of medians are, where there are any."""
    if low.isna().all():
        return "too few seeds for an interval"
    return f"bars: {statistics.LEVEL:.0%} interval of the median" + (
        ", where there are seeds enough" if low.isna().any() else ""
    )


def _draw_series(axes: Axes, rows: pandas.DataFrame, across: str, named: dict[str, str], kind: str) -> None:
    present = rows["cell"].map(named)
    order = [label for label in dict.fromkeys(named.values()) if (present == label).any()]
    spread = sorted(rows[across].unique())
    step = min(np.diff(np.log(spread) if min(spread) > 0 and kind == "scaling" else spread), default=1.0)
    slopes: list[tuple[Any, str]] = []
    for position, label in enumerate(order):
        line = rows[present == label].sort_values(across)
        paint, dashes, marker, _ = look(line["agent"].iloc[0], label, named.values())
        points: dict[str, Any] = {"color": paint, "marker": marker, "markersize": 3.5, "markeredgewidth": 0.6}
        shift = (position - (len(order) - 1) / 2) * step * 0.04
        xs = line[across].to_numpy(float)
        if kind == "success":
            share = line["success_rate"].to_numpy()
            bars = np.array([share - line["success_low"], line["success_high"] - share]).clip(0)
            axes.errorbar(xs + shift, share, bars, linestyle=dashes, label=label, **points, **_BARS)
        else:
            slopes += _draw_needed(axes, line, xs, shift, label, dashes, points)
    if kind == "success":
        axes.set_ylim(-0.04, 1.04)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    else:
        _finish_scaling(axes, across, slopes)


def _draw_needed(
    axes: Axes, line: pandas.DataFrame, xs: Any, shift: float, label: str, dashes: Any, points: dict[str, Any]
) -> list[tuple[Any, str]]:
    """Gives the line that was fitted and its slope in words; nothing where there are too few points."""
    transforms = optional.need("matplotlib.transforms", "experiments", "a figure")
    moved = xs * math.exp(shift)
    needed = line["needed"].to_numpy()
    there = np.isfinite(needed)
    slopes = []
    # named here, so that legends show line and marker; the points themselves are drawn below
    (fitted,) = axes.plot([], [], linestyle=dashes, linewidth=0.9, label=label, markevery=[], **points)
    with contextlib.suppress(ValueError):
        slope = statistics.log_log_slope(xs, needed)
        ends = np.array([xs[there].min(), xs[there].max()])
        fitted.set_data(ends, np.exp(slope.intercept) * ends**slope.slope)
        slopes = [
            (
                fitted,
                f"slope {slope.slope:.2f}" + ("" if math.isnan(slope.error) else f" ± {slope.error:.2f}"),
            )
        ]
    # an interval without an upper end reaches to the number of trajectories that were played; where there is
    # none (nan) no bar is drawn
    high = np.minimum(line["needed_high"].to_numpy(), line["trajectories"].to_numpy())
    low = np.maximum(line["needed_low"].to_numpy(), 1)
    bars = np.array([needed[there] - low[there], high[there] - needed[there]]).clip(0)
    axes.errorbar(moved[there], needed[there], bars, linestyle="none", **points, **_BARS)
    played = line["trajectories"].to_numpy()[~there]
    axes.plot(moved[~there], played, linestyle="none", fillstyle="none", **points)
    above = axes.transData + transforms.ScaledTranslation(0, 5 / 72, cast(Any, axes.figure).dpi_scale_trans)
    axes.plot(
        moved[~there],
        played,
        linestyle="none",
        marker=r"$\uparrow$",
        markersize=5,
        color=points["color"],
        transform=above,
    )
    return slopes


def _finish_scaling(axes: Axes, across: str, slopes: list[tuple[Any, str]]) -> None:
    """Logarithmic axes, and the slopes below the panel, where they hide nothing."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    transforms = optional.need("matplotlib.transforms", "experiments", "a figure")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.margins(y=0.1)  # room for arrows
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
    axes.yaxis.set_major_formatter(lambda value, _: count(value))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xlabel(in_words(across))
    below = axes.transAxes + transforms.ScaledTranslation(0, -0.34, cast(Any, axes.figure).dpi_scale_trans)
    corner: dict[str, Any] = {
        "loc": "upper left",
        "bbox_to_anchor": (0, 0),
        "bbox_transform": below,
        "borderaxespad": 0,
    }
    if slopes:
        axes.legend(*zip(*slopes, strict=True), handlelength=_SAMPLE, labelspacing=0.3, **corner)


def _series(frame: pandas.DataFrame, *axes: str) -> dict[str, str]:
    """Names of the cells of a figure against parameters: neither those nor episodes and points that follow
    from them set cells apart."""
    places = summaries.env_settings(frame)
    groups = frame.groupby(["agent", *axes])
    follow = [name for name in ("episodes", "points") if name in frame and groups[name].nunique().max() == 1]
    return summaries.labels(frame.assign(**{name: "any" for name in (*axes, *follow) if name not in places}))


def _panels_of(
    frame: pandas.DataFrame,
    keys: list[str],
    *,
    columns: int,
    height: float = PANEL_HEIGHT,
    named: Mapping[str, str] | None = None,
) -> tuple[Figure, list[Axes], list[Any]]:
    """A figure with one panel for each combination of the keys, and the rows of each; `named` if each name is
    a line."""
    groups = [rows for _, rows in frame.groupby(keys, dropna=False, observed=True)] if keys else [frame]
    if len(groups) > _MOST_PANELS:
        raise ValueError(
            f"there are {len(groups)} panels to plot: choose some of the results, for example --where horizon=10"
        )
    lines = max(rows["cell"].map(named).nunique() for rows in groups) if named else 0
    if lines > _MOST_LINES:
        places = {"env", *summaries.env_settings(frame)}
        name = next(
            name for name in summaries.parameters(frame) if name not in places and _varies(frame, name)
        )
        example = f"--where {summaries.short_name(name)}={show(frame[name].iloc[0])}"
        raise ValueError(
            f"there are {lines} lines to plot in a panel: choose some of the results, for example {example}"
        )
    columns = min(columns, 4, len(groups))
    rows = math.ceil(len(groups) / columns)
    width = TEXT_WIDTH if columns > 1 else 3.4
    figure, axes = panels(rows, columns, width=width, height=height if columns > 1 else max(2.3, height))
    used = list(axes.ravel())
    for spare in used[len(groups) :]:
        spare.remove()
    return figure, used[: len(groups)], groups


def _finish(
    figure: Figure, all_axes: list[Axes], named: Mapping[str, str], x: str, y: str, words: str
) -> None:
    """Names of the axes, one legend for all panels, and a line that says what is drawn."""
    _name_axes(figure, all_axes, x, y)
    handles: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    names = [name for name in dict.fromkeys(named.values()) if name in handles]
    width, size = figure.get_figwidth(), STYLE["legend.fontsize"]
    said = folded(words, width, _CAPTION)
    texts = [folded(name, width - _AROUND_SAMPLE, size) for name in names]
    widths = [max(inches(line, size) for line in text.split("\n")) + _AROUND_SAMPLE for text in texts]
    # as many columns as fit: the legend fills one after the other
    columns = max(
        n for n in range(1, len(names) + 1) if n == 1 or sum(map(max, np.array_split(widths, n))) <= width
    )
    lines = max(
        sum(text.count("\n") + 1 for text in part) for part in np.array_split(texts, columns)
    ) + said.count("\n")
    figure.set_figheight(figure.get_figheight() + TEXT_LINE * (lines - 1))
    looks: dict[str, Any] = {"loc": "outside upper center", "ncols": columns, "handlelength": _SAMPLE}
    figure.legend([handles[name] for name in names], texts, title=said, title_fontsize=_CAPTION, **looks)


def _name_axes(figure: Figure, all_axes: list[Axes], x: str, y: str) -> None:
    """Below all panels, and at the left of each row: in the middle of the figure the name would run into the
    legend."""
    figure.supxlabel(x, fontsize=STYLE["axes.labelsize"])
    for axes in all_axes:
        if cast(Any, axes.get_subplotspec()).is_first_col():
            axes.set_ylabel(y)


def _seeds(frame: pandas.DataFrame) -> str:
    counts = frame.groupby("cell")["seed"].nunique()
    least, most = int(counts.min()), int(counts.max())
    return f"{most} seed{'s' if most > 1 else ''}" if least == most else f"{least} to {most} seeds"


def _something(frame: pandas.DataFrame) -> pandas.DataFrame:
    if frame.empty:
        raise ValueError("there is nothing to plot: no results")
    return frame


def _varies(frame: pandas.DataFrame, name: str) -> bool:
    return bool(frame[name].map(show).nunique() > 1)


def _numeric(frame: pandas.DataFrame, name: str) -> str:
    column = summaries.parameter(frame, name)
    pd = optional.need("pandas", "experiments", "a figure")
    numbers = pd.to_numeric(frame[column], errors="coerce")
    if numbers.isna().all():
        raise ValueError(f"{name} is not a number in these results: it cannot be an axis")
    return column
