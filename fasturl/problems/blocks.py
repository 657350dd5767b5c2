"""Blocks of noise: the observations of some episodes, for every state that each level can have."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.kernel_arrays import for_kernels
from .._kernels import emission as _emission
from .._kernels.records import RealObservations

Floats = NDArray[np.float64]
Reals = NDArray[np.float32]
Words = NDArray[np.uint64]
Rngs = NDArray[np.uint64]
States = NDArray[np.int64]


class Block(ABC):
    """The observations of some episodes, for every state that each level can have."""

    n_episodes: int
    n_levels: int
    n_states: int
    dimension: int
    kind: ClassVar[str] = ""
    """The kind of observations, "bits" or "reals", whose arrays kernels read as they are; empty for a block
    that they ask for the observations of every state."""

    def problem(self) -> str:
        """What the arrays must hold and do not, in words; empty where all is well."""
        return ""

    @abstractmethod
    def observe(self, states: States) -> NDArray[np.generic]:
        """The observations along the paths `states` [E, L]: an array [E, L, D]."""

    def observe_into(self, states: States, out: NDArray[Any]) -> None:
        """Fill `out` [E, L, D] with these observations."""
        out[:] = self.observe(states)

    @abstractmethod
    def level(self, h: int) -> Block:
        """The block of one level alone, h counting from 0."""

    @abstractmethod
    def episodes(self, first: int, end: int) -> Block:
        """The block of the episodes from `first` up to but without `end`."""

    def every_state(self) -> NDArray[np.generic]:
        """The observation that each state would show: an array [E, L, S, D]."""
        shape = (self.n_episodes, self.n_levels)
        return np.stack([self.observe(np.full(shape, s, np.int64)) for s in range(self.n_states)], axis=2)


@dataclass(frozen=True)
class RealBlock(Block):
    """Noise to which the mean of a state is added."""

    noise: Reals
    """[E, D or more, L]"""
    means: Reals
    """[S, D, L]"""
    n_informative: int
    """Coordinates from here on have mean 0 in every state."""
    kind: ClassVar[str] = "reals"

    def __post_init__(self) -> None:
        _keep_array(self, "noise", 3)
        _keep_array(self, "means", 3)
        _, dimension, n_levels = self.means.shape
        if self.noise.shape[1] < dimension or self.noise.shape[2] != n_levels:
            raise ValueError(
                f"noise of a block must have shape [E, {dimension} or more, {n_levels}] as its means have, "
                f"got {self.noise.shape}"
            )
        informative = checks.integer("n_informative of a block", self.n_informative, least=0, most=dimension)
        sizes = zip(("n_states", "dimension", "n_levels"), self.means.shape, strict=True)
        for name, value in (*sizes, ("n_episodes", self.noise.shape[0]), ("n_informative", informative)):
            object.__setattr__(self, name, value)

    def problem(self) -> str:
        noise, means, dimension = self.noise, self.means, self.means.shape[1]
        if noise.dtype != np.float32 or means.dtype != np.float32:
            return f"noise and means of float32, got {noise.dtype} and {means.dtype}"
        if means[:, self.n_informative :].any():
            return f"means of 0 from coordinate n_informative = {self.n_informative} on, got others"
        if not (np.isfinite(noise[:, :dimension]).all() and np.isfinite(means).all()):
            return "finite numbers, got nan or infinity"
        return ""

    def observe(self, states: States) -> Reals:
        out = np.empty((self.n_episodes, self.n_levels, self.dimension), np.float32)
        self.observe_into(states, out)
        return out

    def observe_into(self, states: States, out: Reals) -> None:
        _emission.observe_reals(self.arrays(), np.ascontiguousarray(states), out)

    def arrays(self) -> RealObservations:
        """The block as kernels take it."""
        return RealObservations(self.noise, self.means, self.n_informative)

    def level(self, h: int) -> RealBlock:
        noise, means = self.noise[:, :, h : h + 1], self.means[:, :, h : h + 1]
        return RealBlock(noise, means, self.n_informative)

    def episodes(self, first: int, end: int) -> RealBlock:
        return RealBlock(self.noise[first:end], self.means, self.n_informative)


@dataclass(frozen=True)
class BitBlock(Block):
    """Packed observations, [E, L, S, W]."""

    words: Words
    dimension: int
    kind: ClassVar[str] = "bits"

    def __post_init__(self) -> None:
        _keep_array(self, "words", 4)
        for name, value in zip(("n_episodes", "n_levels", "n_states"), self.words.shape[:3], strict=True):
            object.__setattr__(self, name, value)

    def problem(self) -> str:
        n_words = -(-self.dimension // 64)
        if self.words.dtype != np.uint64 or self.words.shape[3] != n_words:
            return (
                f"words uint64[E, L, S, {n_words}] for {self.dimension} bits, "
                f"got {self.words.dtype} of shape {self.words.shape}"
            )
        used = self.dimension % 64
        # a table with a row for each string of bits has none for what lies beyond them
        if used and (self.words[..., -1] >> np.uint64(used)).any():
            return f"words of {self.dimension} bits, got some with more bits that are set"
        return ""

    def observe(self, states: States) -> NDArray[np.uint8]:
        out = np.empty((self.n_episodes, self.n_levels, self.dimension), np.uint8)
        self.observe_into(states, out)
        return out

    def observe_into(self, states: States, out: NDArray[np.uint8]) -> None:
        _emission.observe_bits(self.words, np.ascontiguousarray(states), out)

    def level(self, h: int) -> BitBlock:
        return BitBlock(self.words[:, h : h + 1], self.dimension)

    def episodes(self, first: int, end: int) -> BitBlock:
        return BitBlock(self.words[first:end], self.dimension)

    def every_state(self) -> NDArray[np.uint8]:
        *shape, n_words = self.words.shape
        out = np.empty((math.prod(shape), self.dimension), np.uint8)
        _emission.unpack(self.words.reshape(-1, n_words), out)
        return out.reshape(*shape, self.dimension)


@dataclass(frozen=True)
class ObservationBlock(Block):
    """The reals that every state would show, as one array: what `draw` of an emission of reals returns.

    observations
        The observations, float32 [episodes, H+1, states, coordinates].

    Examples
    --------
    >>> import numpy as np
    >>> block = ObservationBlock(np.zeros((5, 3, 2, 4), np.float32))
    >>> block.n_episodes, block.n_levels, block.n_states, block.dimension
    (5, 3, 2, 4)
    """

    observations: Reals

    def __post_init__(self) -> None:
        _refuse_other_axes("observations", self.observations, 4)
        for name, value in zip(
            ("n_episodes", "n_levels", "n_states", "dimension"), self.observations.shape, strict=True
        ):
            object.__setattr__(self, name, value)

    def observe(self, states: States) -> Reals:
        episodes, levels = np.ogrid[: self.n_episodes, : self.n_levels]
        return np.asarray(self.observations[episodes, levels, states])

    def level(self, h: int) -> ObservationBlock:
        return ObservationBlock(self.observations[:, h : h + 1])

    def episodes(self, first: int, end: int) -> ObservationBlock:
        return ObservationBlock(self.observations[first:end])

    def every_state(self) -> Reals:
        return self.observations


def packed(observations: NDArray[np.uint8]) -> BitBlock:
    """The bits that every state would show, as a block of packed words: what `draw` of an emission of bits
    returns.

    observations
        Zeros and ones, uint8 [episodes, H+1, states, coordinates].

    Returns the block.

    Examples
    --------
    >>> import numpy as np
    >>> block = packed(np.ones((5, 3, 2, 4), np.uint8))
    >>> block.n_episodes, block.n_levels, block.n_states, block.dimension
    (5, 3, 2, 4)
    """
    is_array = isinstance(observations, np.ndarray) and observations.ndim == 4
    if not is_array or observations.dtype != np.uint8 or observations.max(initial=0) > 1:
        raise ValueError(
            "observations must be zeros and ones, uint8 [episodes, levels, states, coordinates], got "
            f"{checks.short_repr(observations)}"
        )
    return bit_block(observations)


def bit_block(observations: NDArray[np.uint8]) -> BitBlock:
    """As `packed`, of what is known to be zeros and ones [E, L, S, D]."""
    *shape, dimension = observations.shape
    words = np.empty((*shape, -(-dimension // 64)), np.uint64)
    rows = for_kernels(observations).reshape(-1, dimension)
    _emission.pack(rows, words.reshape(-1, words.shape[-1]))
    return BitBlock(words, dimension)


def _keep_array(block: Block, name: str, n_axes: int) -> None:
    """Keep an array of so many axes as kernels take it; ValueError for what is none."""
    array = getattr(block, name)
    _refuse_other_axes(name, array, n_axes)
    object.__setattr__(block, name, for_kernels(array))


def _refuse_other_axes(name: str, array: Any, n_axes: int) -> None:
    """ValueError for what is no array of so many axes."""
    if not (isinstance(array, np.ndarray) and array.ndim == n_axes):
        shape = f"shape {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{name} of a block must be an array of {n_axes} axes, got {shape}")
