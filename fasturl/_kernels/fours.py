"""Four numbers side by side, as one value of a kernel.

LLVM makes vectors of a plain loop by itself, but not of one that does something else besides, such as to draw
the bits of the numbers that come next. There a kernel takes four numbers at a time from a row, computes with
all of them as with one, and puts four into a row. In plain Python they are an array, which has all of its
operations; compiled, they are a vector register (`_base.vector_fours`): sums, differences, products, `&`,
`^`, `<<`, also with a single number of their kind, `fma`, and the functions below.
"""

import numpy as np

FOUR = 4


def read_four(row: np.ndarray, i: int) -> np.ndarray:
    """The entries i, ..., i + 3 of a row."""
    return row[i : i + FOUR].copy()


def write_four(numbers: np.ndarray, row: np.ndarray, i: int) -> None:
    """Make the entries i, ..., i + 3 of a row these four numbers."""
    row[i : i + FOUR] = numbers


def square_roots(numbers: np.ndarray) -> np.ndarray:
    """Of four numbers of float32."""
    return np.sqrt(numbers)


def as_reals(integers: np.ndarray) -> np.ndarray:
    """Four whole numbers as those of float32 that are nearest."""
    return integers.astype(np.float32)


def same_bits(numbers: np.ndarray, kind: type) -> np.ndarray:
    """The bits of four numbers, as those of another kind of 32 bits."""
    return numbers.view(kind)
