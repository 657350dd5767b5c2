"""Code words: what the states of a family look like, where any emission may be chosen by its name.

Every state has a code word, which is fixed by the class and the same for every seed. Where levels look
different, state s of level h has the word of number s + h, counted round. With D coordinates and S states,

    gaussian      word w is the w-th unit vector of R^D, plus N(0, noise^2) on every coordinate;
    bernoulli     word w is row w of a Hadamard matrix of order P, the smallest power of two that is at least
                  S, repeated over D bits with 1 for -1; each bit is flipped with probability `noise`. Two
                  words differ in half of the bits of every whole period of P;
    categorical   a symbol w, w + S, w + 2 S, ... of D, uniformly, or with probability `noise` any of the D;
    rich          the one-hot code of the state, then that of the level where levels look different, plus N(0,
                  noise^2) on all of these coordinates but the last level's, through a Hadamard matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .emissions import Bernoulli, Categorical, Emission, Gaussian, MappedGaussian
from .emissions.mapped_gaussian import HADAMARD, hadamard, power_of_two

USUAL_DIMENSION = 20
"""Coordinates of an observation where the user asks for no other number and states need no more."""
LARGEST_TABLE = 10**9
"""Upper limit on the numbers in a table of code words: they take eight gigabytes."""
NO_EMISSION = "none"
USUAL_NOISE = {"gaussian": 0.2, "rich": 0.2, "bernoulli": 0.05, "categorical": 0.05, NO_EMISSION: 0.0}
"""Noise where the user asks for no other: small enough that states can be told apart."""


@dataclass(frozen=True)
class Appearance:
    """What observations of a family shall look like.

    n_states, n_levels
        The bound S on the states of a level, and the number of levels H + 1.
    dimension
        Number of coordinates; None for the usual one.
    noise
        How far observations are from the code words; its unit is that of the emission.
    levels_differ
        Whether a state looks different at every level; None for what is usual for the emission.
    """

    n_states: int
    n_levels: int
    dimension: int | None
    noise: float
    levels_differ: bool | None

    def coordinates(self, least: int, usual: int) -> int:
        """The number of coordinates, which must not be below `least`."""
        words = self.n_states * self.n_levels
        most = max(least, LARGEST_TABLE // words)
        if self.dimension is not None:
            return checks.integer("dimension", self.dimension, least=least, limit=most)
        return max(least, usual)

    def words(self, n_words: int) -> NDArray[np.int64]:
        """The number of the code word of each level and state: [H+1, S]."""
        shifts = np.arange(self.n_levels) * bool(self.levels_differ)
        return np.asarray((np.arange(self.n_states) + shifts[:, None]) % n_words)


def make_emission(name: str, appearance: Appearance) -> Emission | None:
    """The emission of this name; None where latent states are all there is to see."""
    return None if name == NO_EMISSION else _MAKERS[name](appearance)


def _gaussian(appearance: Appearance) -> Emission:
    dimension = appearance.coordinates(appearance.n_states, USUAL_DIMENSION)
    means = np.eye(dimension)[appearance.words(dimension)]
    return Gaussian(means, appearance.noise, n_levels=appearance.n_levels)


def _bernoulli(appearance: Appearance) -> Emission:
    period = power_of_two(appearance.n_states)
    dimension = appearance.coordinates(period, USUAL_DIMENSION)
    flipped = checks.real("noise", appearance.noise, least=0, most=0.5, open_right=True)
    codes = hadamard(period)[:, np.arange(dimension) % period] < 0
    frequencies = np.where(codes, 1.0 - flipped, flipped)
    return Bernoulli(frequencies[appearance.words(period)], n_levels=appearance.n_levels)


def _categorical(appearance: Appearance) -> Emission:
    n_states = appearance.n_states
    dimension = appearance.coordinates(n_states, USUAL_DIMENSION)
    any_symbol = checks.real("noise", appearance.noise, least=0, most=1, open_right=True)
    own = np.arange(dimension) % n_states == np.arange(n_states)[:, None]
    chances = (1.0 - any_symbol) * own / own.sum(axis=1, keepdims=True) + any_symbol / dimension
    return Categorical(chances[appearance.words(n_states)], n_levels=appearance.n_levels)


def _rich(appearance: Appearance) -> Emission:
    return rich_emission(appearance, rotated=True)


def rich_emission(appearance: Appearance, *, rotated: bool) -> Emission:
    """The emission of rich locks, with or without its Hadamard matrix; its dimension is a power of two."""
    n_states, n_levels = appearance.n_states, appearance.n_levels
    differ = appearance.levels_differ is not False
    length = n_states + n_levels * differ
    dimension = appearance.coordinates(length, power_of_two(length))
    if dimension != power_of_two(dimension):
        raise ValueError(f"dimension must be a power of two for the emission 'rich', got {dimension}")
    levels, states = np.ogrid[:n_levels, :n_states]
    codes = np.zeros((n_levels, n_states, dimension))
    codes[levels, states, states] = 1.0
    if differ:
        codes[levels, states, n_states + levels] = 1.0
    return MappedGaussian(
        codes,
        appearance.noise,
        n_levels=n_levels,
        n_noisy=length - differ,
        matrix=HADAMARD if rotated else None,
    )


_MAKERS: dict[str, Callable[[Appearance], Emission]] = {
    "gaussian": _gaussian,
    "bernoulli": _bernoulli,
    "categorical": _categorical,
    "rich": _rich,
}
EMISSIONS = (*_MAKERS, NO_EMISSION)
"""The names of emissions that a family of tables can be seen through."""
