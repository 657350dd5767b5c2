"""xoshiro256++ (Blackman and Vigna, 2021) on rows of four uint64.

A generator is one row `uint64[4]`; every function that draws takes the row and advances it in place.
All shifts are uint64: a bare Python integer would turn the arithmetic into int64.
"""

import numpy as np

from .compiling import inlined, kernel

_17 = np.uint64(17)
_19 = np.uint64(19)
_23 = np.uint64(23)
_41 = np.uint64(41)
_45 = np.uint64(45)
_11 = np.uint64(11)
_32 = np.uint64(32)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)
_ULP_53 = 2.0**-53


@inlined
def next_bits(stream: np.ndarray) -> np.uint64:
    """64 fresh bits."""
    a, b, c, d = stream[0], stream[1], stream[2], stream[3]
    mixed = a + d
    result = ((mixed << _23) | (mixed >> _41)) + a
    shifted = b << _17
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    stream[0] = a
    stream[1] = b
    stream[2] = c
    stream[3] = (d << _45) | (d >> _19)
    return result


@inlined
def uniform(stream: np.ndarray) -> float:
    """A multiple of 2^-53, uniform on [0, 1)."""
    return np.float64(next_bits(stream) >> _11) * _ULP_53


@inlined
def below(stream: np.ndarray, bound: int) -> int:
    """An integer uniform on 0..bound-1, for 1 <= bound < 2^32, without modulo bias (Lemire, 2019)."""
    n = np.uint64(bound)
    product = (next_bits(stream) >> _32) * n
    if (product & _LOW_32) < n:
        threshold = (_TWO_32 - n) % n
        while (product & _LOW_32) < threshold:
            product = (next_bits(stream) >> _32) * n
    return np.int64(product >> _32)


@kernel
def fill_bits(stream: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint64[n]) with consecutive draws."""
    for i in range(out.size):
        out[i] = next_bits(stream)


@kernel
def fill_uniforms(stream: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (float64[n]) with consecutive uniforms."""
    for i in range(out.size):
        out[i] = uniform(stream)


@kernel
def shuffle(stream: np.ndarray, items: np.ndarray) -> None:
    """A uniformly random permutation of `items` in place (Fisher and Yates)."""
    for last in range(items.size - 1, 0, -1):
        other = below(stream, last + 1)
        kept = items[last]
        items[last] = items[other]
        items[other] = kept
