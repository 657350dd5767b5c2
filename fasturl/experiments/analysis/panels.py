"""What all kinds of figures share: panels for the settings that differ, titles, one legend, names of axes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ... import registry
from ..._base import optional
from ..._base.schema import PARTS
from ..._base.words import counted
from . import summaries
from .style import PANEL_HEIGHT, STYLE, TEXT_LINE, TEXT_WIDTH, folded, inches, panels
from .summaries import in_words, setting_rank, show, shown

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAPTION_FONT_SIZE = 6.5
"""Font size of captions, in points."""
ERROR_BARS: dict[str, Any] = {"elinewidth": 0.9, "capsize": 1.5}
LEGEND_LINE_LENGTH = 2.8
"""Length of a line in a legend, in font sizes: its dashes show on both sides of the marker."""
_LEGEND_LINE_ROOM = 0.55
"""Inches of a legend's column that are not its words: the line, and the space on both sides."""
_ONE_COLUMN_WIDTH = 3.4
"""Width of a figure of one panel in inches: one column of a two-column paper."""
_PARTS = tuple(f"{part}." for part in PARTS)
"""What columns of the settings of parts begin with."""
_MOST_PANELS = 48
"""Upper limit on the panels of a figure."""
_MOST_LINES = 12
"""Upper limit on the lines of a panel: no more can be told apart."""
_MOST_COLUMNS = 4
"""Upper limit on the panels in a row where these are the values of one setting."""
_USUAL_COLUMNS = 3
"""Panels in a row elsewhere."""


def title(rows: pandas.DataFrame) -> str:
    """The environment and its settings in words, as far as they are the same in all rows; settings that the
    environment does not have are left out."""
    words = [str(rows["env"].iloc[0])] if rows["env"].nunique() == 1 else []
    for name in summaries.env_settings(rows):
        if name == "horizon" and not any(_is_known_by_horizon(env) for env in rows["env"].unique()):
            continue
        values = shown(rows[name]).unique()
        if len(values) == 1 and not missing(rows[name].iloc[0]):
            words.append(f"{'H =' if name == 'horizon' else in_words(name)} {values[0]}")
    return ", ".join(words)


def _is_known_by_horizon(env: str) -> bool:
    """Whether the horizon tells instances of a family apart: it is declared, or nothing is. Every family has
    one; of another, such as a corridor with a length, it would say the same twice."""
    if env not in registry.environment_names():
        return True
    declared = registry.environment_declaration(env)
    return "horizon" in declared or not declared


def missing(value: Any) -> bool:
    """Whether a setting has no value: the family lacks it, or it is left out."""
    pd = optional.need("pandas", "experiments", "a figure")
    return bool(pd.isna(value))


def varying(frame: pandas.DataFrame) -> list[str]:
    """The settings of the environments that have more than one value, in the order of their declaration. A
    family that lacks a setting does not make it vary."""
    return [name for name in summaries.env_settings(frame) if shown(frame[name].dropna()).nunique() > 1]


def varies(frame: pandas.DataFrame, name: str) -> bool:
    return bool(shown(frame[name]).nunique() > 1)


def agents_of(frame: pandas.DataFrame, labels: Mapping[str, str]) -> dict[str, str]:
    """The agent behind each label of cells, in the order of the labels. A label begins with the agent, which
    tells it for cells that are not in the frame."""
    agents = frame.drop_duplicates("cell").set_index("cell")["agent"]
    return {label: str(agents.get(cell, label.partition(",")[0])) for cell, label in labels.items()}


def panels_by(
    frame: pandas.DataFrame,
    keys: list[str],
    *,
    height: float = PANEL_HEIGHT,
    labels: Mapping[str, str] | None = None,
) -> tuple[Figure, list[Axes], list[pandas.DataFrame]]:
    """A figure with one panel for each combination of the keys, and the rows of each.

    The setting that varies last fills the rows of the figure, if its values fit.

    labels
        The label of each cell, if each label is a line: there must not be more than can be told apart.
    """
    groups = rows_by(frame, keys)
    if len(groups) > _MOST_PANELS:
        raise ValueError(
            f"there are {len(groups)} panels to plot: choose some of the results, for example "
            "--where horizon=10"
        )
    if labels:
        _check_lines(frame, groups, labels)
    columns = min(_columns(frame, keys, len(groups)), len(groups))
    width = TEXT_WIDTH if columns > 1 else _ONE_COLUMN_WIDTH
    height = height if columns > 1 else max(2.3, height)
    figure, grid = panels(math.ceil(len(groups) / columns), columns, width=width, height=height)
    all_axes = list(grid.ravel())
    for spare in all_axes[len(groups) :]:
        spare.remove()
    return figure, all_axes[: len(groups)], groups


def rows_by(frame: pandas.DataFrame, keys: list[str]) -> list[pandas.DataFrame]:
    """The rows of each combination of the values of some columns: numbers by size, words by the alphabet."""
    if not keys:
        return [frame]
    places = list(zip(*(shown(frame[key]) for key in keys), strict=True))
    order = {key: list(frame[key].cat.categories) for key in keys if hasattr(frame[key], "cat")}

    def rank(place: tuple[str, ...]) -> list[Any]:
        return [
            order[key].index(text) if key in order else setting_rank(text)
            for key, text in zip(keys, place, strict=True)
        ]

    number = {place: position for position, place in enumerate(sorted(set(places), key=rank))}
    numbers = np.array([number[place] for place in places])
    return [frame[numbers == position] for position in range(len(number))]


def _columns(frame: pandas.DataFrame, keys: list[str], n_panels: int) -> int:
    """Panels in a row: the values of the setting that varies last, if they fit and the grid has no gaps."""
    counts = [int(shown(frame[key]).nunique()) for key in keys if varies(frame, key)]
    if len(counts) > 1 and counts[-1] <= _MOST_COLUMNS and n_panels == math.prod(counts):
        return counts[-1]
    return _USUAL_COLUMNS


def _check_lines(frame: pandas.DataFrame, groups: list[pandas.DataFrame], labels: Mapping[str, str]) -> None:
    lines = max(rows["cell"].map(labels).nunique() for rows in groups)
    if lines <= _MOST_LINES:
        return
    places = {"env", *summaries.env_settings(frame)}
    name = next(
        name for name in summaries.setting_columns(frame) if name not in places and varies(frame, name)
    )
    example = f"--where {summaries.short_name(name)}={show(frame[name].iloc[0])}"
    raise ValueError(
        f"there are {lines} lines to plot in a panel: choose some of the results, for example {example}"
    )


def finish(
    figure: Figure, all_axes: list[Axes], labels: Mapping[str, str], x: str, y: str, words: str
) -> None:
    """Names of the axes, one legend for all panels, and a line of words that says what is drawn."""
    name_axes(figure, all_axes, x, y)
    handles: dict[str, Any] = {}
    for axes in all_axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    names = [name for name in dict.fromkeys(labels.values()) if name in handles]
    width, size = figure.get_figwidth(), STYLE["legend.fontsize"]
    caption = folded(words, width, CAPTION_FONT_SIZE)
    texts = [folded(name, width - _LEGEND_LINE_ROOM, size) for name in names]
    widths = [max(inches(line, size) for line in text.split("\n")) + _LEGEND_LINE_ROOM for text in texts]
    # as many columns as fit: the legend fills one after the other
    columns = max(
        n for n in range(1, len(names) + 1) if n == 1 or sum(map(max, np.array_split(widths, n))) <= width
    )
    lines = max(sum(text.count("\n") + 1 for text in part) for part in np.array_split(texts, columns))
    figure.set_figheight(figure.get_figheight() + TEXT_LINE * (lines + caption.count("\n") - 1))
    figure.legend(
        [handles[name] for name in names],
        texts,
        title=caption,
        title_fontsize=CAPTION_FONT_SIZE,
        loc="outside upper center",
        ncols=columns,
        handlelength=LEGEND_LINE_LENGTH,
    )


def legend_below(
    axes: Axes,
    entries: list[tuple[Any, str]],
    *,
    distance: float,
    columns: int = 1,
    line_length: float = LEGEND_LINE_LENGTH,
) -> None:
    """A panel's own legend below it, where it hides nothing.

    entries
        Lines, and what is said of each.
    distance
        From the panel to the legend, in inches.
    line_length
        Of the lines in the legend, in font sizes.
    """
    transforms = optional.need("matplotlib.transforms", "experiments", "a figure")
    shift = transforms.ScaledTranslation(0, -distance, cast(Any, axes.figure).dpi_scale_trans)
    spacing: dict[str, Any] = {"labelspacing": 0.3, "columnspacing": 1.0, "borderaxespad": 0, "borderpad": 0}
    axes.legend(
        *zip(*entries, strict=True),
        ncols=columns,
        handlelength=line_length,
        handletextpad=0.5,
        loc="upper left",
        bbox_to_anchor=(0, 0),
        bbox_transform=axes.transAxes + shift,
        **spacing,
    )


def name_axes(figure: Figure, all_axes: list[Axes], x: str, y: str) -> None:
    """Below all panels, and at the left of each row: in the middle of the figure the name would run into the
    legend."""
    figure.supxlabel(x, fontsize=STYLE["axes.labelsize"])
    for axes in all_axes:
        if cast(Any, axes.get_subplotspec()).is_first_col():
            axes.set_ylabel(y)


def seeds_in_words(frame: pandas.DataFrame) -> str:
    """How many seeds the cells of a frame have."""
    counts = frame.groupby("cell")["seed"].nunique()
    least, most = int(counts.min()), int(counts.max())
    if least < most:
        return f"{least} to {most} seeds"
    return counted(most, "seed")


def require_results(frame: pandas.DataFrame) -> None:
    if frame.empty:
        raise ValueError("there is nothing to plot: no results")


def numeric_setting(frame: pandas.DataFrame, name: str) -> str:
    """The column of a setting that can be an axis: of the environment, else of the agent itself, else of the
    part that has it. ValueError where several parts do."""
    pd = optional.need("pandas", "experiments", "a figure")
    columns = summaries.columns_called(frame, name)
    part_of = {column: column.partition(".")[0] for column in columns if column.startswith(_PARTS)}
    numeric = [column for column in columns if pd.to_numeric(frame[column], errors="coerce").notna().any()]
    if own := [column for column in numeric if column not in part_of]:
        return own[0]
    owners = [column for column, part in part_of.items() if frame[part].notna().any()]
    if len(owners) > 1:
        raise ValueError(
            f"{name} is a setting of several parts in these results: write {' or '.join(owners)}"
        )
    if not numeric:
        raise ValueError(f"{name} is not a number in these results: it cannot be an axis")
    return numeric[0]


def series_labels(frame: pandas.DataFrame, *axes: str) -> dict[str, str]:
    """Labels of the cells of a figure against settings: neither these nor episodes and points that follow
    from them tell cells apart."""
    places = summaries.env_settings(frame)
    groups = frame.groupby(["agent", *axes])
    follow = [name for name in ("episodes", "points") if name in frame and groups[name].nunique().max() == 1]
    return summaries.labels(frame.assign(**{name: "any" for name in (*axes, *follow) if name not in places}))
