"""Samples of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels import rng as _rng
from .._kernels.row_samples import choose_evenly

Indices = NDArray[np.int64] | slice


def balanced_choice(labels: NDArray[np.integer], most: int, generator: np.random.Generator) -> Indices:
    """The indices of about `most` out of n rows with labels [n], which are bytes, drawn at random. Every
    label gets the same share, or all that it has, so that a rare one is not lost."""
    if labels.size <= most:
        return slice(None)
    chances, chosen = np.empty(int(labels.max()) + 1), np.empty(labels.size, np.int64)
    n_chosen = choose_evenly(
        _drawn_stream(generator), labels.astype(np.uint8, copy=False), most, chances, chosen
    )
    return chosen[:n_chosen].copy()


def random_choice(n: int, most: int, random_state: np.random.Generator | int) -> Indices:
    """The indices of n rows, or of `most` of them, drawn at random by a generator or by that of a seed: every
    so many rows may be those of some levels alone."""
    if n <= most:
        return slice(None)
    return np.sort(np.random.default_rng(random_state).choice(n, most, replace=False))


def drawn_uniforms(generator: np.random.Generator, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Uniforms as kernels draw them, from a stream of their own."""
    uniforms = np.empty(shape)
    _rng.fill_uniforms(_drawn_stream(generator), uniforms.ravel())
    return uniforms


def _drawn_stream(generator: np.random.Generator) -> NDArray[np.uint64]:
    """A generator for kernels, seeded by one of NumPy's: uint64[4]."""
    return generator.integers(1, 2**64, 4, np.uint64, endpoint=False)
