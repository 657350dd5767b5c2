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
from .decoder import ByteLabels, Decoder, Floats

_MOST_LOOKED_UP_BITS = 14
"""Observations of so many bits are looked up: there are at most 16,384 of them, fewer than a run meets."""

_READ = "kernel", "classes_", "support_vectors_", "n_support_", "dual_coef_", "intercept_", "_gamma"
"""What is read off a fitted classifier."""


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
        self._classifier = _support_vectors(classifier)
        super().__init__(self._classifier.starts.size - 1)
        n_axes = len(self._classifier.vectors)
        self._image = AffineMap(
            checks.real_table("matrix", matrix, (n_axes, None)),
            checks.real_table("offset", offset, (n_axes,)),
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


def _support_vectors(classifier: Any) -> SupportVectors:
    """A fitted classifier as kernels take it, whose parts fit together."""
    for name in (
        "kernel",
        "classes_",
        "support_vectors_",
        "n_support_",
        "dual_coef_",
        "intercept_",
        "_gamma",
    ):
        if not hasattr(classifier, name):
            raise ValueError(
                f"classifier must be a fitted sklearn.svm.SVC, got {checks.short_repr(classifier)}, "
                f"which has no {name}"
            )
    if classifier.kernel != "rbf":
        raise ValueError(f"classifier must have the kernel 'rbf', got {classifier.kernel!r}")

    def part(name: str, shape: tuple[int | None, ...]) -> Floats:
        table = checks.real_table(f"{name} of classifier", getattr(classifier, name), shape)
        if not np.isfinite(table).all():
            raise ValueError(f"{name} of classifier must be finite, got {table[~np.isfinite(table)][0]}")
        return table

    n_classes = len(classifier.classes_)
    vectors = part("support_vectors_", (None, None))
    counts = checks.array("n_support_ of classifier", classifier.n_support_)
    are_counts = counts.shape == (n_classes,) and counts.dtype.kind in "iu" and bool((counts >= 0).all())
    if not are_counts or counts.sum() != len(vectors):
        raise ValueError(
            f"n_support_ of classifier must be {n_classes} counts of {len(vectors)} vectors, "
            f"got {checks.short_repr(counts.tolist())}"
        )
    # with two classes scikit-learn turns the signs of dual_coef_ and intercept_ round
    sign = -1.0 if n_classes == 2 else 1.0
    return SupportVectors(
        vectors=np.ascontiguousarray(vectors.T),
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        coefficients=sign * part("dual_coef_", (n_classes - 1, len(vectors))),
        intercepts=sign * part("intercept_", (n_classes * (n_classes - 1) // 2,)),
        gamma=checks.real("_gamma of classifier", classifier._gamma, least=0),
    )
