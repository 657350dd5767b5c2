"""Arrays that grow."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Rows:
    """An array that grows by rows; nothing is copied up to a capacity."""

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[Any], capacity: int = 64) -> None:
        self._array = np.empty((capacity, *shape), dtype)
        self._size = 0

    @property
    def rows(self) -> NDArray[Any]:
        return self._array[: self._size]

    def add(self, rows: NDArray[Any]) -> None:
        self.room(len(rows))[:] = rows

    def room(self, count: int) -> NDArray[Any]:
        """So many more rows, to be filled in."""
        first, end = self._size, self._size + count
        if end > len(self._array):
            larger = np.empty((max(end, 2 * len(self._array)), *self._array.shape[1:]), self._array.dtype)
            larger[: self._size] = self.rows
            self._array = larger
        self._size = end
        return self._array[first:end]

    def thin(self) -> None:
        """Drop every second row, in place: rows 2, 4, 6, ... move up by parts that do not overlap."""
        n_left, first = -(-self._size // 2), 1
        while first < n_left:
            last = min(2 * first, n_left)
            self._array[first:last] = self._array[2 * first : 2 * last : 2]
            first = last
        self._size = n_left
