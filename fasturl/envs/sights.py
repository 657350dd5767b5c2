"""What many environments see at once: buffers of noise for the episodes under way, and the kernels that read
them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from .._kernels import vector as _vector
from .._kernels.records import Coins, Normals, Players, SharedTables
from ..problems.emissions import LANES, Emission, Gaussian, LockBits

Actions = NDArray[np.int64]
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]
Seen = NDArray[np.generic]


class Sight(ABC):
    """`begin` starts episodes, `step` moves all environments; both fill `out` with what every environment
    shows."""

    @abstractmethod
    def empty(self) -> Seen:
        """Room for what all environments show."""

    @abstractmethod
    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Seen) -> None: ...

    @abstractmethod
    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Seen,
        rewards: Floats,
        ended: Mask,
    ) -> int: ...


class LatentSight(Sight):
    """The latent states themselves."""

    def __init__(self, n_envs: int) -> None:
        self.n_envs = n_envs

    def empty(self) -> Seen:
        return np.empty(self.n_envs, np.int64)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Seen) -> None:
        _vector.begin_latent(tables, players, mask, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Seen,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_latent(tables, players, actions, out, rewards, ended)


class BitSight(Sight):
    """A lock's bits, unpacked when they are shown."""

    def __init__(self, emission: LockBits, n_envs: int) -> None:
        levels, horizon = np.arange(emission.n_levels), emission.n_levels - 1
        n_words = -(-emission.dimension // 64)
        share = max(1, 64 // horizon) if n_words == 1 else 1  # levels to a word
        draws = -(-emission.n_levels * n_words // share)
        raw = np.zeros((n_envs, -(-draws // LANES), LANES), np.uint64)
        self._coins = Coins(
            raw=raw,
            words=raw.reshape(n_envs, -1),
            first=levels // share * n_words,
            shift=(levels % share * horizon).astype(np.uint64),
            room=np.uint64(3 if n_words == 1 else 0),
        )
        self._shape = n_envs, emission.dimension

    def empty(self) -> Seen:
        return np.empty(self._shape, np.int8)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Seen) -> None:
        _vector.begin_bits(tables, players, mask, self._coins, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Seen,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_bits(tables, players, actions, self._coins, out, rewards, ended)


class RealSight(Sight):
    """Normals around the mean of a state."""

    def __init__(self, emission: Gaussian, n_envs: int) -> None:
        block = emission.draw(np.zeros((LANES, LANES), np.uint64), 0)
        coordinates, levels = block.noise.shape[1:]
        pairs = coordinates * levels // 2
        bits = np.empty((pairs // LANES, LANES), np.uint64)
        drawn = np.empty((1, 2, pairs), np.float32)
        noise = np.zeros((levels, n_envs, emission.dimension), np.float32)
        self._normals = Normals(
            deviation=np.float32(emission.noise),
            bits=bits,
            halves=bits.view(np.uint32).reshape(2, pairs),
            drawn=drawn,
            grid=drawn.reshape(coordinates, levels),
            noise=noise,
            flat=noise.reshape(levels, -1),
            means=np.ascontiguousarray(block.means.transpose(2, 0, 1)),
            n_informative=block.head,
        )
        self._shape = n_envs, emission.dimension

    def empty(self) -> Seen:
        return np.empty(self._shape, np.float32)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Seen) -> None:
        _vector.begin_reals(tables, players, mask, self._normals, out, out.reshape(-1))

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Seen,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_reals(
            tables, players, actions, self._normals, out, out.reshape(-1), rewards, ended
        )


class AnySight(Sight):
    """Any other emission: it is asked for every new episode what each state would look like."""

    def __init__(self, emission: Emission, n_envs: int) -> None:
        self._emission = emission
        kind = np.int8 if emission.discrete else np.float32
        self._looks = np.zeros((emission.n_levels, n_envs, emission.n_states, emission.dimension), kind)

    def empty(self) -> Seen:
        return np.empty((self._looks.shape[1], self._looks.shape[3]), self._looks.dtype)

    def begin(self, tables: SharedTables, players: Players, mask: Mask, out: Seen) -> None:
        for e in np.flatnonzero(mask):
            self._looks[:, e] = self._emission.draw(players.emission_rngs[e], 1).every_state()[0]
        _vector.begin_observations(tables, players, mask, self._looks, out)

    def step(
        self,
        tables: SharedTables,
        players: Players,
        actions: Actions,
        out: Seen,
        rewards: Floats,
        ended: Mask,
    ) -> int:
        return _vector.step_observations(tables, players, actions, self._looks, out, rewards, ended)


def sight(emission: Emission | None, n_envs: int) -> Sight:
    """The fastest sight that shows what the emission does; None shows latent states."""
    if emission is None:
        return LatentSight(n_envs)
    if type(emission) is LockBits:
        return BitSight(emission, n_envs)
    if type(emission) is Gaussian:
        return RealSight(emission, n_envs)
    return AnySight(emission, n_envs)
