"""Observation buffers: what many environments show at once.

A vector environment moves all its environments with one kernel call, which also writes what each of them
shows. The noise of the episodes under way lies in a buffer, level by level. Every emission has a buffer: the
one that works for all, `StoredObservations`, draws an episode as `Emission.draw` does and keeps the
observation of every state; an emission that can do better brings its own (`Emission.observation_buffer`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import vector as _vector
from .._kernels.records import Normals, Players, SharedTables
from .blocks import RealBlock
from .checked_blocks import BlockSize, draw_block

if TYPE_CHECKING:
    from .emissions import Emission

Actions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Observations = NDArray[Any]


class ObservationBuffer(ABC):
    """Observation side of a vector environment: holds the noise of the running episodes and writes the
    current observation of every environment into `out`."""

    @abstractmethod
    def empty(self) -> Observations:
        """A fresh array for the observations of all environments, with their shape and type."""

    @abstractmethod
    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Observations) -> None:
        """Begin an episode in each environment of the mask (bool[N])."""

    @abstractmethod
    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Observations,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        """Take one action in each environment whose episode is not over, and fill `rewards` and `ended`
        (float64[N], bool[N]); returns how many episodes this ended."""


class LatentStates(ObservationBuffer):
    """Shows the latent states themselves, int64[N]."""

    def __init__(self, n_envs: int) -> None:
        self._n_envs = n_envs

    def empty(self) -> Observations:
        return np.empty(self._n_envs, np.int64)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Observations) -> None:
        _vector.begin_latent(tables, players, mask, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Observations,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_latent(tables, players, actions, out, rewards, ended)


class NormalsAroundMeans(ObservationBuffer):
    """Holds normals, to which the mean of the state is added when an observation is shown: float32[N, D].

    block
        A block of no episodes of the emission, for its means and its layout.
    deviation
        Standard deviation of the normals.
    """

    def __init__(self, block: RealBlock, deviation: float, n_envs: int) -> None:
        coordinates, levels = block.noise.shape[1:]
        grid = np.empty((2, coordinates, levels), np.float32)
        noise = np.zeros((levels, n_envs, block.dimension), np.float32)
        self._normals = Normals(
            deviation=np.float32(deviation),
            drawn=grid.reshape(2, 2, -1),
            grid=grid,
            noise=noise,
            flat=noise.reshape(levels, -1),
            means=np.ascontiguousarray(block.means.transpose(2, 0, 1)),
            n_informative=block.n_informative,
        )
        self._shape = n_envs, block.dimension

    def empty(self) -> Observations:
        return np.empty(self._shape, np.float32)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Observations) -> None:
        _vector.begin_reals(tables, players, mask, self._normals, out, out.reshape(-1))

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Observations,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_reals(
            tables, players, actions, self._normals, out, out.reshape(-1), rewards, ended
        )


class StoredObservations(ObservationBuffer):
    """Holds the observation of every state at every level of the running episodes, as `Emission.draw` gives
    them: int8[N, D] for bits, float32[N, D] for reals.

    emissions
        The emission of each environment. The list is read whenever an episode begins, so it may change with
        the instances; all emissions have the kind and dimension of the first.
    n_levels, n_states
        H+1, and the greatest number of states that a level can have.
    """

    def __init__(self, emissions: Sequence[Emission | None], n_levels: int, n_states: int) -> None:
        first = emissions[0]
        assert first is not None
        self._emissions, self._space = emissions, first.observation_space
        kind = np.int8 if first.discrete else np.float32
        self._observations = np.zeros((n_levels, len(emissions), n_states, first.dimension), kind)

    def empty(self) -> Observations:
        _, n_envs, _, dimension = self._observations.shape
        return np.empty((n_envs, dimension), self._observations.dtype)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Observations) -> None:
        for e in np.flatnonzero(mask).tolist():
            emission = self._emissions[e]
            assert emission is not None
            size = BlockSize(len(self._observations), emission.n_states, self._space)
            every_state = draw_block(emission, players.emission_rngs[e], 1, size).every_state()[0]
            self._observations[:, e, : every_state.shape[1]] = every_state
        _vector.begin_observations(tables, players, mask, self._observations, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Observations,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_observations(tables, players, actions, self._observations, out, rewards, ended)
