"""The figures of Feng et al. (2020): average reward against the number of trajectories, in nine panels.

Of PCID the better of its two models in a panel is drawn, as the paper does; the panel says which, and which
oracles our URL and URL as published have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._base import optional
from ..analysis import style
from ..analysis.figures import curve_panel
from ..analysis.panels import seeds_in_words
from .cells import AGENTS, BITS_ONLY, HORIZONS, SWITCHES, URL_AS_PUBLISHED, figure_name, shown_rows
from .hyperparameters import best_model

if TYPE_CHECKING:
    import matplotlib.figure
    import pandas


def draw(frame: pandas.DataFrame, figure: str) -> matplotlib.figure.Figure:
    """A figure: mean over seeds, with one standard deviation shaded."""
    module = optional.need("matplotlib.figure", "experiments", "drawing figures")
    rows = shown_rows(frame, figure)
    names = _legend_names(rows)
    with style.style():
        drawing: matplotlib.figure.Figure = module.Figure(
            figsize=(style.TEXT_WIDTH, 6.5), layout="constrained"
        )
        grid = drawing.subplots(len(SWITCHES), len(HORIZONS), sharey=True)
        tops = []
        for down, switch in enumerate(SWITCHES):
            for across, horizon in enumerate(HORIZONS):
                axes = grid[down, across]
                panel = rows[(rows["horizon"] == horizon) & (rows["switch"] == switch)]
                curve_panel(axes, panel, labels=names)
                tops.append(axes.get_ylim()[1])
                axes.set_title(_title(panel, figure, horizon, switch))
                axes.set_xlabel("number of trajectories" if down == len(SWITCHES) - 1 else "")
                axes.set_ylabel("average reward" if across == 0 else "")
        grid[0, 0].set_ylim(top=max(tops))
        handles, labels = grid[0, 0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=-(-len(labels) // 2))
        seeds = f"mean of {seeds_in_words(rows)}, one standard deviation shaded"
        drawing.suptitle(f"{figure_name(figure)}: {seeds}", fontsize=8)
    return drawing


def _title(panel: pandas.DataFrame, figure: str, horizon: int, switch: float) -> str:
    """What a panel is of, and what the agents see with there."""
    oracles = panel.drop_duplicates("agent").set_index("agent")["oracle"]
    return (
        f"H = {horizon}, switch {switch:g}\n"
        f"url: {oracles['url']}, as published: {oracles[URL_AS_PUBLISHED]}\n"
        f"pcid: {best_model(figure, horizon, switch)}"
    )


def _legend_names(rows: pandas.DataFrame) -> dict[str, str]:
    """Cells by the names of their agents, in the order of the legend."""
    agents = rows.drop_duplicates("cell").set_index("cell")["agent"]
    order = (*AGENTS, *BITS_ONLY)
    return dict(sorted(agents.items(), key=lambda item: order.index(item[1])))
