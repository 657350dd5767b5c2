"""Drawing a ladder with NumPy alone: discs, bars and small letters whose edges are softened by how far a
pixel is from them."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Color = tuple[int, int, int]

PAPER: Color = (250, 250, 248)
INK: Color = (60, 64, 72)
RAIL: Color = (214, 216, 220)
AGENT: Color = (33, 102, 204)
TRAIL: Color = (140, 180, 235)
PRIZE: Color = (230, 170, 20)
VERDICTS: tuple[Color, Color, Color] = ((44, 150, 75), (225, 150, 40), (214, 74, 66))
LOST: Color = (176, 180, 188)
WHITE: Color = (255, 255, 255)

_RUNG, _CHIP, _GAP, _DISC = 36, 16, 4, 9
_LEFT, _TOP, _BOTTOM, _BETWEEN, _WIDTH = 46, 44, 20, 26, 440

# five rows of three pixels for each sign, a row being an octal digit: 4 is left, 2 middle, 1 right
_SIGNS = {
    "0": "75557", "1": "26227", "2": "71747", "3": "71717", "4": "55711", "5": "74717", "6": "74757",
    "7": "71222", "8": "75757", "9": "75717", "A": "25755", "D": "65556", "E": "74647", "G": "74557",
    "L": "44447", "N": "65555", "O": "75557", "R": "65655", "S": "74717", "T": "72222", "U": "55557",
    "V": "55552", "W": "55775", ".": "00002", "-": "00700", "+": "02720", " ": "00000",
}  # fmt: skip


class Rung(NamedTuple):
    """One level, as it is drawn."""

    number: int
    living: list[bool]
    """For each state, whether a reward can still be expected; at the last level, whether one is paid
    there."""
    verdicts: list[list[int]] | None
    """For each state and action; None at the last level."""
    visited: int | None
    taken: int | None


def draw(rungs: list[Rung], n_states: int, n_actions: int, total: float) -> NDArray[np.uint8]:
    """The picture, rungs from the bottom up."""
    pitch = 2 * _DISC + _GAP + n_actions * (_CHIP + _GAP) + _BETWEEN
    width = max(_LEFT + n_states * pitch, _WIDTH)
    canvas = Canvas(width + width % 2, _TOP + _RUNG * len(rungs) + _BOTTOM)
    heights = {
        rung.number: canvas.height - _BOTTOM - _RUNG * place - _RUNG // 2 for place, rung in enumerate(rungs)
    }
    columns = [_LEFT + pitch * s + _DISC for s in range(n_states)]
    _legend(canvas, {verdict for rung in rungs for row in rung.verdicts or [] for verdict in row}, total)
    for rung in rungs:
        y = heights[rung.number]
        canvas.bar(_LEFT - 8, y, canvas.width - 12, y, 1.5, RAIL)
        label = str(rung.number)
        canvas.write(label, _LEFT - 14 - 8 * len(label), y - 5, INK)
    way = [(columns[rung.visited], heights[rung.number]) for rung in rungs if rung.visited is not None]
    for (x0, y0), (x1, y1) in itertools.pairwise(way):
        canvas.bar(x0, y0, x1, y1, 4, TRAIL)
    for rung in rungs:
        for s, living in enumerate(rung.living):
            _state(canvas, rung, s, living, columns[s], heights[rung.number])
    if way:
        canvas.disc(*way[-1], _DISC + 1, WHITE)
        canvas.disc(*way[-1], _DISC - 1, AGENT)
    return canvas.pixels()


def _legend(canvas: Canvas, verdicts: set[int], total: float) -> None:
    x = 14
    words = [(("GOOD", "WORSE", "DEAD")[verdict], VERDICTS[verdict]) for verdict in sorted(verdicts)]
    for word, color in (*words, ("AGENT", AGENT)):
        canvas.disc(x + 5, 20, 5, color)
        x = canvas.write(word, x + 15, 15, INK) + 12
    canvas.write(f"RETURN {total:.3g}".upper(), x, 15, INK)


def _state(canvas: Canvas, rung: Rung, s: int, living: bool, x: int, y: int) -> None:
    canvas.disc(x, y, _DISC, INK if living else LOST)
    inside = TRAIL if rung.visited == s else WHITE
    canvas.disc(x, y, _DISC - 2, PRIZE if rung.verdicts is None and living else inside)
    if rung.verdicts is None:
        return
    left = x + _DISC + _GAP
    for a, verdict in enumerate(rung.verdicts[s]):
        centre = left + a * (_CHIP + _GAP) + _CHIP // 2
        if rung.visited == s and rung.taken == a:
            canvas.box(centre, y, _CHIP / 2 + 3, AGENT)
            canvas.box(centre, y, _CHIP / 2 + 1, WHITE)
        canvas.box(centre, y, _CHIP / 2, VERDICTS[verdict] if living else LOST)
        canvas.write(str(a % 10), centre - 3, y - 5, WHITE)


class Canvas:
    """Pixels as reals, so that soft edges can be laid over each other."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._pixels = np.full((height, width, 3), PAPER, np.float32)

    def pixels(self) -> NDArray[np.uint8]:
        return np.rint(self._pixels).astype(np.uint8)

    def disc(self, x: float, y: float, radius: float, color: Color) -> None:
        self.bar(x, y, x, y, 2 * radius, color)

    def bar(self, x0: float, y0: float, x1: float, y1: float, width: float, color: Color) -> None:
        """A line with round ends."""
        window, columns, rows = self._window(
            min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1), width / 2 + 1
        )
        length = (x1 - x0) ** 2 + (y1 - y0) ** 2
        along = (
            np.clip(((columns - x0) * (x1 - x0) + (rows - y0) * (y1 - y0)) / length, 0, 1) if length else 0.0
        )
        distance = np.hypot(columns - x0 - along * (x1 - x0), rows - y0 - along * (y1 - y0))
        self._lay(window, width / 2 - distance, color)

    def box(self, x: float, y: float, half: float, color: Color, corner: float = 4.0) -> None:
        """A square with round corners around (x, y)."""
        window, columns, rows = self._window(x, y, x, y, half + 1)
        across, down = np.abs(columns - x) - half + corner, np.abs(rows - y) - half + corner
        outside = np.hypot(np.maximum(across, 0), np.maximum(down, 0)) + np.minimum(
            np.maximum(across, down), 0
        )
        self._lay(window, corner - outside, color)

    def write(self, text: str, x: int, y: int, color: Color) -> int:
        """Signs of 6 by 10 pixels from the upper left corner (x, y) on; returns where they end."""
        for sign in text:
            rows = [[int(row) >> 2 & 1, int(row) >> 1 & 1, int(row) & 1] for row in _SIGNS[sign]]
            where = np.kron(np.array(rows, bool), np.ones((2, 2), bool))
            self._pixels[y : y + 10, x : x + 6][where] = color
            x += 8
        return x

    def _window(
        self, left: float, top: float, right: float, bottom: float, margin: float
    ) -> tuple[tuple[slice, slice], NDArray[np.intp], NDArray[np.intp]]:
        """The pixels within the margin of a rectangle, and their coordinates."""
        across = slice(max(0, int(left - margin)), min(self.width, int(right + margin) + 2))
        down = slice(max(0, int(top - margin)), min(self.height, int(bottom + margin) + 2))
        rows, columns = np.ogrid[down, across]
        return (down, across), columns, rows

    def _lay(self, window: tuple[slice, slice], depth: NDArray[np.floating], color: Color) -> None:
        """Cover pixels by how deep they lie inside a shape."""
        cover = np.clip(depth + 0.5, 0, 1)[..., None]
        self._pixels[window] += cover * (np.array(color) - self._pixels[window])
