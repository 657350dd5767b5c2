"""A Block MDP drawn as a ladder: a rung for each level, the first at the bottom, the states side by side on
it.

An action is good where it attains the optimal value of its state, dead where no reward can be expected after
it, and worse where it is neither. On a lock, two actions of each living state are good and two are dead. Of a
long ladder, the rungs around the agent are shown.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problems.block_mdp import BlockMDP
from . import picture

GOOD, WORSE, DEAD = 0, 1, 2
RUNGS = 24
"""Upper limit on the number of levels in a picture."""
_CLOSE = 1e-9
"""Values that differ by less are equal: they come from sums in different orders."""


class Ladder:
    """An episode on an instance: the states met so far, the actions taken, and the sum of the rewards."""

    def __init__(self, instance: BlockMDP, path: list[int], actions: list[int], total: float) -> None:
        self.instance, self.path, self.actions, self.total = instance, path, actions, total
        q, values = instance._optimal_tables()
        verdicts = np.where(q >= values[:-1, :, None] - _CLOSE, GOOD, WORSE)
        # where rewards may be below 0, nothing is dead: there may still be something to lose
        self.verdicts = np.where(q <= _CLOSE, DEAD, verdicts) if instance.reward_range[0] >= 0 else verdicts
        self.living = values > _CLOSE
        self.living[-1] = instance.rewards[-1].max(axis=(0, 1)) > 0

    def rungs(self) -> range:
        """The levels that have a rung, as indices from 0."""
        n_levels = self.instance.horizon + 1
        first = max(0, min(len(self.path) - 1 - RUNGS // 2, n_levels - RUNGS))
        return range(first, min(n_levels, first + RUNGS))

    def text(self) -> str:
        """One line for each level: good actions by their number, worse ones as -, dead ones as x, the agent
        in brackets."""
        width = self.instance.n_actions + 4
        lines = [
            "level  "
            + "".join(f"state {s}".center(max(width, 9)) for s in range(max(self.instance.n_states)))
        ]
        for h in reversed(self.rungs()):
            cells = "".join(self._cell(h, s).center(max(width, 9)) for s in range(self.instance.n_states[h]))
            lines.append(f"{h + 1:>5}  {cells}".rstrip())
        last = f"action {self.actions[-1]}, " if self.actions else ""
        return "\n".join([*lines, f"{last}return {self.total:g}"]) + "\n"

    def _cell(self, h: int, s: int) -> str:
        if h == self.instance.horizon:
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
        rungs = [
            picture.Rung(
                number=h + 1,
                living=self.living[h, : self.instance.n_states[h]].tolist(),
                verdicts=self.verdicts[h, : self.instance.n_states[h]].tolist()
                if h < self.instance.horizon
                else None,
                visited=self.path[h] if h < len(self.path) else None,
                taken=self.actions[h] if h < len(self.actions) else None,
            )
            for h in self.rungs()
        ]
        return picture.draw(rungs, max(self.instance.n_states), self.instance.n_actions, self.total)
