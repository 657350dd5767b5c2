"""Observation noise for blocks of episodes, and how observations are made of it.

The noise of an observation depends on neither policy nor latent state. An episode takes a fixed number of
draws from the emission rng, so episode n meets the same noise whatever the size of the blocks and whoever
plays.

Reals: `noise[e, j, h]` is what coordinate j has at level h, the level being the fastest axis so that loops
over levels become vector instructions. An observation adds the mean of its state. There may be more
coordinates than are used.

Bits: an observation is W words of 64 bits, coordinate j in bit j % 64 of word j // 64.
"""

import math

import numpy as np

from .compiling import fma, inlined, kernel
from .entries import set_entry
from .registers import FOUR, as_reals, read_four, read_wide, same_bits, square_roots, wide, write_numbers
from .rng import draw_four, fill_bits_in_lanes, keep_states, states_of
from .turning import turn

_F = np.float32
_HALF, _ONE = _F(0.5), _F(1.0)
_TWO_M32, _TWO_M33 = _F(2.0**-32), _F(2.0**-33)

# log(1 + m) = m - m^2 / 2 + m^3 P(m) on [sqrt(1/2) - 1, sqrt(2) - 1], to 4e-7: least squares at Chebyshev
# nodes
_P0, _P1, _P2 = _F(0.333337), _F(-0.24992542), _F(0.19940133)
_P3, _P4, _P5 = _F(-0.16973305), _F(0.15903158), _F(-0.107437)
_MANTISSA_SPLIT = np.int32(0x3F3504F3)  # the bits of sqrt(1/2)
_EXPONENT = np.int32(-(1 << 23))
_LOG2_PER_EXPONENT = _F(2.0**-23 * math.log(2.0))

# sin t = t + t^3 S(t^2) and cos t = 1 + t^2 C(t^2) on [-pi/2, pi/2], to 3e-8 and 2e-7
_S0, _S1, _S2, _S3 = _F(-0.16666666), _F(0.0083332425), _F(-0.00019822762), _F(2.6348152e-06)
_C0, _C1, _C2, _C3 = _F(-0.4999999), _F(0.041665673), _F(-0.0013868639), _F(2.3476849e-05)
_HALF_TURN = _F(math.pi / 2 / 2**31)
_SIGN = np.uint32(1 << 31)
_1 = np.uint32(1)

_0, _ONE_BIT, _3, _6, _8 = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(6), np.uint64(8)
_7, _14, _28, _BYTE = np.uint64(7), np.uint64(14), np.uint64(28), np.uint64(0xFF)
_SPREAD = np.array([sum((byte >> i & 1) << 8 * i for i in range(8)) for byte in range(256)], np.uint64)
"""For each byte a word of eight bytes, which are its bits."""
_CROSS_TWO, _CROSS_FOUR, _CROSS_EIGHT = (
    np.uint64(0x00AA00AA00AA00AA),
    np.uint64(0x0000CCCC0000CCCC),
    np.uint64(0x00000000F0F0F0F0),
)
"""Bits of a square of eight rows that change places with those on the other side of the diagonal."""


@inlined
def _box_muller(radius_bits: np.ndarray, angle_bits: np.ndarray, variance: np.float32) -> tuple:
    """Two independent normals (Box and Muller, 1958), without branches, from each of several pairs.

    32 bits give the radius sqrt(-2 log u), which reaches 6.7; 31 bits give an angle in [-pi/2, pi/2), one its
    half-plane.
    """
    u = fma(as_reals(radius_bits), _TWO_M32, _TWO_M33)
    bits = same_bits(u, np.int32)
    exponent = (bits - _MANTISSA_SPLIT) & _EXPONENT
    m = same_bits(bits - exponent, np.float32) - _ONE
    z = m * m
    p = fma(z * z, fma(_P5, m, _P4), fma(z, fma(_P3, m, _P2), fma(_P1, m, _P0)))
    log_u = fma(z, fma(m, p, -_HALF), as_reals(exponent) * _LOG2_PER_EXPONENT + m)
    radius = square_roots(_F(-2.0) * variance * log_u)
    t = as_reals(same_bits(angle_bits << _1, np.int32)) * _HALF_TURN
    v = t * t
    sine = fma(t * v, fma(fma(fma(_S3, v, _S2), v, _S1), v, _S0), t)
    cosine = fma(v, fma(fma(fma(_C3, v, _C2), v, _C1), v, _C0), _ONE)
    flipped = same_bits(same_bits(radius * cosine, np.uint32) ^ (angle_bits & _SIGN), np.float32)
    return radius * sine, flipped


@inlined
def draw_bits(rngs: np.ndarray, room: np.ndarray) -> None:
    """Fill `room` (float32[2, n]) with fresh bits."""
    fill_bits_in_lanes(rngs, room.view(np.uint64).reshape(room.size // 8, 4))


@inlined
def make_normals(
    bits: np.ndarray,
    deviation: np.float32,
    out: np.ndarray,
    rngs: np.ndarray,
    room: np.ndarray,
    has_next: bool,
) -> None:
    """Fill `out` with the normals of mean 0 that `bits` stand for, and meanwhile `room` with the bits of the
    next ones, if there are any; all of them are float32[2, n]. `out` may be the place of the bits.

    A processor has other parts for whole numbers than for reals, so that to draw bits takes little time
    beside normals.
    """
    source, words = bits.view(np.uint32), room.reshape(room.size).view(np.uint64)
    variance, states = deviation * deviation, states_of(rngs)
    end = words.size - words.size % wide()
    for i in range(0, end, wide()):
        sines, cosines = _box_muller(read_wide(source[0], i), read_wide(source[1], i), variance)
        write_numbers(sines, out[0], i)
        write_numbers(cosines, out[1], i)
        if has_next:
            for k in range(i, i + wide(), FOUR):
                states = draw_four(states, words, k)
    for i in range(end, words.size, FOUR):
        sines, cosines = _box_muller(read_four(source[0], i), read_four(source[1], i), variance)
        write_numbers(sines, out[0], i)
        write_numbers(cosines, out[1], i)
        if has_next:
            states = draw_four(states, words, i)
    keep_states(states, rngs)


@kernel
def fill_normals(rngs: np.ndarray, scratch: np.ndarray, deviation: np.float32, out: np.ndarray) -> None:
    """Fill `out` (float32[E, 2, n]) with normals of mean 0, episode by episode.

    n is a multiple of 4. While the bits of an episode are in use, those of the next one are drawn, by turns
    into `scratch` (float32[2, n]) and into the place where the normals of that next one go.
    """
    last = out.shape[0] - 1
    if last >= 0:
        draw_bits(rngs, scratch)
    for e in range(last + 1):
        following = out[min(e + 1, last)]
        bits, room = (scratch, following) if e % 2 == 0 else (out[e], scratch)
        make_normals(bits, deviation, out[e], rngs, room, e < last)


@kernel
def fill_words(rngs: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint64[E, n, 4]) with raw bits, episode by episode."""
    for e in range(out.shape[0]):
        fill_bits_in_lanes(rngs, out[e])


@kernel
def lock_words(raw: np.ndarray, horizon: int, out: np.ndarray) -> None:
    """Observations of a lock of bits for every state: out uint64[E, H+1, 3, W].

    The first three bits are the one-hot code, then H coins from the episode's row of `raw`. As many levels
    share a raw word as have room in it; where H coins and the code do not fit into one word, every word has
    its own.
    """
    n_words = out.shape[3]
    if n_words == 1:
        share = max(1, 64 // horizon)
        width = np.uint64(horizon)
        mask = (np.uint64(1) << width) - np.uint64(1)
        place = _0
        for e in range(out.shape[0]):
            h = 0
            for i in range(raw.shape[1]):
                coins = raw[e, i]
                for _ in range(min(share, horizon + 1 - h)):
                    word = (coins & mask) << np.uint64(3)
                    for s in range(_3):
                        set_entry(out, place + s, word | (_ONE_BIT << s))
                    place += _3
                    coins >>= width
                    h += 1
    else:
        used = (horizon + 3) % 64
        last = (np.uint64(1) << np.uint64(used)) - np.uint64(1) if used else ~np.uint64(0)
        for e in range(out.shape[0]):
            for h in range(horizon + 1):
                first = h * n_words
                for w in range(1, n_words):
                    word = raw[e, first + w] & (last if w == n_words - 1 else ~_0)
                    out[e, h, 0, w] = out[e, h, 1, w] = out[e, h, 2, w] = word
                for s in range(3):
                    out[e, h, s, 0] = (raw[e, first] & ~_7) | (_ONE_BIT << np.uint64(s))


@kernel
def bernoulli_words(halves: np.ndarray, thresholds: np.ndarray, out: np.ndarray) -> None:
    """Independent bits for every state: out uint64[E, L, S, W].

    Bit j is set where the 32-bit uniform halves[e, h * D + j] is below thresholds[h, s, j] (uint64, in units
    of 2^-32).
    """
    dimension = thresholds.shape[2]
    for e in range(out.shape[0]):
        for h in range(out.shape[1]):
            uniforms = halves[e, h * dimension : (h + 1) * dimension]
            for s in range(out.shape[2]):
                for w in range(out.shape[3]):
                    # without branches, so that several bits are compared at once
                    some, limits = uniforms[64 * w : 64 * w + 64], thresholds[h, s, 64 * w : 64 * w + 64]
                    word = _0
                    for j in range(some.size):
                        word |= np.uint64(np.uint64(some[j]) < limits[j]) << np.uint64(j)
                    out[e, h, s, w] = word


@kernel
def categorical_words(raw: np.ndarray, cumulative: np.ndarray, out: np.ndarray) -> None:
    """One-hot categories for every state: out uint64[E, L, S, W], cumulative float64[L, S, C], one raw word a
    level."""
    out[:] = np.uint64(0)
    for e in range(out.shape[0]):
        for h in range(out.shape[1]):
            u = np.float64(raw[e, h] >> np.uint64(11)) * 2.0**-53
            for s in range(out.shape[2]):
                c = 0
                while u >= cumulative[h, s, c]:
                    c += 1
                out[e, h, s, c >> 6] = np.uint64(1) << np.uint64(c & 63)


@inlined
def _spread(byte: np.uint64) -> np.uint64:
    """Eight bits as eight bytes, the lowest first."""
    return _SPREAD[byte & _BYTE]


def put_eight(bytes_: np.uint64, e: int, j: int, out: np.ndarray) -> None:
    """The eight bytes of a word into out[e, j : j + 8], the lowest first, which need not be a multiple of
    eight from anywhere. `_base.numba_internals` gives compilers one store for it."""
    for i in range(8):
        out[e, j + i] = np.int8(bytes_ >> np.uint64(8 * i) & _BYTE)


@inlined
def show_word(word: np.uint64, e: int, first: int, end: int, out: np.ndarray) -> None:
    """Bits of one word as bytes out[e, first:end], eight at a time; the last eight may overlap those
    before."""
    width = end - first
    if width < 8:
        for j in range(first, end):
            out[e, j] = np.int8(word >> np.uint64(j - first) & _ONE_BIT)
    else:
        if width % 8:
            put_eight(_spread(word >> np.uint64(width - 8)), e, end - 8, out)
        for j in range(first, end - 7, 8):
            put_eight(_spread(word), e, j, out)
            word >>= np.uint64(8)


@inlined
def _unpack_row(words: np.ndarray, i: int, out: np.ndarray) -> None:
    """Bits of words[W] as bytes out[i], uint8[n, D]."""
    dimension = out.shape[1]
    for w in range(words.size):
        show_word(words[w], i, 64 * w, min(64 * w + 64, dimension), out)


@kernel
def unpack(words: np.ndarray, out: np.ndarray) -> None:
    """Bits as bytes: words uint64[n, W], out uint8[n, D]."""
    for i in range(out.shape[0]):
        _unpack_row(words[i], i, out)


@inlined
def _eight_bytes(bits: np.ndarray, i: np.uint64, j: np.uint64) -> np.uint64:
    """The bytes j to j + 7 of a row as one word."""
    eight = _0
    for k in range(_8):
        eight |= np.uint64(bits[i, j + k]) << (_8 * k)  # which becomes one load
    return eight


@inlined
def _eight_bits(bits: np.ndarray, i: np.uint64, j: np.uint64) -> np.uint64:
    """The bits j to j + 7 of a row as one byte: pairs move together, then fours, then all."""
    eight = _eight_bytes(bits, i, j)
    eight |= eight >> _7
    eight |= eight >> _14
    eight |= eight >> _28
    return eight & _BYTE


@inlined
def _whole_word(bits: np.ndarray, i: np.uint64, j: np.uint64) -> np.uint64:
    """The bits j to j + 63 of a row as one word.

    Bit c of byte k is that of coordinate 8 c + k at first: eight rows of eight bits, which are then
    transposed, first in squares of two, then of four, then of eight.
    """
    word = _0
    for c in range(_8):
        word |= _eight_bytes(bits, i, j + _8 * c) << c
    crossing = (word ^ (word >> _7)) & _CROSS_TWO
    word ^= crossing ^ (crossing << _7)
    crossing = (word ^ (word >> _14)) & _CROSS_FOUR
    word ^= crossing ^ (crossing << _14)
    crossing = (word ^ (word >> _28)) & _CROSS_EIGHT
    return word ^ crossing ^ (crossing << _28)


@kernel
def pack(bits: np.ndarray, out: np.ndarray) -> None:
    """Bytes as bits: bits uint8[n, D] of zeros and ones, out uint64[n, W]."""
    dimension = np.uint64(bits.shape[1])
    n_whole = dimension >> _6
    first = n_whole << _6
    n_left = dimension - first
    for i in range(np.uint64(bits.shape[0])):
        for w in range(n_whole):
            out[i, w] = _whole_word(bits, i, w << _6)
        if n_left > _0:
            word = _0
            for c in range(n_left >> _3):
                word |= _eight_bits(bits, i, first + _8 * c) << (_8 * c)
            if n_left > _8:
                word |= _eight_bits(bits, i, dimension - _8) << (n_left - _8)  # some of them once more
            else:
                for j in range((n_left >> _3) << _3, n_left):
                    word |= np.uint64(bits[i, first + j]) << j
            out[i, n_whole] = word


@kernel
def observe_bits(words: np.ndarray, states: np.ndarray, out: np.ndarray) -> None:
    """The observations along given states, a byte for each bit: words uint64[E, L, S, W], states int64[E, L],
    out uint8[E, L, D]."""
    for e in range(states.shape[0]):
        for h in range(states.shape[1]):
            _unpack_row(words[e, h, states[e, h]], h, out[e])


@kernel
def observe_reals(observations: tuple, states: np.ndarray, out: np.ndarray) -> None:
    """The observations along given states int64[E, L], where `observations` is a `RealObservations` without
    gaps: out float32[E, L, D]."""
    noise, means = observations.noise, observations.means
    for e in range(states.shape[0]):
        turn(noise[e], out[e])
        for h in range(states.shape[1]):
            s = states[e, h]
            for j in range(observations.n_informative):
                out[e, h, j] += means[s, j, h]
