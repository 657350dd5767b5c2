"""Emissions: how a latent state looks.

An emission draws noise for a block of episodes from the emission stream, without knowing policy or state. The
block can then show the observation along any path of states, or hand all of them at once to a decoder.
`Bernoulli` and `Categorical` give bits (uint8 zeros and ones), `Gaussian` gives float32.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks, plugin_loops
from .._base.c_functions import CFunction, Context, call_of, explain
from .._kernels import dynamics as _dynamics
from .._kernels import emission as _emission
from .._kernels.records import EmissionWorkspace
from .blocks import BitBlock, Block, Floats, RealBlock, ObservationBlock, Stream, Words

LANES = 4
"""Generators side by side in an emission stream."""
LARGEST = 1e15
"""Of means and noise: observations are float32, and their squares have to be finite."""
_BLOCK_BYTES = 1 << 20  # a usual L2 cache; from there on, larger blocks are no faster


class Emission(ABC):
    """How latent states look: what draws the noise of blocks of episodes."""

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
            raise ValueError(
                f"emission must be made for {n_levels} levels and {n_states} states, got {self.n_levels} and {self.n_states}"
            )
        return self

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
        An orthogonal matrix [D, D] applied to observations. Noise that is equal in all directions stays what
        it is under a rotation, so it is the means that are rotated.
    """

    discrete = False

    def __init__(
        self, means: ArrayLike, noise: float, *, n_levels: int, rotation: ArrayLike | None = None
    ) -> None:
        self.noise = checks.real("noise", noise, least=0, most=LARGEST)
        table = _per_level("means", means, n_levels).astype(np.float64)
        if not np.all(np.abs(table) <= LARGEST):
            raise ValueError(
                f"means must be in [{-LARGEST:g}, {LARGEST:g}], got {table.min():g}..{table.max():g}"
            )
        if rotation is not None:
            table = table @ _orthogonal(rotation, table.shape[2]).T
        self.n_levels, self.n_states, self.dimension = table.shape
        self._means = np.ascontiguousarray(table.transpose(1, 2, 0), np.float32)
        occupied = np.flatnonzero(table.any(axis=(0, 1)))
        self._head = int(occupied[-1]) + 1 if occupied.size else 0

    def draw(self, lanes: Stream, episodes: int) -> RealBlock:
        # normals come in pairs from words that come four at a time, so an episode has a multiple of eight
        coordinates = next(
            n
            for n in range(self.dimension, self.dimension + 2 * LANES)
            if n * self.n_levels % (2 * LANES) == 0
        )
        pairs = coordinates * self.n_levels // 2
        bits = np.empty((pairs // LANES, LANES), np.uint64)
        noise = np.empty((episodes, coordinates, self.n_levels), np.float32)
        halves = bits.view(np.uint32).reshape(2, pairs)
        _emission.fill_normals(lanes, bits, halves, np.float32(self.noise), noise.reshape(episodes, 2, pairs))
        return RealBlock(noise, self._means, self._head)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


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
        raw = raw_words(lanes, episodes, -(-self.n_levels * self.dimension // 2))
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.bernoulli_words(raw.view(np.uint32), self._thresholds, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class Categorical(Emission):
    """One of C symbols, seen as its one-hot code: probabilities [S, C], or [H+1, S, C]."""

    discrete = True

    def __init__(self, probabilities: ArrayLike, *, n_levels: int) -> None:
        table = checks.probabilities(
            "probabilities", _per_level("probabilities", probabilities, n_levels), "symbols"
        )
        self.n_levels, self.n_states, self.dimension = table.shape
        self._cumulative = cumulative(table)

    def draw(self, lanes: Stream, episodes: int) -> BitBlock:
        raw = raw_words(lanes, episodes, self.n_levels)
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.categorical_words(raw, self._cumulative, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return self.n_states * self.n_levels * 8 * -(-self.dimension // 64)


class CEmission(Emission):
    """An emission written in C: a function with the signature of `fasturl_emission_fn` in fasturl.h, for real
    observations.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL.
    dimension
        Number of coordinates of an observation.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes.

    Numbers of levels and states are those of the model that it is given to, unless they are given here.
    """

    discrete = False

    def __init__(
        self,
        pointer: Any,
        dimension: int,
        context: Any = None,
        *,
        n_levels: int | None = None,
        n_states: int | None = None,
    ) -> None:
        self._function = CFunction(pointer, "fasturl_emission_fn")
        self._context = Context(context)
        self.dimension = checks.integer("dimension", dimension, least=1)
        self.n_levels = 0 if n_levels is None else checks.integer("n_levels", n_levels, least=1)
        self.n_states = 0 if n_states is None else checks.integer("n_states", n_states, least=1)

    def sized(self, n_levels: int, n_states: int) -> Self:
        made = copy.copy(self)
        made.n_levels, made.n_states = self.n_levels or n_levels, self.n_states or n_states
        return super(CEmission, made).sized(n_levels, n_states)

    def draw(self, lanes: Stream, episodes: int) -> ObservationBlock:
        seen = np.empty((episodes, self.n_levels, self.n_states, self.dimension), np.float32)
        problem = np.zeros(3, np.int64)
        workspace = EmissionWorkspace(seeds=np.empty((1, LANES), np.uint64), rng=np.empty(4, np.uint64))
        plugin_loops.emission_observations(
            lanes, call_of(self._function, self._context), workspace, seen, problem
        )
        if problem[0] == plugin_loops.NUMBER:
            wrong = seen[:, problem[1] - 1, :, problem[2]]
            value = wrong[~np.isfinite(wrong)][0]
            raise ValueError(
                f"{self._function.name} must give finite numbers, got {value} in coordinate {problem[2]} at level {problem[1]}"
            )
        explain(problem, self._function, "finite numbers")
        return ObservationBlock(seen)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.n_states * self.dimension


def cumulative(chances: Floats) -> Floats:
    """Running sums of probabilities along the last axis; the kernel says what is made of rounding."""
    rows = np.ascontiguousarray(chances, np.float64).reshape(-1, chances.shape[-1])
    sums = np.empty_like(rows)
    _dynamics.cumulate(rows, sums)
    return sums.reshape(chances.shape)


def _per_level(name: str, table: ArrayLike, n_levels: int) -> NDArray[Any]:
    levels = checks.integer("n_levels", n_levels, least=1)
    given = checks.real_array(name, table)
    if given.ndim not in (2, 3) or 0 in given.shape or (given.ndim == 3 and given.shape[0] != levels):
        raise ValueError(
            f"{name} must have shape [states, coordinates] or [{levels}, states, coordinates], got {given.shape}"
        )
    return np.broadcast_to(given, (levels, *given.shape[-2:]))


def _orthogonal(rotation: ArrayLike, size: int) -> Floats:
    matrix = checks.real_array("rotation", rotation).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.shape != (size, size) or not np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-6):
            raise ValueError(
                f"rotation must be an orthogonal matrix of shape {(size, size)}, got {checks.short_repr(rotation)}"
            )
    return matrix


def raw_words(lanes: Stream, episodes: int, count: int) -> Words:
    """Rows of at least `count` raw words, one row for each episode."""
    raw = np.empty((episodes, -(-count // LANES), LANES), np.uint64)
    _emission.fill_words(lanes, raw)
    return raw.reshape(episodes, -1)
