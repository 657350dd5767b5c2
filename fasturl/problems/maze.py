"""Mazes: a square grid of cells with walls between some neighbours, drawn for every seed.

An episode starts in the upper left cell, state 0, and the goal is the lower right one. The four actions move
up, right, down and left; a move into a wall or out of the grid stays where it is. With probability `slip` a
move goes in one of the four directions at random instead. To enter the goal pays 1, once: it is absorbing.

Passages are those of a random spanning tree (Kruskal's on the neighbours in random order), and each of the
others with probability 1 - walls. So every cell can be reached, the goal of a maze of 4 by 4 cells within 15
moves, and without slips V* = 1 there for horizons from 15 on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from .table_family import TableFamily, at_every_level

UP, RIGHT, DOWN, LEFT = range(4)


@dataclass(frozen=True)
class Maze(TableFamily):
    """A grid with walls, whose far corner pays 1 to whoever gets there in time.

    Examples
    --------
    >>> import fasturl as fu
    >>> fu.Maze().optimal_value(seed=3)
    1.0
    """

    horizon: int = setting(
        16, least=1, limit=10**5, unit="levels", help="Number of levels that are acted in."
    )
    side: int = setting(
        4, least=2, limit=100, unit="cells", help="Length of a side of the grid.", kw_only=True
    )
    walls: float = setting(
        0.5, least=0, most=1, kw_only=True, help="Share of walls among the passages that are not needed."
    )
    slip: float = setting(
        0.0, least=0, most=1, kw_only=True, help="Probability that a move goes in a random direction."
    )

    n_actions = 4
    max_return = 1.0

    def _derive(self) -> None:
        checks.keep(self, max_states=self.side**2)

    def _tables(self, generator: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        cells, goal = np.arange(self.side**2), self.side**2 - 1
        leads_to = np.repeat(cells[:, None], 4, axis=1)
        for cell, action, other in self._passages(generator):
            leads_to[cell, action] = other
            leads_to[other, (action + 2) % 4] = cell
        leads_to[goal] = goal
        moves = np.eye(cells.size)[leads_to]
        transitions = (1.0 - self.slip) * moves + self.slip * moves.mean(axis=1, keepdims=True)
        rewards = np.zeros_like(transitions)
        rewards[:goal, :, goal] = 1.0
        return at_every_level(transitions, self.horizon), at_every_level(rewards, self.horizon)

    def _passages(self, generator: np.random.Generator) -> list[tuple[int, int, int]]:
        """Pairs of neighbours without a wall between them: a cell, the action that leads on, and where it
        leads."""
        grid = np.arange(self.side**2).reshape(self.side, self.side)
        sideways = zip(grid[:, :-1].ravel().tolist(), grid[:, 1:].ravel().tolist(), strict=True)
        downwards = zip(grid[:-1].ravel().tolist(), grid[1:].ravel().tolist(), strict=True)
        neighbours = [(cell, RIGHT, other) for cell, other in sideways]
        neighbours += [(cell, DOWN, other) for cell, other in downwards]
        areas = list(range(grid.size))  # cells that are connected so far have the same number
        passages = []
        for number in generator.permutation(len(neighbours)):
            cell, action, other = neighbours[number]
            needed = areas[cell] != areas[other]
            if needed:
                joined = areas[other]
                areas = [areas[cell] if area == joined else area for area in areas]
            if generator.random() >= self.walls or needed:
                passages.append((cell, action, other))
        return passages
