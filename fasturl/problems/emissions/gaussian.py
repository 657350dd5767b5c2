"""Real observations: normals around a mean for each state."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from ..._base import checks
from ..._kernels import emission as _emission
from ..blocks import Floats, RealBlock, Rngs
from ..buffers import NormalsAroundMeans, ObservationBuffer
from .emission import N_RNGS, Emission, per_level

LARGEST = 1e15
"""Upper limit on means and noise: observations are float32, and their squares have to be finite."""
NORMAL_REACH = 7.0
"""Standard deviations that no normal of ours exceeds: made of 32 bits, they reach 6.8."""


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
    independent_levels = True

    def __init__(
        self, means: ArrayLike, noise: float, *, n_levels: int, rotation: ArrayLike | None = None
    ) -> None:
        self.noise = checks.real("noise", noise, least=0, most=LARGEST)
        table = per_level("means", means, n_levels).astype(np.float64)
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
        scratch = np.empty((2, pairs), np.float32)
        normals = block.noise.reshape(episodes, 2, pairs)
        _emission.fill_normals(rngs, scratch, np.float32(self.noise), normals)
        return block

    def bounds(self) -> tuple[float, float]:
        if type(self).draw is not Gaussian.draw:
            return super().bounds()
        low, high = float(self._means.min()), float(self._means.max())
        reach = NORMAL_REACH * self.noise or float(low == high)
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


def _orthogonal(rotation: ArrayLike, size: int) -> Floats:
    matrix = checks.real_array("rotation", rotation).astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        if matrix.shape != (size, size) or not np.allclose(matrix @ matrix.T, np.eye(size), atol=1e-6):
            raise ValueError(
                f"rotation must be an orthogonal matrix of shape {(size, size)}, "
                f"got {checks.short_repr(rotation)}"
            )
    return matrix
