"""Samples of rows that have labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64] | slice


def balanced_choice(labels: NDArray[np.int64], most: int, generator: np.random.Generator) -> Indices:
    """The indices of about `most` out of n rows with labels [n], drawn at random. Every label gets the same
    share, or all that it has, so that a rare one is not lost."""
    if labels.size <= most:
        return slice(None)
    sizes = np.bincount(labels)
    shares = most / np.count_nonzero(sizes) / np.maximum(sizes, 1)
    return np.flatnonzero(generator.random(labels.size) < shares[labels])
