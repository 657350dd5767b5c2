"""The comparison on the rich lock as a figure and as a table for the terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..analysis import style
from .published_budgets import ORDER, PUBLISHED
from .solving import FIVE_EVALUATIONS, NEAR_OPTIMAL, RULES

if TYPE_CHECKING:
    import matplotlib.axes
    import matplotlib.figure
    import pandas

_TITLES = {
    NEAR_OPTIMAL: "from where the policy's value\nstays at least 0.9 V*",
    FIVE_EVALUATIONS: "after five successive evaluations\nof 20 episodes that all return 1",
}
_NAMES = {
    "url": "url",
    "oracleq-lat": "oracleq-lat (skyline)",
    "opsrl-lat": "opsrl-lat (skyline)",
    "pcid": "pcid",
}
_MARKERS = {"url": "o", "oracleq-lat": "s", "opsrl-lat": "D", "pcid": "v"}
_BESIDE = {"url": 1.0, "oracleq-lat": 1.035, "opsrl-lat": 0.965, "pcid": 1.0}
"""Factor by which a marker is moved along the axis, so that ranges over seeds do not hide each other."""
_CENSORED: dict[str, Any] = {"marker": "^", "markerfacecolor": "white", "markersize": 5.5}
_CENSORED_LINE = (0, (1, 1.5))
_GREY = "0.35"


def draw(table: pandas.DataFrame) -> matplotlib.figure.Figure:
    """Trajectories until solved against the horizon, both logarithmic, with a panel for each rule.

    A line is of medians over seeds, its bars reach from the lowest to the highest. A hollow triangle at the
    budget stands for runs that did not solve the lock: where it is on the line, half of them or more.
    """
    figure, grid = style.panels(1, len(RULES), height=3.3)
    with style.style():
        runs = table[table["rule"] != "published"]
        horizons = sorted(
            {int(h) for h in runs["horizon"]} | {one.horizon for one in PUBLISHED if one.horizon}
        )
        for axes, rule in zip(grid[0], RULES, strict=True):
            rows = runs[runs["rule"] == rule]
            for agent in (agent for agent in ORDER if agent in set(rows["agent"])):
                _draw_agent(axes, rows[rows["agent"] == agent], agent)
            _draw_published(axes, horizons)
            _draw_axes(axes, horizons, lowest=min(100.0, 0.7 * runs["lowest"].min()))
            label = "seeds that did not solve it, at their budget"
            axes.plot([], [], color=_GREY, linestyle="none", label=label, **_CENSORED)
            axes.set_title(f"solved {_TITLES[rule]}")
        grid[0, 0].set_ylabel("trajectories until solved")
        grid[0, 1].tick_params(labelleft=False)
        handles, labels = grid[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        seeds = int(runs["seeds"].max())
        of_seeds = f"median of {seeds} seeds, bars from the lowest to the highest" if seeds > 1 else "1 seed"
        figure.suptitle(f"RichLock, 10 actions: {of_seeds}", fontsize=8)
    return figure


def _draw_agent(axes: matplotlib.axes.Axes, rows: pandas.DataFrame, agent: str) -> None:
    paint = style.paints([agent])[agent].light
    line = [(row.horizon * _BESIDE[agent], _known(row.median, row.budget)) for row in rows.itertuples()]
    zorder = 4 if agent == ORDER[0] else 3
    known = [math.isfinite(median) for median in rows["median"]]
    for n in range(1, len(line)):
        dashes: Any = "-" if known[n - 1] and known[n] else _CENSORED_LINE
        ends = zip(*line[n - 1 : n + 1], strict=True)
        axes.plot(*ends, color=paint, linewidth=1.2, linestyle=dashes, zorder=zorder)
    for (x, middle), row in zip(line, rows.itertuples(), strict=True):
        lowest, highest = _known(row.lowest, row.budget), _known(row.highest, row.budget)
        axes.plot([x, x], [lowest, highest], color=paint, linewidth=0.9, alpha=0.75, zorder=3)
        if math.isfinite(row.median):
            axes.plot(x, middle, marker=_MARKERS[agent], color=paint, markersize=4, zorder=zorder)
        if row.solved < row.seeds:
            _draw_unsolved(axes, x, row, paint)
    entry: dict[str, Any] = {"marker": _MARKERS[agent], "markersize": 4}
    if not any(known):
        entry = _CENSORED | {"linestyle": _CENSORED_LINE}
    axes.plot([], [], color=paint, linewidth=1.2, label=_NAMES[agent], **entry)


def _draw_unsolved(axes: matplotlib.axes.Axes, x: float, row: Any, paint: str) -> None:
    """A hollow triangle at the budget, with how many of the seeds it stands for."""
    axes.plot(x, row.budget, color=paint, zorder=5, **_CENSORED)
    axes.annotate(
        f"{row.seeds - row.solved} of {row.seeds}",
        (x, row.budget),
        xytext=(0, 4.5),
        textcoords="offset points",
        ha="center",
        fontsize=5.5,
        color=paint,
    )


def _draw_published(axes: matplotlib.axes.Axes, horizons: list[int]) -> None:
    for algorithm in dict.fromkeys(one.algorithm for one in PUBLISHED):
        numbers = [one for one in PUBLISHED if one.algorithm == algorithm]
        points = [(one.horizon, one.episodes) for one in numbers if one.horizon is not None]
        if points:
            name = f"{algorithm}, published"
            line: dict[str, Any] = {"linestyle": (0, (1.5, 1.5)), "linewidth": 0.9}
            axes.plot(*zip(*points, strict=True), color=_GREY, marker="*", markersize=7, label=name, **line)
            for horizon, episodes in points:
                _write(axes, style.count(episodes), (horizon, episodes), (-6, 1.5), "right")
        for one in (one for one in numbers if one.horizon is None):
            name = f"{algorithm}, published cap"
            axes.axhline(one.episodes, color=_GREY, linewidth=0.9, linestyle=(0, (5, 2)), label=name)
            _write(axes, style.count(one.episodes), (horizons[0], one.episodes), (0, -8), "left")


def _write(
    axes: matplotlib.axes.Axes, text: str, place: tuple[float, float], shift: tuple[float, float], side: str
) -> None:
    options: dict[str, Any] = {"textcoords": "offset points", "ha": side, "fontsize": 6, "color": _GREY}
    axes.annotate(text, place, xytext=shift, **options)


def _draw_axes(axes: matplotlib.axes.Axes, horizons: list[int], lowest: float) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(horizons, [str(horizon) for horizon in horizons])
    axes.minorticks_off()
    axes.set_xlim(horizons[0] / 1.2, horizons[-1] * 1.2)
    axes.set_ylim(lowest, 2 * max(one.episodes for one in PUBLISHED))
    axes.yaxis.set_major_formatter(lambda value, _: style.count(value))
    axes.grid(axis="y", color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.set_xlabel("horizon H")


def _known(trajectories: float, budget: int) -> float:
    """A number of trajectories, or the budget where all that is known is that it is more."""
    return trajectories if math.isfinite(trajectories) else budget


def solving_table(table: pandas.DataFrame) -> Any:
    """The comparison as a rich table, a line for each horizon and agent, and the published numbers among
    them."""
    from rich import box
    from rich.table import Table

    layout: dict[str, Any] = {"box": box.SIMPLE_HEAD, "padding": (0, 1, 0, 0), "pad_edge": False}
    result = Table(title="trajectories until solved", title_justify="left", **layout)
    result.add_column("agent", no_wrap=True)
    for heading in ("value >= 0.9 V*", "five evaluations"):
        result.add_column(f"{heading}\nmedian (range)", justify="right", no_wrap=True)
        result.add_column("runs", justify="right", no_wrap=True)
    result.add_column("budget", justify="right", no_wrap=True)
    runs = table[table["rule"] != "published"]
    for horizon in sorted(set(runs["horizon"])):
        here = runs[runs["horizon"] == horizon]
        result.add_row(f"H = {horizon}", style="bold")
        for agent in (agent for agent in ORDER if agent in set(here["agent"])):
            by_rule = here[here["agent"] == agent].set_index("rule")
            words = [word for rule in RULES for word in _in_words(by_rule.loc[rule])]
            result.add_row(agent, *words, f"{by_rule['budget'].iloc[0]:,}")
        for one in PUBLISHED:
            if one.horizon in (None, horizon):
                number = f"at most {one.episodes:,}" if one.is_cap else f"{one.episodes:,}"
                result.add_row(one.algorithm, "", "", number, style="dim")
        result.add_section()
    return result


def _in_words(row: Any) -> tuple[str, str]:
    """Median with range, and how many seeds solved the lock."""
    solved = f"{row['solved']}/{row['seeds']}"
    if row["solved"] == 0:
        return f"more than {row['budget']:,}", solved
    numbers = [_number(row[name], row["budget"]) for name in ("median", "lowest", "highest")]
    return f"{numbers[0]} ({numbers[1]}-{numbers[2]})", solved


def _number(trajectories: float, budget: int) -> str:
    return f"{trajectories:,.0f}" if math.isfinite(trajectories) else f">{budget:,}"


def sources() -> list[str]:
    """A line for each source of published numbers."""
    return [
        f"{algorithm}: {source}"
        for algorithm, source in dict.fromkeys((one.algorithm, one.source) for one in PUBLISHED)
    ]
