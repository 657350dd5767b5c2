"""The level as a part of what is observed.

What is right to do in a state depends on the level, which an observation alone need not tell. Agents that are
handed nothing but observations can be shown it: with `observe_level=True` the one-hot of the level, one entry
for each of the levels 1 to H+1, stands behind the observation. A latent state becomes the pair (state, level
index from 0).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray


class LevelBehind:
    """Appends the level to observations of a space, those of one environment or of many.

    space
        Of the observations as they are without the level: `Discrete`, `MultiBinary` or a `Box` of one axis.
    n_levels
        H + 1.
    """

    def __init__(self, space: spaces.Space[Any], n_levels: int) -> None:
        self._one_hots = np.eye(n_levels, dtype=space.dtype)
        self._shows_number = isinstance(space, spaces.Discrete)
        self._n_shown = 1 if self._shows_number else math.prod(space.shape or ())
        self.space: spaces.Space[Any]
        if isinstance(space, spaces.Discrete):
            self.space = spaces.MultiDiscrete([int(space.n), n_levels])
        elif isinstance(space, spaces.MultiBinary):
            self.space = spaces.MultiBinary(self._n_shown + n_levels)
        else:
            assert isinstance(space, spaces.Box), "no emission has another space"
            low = np.append(space.low, np.zeros(n_levels, np.float32))
            high = np.append(space.high, np.ones(n_levels, np.float32))
            self.space = spaces.Box(low, high, dtype=np.float32)

    def empty(self, n_envs: int) -> NDArray[Any]:
        """An array for the observations of so many environments."""
        return np.empty((n_envs, *(self.space.shape or ())), self.space.dtype)

    def fill(self, observations: NDArray[Any], levels: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Write observations of many environments, and their levels counted from 0, into `out`."""
        if self._shows_number:
            out[:, 0], out[:, 1] = observations, levels
        else:
            out[:, : self._n_shown] = observations
            out[:, self._n_shown :] = self._one_hots[levels]

    def one(self, observation: Any, level: int) -> NDArray[Any]:
        """One observation with its level, counted from 0, behind it."""
        out = self.empty(1)
        self.fill(np.asarray(observation)[None], np.array([level]), out)
        row: NDArray[Any] = out[0]
        return row
