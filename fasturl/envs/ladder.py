"""A Block MDP drawn as a ladder: a rung for each level, the first at the bottom, the states side by side on
it.

An action is good where it attains the optimal value of its state, dead where no reward can be expected after
it, and worse where it is neither. On a lock, two actions of each living state are good and two are dead. Of a
long ladder, the rungs around the agent are shown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problems.models import BlockMDP
from . import picture

GOOD, WORSE, DEAD = 0, 1, 2
RUNGS = 24
"""At most so many levels are shown."""
_CLOSE = 1e-9


class Ladder:
    """An episode of a model: the states met so far, the actions taken, and the rewards together."""

    def __init__(self, model: BlockMDP, path: list[int], actions: list[int], total: float) -> None:
        self.model, self.path, self.actions, self.total = model, path, actions, total
        q, values = model._optimal_tables()
        self.verdicts = np.where(q <= _CLOSE, DEAD, np.where(q >= values[:-1, :, None] - _CLOSE, GOOD, WORSE))
        self.living = values > _CLOSE
        self.living[-1] = model.rewards[-1].max(axis=(0, 1)) > 0

    def shown(self) -> range:
        """The levels that are shown, counted from 0."""
        n_levels = self.model.horizon + 1
        first = max(0, min(len(self.path) - 1 - RUNGS // 2, n_levels - RUNGS))
        return range(first, min(n_levels, first + RUNGS))

    def text(self) -> str:
        """One line for each level: good actions by their number, worse ones as -, dead ones as x, the agent
        in brackets."""
        width = self.model.n_actions + 4
        lines = [
            "level  " + "".join(f"state {s}".center(max(width, 9)) for s in range(max(self.model.n_states)))
        ]
        for h in reversed(self.shown()):
            cells = "".join(self._cell(h, s).center(max(width, 9)) for s in range(self.model.n_states[h]))
            lines.append(f"{h + 1:>5}  {cells}".rstrip())
        last = f"action {self.actions[-1]}, " if self.actions else ""
        return "\n".join([*lines, f"{last}return {self.total:g}"]) + "\n"

    def _cell(self, h: int, s: int) -> str:
        if h == self.model.horizon:
            inside = "end" if self.living[h, s] else "x"
        else:
            inside = "".join(
                (str(a % 10), "-", "x")[verdict] for a, verdict in enumerate(self.verdicts[h, s])
            )
        here = h < len(self.path) and self.path[h] == s
        if here and h == len(self.path) - 1:
            return f"[{inside}]"
        return f"({inside})" if here else inside

    def picture(self) -> NDArray[np.uint8]:
        """Green actions are good, amber ones worse, red ones dead; the blue line is the way of the agent, the
        blue disc the agent."""
        shown = self.shown()
        rungs = [
            picture.Rung(
                number=h + 1,
                living=self.living[h, : self.model.n_states[h]].tolist(),
                verdicts=self.verdicts[h, : self.model.n_states[h]].tolist()
                if h < self.model.horizon
                else None,
                visited=self.path[h] if h < len(self.path) else None,
                taken=self.actions[h] if h < len(self.actions) else None,
            )
            for h in shown
        ]
        return picture.draw(rungs, max(self.model.n_states), self.model.n_actions, self.total)
