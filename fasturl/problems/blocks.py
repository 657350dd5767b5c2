"""Blocks of noise: the observations of some episodes, for every state that each level can have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._kernels import emission as _emission

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

    @abstractmethod
    def observe(self, states: States) -> NDArray[np.generic]:
        """The observations along the paths `states` [E, L]: an array [E, L, D]."""

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
        return RealBlock(np.ascontiguousarray(noise), np.ascontiguousarray(means), self.n_informative)

    def episodes(self, first: int, end: int) -> RealBlock:
        return RealBlock(self.noise[first:end], self.means, self.n_informative)


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
class ObservationBlock(Block):
    """Observations of every state as they are, [E, L, S, D]."""

    observations: Reals

    def __post_init__(self) -> None:
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
