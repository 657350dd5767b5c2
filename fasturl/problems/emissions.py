"""Emissions: how observations are drawn for latent states.

An emission draws noise for a block of episodes from the emission stream, without knowing policy or state. The
block can then show the observation along any path of states, or hand all of them at once to a decoder.
`Bernoulli` and `Categorical` give bits (uint8 zeros and ones), `Gaussian` and `CEmission` give float32. An
emission of your own is a subclass of `Emission`.
"""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks, plugin_loops
from .._base.c_functions import CFunction, Context, call_of, explain
from .._kernels import dynamics as _dynamics
from .._kernels import emission as _emission
from .._kernels.records import EmissionWorkspace
from .blocks import BitBlock, Block, Floats, ObservationBlock, RealBlock, Rngs, Words
from .buffers import NormalsAroundMeans, ObservationBuffer, StoredObservations
from .description import ObservationSpace

N_RNGS = 4
"""Number of generators side by side in an emission stream."""
LARGEST = 1e15
"""Upper limit on means and noise: observations are float32, and their squares have to be finite."""
_BLOCK_BYTES = 1 << 20  # a usual L2 cache; from there on, larger blocks are no faster
_NORMAL_REACH = 7.0
"""Standard deviations that no normal of ours exceeds: made of 32 bits, they reach 6.8."""


class Emission(ABC):
    """How observations are drawn for latent states, for blocks of episodes at a time.

    A subclass has the attributes `n_levels` (H+1), `n_states` (the largest number of states of a level),
    `dimension` (number of coordinates of an observation) and `discrete` (True for bits, False for reals), and
    implements `draw`. An episode must take a fixed number of draws, so that episode n meets the same noise
    whatever the size of the blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from fasturl.problems.blocks import ObservationBlock
    >>> class OneHot(Emission):
    ...     discrete, n_levels, n_states, dimension = False, 4, 3, 3
    ...     def draw(self, rngs, episodes):
    ...         return ObservationBlock(np.broadcast_to(np.eye(3, dtype=np.float32), (episodes, 4, 3, 3)))
    >>> OneHot().bounds()
    (-inf, inf)
    """

    n_levels: int
    n_states: int
    dimension: int
    discrete: bool

    @abstractmethod
    def draw(self, rngs: Rngs, episodes: int) -> Block:
        """The noise of the next episodes, from the four generators `rngs` (uint64[4, 4]), which advance."""

    def sized(self, n_levels: int, n_states: int) -> Self:
        """The emission for a Block MDP of this size; ValueError where it was made for another."""
        if (self.n_levels, self.n_states) != (n_levels, n_states):
            raise ValueError(
                f"emission must be made for {n_levels} levels and {n_states} states, "
                f"got {self.n_levels} and {self.n_states}"
            )
        return self

    def bounds(self) -> tuple[float, float]:
        """Two numbers between which every coordinate of every observation lies; infinite where they are not
        known."""
        return (0.0, 1.0) if self.discrete else (-math.inf, math.inf)

    def observation_buffer(self, n_envs: int) -> ObservationBuffer:
        """What shows the observations of `n_envs` environments side by side.

        This works for every emission, from `draw` alone. A subclass may have one that is faster and gives the
        same bits.
        """
        return StoredObservations([self] * n_envs, self.n_levels, self.n_states)

    @property
    def observation_space(self) -> ObservationSpace:
        """Kind and dimension of observations, as agents are told."""
        return ObservationSpace("bits" if self.discrete else "reals", self.dimension)

    @property
    def block_episodes(self) -> int:
        """How many episodes make a block that stays in the cache."""
        return max(16, min(512, _BLOCK_BYTES // self._episode_bytes()))

    def _episode_bytes(self) -> int:
        """Memory that an episode takes in a block."""
        return 4 * self.n_levels * self.n_states * self.dimension


class Gaussian(Emission):
    """Real observations N(mean, noise^2 I) around a mean for each state, or for each level and state.

    means
        Array [S, D], or [H+1, S, D] where they depend on the level; at most 1e15 in size.
    noise
        Standard deviation of every coordinate, from 0 to 1e15.
    n_levels
        Number of levels at which there are observations: H+1.
    rotation
        An orthogonal matrix [D, D] applied to observations; None for no rotation. Noise that is equal in all
        directions stays what it is under a rotation, so it is the means that are rotated.

    Examples
    --------
    >>> emission = Gaussian([[-1.0, 0.0], [1.0, 0.0]], noise=0.5, n_levels=4)
    >>> emission.dimension, emission.bounds()
    (2, (-4.5, 4.5))
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
        informative = np.flatnonzero(table.any(axis=(0, 1)))
        self._n_informative = int(informative[-1]) + 1 if informative.size else 0

    def draw(self, rngs: Rngs, episodes: int) -> RealBlock:
        block = self._empty_block(episodes)
        pairs = math.prod(block.noise.shape[1:]) // 2
        bits = np.empty((pairs // N_RNGS, N_RNGS), np.uint64)
        halves = bits.view(np.uint32).reshape(2, pairs)
        normals = block.noise.reshape(episodes, 2, pairs)
        _emission.fill_normals(rngs, bits, halves, np.float32(self.noise), normals)
        return block

    def bounds(self) -> tuple[float, float]:
        if type(self).draw is not Gaussian.draw:
            return super().bounds()
        low, high = float(self._means.min()), float(self._means.max())
        reach = _NORMAL_REACH * self.noise or float(low == high)
        return low - reach, high + reach

    def observation_buffer(self, n_envs: int) -> ObservationBuffer:
        if type(self).draw is not Gaussian.draw:
            return super().observation_buffer(n_envs)
        return NormalsAroundMeans(self._empty_block(0), self.noise, n_envs)

    def _empty_block(self, episodes: int) -> RealBlock:
        """A block whose noise is still to be filled."""
        # normals come in pairs from words that come four at a time, so an episode has a multiple of eight
        coordinates = self.dimension
        while coordinates * self.n_levels % (2 * N_RNGS):
            coordinates += 1
        noise = np.empty((episodes, coordinates, self.n_levels), np.float32)
        return RealBlock(noise, self._means, self._n_informative)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class Bernoulli(Emission):
    """Independent bits, each set with a frequency that depends on the state, or on the level and the state.

    frequencies
        Array [S, D] of probabilities, or [H+1, S, D] where they depend on the level.
    n_levels
        Number of levels at which there are observations: H+1.

    Examples
    --------
    >>> emission = Bernoulli([[0.1, 0.9, 0.5], [0.9, 0.1, 0.5]], n_levels=4)
    >>> emission.n_states, emission.dimension
    (2, 3)
    """

    discrete = True

    def __init__(self, frequencies: ArrayLike, *, n_levels: int) -> None:
        table = _per_level("frequencies", frequencies, n_levels).astype(np.float64)
        if not np.all((table >= 0) & (table <= 1)):
            raise ValueError(f"frequencies must be in [0, 1], got {table.min():g}..{table.max():g}")
        self.n_levels, self.n_states, self.dimension = table.shape
        self._thresholds = np.round(table * 2.0**32).astype(np.uint64)

    def draw(self, rngs: Rngs, episodes: int) -> BitBlock:
        raw = raw_words(rngs, episodes, -(-self.n_levels * self.dimension // 2))
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.bernoulli_words(raw.view(np.uint32), self._thresholds, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * self.dimension


class Categorical(Emission):
    """One of C symbols, observed as its one-hot code of C bits.

    probabilities
        Array [S, C] of the probabilities of the symbols in each state, or [H+1, S, C] where they depend on
        the level; they sum to 1 over symbols.
    n_levels
        Number of levels at which there are observations: H+1.

    Examples
    --------
    >>> emission = Categorical([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]], n_levels=4)
    >>> emission.n_states, emission.dimension
    (2, 3)
    """

    discrete = True

    def __init__(self, probabilities: ArrayLike, *, n_levels: int) -> None:
        table = checks.probabilities(
            "probabilities", _per_level("probabilities", probabilities, n_levels), "symbols"
        )
        self.n_levels, self.n_states, self.dimension = table.shape
        self._cumulative = cumulative(table)

    def draw(self, rngs: Rngs, episodes: int) -> BitBlock:
        raw = raw_words(rngs, episodes, self.n_levels)
        words = np.empty((episodes, self.n_levels, self.n_states, -(-self.dimension // 64)), np.uint64)
        _emission.categorical_words(raw, self._cumulative, words)
        return BitBlock(words, self.dimension)

    def _episode_bytes(self) -> int:
        return self.n_states * self.n_levels * 8 * -(-self.dimension // 64)


class CEmission(Emission):
    """Real observations that a C function writes: it has the signature of `fasturl_emission_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL.
    dimension
        Number of coordinates of an observation, 1 or more.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes.
    n_levels, n_states
        Numbers of levels (H+1) and states; by default those of the Block MDP that the emission is given to.

    `docs/c-plugins.md` has complete examples, such as
    `BlockMDP(transitions, rewards, emission=CEmission(library.observe, dimension=8))`.
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
        sized = copy.copy(self)
        sized.n_levels, sized.n_states = self.n_levels or n_levels, self.n_states or n_states
        return super(CEmission, sized).sized(n_levels, n_states)

    def draw(self, rngs: Rngs, episodes: int) -> ObservationBlock:
        observations = np.empty((episodes, self.n_levels, self.n_states, self.dimension), np.float32)
        problem = np.zeros(3, np.int64)
        workspace = EmissionWorkspace(seeds=np.empty((1, N_RNGS), np.uint64), rng=np.empty(4, np.uint64))
        call = call_of(self._function, self._context)
        plugin_loops.emission_observations(rngs, call, workspace, observations, problem)
        if problem[0] == plugin_loops.NUMBER:
            level, coordinate = problem[1], problem[2]
            wrong = observations[:, level - 1, :, coordinate]
            value = wrong[~np.isfinite(wrong)][0]
            raise ValueError(
                f"{self._function.name} must give finite numbers, "
                f"got {value} in coordinate {coordinate} at level {level}"
            )
        explain(problem, self._function, "finite numbers")
        return ObservationBlock(observations)


def cumulative(chances: Floats) -> Floats:
    """Running sums of probabilities along the last axis; the kernel says what is made of rounding."""
    rows = np.ascontiguousarray(chances, np.float64).reshape(-1, chances.shape[-1])
    sums = np.empty_like(rows)
    _dynamics.cumulate(rows, sums)
    return sums.reshape(chances.shape)


def _per_level(name: str, table: ArrayLike, n_levels: int) -> NDArray[Any]:
    levels = checks.integer("n_levels", n_levels, least=1)
    array = checks.real_array(name, table)
    if array.ndim not in (2, 3) or 0 in array.shape or (array.ndim == 3 and array.shape[0] != levels):
        raise ValueError(
            f"{name} must have shape [states, coordinates] or [{levels}, states, coordinates], "
            f"got {array.shape}"
        )
    return np.broadcast_to(array, (levels, *array.shape[-2:]))


def _orthogonal(rotation: ArrayLike, size: int) -> Floats:
    matrix = checks.real_array("rotation", rotation).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.shape != (size, size) or not np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-6):
            raise ValueError(
                f"rotation must be an orthogonal matrix of shape {(size, size)}, "
                f"got {checks.short_repr(rotation)}"
            )
    return matrix


def raw_words(rngs: Rngs, episodes: int, count: int) -> Words:
    """Rows of at least `count` raw words, one row for each episode."""
    raw = np.empty((episodes, -(-count // N_RNGS), N_RNGS), np.uint64)
    _emission.fill_words(rngs, raw)
    return raw.reshape(episodes, -1)
