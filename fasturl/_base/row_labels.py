"""Labels of rows, which are small whole numbers from 0: to count them is faster than to sort them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def that_occur(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """The labels that some row of [n] has, in their order."""
    return np.flatnonzero(np.bincount(labels))


def numbered(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """Labels 0, 1, ... in place of those that occur, in their order."""
    occurs = np.bincount(labels) > 0
    if occurs.all():
        return np.asarray(labels, np.int64)
    return np.asarray((np.cumsum(occurs) - 1)[labels])
