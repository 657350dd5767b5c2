"""The style of figures: colours, lines, sizes, ticks, and how they are written.

Agents have the same colours and lines in every figure, told apart by colour-blind readers and in grey.
Figures are as wide as the text of a two-column paper.
"""

from __future__ import annotations

import functools
import re
import zlib
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
"""Width of a figure in inches: both columns of a two-column paper."""
PANEL_HEIGHT = 1.75
"""Height of a row of panels in inches."""
TEXT_LINE = 0.14
"""Inches from one line of a legend or a title to the next."""


class Paint(NamedTuple):
    """A colour in two shades: one for white paper, and its counterpart that is as legible on a dark page."""

    light: str
    dark: str


def mixed(paint: str, ink: str, depth: float) -> str:
    """A colour with ink in it: black ink on white, so that no shade is paler than the colour, and white ink
    on black."""
    parts = zip(bytes.fromhex(paint[1:]), bytes.fromhex(ink[1:]), strict=True)
    return "#" + "".join(f"{round((1 - depth) * part + depth * other):02X}" for part, other in parts)


# Okabe and Ito's palette. This is the one place that gives agents colours by name; an agent that is not
# listed gets one of the colours below.
COLOURS = {
    "url": Paint("#D55E00", "#F5843F"),
    "url-as-published": Paint("#3A3A3A", "#D8D8D8"),
    "url-as-written": Paint("#8C564B", "#C49A8E"),
    "oracleq-lat": Paint("#0072B2", "#58A9E0"),
    "qlearning-lat": Paint("#56B4E9", "#9AD4F5"),
    "pcid": Paint("#CC79A7", "#E6A3C8"),
    "oracleq-obs": Paint("#009E73", "#35C79B"),
    "qlearning-obs": Paint("#E69F00", "#E69F00"),
}
# learners that came later, on latent states; on observations they have the same colour with ink in it
_LATER_LEARNERS = {
    "pooled-ucbvi": Paint("#C2185B", "#F06292"),
    "ucbvi": Paint("#5E35B1", "#B39DDB"),
    "ucbq-bernstein": Paint("#00838F", "#4DD0E1"),
    "rmax": Paint("#455A64", "#90A4AE"),
    "psrl": Paint("#558B2F", "#9CCC65"),
    "opsrl": Paint("#B71C1C", "#EF7A7A"),
    "rlsvi": Paint("#9E8A00", "#E0CB3A"),
}
_INK = 0.4
for _learner, _paint in _LATER_LEARNERS.items():
    COLOURS[f"{_learner}-lat"] = _paint
    COLOURS[f"{_learner}-obs"] = Paint(
        mixed(_paint.light, "#000000", _INK), mixed(_paint.dark, "#FFFFFF", _INK)
    )
# mostly Tol's muted palette, without what resembles a colour above or is too pale on white
OTHER_COLOURS = (
    Paint("#332288", "#9C8FE8"),
    Paint("#999933", "#C6C65C"),
    Paint("#AA4499", "#D583C8"),
    Paint("#7F7F7F", "#9A9A9A"),
    Paint("#661100", "#D08B7A"),
    Paint("#44AA99", "#6CCFBE"),
    Paint("#882255", "#D0709F"),
    Paint("#6699CC", "#A9C8EA"),
    Paint("#117733", "#5FB67D"),
)
_VARIANT_LINES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (1.5, 1.2)),
    (0, (6, 1.5, 1.5, 1.5)),
    (0, (3, 1, 1, 1, 1, 1)),
)
_LINES: dict[str, Any] = {
    "url-as-published": (0, (2.5, 1)),
    "url-as-written": (0, (4, 1, 1, 1)),
    "qlearning-lat": (0, (5, 1.5)),
    "pcid": (0, (6, 1.5, 1.5, 1.5)),
    "oracleq-obs": (0, (1.5, 1.2)),
    "qlearning-obs": (0, (3, 1, 1, 1, 1, 1)),
}
for _position, _learner in enumerate(_LATER_LEARNERS):
    _LINES[f"{_learner}-lat"] = _VARIANT_LINES[_position % len(_VARIANT_LINES)]
    _LINES[f"{_learner}-obs"] = _VARIANT_LINES[(_position + 2) % len(_VARIANT_LINES)]
_MARKERS = "osD^vPX*"
_DEEPEST = 0.65
"""The largest share of black in the shades that tell variants of an agent apart."""

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
    """Figures made inside this context have the style of this file."""
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


def save(figure: Figure, path: str | Path, wanted: str | Path | None = None) -> None:
    """Write a figure in the format of its name: PNG at 200 dots per inch, PDF or SVG. The same figure gives
    the same bytes. An error names the file that is wanted, where the path is that of its draft."""
    name = path if wanted is None else wanted
    kind = Path(path).suffix.lower()
    metadata = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(kind)
    try:
        with style():
            figure.savefig(path, dpi=200, metadata=cast(Any, metadata))
    except OSError as error:
        raise ValueError(f"cannot write {name}: {error.strerror or error}") from None
    except ValueError as error:
        if "is not supported" not in str(error):
            raise
        raise ValueError(f"cannot write {name}: write .png, .pdf or .svg") from None


class LineStyle(NamedTuple):
    """How a line of a figure is drawn."""

    colour: str
    """On white."""
    dark: str
    """On a dark page."""
    dashes: Any
    """As Matplotlib takes them."""
    marker: str


def paints(agents: Iterable[str]) -> dict[str, Paint]:
    """The colours of the agents of one figure, all different.

    An agent that `COLOURS` does not list gets the colour that its name hashes to, so that it keeps it from
    one figure to the next; where two hash to the same, the later one by name takes the next that is free.
    When all are taken they are used again with black in them.
    """
    names = set(agents)
    chosen = {agent: paint for agent, paint in COLOURS.items() if agent in names}
    size = len(OTHER_COLOURS)
    taken: set[tuple[int, int]] = set()
    for position, agent in enumerate(sorted(names - chosen.keys())):
        turn = position // size  # how often all of the colours have been used
        slots = ((_digest(agent) + step) % size for step in range(size))
        slot = next(slot for slot in slots if (turn, slot) not in taken)
        taken.add((turn, slot))
        light, dark = OTHER_COLOURS[slot]
        depth = 1 - 0.6**turn
        chosen[agent] = Paint(mixed(light, "#000000", depth), mixed(dark, "#FFFFFF", depth))
    return chosen


def line_styles(agents: Mapping[str, str]) -> dict[str, LineStyle]:
    """The style of each line of a figure; `agents` gives the agent of each line's label, in the order of the
    legend.

    An agent has its colour, line and marker; where it comes in variants these are shades from deep to its own
    colour, each with its own line and marker.
    """
    colours = paints(agents.values())
    styles = {}
    for agent, paint in colours.items():
        variants = [label for label, owner in agents.items() if owner == agent]
        steps = len(variants) - 1
        known = agent in COLOURS
        first_marker = list(COLOURS).index(agent) if known else _digest(agent)
        own_line = _LINES.get(agent, "-") if known else _VARIANT_LINES[_digest(agent) % len(_VARIANT_LINES)]
        for position, label in enumerate(variants):
            depth = min(0.2 * steps, _DEEPEST) * (1 - position / steps) if steps else 0.0
            styles[label] = LineStyle(
                colour=mixed(paint.light, "#000000", depth),
                dark=mixed(paint.dark, "#FFFFFF", depth),
                dashes=_VARIANT_LINES[position % len(_VARIANT_LINES)] if steps else own_line,
                marker=_MARKERS[(first_marker + position) % len(_MARKERS)],
            )
    return styles


def _digest(agent: str) -> int:
    """A number that belongs to a name, in every process."""
    return zlib.crc32(agent.encode())


def write_titles(figure: Figure, titles: Mapping[Axes, str]) -> None:
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
    textpath = optional.need("matplotlib.textpath", "experiments", "a figure")
    font = textpath.FontProperties(size=size)
    width, _, _ = textpath.text_to_path.get_text_width_height_descent(words, font, ismath=False)
    return float(width) / 72


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
