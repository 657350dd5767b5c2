"""Heat maps: a result of each cell as a colour over two settings, a panel for each agent and environment."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..._base import checks, optional
from . import summaries
from .panels import (
    CAPTION_FONT_SIZE,
    name_axes,
    numeric_setting,
    panels_by,
    require_results,
    seeds_in_words,
    series_labels,
    title,
    varies,
)
from .style import STYLE, folded, inches, lay_out, style, write_titles
from .summaries import in_words, show

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LARGEST_NUMBERS, _SMALLEST_NUMBERS = 6.0, 4.0
"""Font sizes of the numbers in a heat map, in points: the usual one, and the least that can be read."""

QUANTITIES = {"average-reward": "average_reward_mean", "success-rate": "success_rate", "value": "value_mean"}
"""What a heat map can show, and the column of `summaries.cell_table` that has it."""
_QUANTITIES_IN_WORDS = {
    "average-reward": "mean average reward at the last trajectory",
    "success-rate": "share of near-optimal seeds",
    "value": "mean value of the final policy",
}


def heatmap(frame: pandas.DataFrame, x: str, y: str, *, of: str = "average-reward") -> Figure:
    """Colour over two settings, a panel for each agent and setting of the rest.

    of
        "average-reward", "success-rate" or "value".
    """
    require_results(frame)
    checks.choice("of", of, QUANTITIES)
    across, up = numeric_setting(frame, x), numeric_setting(frame, y)
    if across == up:
        raise ValueError(f"a heat map needs two different settings, got {x} twice")
    table = _labelled_table(frame, across, up)
    if table.empty:
        raise ValueError(f"there is nothing to plot: no agent here has both {x} and {y}")
    places = [name for name in ("env", *summaries.env_settings(frame)) if name not in (across, up)]
    figure, all_axes, groups = panels_by(table, [*places, "label"], height=2.1)
    top = float(table["v_star"].max()) if of != "success-rate" else 1.0
    with_place = len(groups) == 1 or any(varies(table, name) for name in places)
    titles = {}
    with style():
        for axes, rows in zip(all_axes, groups, strict=True):
            image = _draw_grid(axes, rows.pivot_table(index=up, columns=across, values=QUANTITIES[of]), top)
            place = [title(rows)] if with_place else []
            titles[axes] = ", ".join([*place, str(rows["label"].iloc[0])])
        share = 0.9 if len(groups) <= 3 else 0.5
        bar = figure.colorbar(image, ax=list(all_axes), shrink=share, pad=0.02, aspect=25)
        bar.outline.set_visible(False)
        name_axes(figure, all_axes, in_words(across), in_words(up))
        words = f"Colour: {_QUANTITIES_IN_WORDS[of]}, {seeds_in_words(frame)}."
        figure.suptitle(folded(words, figure.get_figwidth(), CAPTION_FONT_SIZE), fontsize=CAPTION_FONT_SIZE)
        write_titles(figure, titles)
        for axes in all_axes:
            _write_numbers(axes, "{:.0%}" if of == "success-rate" else "{:.2f}", top)
    return figure


def _labelled_table(frame: pandas.DataFrame, across: str, up: str) -> pandas.DataFrame:
    """One row for each cell that has both settings, with its label; labels sort as in all figures."""
    pd = optional.need("pandas", "experiments", "a figure")
    labels = series_labels(frame, across, up)
    order = pd.CategoricalDtype(list(dict.fromkeys(labels.values())), ordered=True)
    table = summaries.cell_table(frame)
    table = table.assign(label=table["cell"].map(labels).astype(order))
    with_both: pandas.DataFrame = table[table[across].notna() & table[up].notna()]
    return with_both


def _draw_grid(axes: Axes, grid: pandas.DataFrame, top: float) -> Any:
    grid = grid.sort_index().sort_index(axis=1)
    image = axes.imshow(grid.to_numpy(float), origin="lower", aspect="auto", cmap="cividis", vmin=0, vmax=top)
    axes.set_xticks(range(grid.shape[1]), [show(value) for value in grid.columns])
    axes.set_yticks(range(grid.shape[0]), [show(value) for value in grid.index])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return image


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
        stride = math.ceil(1.1 * size / 72 / room)
        axis.set_ticks(
            axis.get_ticklocs()[::stride], [label.get_text() for label in axis.get_ticklabels()][::stride]
        )
    widest = max(inches(form.format(number), _LARGEST_NUMBERS) for number in numbers[np.isfinite(numbers)])
    size = min(_LARGEST_NUMBERS, _LARGEST_NUMBERS * 0.8 * width / widest, 0.8 * 72 * height)
    if size < _SMALLEST_NUMBERS:
        return
    for (row, column), number in np.ndenumerate(numbers):
        if math.isfinite(number):
            ink = "white" if number < top / 2 else "black"
            axes.text(column, row, form.format(number), ha="center", va="center", fontsize=size, color=ink)
