"""Two labellings of the same observations, matched as well as a renaming allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._kernels import assignment as _assignment
from .._kernels import labels as _labels

_NEAR_A_BORDER = 0.02
"""Share of a label's observations that may be near a border, and move."""


def match_labels(
    old: NDArray[np.integer], new: NDArray[np.integer], n_labels: int
) -> tuple[NDArray[np.uint8], float]:
    """The renaming of `new` that agrees best with `old`, and how well it agrees.

    The agreement is that of the worst label: the least share, over the labels of either labelling, of its
    observations on which both say the same. Rare labels count as much as frequent ones.
    """
    counts, columns = _best_match(old, new, n_labels)
    renaming = np.empty(n_labels, np.uint8)
    renaming[columns] = np.arange(n_labels)
    agreements, sizes = _agreements(counts, columns)
    occurs = sizes > 0
    return renaming, float((agreements[occurs] / sizes[occurs]).min())


def labels_differ(old: NDArray[np.integer], new: NDArray[np.integer], n_labels: int) -> bool:
    """Whether some label of either labelling has other observations than in the other, beside those near a
    border (see `have_moved`)."""
    counts, columns = _best_match(old, new, n_labels)
    agreements, sizes = _agreements(counts, columns)
    return bool(have_moved(sizes - agreements, sizes).any())


def _agreements(
    counts: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """On how many observations of each label both labellings agree, and how many it has in the one that gives
    it more: [n_labels] each."""
    agreements = counts[np.arange(len(columns)), columns]
    return agreements, np.maximum(counts.sum(axis=1), counts.sum(axis=0)[columns])


def have_moved(n_moved: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether more observations of each label have moved to another than lie near a border, give or take
    three standard deviations: n_moved out of sizes, [n_labels] each."""
    near = _NEAR_A_BORDER * sizes
    return np.asarray(n_moved > near + 3.0 * np.sqrt(near) + 3.0)


def moved_labels(
    old: NDArray[np.integer], new: NDArray[np.integer], n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many observations of each old label have moved to another, and how many it had: [n_labels] each."""
    counts, columns = _best_match(old, new, n_labels)
    sizes = counts.sum(axis=1)
    return sizes - counts[np.arange(n_labels), columns], sizes


def _best_match(
    old: NDArray[np.integer], new: NDArray[np.integer], n_labels: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How often each old label [rows] comes with each new one [columns], and the column of each row."""
    counts = np.empty((n_labels, n_labels), np.int64)
    _labels.count_pairs(old.astype(np.uint8), new.astype(np.uint8), counts)
    return counts, best_columns(counts)


def best_columns(gains: NDArray[np.number]) -> NDArray[np.int64]:
    """The column of each row, no column twice, that gives the greatest sum of gains [n, m >= n]."""
    n, m = gains.shape
    columns = np.empty(n, np.int64)
    _assignment.assign(
        np.ascontiguousarray(gains, np.float64),
        columns,
        # room to work in
        np.empty(m + 1, np.int64),
        np.empty(n),
        np.empty(m + 1),
        np.empty(m + 1),
        np.empty(m + 1, np.int64),
        np.empty(m + 1, np.bool_),
    )
    return columns
