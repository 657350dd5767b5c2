"""Several numbers side by side, as one value of a kernel.

LLVM makes vectors of a plain loop by itself, but not of one that does something else besides, such as to draw
the bits of the numbers that come next, and with the few entries of a short row most of them are left over.
There a kernel takes several numbers at a time from a row, four or as
many as a register of the machine holds, computes with all of them as with one, and puts them into a row. In
plain Python they are an array, which has all of its operations; compiled, they are a register
(`_base.vector_registers`): sums, differences, products, `&`, `|`, `^`, `<<`, `>>`, also with a single number
of their kind, `fma`, and the functions below.
"""

import numpy as np

FOUR = 4


def wide() -> int:
    """How many numbers of 32 bits `read_wide` takes: what the machine computes with at a time where it is
    compiled, a multiple of four."""
    return 8


def read_four(row: np.ndarray, i: int) -> np.ndarray:
    """The entries i, ..., i + 3 of a row."""
    return row[i : i + FOUR].copy()


def read_wide(row: np.ndarray, i: int) -> np.ndarray:
    """The entries of a row from i on, as many as `wide` says."""
    return row[i : i + wide()].copy()


def read_one(row: np.ndarray, i: int) -> np.ndarray:
    """The entry i of a row, as numbers side by side of which there is one."""
    return row[i : i + 1].copy()


def write_numbers(numbers: np.ndarray, row: np.ndarray, i: int) -> None:
    """Make the entries of a row from i on these numbers."""
    row[i : i + numbers.size] = numbers


def write_spread(numbers: np.ndarray, row: np.ndarray, i: int, step: int) -> None:
    """Make the entries i, i + step, i + 2 step, ... of a row these numbers."""
    row[i : i + step * numbers.size : step] = numbers


def side_by_side(a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64) -> np.ndarray:
    """Four numbers of one kind."""
    return np.array([a, b, c, d])


def apart(numbers: np.ndarray) -> tuple:
    """Each of the numbers alone."""
    return tuple(numbers)


def interleave(a: np.ndarray, b: np.ndarray) -> tuple:
    """The numbers of a and of b by turns, a[0], b[0], a[1], b[1], ...: their first half and their second."""
    both = np.stack((a, b), axis=1).ravel()
    return both[: a.size], both[a.size :]


def full_like(numbers: np.ndarray, number: float) -> np.ndarray:
    """As many as the numbers, each of them this number of float32."""
    return np.full(numbers.size, number, np.float32)


def where_greater(a: np.ndarray, b: np.ndarray, chosen: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What is chosen where a > b, and else the other."""
    return np.where(a > b, chosen, other)


def as_bytes(numbers: np.ndarray) -> np.ndarray:
    """Numbers of float32 that are whole and less than 256, as such of uint8."""
    return numbers.astype(np.uint8)


def square_roots(numbers: np.ndarray) -> np.ndarray:
    """Of numbers of float32."""
    return np.sqrt(numbers)


def as_reals(integers: np.ndarray) -> np.ndarray:
    """Whole numbers as those of float32 that are nearest."""
    return integers.astype(np.float32)


def same_bits(numbers: np.ndarray, kind: type) -> np.ndarray:
    """The bits of numbers, as those of another kind that is as wide."""
    return numbers.view(kind)
