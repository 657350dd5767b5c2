"""What the paper's method needs less than its rival: URL against PCID where PCID's two assumptions give way.

PCID (Du et al., 2019) tells states apart by what led to them. Its guarantee needs

    identifiability   any two states of a level differ in their backward distributions, and
    reachability      every state is reached with at least some probability by some policy,

and its sample complexity grows without bound as either fails. URL tells states apart by how they look, and
its guarantee needs neither. Two problems of horizon 20, each with one assumption on a dial:

    lock-bernoulli    at switch s the backward distributions of the two live states are at a distance that
                      falls as 1 - 2 s, and is 0 at s = 1/2;
    detour-lock       a state that is reached with probability `reach` at most at any level, which matters all
                      the same: a policy that is as good as chance there loses a growing share of V*.

Both agents have the same trajectories. URL has one setting everywhere. PCID is told the best that its search
found for each point, by the value of its final policy (`assumptions.toml`).
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from ..._base import optional
from ...problems.detour_lock import DEAD, DETOUR, DetourLock
from ...run import NEAR_OPTIMAL
from ..analysis import statistics, style, summaries
from ..analysis.panels import CAPTION_FONT_SIZE, ERROR_BARS, seeds_in_words
from ..running.cells import Cell

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas
    from matplotlib.axes import Axes

    from ..analysis.style import LineStyle

NAME = "assumptions"
"""What `reproduce` calls this figure."""
TABLE = "assumptions.csv"
HORIZON = 20
EPISODES = 20_000
URL_SETTINGS = {"oracle": "kmeans", "learner": "oracleq", "schedule": "spread", "confidence": 1e-4}
AGENTS = {"url": "URL", "pcid": "PCID"}
"""The agents of the figure, and what the legend calls them."""
BLIND = "optimal but for the rare state (exact)"
"""What the legend calls the dotted line."""


@dataclass(frozen=True)
class Axis:
    """A problem with an assumption on a dial.

    dial
        The setting of the environment that the assumption depends on.
    values
        Its values, from where the assumption holds to where it fails.
    """

    env: str
    settings: dict[str, Any]
    dial: str
    values: tuple[float, ...]
    title: str
    label: str
    logarithmic: bool = False


AXES = (
    Axis(
        "lock-bernoulli",
        {"horizon": HORIZON},
        "switch",
        (0.0, 0.1, 0.2, 0.3, 0.4, 0.45, 0.5),
        "identifiability: two states with nearly one past",
        "switch (0.5: the same past)",
    ),
    Axis(
        "detour-lock",
        {"horizon": HORIZON, "noise": 0.1},
        "reach",
        (0.3, 0.1, 0.05, 0.03, 0.02, 0.01, 0.005),
        "reachability: a state that no policy reaches often",
        "greatest probability of reaching the rare state",
        logarithmic=True,
    ),
)


def cells(episodes_scale: float = 1.0) -> list[Cell]:
    """Every point of both axes, with both agents."""
    episodes = max(1, round(EPISODES * episodes_scale))
    return [
        Cell.make(axis.env, axis.settings | {axis.dial: value}, agent, settings, episodes)
        for axis in AXES
        for value in axis.values
        for agent, settings in (("url", URL_SETTINGS), ("pcid", pcid_settings(axis, value)))
    ]


def pcid_settings(axis: Axis, value: float) -> dict[str, Any]:
    """The settings of PCID at a point: those whose final policies were worth most on the tuning seeds, the
    first of several."""
    scores = _scores()[axis.dial][f"{value:g}"]
    best = max(scores, key=scores.__getitem__)
    n_clusters, samples_per_level = map(int, best.split("x"))
    return {"model": "linear", "n_clusters": n_clusters, "samples_per_level": samples_per_level}


@cache
def _scores() -> dict[str, dict[str, dict[str, float]]]:
    text = resources.files(__package__).joinpath("assumptions.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def blind_share(axis: Axis, value: float) -> float | None:
    """The share of V* of a policy that is optimal but for the rare state, where it acts at random; None on
    the axis that has none. It is exact, and the same for every instance."""
    if axis.env != "detour-lock":
        return None
    instance = DetourLock(**(axis.settings | {axis.dial: value})).instance()
    safe = instance.transitions[..., DEAD].argmin(axis=2)  # whoever stays alive is optimal
    chances = np.eye(instance.n_actions)[safe]
    chances[:, DETOUR] = 1 / instance.n_actions
    return float(instance.policy_value(chances) / instance.optimal_value())


def table(frame: pandas.DataFrame) -> pandas.DataFrame:
    """A row for each point and agent: success rate and mean share of V* of the final policies, with their
    intervals."""
    pd = optional.need("pandas", "experiments", "summing up results")
    parts = []
    for axis in AXES:
        rows = summaries.cell_table(frame[frame["env"] == axis.env])
        part = rows[["agent", "seeds", "success_rate", "success_low", "success_high"]].copy()
        part.insert(0, "value", rows[axis.dial].astype(float))
        part.insert(0, "dial", axis.dial)
        for name in ("mean", "low", "high"):
            part[f"share_{name}"] = rows[f"value_{name}"] / rows["v_star"]
        parts.append(part.sort_values(["value", "agent"], kind="stable"))
    return pd.concat(parts, ignore_index=True)


def draw(frame: pandas.DataFrame) -> matplotlib.figure.Figure:
    """Success rate above, share of V* below; identifiability at the left, reachability at the right."""
    results = table(frame)
    styles = style.line_styles({agent: agent for agent in AGENTS})
    figure, grid = style.panels(2, len(AXES), height=2.0)
    with style.style():
        for column, axis in enumerate(AXES):
            for agent, name in AGENTS.items():
                of_dial = results[(results["dial"] == axis.dial) & (results["agent"] == agent)]
                for axes, result in zip(
                    grid[:, column], (("success_rate", "success"), ("share_mean", "share")), strict=True
                ):
                    _draw_line(axes, of_dial, result, name, styles[agent])
            _finish_column(grid[:, column], axis)
        grid[1, 0].annotate(
            "near-optimal",
            (0.01, NEAR_OPTIMAL),
            xycoords=("axes fraction", "data"),
            xytext=(0, -1.5),
            textcoords="offset points",
            va="top",
            fontsize=6,
            color="#7F7F7F",
        )
        grid[0, 0].set_ylabel("near-optimal seeds")
        grid[1, 0].set_ylabel("value of the final policy / V*")
        handles = dict(zip(*reversed(grid[1, -1].get_legend_handles_labels()), strict=True))
        handles = {name: handles[name] for name in [*AGENTS.values(), BLIND]}
        words = (
            f"H = {HORIZON}, {frame['episodes'].iloc[0]:,} trajectories, {seeds_in_words(frame)}; bars: "
            f"{statistics.LEVEL:.0%} intervals"
        )
        figure.legend(
            handles.values(),
            handles.keys(),
            title=words,
            title_fontsize=CAPTION_FONT_SIZE,
            loc="outside upper center",
            ncols=len(handles),
        )
    return figure


def _draw_line(
    axes: Axes, rows: pandas.DataFrame, result: tuple[str, str], name: str, line_style: LineStyle
) -> None:
    column, interval = result
    middle = rows[column].to_numpy(float)
    bars = np.array([middle - rows[f"{interval}_low"], rows[f"{interval}_high"] - middle]).clip(0)
    axes.errorbar(
        rows["value"],
        middle,
        bars,
        label=name,
        color=line_style.colour,
        linestyle=line_style.dashes,
        marker=line_style.marker,
        markersize=4,
        **ERROR_BARS,
    )


def _finish_column(column: Any, axis: Axis) -> None:
    """Scales, ticks and names of the two panels of an axis; the assumption fails towards the right."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    column[0].set_title(axis.title)
    column[1].set_xlabel(axis.label)
    shares = [(value, share) for value in axis.values if (share := blind_share(axis, value)) is not None]
    if shares:
        column[1].plot(
            *zip(*shares, strict=True),
            color="#7F7F7F",
            linestyle=":",
            label=BLIND,
        )
    for axes in column:
        if axis.logarithmic:
            axes.set_xscale("log")
            axes.invert_xaxis()
        axes.set_xticks(axis.values, [f"{value:g}" for value in axis.values])
        axes.xaxis.set_minor_locator(ticker.NullLocator())
        axes.set_ylim(-0.04, 1.08)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    column[0].tick_params(labelbottom=False)
    column[1].axhline(NEAR_OPTIMAL, color="#BBBBBB", linewidth=0.6, zorder=0)
