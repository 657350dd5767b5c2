"""Arrays as kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def for_kernels(array: NDArray[Any], dtype: DTypeLike | None = None) -> NDArray[Any]:
    """The array itself, or a copy where it has gaps or must not be written: for such arrays kernels would be
    compiled anew, those that can be."""
    return np.require(array, dtype, ("C_CONTIGUOUS", "WRITEABLE"))
