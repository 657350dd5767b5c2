"""Decoders whose scores are quadratic: Gaussian mixtures with full covariance matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._base import checks
from .._kernels import quadratic_decoding as _quadratic
from .._kernels.records import QuadraticScores
from ..problems.blocks import Block, RealBlock
from .affine import affine_image
from .decoder import ByteLabels, Decoder, Reals, real_blocks


class QuadraticDecoder(Decoder):
    """The component k of greatest log density: a mixture of Gaussians with full covariance matrices.

    means [K, R], precisions [K, R, R] and log_weights [K] describe the mixture of the affine image A x + b of
    an observation, or of the observation itself where no matrix A is given; b is the offset, or 0.

    means
        [K, R].
    precisions
        Inverse covariance matrices: [K, R, R].
    log_weights
        Logarithms of the weights, with those of the determinants: [K].
    matrix, offset
        A [R, D] and b [R], or None for the observation itself.

    Examples
    --------
    >>> import numpy as np
    >>> decoder = QuadraticDecoder([[0.0, 0.0], [3.0, 3.0]], np.array([np.eye(2), np.eye(2)]), [0.0, 0.0])
    >>> decoder.decode([[0.2, -0.1], [2.5, 3.5]])
    array([0, 1])
    """

    def __init__(
        self,
        means: ArrayLike,
        precisions: ArrayLike,
        log_weights: ArrayLike,
        matrix: ArrayLike | None = None,
        offset: ArrayLike | None = None,
    ) -> None:
        self._image = affine_image(matrix, offset)
        n_scored = self._image.affine.bias.size if self._image else None
        points = checks.single_table("means", means, (None, n_scored))
        n_labels, dimension = points.shape
        super().__init__(n_labels)
        exact = checks.real_table("precisions", precisions, (n_labels, dimension, dimension))
        if not np.isfinite(exact).all():
            raise ValueError(f"precisions must be finite, got {checks.short_repr(exact)}")
        try:
            factors = np.linalg.cholesky(exact).transpose(0, 2, 1)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"precisions must be positive definite matrices, got {checks.short_repr(exact)}"
            ) from None
        checks.single_table("roots of precisions", factors, factors.shape)
        centres = np.einsum("kij,kj->ki", factors, points)
        checks.single_table("means times the roots of precisions", centres, centres.shape)
        log_volume = np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1)
        weights = checks.single_table("log_weights", log_weights, (n_labels,), logarithms=True)
        self._mixture = QuadraticScores(
            factors=np.ascontiguousarray(factors, np.float32),
            centres=centres.astype(np.float32),
            bias=(weights + log_volume).astype(np.float32),
        )

    def table(self, block: Block) -> ByteLabels:
        self._check(block, self._image.dimension if self._image else self._mixture.factors.shape[1])
        blocks = [self._image.block(block)] if self._image else real_blocks(block)
        return self._best(block, np.concatenate([self._scores(real) for real in blocks], axis=2))

    def _scores(self, real: RealBlock) -> Reals:
        observations, n_labels = real.arrays(), self._mixture.bias.size
        scores = np.empty((real.n_episodes, n_labels, real.n_states, real.n_levels), np.float32)
        tail = np.empty((observations.n_informative, real.n_levels), np.float32)
        _quadratic.quadratic_scores(observations, self._mixture, tail, scores)
        return scores
