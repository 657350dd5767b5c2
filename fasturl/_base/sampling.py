"""Samples of rows."""

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


def random_choice(n: int, most: int, generator: np.random.Generator) -> Indices:
    """The indices of n rows, or of `most` of them, drawn at random: every so many rows may be those of some
    levels alone."""
    if n <= most:
        return slice(None)
    return np.sort(generator.choice(n, most, replace=False))
