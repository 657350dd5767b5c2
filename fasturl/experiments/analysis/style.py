"""How figures look: colours, lines, sizes, ticks, and how they are written.

Agents have the same colours and lines in every figure, told apart by colour-blind readers and in grey.
Figures are as wide as the text of a two-column paper.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ..._base import optional

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEXT_WIDTH = 6.9
"""Inches: both columns of a two-column paper."""
PANEL_HEIGHT = 1.75
TEXT_LINE = 0.14
"""Inches from one line of a legend or a title to the next."""

# Okabe and Ito's palette
COLOURS = {
    "url": "#D55E00",
    "oracleq-lat": "#0072B2",
    "qlearning-lat": "#56B4E9",
    "pcid": "#CC79A7",
    "oracleq-obs": "#009E73",
    "qlearning-obs": "#E69F00",
}
_MORE_COLOURS = ("#000000", "#7F7F7F", "#8C564B", "#5D3A9B")
_LINES: dict[str, Any] = {
    "qlearning-lat": (0, (5, 1.5)),
    "pcid": (0, (6, 1.5, 1.5, 1.5)),
    "oracleq-obs": (0, (1.5, 1.2)),
    "qlearning-obs": (0, (3, 1, 1, 1, 1, 1)),
}
_VARIANT_LINES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
_MARKERS = "osD^vPX*"
_DEEPEST = 0.65

STYLE: dict[str, Any] = {
    "font.size": 7.5,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7.5,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 7,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlepad": 4,
    "axes.labelpad": 2,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.2,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "figure.dpi": 200,
    "savefig.dpi": 200,
    "pdf.fonttype": 42,
    "svg.hashsalt": "fasturl",
}


def style() -> AbstractContextManager[Any]:
    """Figures made inside this context have the looks of this file."""
    return cast(
        "AbstractContextManager[Any]",
        optional.need("matplotlib", "experiments", "a figure").rc_context(STYLE),
    )


def panels(
    rows: int, columns: int, *, width: float = TEXT_WIDTH, height: float = PANEL_HEIGHT
) -> tuple[Figure, Any]:
    """A figure and its axes [rows, columns]; `height` is that of one row, in inches."""
    module = optional.need("matplotlib.figure", "experiments", "a figure")
    with style():
        figure: Figure = module.Figure(figsize=(width, rows * height + 0.35), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False)


def save(figure: Figure, path: str | Path) -> None:
    """Write a figure in the format of its name: PNG at 200 dots per inch, PDF or SVG. The same figure gives
    the same bytes."""
    kind = Path(path).suffix.lower()
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(kind)
    try:
        with style():
            figure.savefig(path, dpi=200, metadata=cast(Any, metadata))
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error.strerror or error}") from None
    except ValueError as error:
        if "is not supported" not in str(error):
            raise
        raise ValueError(f"cannot write {path}: write .png, .pdf or .svg") from None


def colour(agent: str) -> str:
    """An agent's colour, the same everywhere."""
    return COLOURS.get(agent) or _MORE_COLOURS[sum(agent.encode()) % len(_MORE_COLOURS)]


class Look(NamedTuple):
    """How a line of a figure is drawn, on white."""

    colour: str
    line: Any
    marker: str
    depth: float
    """How much ink is mixed into the agent's colour."""


def look(agent: str, label: str, labels: Iterable[str]) -> Look:
    """Colour, line and marker of the agent; where it comes in variants, shades from deep to its own, each
    with its own line and marker."""
    variants = [other for other in dict.fromkeys(labels) if other.partition(",")[0] == agent]
    own = list(COLOURS).index(agent) if agent in COLOURS else len(COLOURS)
    if len(variants) <= 1:
        return Look(colour(agent), _LINES.get(agent, "-"), _MARKERS[own % len(_MARKERS)], 0.0)
    position = variants.index(label)
    steps = len(variants) - 1
    depth = min(0.2 * steps, _DEEPEST) * (1 - position / steps)
    line, marker = _VARIANT_LINES[position % len(_VARIANT_LINES)], _MARKERS[(own + position) % len(_MARKERS)]
    return Look(mixed(colour(agent), "#000000", depth), line, marker, depth)


def mixed(paint: str, ink: str, depth: float) -> str:
    """A colour with ink in it: black ink on white, so that no shade is paler than the colour, and white ink
    on black."""
    parts = zip(bytes.fromhex(paint[1:]), bytes.fromhex(ink[1:]), strict=True)
    return "#" + "".join(f"{round((1 - depth) * part + depth * other):02X}" for part, other in parts)


def head(figure: Figure, titles: Mapping[Axes, str]) -> None:
    """The titles of panels, folded to the widths that the layout gives these; the figure grows by the lines,
    no panel shrinks."""
    lay_out(figure)
    lines: Counter[int] = Counter()
    for axes, words in titles.items():
        text = folded(words, axes.get_window_extent().width / figure.dpi, STYLE["axes.titlesize"])
        axes.set_title(text)
        row = cast(Any, axes.get_subplotspec()).rowspan.start
        lines[row] = max(lines[row], text.count("\n"))
    figure.set_figheight(figure.get_figheight() + TEXT_LINE * lines.total())


def lay_out(figure: Figure) -> None:
    """Give the panels the places that they will have in the picture."""
    cast(Any, figure.get_layout_engine()).execute(figure)


def folded(words: str, room: float, size: float) -> str:
    """Words on as many lines as they need in so many inches: broken after commas, and between these only what
    is too long by itself."""
    pieces = re.split(r"(?<=,) ", words)
    units = [unit for piece in pieces for unit in ([piece] if inches(piece, size) <= room else piece.split())]
    lines = units[:1]
    for unit in units[1:]:
        longer = f"{lines[-1]} {unit}"
        if inches(longer, size) <= room:
            lines[-1] = longer
        else:
            lines.append(unit)
    return "\n".join(lines)


@functools.cache
def inches(words: str, size: float) -> float:
    """How wide words are that are so many points high."""
    module = optional.need("matplotlib.textpath", "experiments", "a figure")
    return float(module.TextPath((0, 0), words, size=size).get_extents().width) / 72


def count_axis(axes: Axes) -> None:
    """Ticks such as 0, 10k, 20k."""
    ticker = optional.need("matplotlib.ticker", "experiments", "a figure")
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
    axes.xaxis.set_major_formatter(lambda value, _: count(value))
    axes.yaxis.set_major_locator(ticker.MaxNLocator(5, steps=[1, 2, 5, 10]))


def duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 7200 else f"{seconds / 3600:.3g} h"


def count(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
