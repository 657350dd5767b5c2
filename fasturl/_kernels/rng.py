"""xoshiro256++ (Blackman and Vigna, 2021) on rows of four uint64.

A generator is one row `uint64[4]`; every function that draws takes the row and advances it in place.
All shifts are uint64: a bare Python integer would turn the arithmetic into int64.
"""

import numpy as np

from .compiling import inlined, kernel
from .registers import apart, side_by_side, write_numbers

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
def advance(
    a: np.uint64, b: np.uint64, c: np.uint64, d: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]:
    """The next state, and 64 fresh bits; of several generators too, whose words are side by side."""
    mixed = a + d
    result = ((mixed << _23) | (mixed >> _41)) + a
    shifted = b << _17
    c = c ^ a
    d = d ^ b
    b = b ^ c
    a = a ^ d
    return a, b, c ^ shifted, (d << _45) | (d >> _19), result


@inlined
def next_bits(rng: np.ndarray) -> np.uint64:
    """64 fresh bits."""
    rng[0], rng[1], rng[2], rng[3], result = advance(rng[0], rng[1], rng[2], rng[3])
    return result


@inlined
def as_uniform(bits: np.uint64) -> float:
    """Fresh bits as a multiple of 2^-53, uniform on [0, 1)."""
    return np.float64(bits >> _11) * _ULP_53


@inlined
def uniform(rng: np.ndarray) -> float:
    """A multiple of 2^-53, uniform on [0, 1)."""
    return as_uniform(next_bits(rng))


@inlined
def below(rng: np.ndarray, bound: int) -> int:
    """An integer uniform on 0..bound-1, for 1 <= bound < 2^32, without modulo bias (Lemire, 2019)."""
    n = np.uint64(bound)
    product = (next_bits(rng) >> _32) * n
    if (product & _LOW_32) < n:
        threshold = (_TWO_32 - n) % n
        while (product & _LOW_32) < threshold:
            product = (next_bits(rng) >> _32) * n
    return np.int64(product >> _32)


@kernel
def fill_bits(rng: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint64[n]) with consecutive draws."""
    for i in range(out.size):
        out[i] = next_bits(rng)


@inlined
def states_of(rngs: np.ndarray) -> tuple:
    """The states of four generators, uint64[4, 4], each word of all four side by side."""
    return (
        side_by_side(rngs[0, 0], rngs[1, 0], rngs[2, 0], rngs[3, 0]),
        side_by_side(rngs[0, 1], rngs[1, 1], rngs[2, 1], rngs[3, 1]),
        side_by_side(rngs[0, 2], rngs[1, 2], rngs[2, 2], rngs[3, 2]),
        side_by_side(rngs[0, 3], rngs[1, 3], rngs[2, 3], rngs[3, 3]),
    )


@inlined
def keep_states(states: tuple, rngs: np.ndarray) -> None:
    """Put the states of four generators back into their rows."""
    for word in range(4):
        rngs[0, word], rngs[1, word], rngs[2, word], rngs[3, word] = apart(states[word])


@inlined
def draw_four(states: tuple, out: np.ndarray, i: int) -> tuple:
    """Fill out[i], ..., out[i + 3] (uint64) with a draw of each of four generators, and return their next
    states.

    One generator's next state depends on the last; four that run side by side keep the processor busy.
    """
    a, b, c, d, bits = advance(states[0], states[1], states[2], states[3])
    write_numbers(bits, out, i)
    return a, b, c, d


@inlined
def fill_bits_in_lanes(rngs: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint64[n, 4]), a column from each of the four generators of `rngs` (uint64[4, 4])."""
    states = states_of(rngs)
    for i in range(out.shape[0]):
        states = draw_four(states, out[i], 0)
    keep_states(states, rngs)


@kernel
def fill_uniforms(rng: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (float64[n]) with consecutive uniforms."""
    for i in range(out.size):
        out[i] = uniform(rng)


@kernel
def shuffle(rng: np.ndarray, items: np.ndarray) -> None:
    """A uniformly random permutation of `items` in place (Fisher and Yates)."""
    for last in range(items.size - 1, 0, -1):
        other = below(rng, last + 1)
        item = items[last]
        items[last] = items[other]
        items[other] = item
