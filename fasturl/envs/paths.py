"""The paths of many environments through their running episodes, as pictures show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels.records import Players
from ..problems.buffers import Actions, Mask


class Paths:
    """States, actions and returns of the running episode of each environment."""

    def __init__(self, horizon: int, n_envs: int) -> None:
        self.states = np.zeros((n_envs, horizon + 1), np.int64)
        self.actions = np.zeros((n_envs, horizon), np.int64)
        self.returns = np.zeros(n_envs)

    def begin(self, players: Players, mask: Mask) -> None:
        """Note the first states of the environments of the mask."""
        self.states[mask, 0] = players.states[mask]
        self.returns[mask] = 0.0

    def step(
        self, players: Players, actions: Actions, rewards: NDArray[np.float64], waiting: Mask | None
    ) -> None:
        """Note a step of all environments but those that were waiting for a reset."""
        moved = np.arange(actions.size) if waiting is None else np.flatnonzero(~waiting)
        levels = players.levels[moved]
        self.states[moved, levels] = players.states[moved]
        self.actions[moved, levels - 1] = actions[moved]
        self.returns[moved] += rewards[moved]

    def of(self, index: int, n_steps: int) -> tuple[list[int], list[int], float]:
        """States, actions and return of environment `index`, whose episode has had so many steps."""
        states, actions = self.states[index, : n_steps + 1], self.actions[index, :n_steps]
        return states.tolist(), actions.tolist(), float(self.returns[index])
