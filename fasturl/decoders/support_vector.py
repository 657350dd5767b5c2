"""Decoders that vote with support vectors."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._base import checks
from .._kernels import voting as _voting
from .._kernels.records import SupportVectors, voting_workspace
from ..problems.blocks import BitBlock, Block
from .affine import AffineMap
from .decoder import ByteLabels, Decoder

_MOST_LOOKED_UP_BITS = 14
"""Observations of so many bits are looked up: there are at most 16,384 of them, fewer than a run meets."""


class SupportVectorDecoder(Decoder):
    """An RBF support vector classifier (fitted `sklearn.svm.SVC`) on the affine image A x + b of an
    observation.

    matrix, offset
        A [R, D] and b [R].
    classifier
        The fitted classifier, on points of R coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> classifier = SVC().fit([[0.0], [0.2], [1.0], [1.2]], [0, 0, 1, 1])
    >>> SupportVectorDecoder(np.array([[1.0, 0.0]]), np.zeros(1), classifier).decode([[0.1, 9.0], [1.1, 9.0]])
    array([0, 1])
    """

    def __init__(self, matrix: ArrayLike, offset: ArrayLike, classifier: Any) -> None:
        super().__init__(len(classifier.classes_))
        if classifier.kernel != "rbf":
            raise ValueError(f"classifier must have the kernel 'rbf', got {classifier.kernel!r}")
        n_axes = classifier.support_vectors_.shape[1]
        self._image = AffineMap(
            checks.real_table("matrix", matrix, (n_axes, None)),
            checks.real_table("offset", offset, (n_axes,)),
        )
        # with two classes scikit-learn turns the signs of dual_coef_ and intercept_ round
        sign = -1.0 if self.n_labels == 2 else 1.0
        self._classifier = SupportVectors(
            vectors=np.ascontiguousarray(classifier.support_vectors_.T, np.float64),
            starts=np.concatenate([[0], np.cumsum(classifier.n_support_)]).astype(np.int64),
            coefficients=sign * np.ascontiguousarray(classifier.dual_coef_, np.float64),
            intercepts=sign * np.asarray(classifier.intercept_, np.float64),
            gamma=float(classifier._gamma),
        )

    def table(self, block: Block) -> ByteLabels:
        self._check(block, self._image.dimension)
        if isinstance(block, BitBlock) and block.dimension <= _MOST_LOOKED_UP_BITS:
            return np.asarray(self.relabel[self._classes_of_words[block.words[..., 0]]])
        return np.asarray(self.relabel[self._classes(block)])

    @cached_property
    def _classes_of_words(self) -> ByteLabels:
        """The class of everything that so few bits can be: [2^D]. The votes are counted once for each."""
        words = np.arange(2**self._image.dimension, dtype=np.uint64)
        return self._classes(BitBlock(words.reshape(-1, 1, 1, 1), self._image.dimension)).ravel()

    def _classes(self, block: Block) -> ByteLabels:
        classes = np.empty((block.n_episodes, block.n_levels, block.n_states), np.uint8)
        names = np.arange(self._classifier.starts.size - 1, dtype=np.uint8)
        _voting.support_vector_labels(
            self._image(block), self._classifier, voting_workspace(self._classifier), names, classes
        )
        return classes
