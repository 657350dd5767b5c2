"""Emissions: how a latent state looks.

An emission draws noise for a block of episodes from the emission stream, without knowing policy or state. The block can
then show the observation along any path of states, or hand all of them at once to a decoder. `LockBits`, `Bernoulli`
and `Categorical` give bits (uint8 zeros and ones), `Gaussian` gives float32.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import plugin_loops, validation
from ._kernels import dynamics as _dynamics
from ._kernels import emission as _emission
from .plugins import CFunction, Context, explain

LANES = 4
"""Generators side by side in an emission stream."""
LARGEST = 1e15
"""Of means and noise: observations are float32, and their squares have to be finite."""
_BLOCK_BYTES = 1 << 20  # a usual L2 cache; from there on, larger blocks are no faster

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
Words = NDArray[np.uint64]
Stream = NDArray[np.uint64]
States = NDArray[np.int64]


class Block(ABC):
    """The observations of some episodes, for every state that each level can have."""

    n_episodes: int
    n_levels: int
    n_states: int
    dimension: int

    @abstractmethod
    def observe(self, states: States) -> NDArray[np.generic]:
        """What is seen along the paths `states` [E, L]: an array [E, L, D]."""

    @abstractmethod
    def level(self, h: int) -> Block:
        """What belongs to level h alone."""

    @abstractmethod
    def episodes(self, first: int, end: int) -> Block:
        """What belongs to the episodes from `first` up to `end`."""

    def every_state(self) -> NDArray[np.generic]:
        """What would be seen in each state: an array [E, L, S, D]."""
        shape = (self.n_episodes, self.n_levels)
        return np.stack([self.observe(np.full(shape, s, np.int64)) for s in range(self.n_states)], axis=2)


@dataclass(frozen=True)
class RealBlock(Block):
    """Noise to which the mean of a state is added."""

    noise: Reals
    """[E, D or more, L]"""
    means: Reals
    """[S, D, L]"""
    head: int
    """Coordinates from here on have mean 0 in every state."""

    def __post_init__(self) -> None:
        sizes = zip(("n_states", "dimension", "n_levels"), self.means.shape, strict=True)
        for name, value in (*sizes, ("n_episodes", self.noise.shape[0])):
            object.__setattr__(self, name, value)

    def observe(self, states: States) -> Reals:
        out = np.empty((self.n_episodes, self.n_levels, self.dimension), np.float32)
        _emission.observe_reals(self.noise, self.means, np.ascontiguousarray(states), out)
        return out

    def level(self, h: int) -> RealBlock:
        noise, means = self.noise[:, :, h : h + 1], self.means[:, :, h : h + 1]
        return RealBlock(np.ascontiguousarray(noise), np.ascontiguousarray(means), self.head)

    def episodes(self, first: int, end: int) -> RealBlock:
        return RealBlock(self.noise[first:end], self.means, self.head)


@dataclass(frozen=True)
class BitBlock(Block):
    """Packed observations, [E, L, S, W]."""

    words: Words
    dimension: int

    def __post_init__(self) -> None:
        for name, value in zip(("n_episodes", "n_levels", "n_states"), self.words.shape[:3], strict=True):
            object.__setattr__(self, name, value)

    def observe(self, states: States) -> NDArray[np.uint8]:
        episodes, levels = np.ogrid[: self.n_episodes, : self.n_levels]
        return self._unpack(self.words[episodes, levels, states])

    def level(self, h: int) -> BitBlock:
        return BitBlock(np.ascontiguousarray(self.words[:, h : h + 1]), self.dimension)

    def episodes(self, first: int, end: int) -> BitBlock:
        return BitBlock(self.words[first:end], self.dimension)

    def every_state(self) -> NDArray[np.uint8]:
        return self._unpack(self.words)

    def _unpack(self, words: Words) -> NDArray[np.uint8]:
        out = np.empty((words.size // words.shape[-1], self.dimension), np.uint8)
        _emission.unpack(words.reshape(-1, words.shape[-1]), out)
        return out.reshape(*words.shape[:-1], self.dimension)


@dataclass(frozen=True)
class SeenBlock(Block):
    """Observations of every state as they are, [E, L, S, D]."""

    seen: Reals

    def __post_init__(self) -> None:
        for name, value in zip(("n_episodes", "n_levels", "n_states", "dimension"), self.seen.shape, strict=True):
            object.__setattr__(self, name, value)

    def observe(self, states: States) -> Reals:
        episodes, levels = np.ogrid[: self.n_episodes, : self.n_levels]
        return np.asarray(self.seen[episodes, levels, states])

    def level(self, h: int) -> SeenBlock:
        return SeenBlock(self.seen[:, h : h + 1])

    def episodes(self, first: int, end: int) -> SeenBlock:
        return SeenBlock(self.seen[first:end])

    def every_state(self) -> Reals:
        return self.seen


class Emission(ABC):
    n_levels: int
    n_states: int
    dimension: int
    discrete: bool

    @abstractmethod
    def draw(self, lanes: Stream, episodes: int) -> Block:
        """The noise of the next episodes."""

    def sized(self, n_levels: int, n_states: int) -> Self:
        """The emission for a model of this size, which may be refused."""
        if (self.n_levels, self.n_states) != (n_levels, n_states):
            raise ValueError(f"emission must be made for {n_levels} levels and {n_states} states, got {self.n_levels} and {self.n_states}")
        return self

    def looks(self) -> NDArray[Any] | None:
        """What each state looks like at each level, [H+1, S, ...]; None where that is the same at all levels or cannot be known."""
        return None

    @property
    def block_episodes(self) -> int:
        """How many episodes make a block that stays in the cache."""
        return max(16, min(512, _BLOCK_BYTES // self._episode_bytes()))

    @abstractmethod
    def _episode_bytes(self) -> int: ...


class Gaussian(Emission):
    """N(mean, noise^2 I) around a mean for each state, or for each level and state.

    means
        Array [S, D], or [H+1, S, D] where the look of a state depends on the level.
    noise
        Standard deviation of every coordinate.
    rotation
        An orthogonal matrix [D, D] applied to observations. Noise that is equal in all directions stays what it is under a
        rotation, so it is the means that are rotated.
    """

    discrete = False

    def __init__(self, means: ArrayLike, noise: float, *, n_levels: int, rotation: ArrayLike | None = None) -> None:
        self.noise = validation.real("noise", noise, least=0, most=LARGEST)
        table = _per_level("means", means, n_levels).astype(np.float64)
        if not np.all(np.abs(table) <= LARGEST):
            raise ValueError(f"means must be in [{-LARGEST:g}, {LARGEST:g}], got {table.min():g}..{table.max():g}")
        if rotation is not None:
            table = table @ _orthogonal(rotation, table.shape[2]).T
        self.n_levels, self.n_states, self.dimension = table.shape
        self._means = np.ascontiguousarray(table.transpose(1, 2, 0), np.float32)
        occupied = np.flatnonzero(table.any(axis=(0, 1)))
        self._head = int(occupied[-1]) + 1 if occupied.size else 0

    def draw(self, lanes: Stream, episodes: int) -> RealBlock:
        # normals come in pairs from words that come four at a time, so an episode has a multiple of eight
        coordinates = next(n for n in range(self.dimension, self.dimension + 2 * LANES) if n * self.n_levels % (2 * LANES) == 0)
        pairs = coordinates * self.n_levels // 2
        bits = np.empty((pairs // LANES, LANES), np.uint64)
        noise = np.empty((episodes, coordinates, self.n_levels), np.float32)
        halves = bits.view(np.uint32).reshape(2, pairs)
        _emission.fill_normals(lanes, bits, halves, np.float32(self.noise), noise.reshape(episodes, 2, pairs))
        return RealBlock(noise, self._means, self._head)

    def looks(self) -> Reals:
        return self._means.transpose(2, 0, 1)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class LockBits(Emission):
    """The one-hot code of the latent state in three bits, then a fair coin for each of the H levels."""

    discrete = True
    n_states = 3

    def __init__(self, horizon: int) -> None:
        self.n_levels = validation.integer("horizon", horizon, least=1) + 1
        self.dimension = self.n_levels + 2

    def draw(self, lanes: Stream, episodes: int) -> BitBlock:
        horizon, n_words = self.n_levels - 1, -(-self.dimension // 64)
        draws = -(-self.n_levels // max(1, 64 // horizon)) if n_words == 1 else self.n_levels * n_words
        raw = _raw_words(lanes, episodes, draws)
        words = np.empty((episodes, self.n_levels, 3, n_words), np.uint64)
        _emission.lock_words(raw, horizon, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return 3 * self.n_levels * 8 * -(-self.dimension // 64)


class Bernoulli(Emission):
    """Independent bits: frequencies [S, D], or [H+1, S, D] where they depend on the level."""

    discrete = True

    def __init__(self, frequencies: ArrayLike, *, n_levels: int) -> None:
        table = _per_level("frequencies", frequencies, n_levels).astype(np.float64)
        if not np.all((table >= 0) & (table <= 1)):
            raise ValueError(f"frequencies must be in [0, 1], got {table.min():g}..{table.max():g}")
        self.n_levels, self.n_states, self.dimension = table.shape
        self._thresholds = np.round(table * 2.0**32).astype(np.uint64)

    def draw(self, lanes: Stream, episodes: int) -> BitBlock:
        raw = _raw_words(lanes, episodes, -(-self.n_levels * self.dimension // 2))
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.bernoulli_words(raw.view(np.uint32), self._thresholds, words)
        return BitBlock(words, self.dimension)

    def looks(self) -> Words:
        return self._thresholds

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class Categorical(Emission):
    """One of C symbols, seen as its one-hot code: probabilities [S, C], or [H+1, S, C]."""

    discrete = True

    def __init__(self, probabilities: ArrayLike, *, n_levels: int) -> None:
        table = validation.probabilities("probabilities", _per_level("probabilities", probabilities, n_levels), "symbols")
        self.n_levels, self.n_states, self.dimension = table.shape
        self._cumulative = cumulative(table)

    def draw(self, lanes: Stream, episodes: int) -> BitBlock:
        raw = _raw_words(lanes, episodes, self.n_levels)
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.categorical_words(raw, self._cumulative, words)
        return BitBlock(words, self.dimension)

    def looks(self) -> Floats:
        return self._cumulative

    def _episode_bytes(self) -> int:
        return self.n_states * self.n_levels * 8 * -(-self.dimension // 64)


class CEmission(Emission):
    """An emission written in C: a function with the signature of `fasturl_emission_fn` in fasturl.h, for real observations.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once, without the GIL.
    dimension
        Number of coordinates of an observation.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or ctypes.

    Numbers of levels and states are those of the model that it is given to, unless they are given here.
    """

    discrete = False

    def __init__(
        self, pointer: Any, dimension: int, context: Any = None, *, n_levels: int | None = None, n_states: int | None = None
    ) -> None:
        self._function = CFunction(pointer, "fasturl_emission_fn")
        self._context = Context(context)
        self.dimension = validation.integer("dimension", dimension, least=1)
        self.n_levels = 0 if n_levels is None else validation.integer("n_levels", n_levels, least=1)
        self.n_states = 0 if n_states is None else validation.integer("n_states", n_states, least=1)

    def sized(self, n_levels: int, n_states: int) -> Self:
        made = copy.copy(self)
        made.n_levels, made.n_states = self.n_levels or n_levels, self.n_states or n_states
        return super(CEmission, made).sized(n_levels, n_states)

    def draw(self, lanes: Stream, episodes: int) -> SeenBlock:
        seen = np.empty((episodes, self.n_levels, self.n_states, self.dimension), np.float32)
        problem, seeds = np.zeros(3, np.int64), np.empty((1, LANES), np.uint64)
        function, context = np.uint64(self._function.address), np.uint64(self._context.address)
        plugin_loops.emission_observations(lanes, function, context, seeds, np.empty(4, np.uint64), seen, problem)
        if problem[0] == plugin_loops.NUMBER:
            wrong = seen[:, problem[1], :, problem[2]]
            value = wrong[~np.isfinite(wrong)][0]
            raise ValueError(
                f"{self._function.name} must give finite numbers, got {value} in coordinate {problem[2]} at level {problem[1]}"
            )
        explain(problem, self._function, "finite numbers")
        return SeenBlock(seen)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.n_states * self.dimension


def cumulative(chances: Floats) -> Floats:
    """Running sums of probabilities along the last axis; the kernel says what is made of rounding."""
    rows = np.ascontiguousarray(chances, np.float64).reshape(-1, chances.shape[-1])
    sums = np.empty_like(rows)
    _dynamics.cumulate(rows, sums)
    return sums.reshape(chances.shape)


def _per_level(name: str, table: ArrayLike, n_levels: int) -> NDArray[Any]:
    levels = validation.integer("n_levels", n_levels, least=1)
    given = validation.real_array(name, table)
    if given.ndim not in (2, 3) or 0 in given.shape or (given.ndim == 3 and given.shape[0] != levels):
        raise ValueError(f"{name} must have shape [states, coordinates] or [{levels}, states, coordinates], got {given.shape}")
    return np.broadcast_to(given, (levels, *given.shape[-2:]))


def _orthogonal(rotation: ArrayLike, size: int) -> Floats:
    matrix = validation.real_array("rotation", rotation).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.shape != (size, size) or not np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-6):
            raise ValueError(f"rotation must be an orthogonal matrix of shape {(size, size)}, got {validation.shown(rotation)}")
    return matrix


def _raw_words(lanes: Stream, episodes: int, count: int) -> Words:
    """Rows of at least `count` raw words, one row for each episode."""
    raw = np.empty((episodes, -(-count // LANES), LANES), np.uint64)
    _emission.fill_words(lanes, raw)
    return raw.reshape(episodes, -1)
