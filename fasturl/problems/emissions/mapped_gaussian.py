"""Code words with noise on some of their coordinates, seen through a linear map:

    x = A (c[h, s] + z),   z[j] ~ N(0, noise^2) for the first coordinates, z[j] = 0 for the others.

The map is linear, so that A c[h, s] is the mean of a state and A z the noise that all states share: a block
is one of `RealBlock`. Sylvester's Hadamard matrix, A[i, j] = (-1)^(number of bits that i and j share), is not
multiplied with but applied by butterflies, in d log2 d additions for d coordinates.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..._base import checks
from ..._kernels import emission as _emission
from ..._kernels import linear_maps as _linear_maps
from ..blocks import Floats, RealBlock, Reals, Rngs
from .emission import N_RNGS, Emission, per_level
from .gaussian import LARGEST, NORMAL_REACH

HADAMARD = "hadamard"


class MappedGaussian(Emission):
    """Real observations A (c + z): a code word c for each state, or for each level and state, normals z on
    its first coordinates, and a linear map A.

    codes
        Array [S, K], or [H+1, S, K] where they depend on the level; at most 1e15 in size.
    noise
        Standard deviation of the noise, from 0 to 1e15.
    n_levels
        Number of levels at which there are observations: H+1.
    n_noisy
        How many of the K coordinates have noise, from the first on; all if not given.
    matrix
        The map: an array [D, K], "hadamard", or None for none. Of Hadamard matrices it is Sylvester's, whose
        entries are 1 and -1; its size D is the smallest power of two that is at least K.

    Examples
    --------
    >>> emission = MappedGaussian([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], 0.1, n_levels=4, matrix="hadamard")
    >>> emission.dimension
    4
    """

    discrete = False
    independent_levels = True

    def __init__(
        self,
        codes: ArrayLike,
        noise: float,
        *,
        n_levels: int,
        n_noisy: int | None = None,
        matrix: str | ArrayLike | None = None,
    ) -> None:
        self.noise = checks.real("noise", noise, least=0, most=LARGEST)
        table = per_level("codes", codes, n_levels).astype(np.float64)
        if not np.all(np.abs(table) <= LARGEST):
            raise ValueError(
                f"codes must be in [{-LARGEST:g}, {LARGEST:g}], got {table.min():g}..{table.max():g}"
            )
        self.n_levels, self.n_states, n_coordinates = table.shape
        self._n_noisy = (
            n_coordinates
            if n_noisy is None
            else checks.integer("n_noisy", n_noisy, least=0, most=n_coordinates)
        )
        self._by_butterflies = isinstance(matrix, str)
        exact = _matrix(matrix, n_coordinates)
        self.dimension = exact.shape[0]
        means = table @ exact.T
        self._means = np.ascontiguousarray(means.transpose(1, 2, 0), np.float32)
        self._matrix = np.ascontiguousarray(exact[:, : self._n_noisy], np.float32)
        self._reach = NORMAL_REACH * self.noise * float(np.abs(self._matrix).sum(axis=1).max())
        largest = float(np.abs(means).max()) + self._reach
        if largest > 10 * LARGEST:
            raise ValueError(
                f"codes, noise and matrix must give observations of at most {10 * LARGEST:g} in size, "
                f"got {largest:g}"
            )
        informative = np.flatnonzero(means.any(axis=(0, 1)))
        self._n_informative = int(informative[-1]) + 1 if informative.size else 0

    def draw(self, rngs: Rngs, episodes: int) -> RealBlock:
        normals = self._normals(rngs, episodes)
        noise = np.empty((episodes, self.dimension, self.n_levels), np.float32)
        if self._by_butterflies:
            _linear_maps.hadamard_rows(
                normals, self._n_noisy, noise.reshape(episodes, math.prod(noise.shape[1:]))
            )
        else:
            _linear_maps.mapped_rows(normals, self._matrix, noise)
        return RealBlock(noise, self._means, self._n_informative)

    def bounds(self) -> tuple[float, float]:
        if type(self).draw is not MappedGaussian.draw:
            return super().bounds()
        low, high = float(self._means.min()), float(self._means.max())
        reach = self._reach or float(low == high)
        return low - reach, high + reach

    def _normals(self, rngs: Rngs, episodes: int) -> Reals:
        """Normals [E, noisy coordinates or more, L]."""
        # they come in pairs from words that come four at a time, so an episode has a multiple of eight
        rows = self._n_noisy
        while rows * self.n_levels % (2 * N_RNGS):
            rows += 1
        normals = np.empty((episodes, rows, self.n_levels), np.float32)
        pairs = rows * self.n_levels // 2
        scratch = np.empty((2, pairs), np.float32)
        _emission.fill_normals(rngs, scratch, np.float32(self.noise), normals.reshape(episodes, 2, pairs))
        return normals

    def _episode_bytes(self) -> int:
        return 4 * self.n_levels * (self.dimension + self._n_noisy)


def hadamard(order: int) -> Floats:
    """Sylvester's Hadamard matrix of a power of two."""
    matrix = np.ones((1, 1))
    while len(matrix) < order:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    return matrix


def power_of_two(least: int) -> int:
    """The smallest power of two that is at least this number."""
    return 1 << math.ceil(math.log2(least)) if least > 1 else 1


def _matrix(matrix: str | ArrayLike | None, n_coordinates: int) -> Floats:
    """The map as an array [D, K]."""
    if matrix is None:
        return np.eye(n_coordinates)
    if isinstance(matrix, str):
        checks.choice("matrix", matrix, (HADAMARD,))
        return hadamard(power_of_two(n_coordinates))[:, :n_coordinates]
    array = checks.real_array("matrix", matrix).astype(np.float64)
    if array.ndim != 2 or array.shape[0] == 0 or array.shape[1] != n_coordinates:
        raise ValueError(
            f"matrix must have shape [coordinates of an observation, {n_coordinates}], got {array.shape}"
        )
    if not np.all(np.abs(array) <= LARGEST):
        raise ValueError(
            f"matrix must have entries in [{-LARGEST:g}, {LARGEST:g}], got {array.min():g}..{array.max():g}"
        )
    return array
