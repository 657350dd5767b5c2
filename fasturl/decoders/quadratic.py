"""Decoders whose scores are quadratic: Gaussian mixtures with full covariance matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import decoding as _decoding
from ..problems.blocks import Block, RealBlock
from .affine import affine_image
from .decoder import Decoder, Labels, Reals, real_blocks


class QuadraticDecoder(Decoder):
    """The component k of greatest log density: a mixture of Gaussians with full covariance matrices.

    means [K, R], precisions [K, R, R] and log_weights [K] describe the mixture of the affine image A x + b of
    an observation, or of the observation itself where no matrix A is given; b is the offset, or 0.
    """

    def __init__(
        self,
        means: ArrayLike,
        precisions: ArrayLike,
        log_weights: ArrayLike,
        matrix: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        exact = np.asarray(precisions, np.float64)
        super().__init__(exact.shape[0])
        factors = np.linalg.cholesky(exact).transpose(0, 2, 1)
        self._factors = np.ascontiguousarray(factors, np.float32)
        self._centres = np.einsum("kij,kj->ki", factors, np.asarray(means, np.float64)).astype(np.float32)
        log_volume = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        self._bias = (np.asarray(log_weights, np.float64) + log_volume).astype(np.float32)
        self._image = affine_image(matrix, offset)

    def table(self, block: Block) -> Labels:
        self._check(block, self._image.dimension if self._image else self._factors.shape[1])
        blocks = [self._image.block(block)] if self._image else real_blocks(block)
        return self._best(block, np.concatenate([self._scores(real) for real in blocks], axis=2))

    def _scores(self, real: RealBlock) -> Reals:
        scores = np.empty((real.n_episodes, self._bias.size, real.n_states, real.n_levels), np.float32)
        scratch = np.empty((real.n_informative + 2, real.n_levels), np.float32)
        _decoding.quadratic_scores(
            real.noise, real.means, real.n_informative, self._factors, self._centres, self._bias, scratch, scores
        )
        return scores
