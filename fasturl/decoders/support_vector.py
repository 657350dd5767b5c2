"""Decoders that vote with support vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._kernels import decoding as _decoding
from ..problems.blocks import Block
from .affine import AffineMap
from .decoder import Decoder, Labels


class SupportVectorDecoder(Decoder):
    """An RBF support vector classifier (fitted `sklearn.svm.SVC`) on the affine image A x + b of an
    observation."""

    def __init__(self, matrix: ArrayLike, offset: ArrayLike, classifier: Any) -> None:
        super().__init__(len(classifier.classes_))
        self._image = AffineMap(matrix, offset)
        self._vectors = np.ascontiguousarray(classifier.support_vectors_, np.float64)
        self._starts = np.concatenate([[0], np.cumsum(classifier.n_support_)]).astype(np.int64)
        # with two classes scikit-learn turns the signs of dual_coef_ and intercept_ round
        sign = -1.0 if self.n_labels == 2 else 1.0
        self._coefficients = sign * np.ascontiguousarray(classifier.dual_coef_, np.float64)
        self._intercepts = sign * np.asarray(classifier.intercept_, np.float64)
        self._gamma = float(classifier._gamma)

    def table(self, block: Block) -> Labels:
        self._check(block, self._image.dimension)
        points = self._image(block)
        labels = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        _decoding.support_vector_labels(
            points,
            self._vectors,
            self._starts,
            self._coefficients,
            self._intercepts,
            self._gamma,
            np.empty(self._vectors.shape[0]),
            np.empty(self._starts.size - 1, np.int64),
            self.relabel,
            labels,
        )
        return labels
