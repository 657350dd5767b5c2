"""How long a sweep will still take, told from what its finished blocks took.

A step of one agent may take a hundred times as long as one of another, and a run that is short has its fits
all the same. So every cell is judged by its own blocks; one that has none yet by those of the same agent and
environment, of the same agent, or by all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .cells import Cell
    from .sweeping import SeedBlock


class TimeLeft:
    """What is known of the time that blocks take.

    blocks
        All that are to be computed.
    """

    def __init__(self, blocks: Iterable[SeedBlock]) -> None:
        self._steps_left: Counter[Cell] = Counter()
        for block in blocks:
            self._steps_left[block.cell] += block.steps
        self._steps: Counter[Hashable] = Counter()
        self._seconds: defaultdict[Hashable, float] = defaultdict(float)

    def finish(self, block: SeedBlock, seconds: float) -> None:
        """Note that a worker has computed a block, and for how long it did."""
        self._steps_left[block.cell] -= block.steps
        for kind in _kinds(block.cell):
            self._steps[kind] += block.steps
            self._seconds[kind] += seconds

    def estimate(self, elapsed: float) -> float | None:
        """Seconds until all blocks are done, where so many have gone by so far; None while no block is done.

        What workers have done in that time tells how many of them there are.
        """
        done = self._seconds[None]
        if not done:
            return None
        left = sum(steps * self._seconds_per_step(cell) for cell, steps in self._steps_left.items())
        return elapsed * left / done

    def _seconds_per_step(self, cell: Cell) -> float:
        kind = next(kind for kind in _kinds(cell) if kind in self._steps)
        return self._seconds[kind] / self._steps[kind]


def _kinds(cell: Cell) -> tuple[Hashable, ...]:
    """What a cell has in common with others, from only itself to everything."""
    return cell, (cell.agent, cell.env), cell.agent, None
