"""Slow, obvious references for `_kernels/emission.py`: observations as lists of bits, normals in double
precision."""

import math

import numpy as np

from .rng import fill_bits_in_lanes


def _bits(word, count):
    """The lowest bits of a word, the lowest first."""
    return [int(word) >> j & 1 for j in range(count)]


def _word_of(bits, w):
    """Word w of packed bits: coordinate j is bit j % 64 of word j // 64."""
    return sum(bit << j for j, bit in enumerate(bits[64 * w : 64 * (w + 1)]))


def fill_normals(rngs, scratch, deviation, out):
    """Box and Muller: the first half of an episode's bits gives radii, the second half angles."""
    bits = np.empty((scratch.size // 8, 4), np.uint64)
    for e in range(len(out)):
        fill_bits_in_lanes(rngs, bits)
        halves = bits.view(np.uint32).reshape(2, -1)
        for i in range(halves.shape[1]):
            u = (int(halves[0, i]) + 0.5) / 2**32
            radius = float(deviation) * math.sqrt(-2 * math.log(u))
            half_plane, place = divmod(int(halves[1, i]), 2**31)
            angle = (place / 2**30 - 2 * (place >= 2**30)) * math.pi / 2
            out[e, 0, i] = radius * math.sin(angle)
            out[e, 1, i] = radius * math.cos(angle) * (-1 if half_plane else 1)


def fill_words(rngs, out):
    """Raw bits, episode by episode."""
    for e in range(len(out)):
        fill_bits_in_lanes(rngs, out[e])


def lock_words(raw, horizon, out):
    """The one-hot code, then the level's coins; levels share a raw word where several times H coins fit into
    it."""
    n_words = out.shape[3]
    share = max(1, 64 // horizon)
    for e in range(out.shape[0]):
        for h in range(horizon + 1):
            if n_words == 1:
                place = h % share * horizon
                coins = _bits(raw[e, h // share], 64)[place : place + horizon]
            else:
                coins = [bit for w in range(n_words) for bit in _bits(raw[e, h * n_words + w], 64)][
                    3 : 3 + horizon
                ]
            for s in range(3):
                code = [int(s == one) for one in range(3)]
                for w in range(n_words):
                    out[e, h, s, w] = _word_of(code + coins, w)


def bernoulli_words(halves, thresholds, out):
    """A bit is set where its uniform is below its threshold."""
    n_levels, n_states, dimension = thresholds.shape
    for e in range(out.shape[0]):
        for h in range(n_levels):
            for s in range(n_states):
                bits = [
                    int(int(halves[e, h * dimension + j]) < int(thresholds[h, s, j]))
                    for j in range(dimension)
                ]
                for w in range(out.shape[3]):
                    out[e, h, s, w] = _word_of(bits, w)


def categorical_words(raw, cumulative, out):
    """The one-hot code of the first category whose cumulative chance exceeds the level's uniform."""
    n_levels, n_states, n_symbols = cumulative.shape
    for e in range(out.shape[0]):
        for h in range(n_levels):
            u = (int(raw[e, h]) >> 11) / 2**53
            for s in range(n_states):
                symbol = next(c for c in range(n_symbols) if u < cumulative[h, s, c])
                for w in range(out.shape[3]):
                    out[e, h, s, w] = _word_of([int(c == symbol) for c in range(n_symbols)], w)


def unpack(words, out):
    """Coordinate j is bit j % 64 of word j // 64."""
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = int(words[i, j // 64]) >> j % 64 & 1


def pack(bits, out):
    """The inverse of `unpack`; bits beyond the last coordinate are 0."""
    for i in range(out.shape[0]):
        for w in range(out.shape[1]):
            out[i, w] = _word_of([int(bit) for bit in bits[i]], w)


def observe_bits(words, states, out):
    """The bits of the state, one by one."""
    for e in range(out.shape[0]):
        for h in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[e, h, j] = int(words[e, h, states[e, h], j // 64]) >> j % 64 & 1


def observe_reals(observations, states, out):
    """Noise plus the mean of the state."""
    noise, means, _ = observations
    for e in range(out.shape[0]):
        for h in range(out.shape[1]):
            for j in range(out.shape[2]):
                out[e, h, j] = noise[e, j, h] + means[states[e, h], j, h]
