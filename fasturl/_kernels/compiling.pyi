from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F")

OPTIONS: dict[str, bool]
LANES: int

def kernel(function: F) -> F: ...
def for_each_kernel(action: Callable[[Any], None]) -> None: ...
def inlined(function: F) -> F: ...
def fma(a: np.float32, b: np.float32, c: np.float32) -> np.float32: ...
def four_dots(
    left: np.ndarray, a: int, right: np.ndarray, b: int
) -> tuple[np.float32, np.float32, np.float32, np.float32]: ...
