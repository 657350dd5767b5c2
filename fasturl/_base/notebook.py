"""How objects and progress show themselves in a notebook: plain HTML and SVG, without script or style sheet.

Colours are those of the page (`currentColor`), so that light and dark themes can both be read.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 360, 170, 44, 26
_QUIET_SECONDS = 1.0
_UPDATE_SECONDS = 0.5


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook, which shows HTML."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def table(rows: Mapping[str, object], title: str = "") -> str:
    """A table of names and values; the title is a line above it."""
    cells = "".join(
        f'<tr><th style="text-align: left">{escape(str(name))}</th>'
        f'<td style="text-align: left">{escape(str(value))}</td></tr>'
        for name, value in rows.items()
    )
    head = f"<div><strong>{escape(title)}</strong></div>" if title else ""
    return f'<div>{head}<table style="width: auto"><tbody>{cells}</tbody></table></div>'


def curve(x: NDArray[np.int64], mean: Floats, edges: tuple[Floats, Floats], best: float) -> str:
    """A learning curve with a shaded band, and a dashed line at the best that can be had."""
    bottom, top = min(0.0, best, float(mean.min())), max(0.0, best, float(edges[1].max())) * 1.05
    low, high = np.maximum(edges[0], bottom), edges[1]  # a band may reach below all that can be had
    height = top - bottom or 1.0

    def points(values: Floats, positions: NDArray[np.int64]) -> list[str]:
        across = _LEFT + (_WIDTH - _LEFT - 8) * positions / max(1, int(x[-1]))
        up = (_HEIGHT - _BOTTOM) * (1 - (values - bottom) / height)
        return [f"{a:.1f},{b:.1f}" for a, b in zip(across, up, strict=True)]

    (line,) = points(np.array([best]), x[-1:])
    level = line.partition(",")[2]
    outline = " ".join([*points(high, x), *points(low[::-1], x[::-1])])
    floor = _HEIGHT - _BOTTOM
    faint = 'stroke="currentColor" stroke-opacity="0.4"'
    words = 'fill="currentColor" font-size="11" font-family="sans-serif"'
    return (
        f'<svg width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}" style="max-width: 100%">'
        f'<line x1="{_LEFT}" y1="{floor}" x2="{_WIDTH - 8}" y2="{floor}" {faint}/>'
        f'<line x1="{_LEFT}" y1="{level}" x2="{_WIDTH - 8}" y2="{level}" stroke-dasharray="4 3" {faint}/>'
        f'<polygon points="{outline}" fill="#3B78B0" fill-opacity="0.2"/>'
        f'<polyline points="{" ".join(points(mean, x))}" fill="none" stroke="#3B78B0" stroke-width="1.8"/>'
        f'<text x="{_LEFT - 6}" y="{float(level) + 4:.0f}" text-anchor="end" {words}>{best:.3g}</text>'
        f'<text x="{_LEFT - 6}" y="{floor + 4}" text-anchor="end" {words}>{bottom:.3g}</text>'
        f'<text x="{_WIDTH - 8}" y="{_HEIGHT - 8}" text-anchor="end" {words}>'
        f"{int(x[-1]):,} trajectories</text>"
        "</svg>"
    )


@contextmanager
def bar(total: int, what: str, wanted: bool | None) -> Iterator[Callable[[int], None]]:
    """A bar below the cell that runs, after a second if nobody asked for it; it goes at the end."""
    display: Any = import_module("IPython.display")  # in a notebook it is there
    begin = last = time.perf_counter()
    handle: Any = None

    def show(completed: int) -> None:
        nonlocal handle, last
        now = time.perf_counter()
        if handle is None and (wanted or now - begin > _QUIET_SECONDS):
            handle = display.display(display.HTML(_bar(completed, total, what)), display_id=True)
        elif handle is not None and now - last > _UPDATE_SECONDS:
            last = now
            handle.update(display.HTML(_bar(completed, total, what)))

    try:
        if wanted:
            show(0)
        yield show
    finally:
        if handle is not None:
            handle.update(display.HTML(""))


def _bar(completed: int, total: int, what: str) -> str:
    return (
        f'<progress value="{completed}" max="{total}"></progress> {completed:,} of {total:,} {escape(what)}'
    )


def side_by_side(parts: Sequence[str]) -> str:
    """Parts beside each other where there is room, below each other where there is not."""
    blocks = "".join(f"<div>{part}</div>" for part in parts)
    return f'<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: center">{blocks}</div>'
