"""Slow, obvious references for `_kernels/rng.py`. A generator is a list of four Python integers."""

_WORD = 2**64


def _rotate_left(word, count):
    """The word with its top `count` bits moved to the bottom."""
    return (word << count) % _WORD | word >> (64 - count)


def next_bits(rng):
    """xoshiro256++: 64 fresh bits."""
    a, b, c, d = rng
    rng[:] = [a ^ b ^ d, a ^ b ^ c, a ^ c ^ (b << 17) % _WORD, _rotate_left(b ^ d, 45)]
    return (_rotate_left((a + d) % _WORD, 23) + a) % _WORD


def uniform(rng):
    """The top 53 bits as a fraction."""
    return (next_bits(rng) >> 11) / 2**53


def below(rng, bound):
    """Scale 32 bits to 0..bound-1 and reject the first 2^32 mod bound words of each outcome (Lemire,
    2019)."""
    while True:
        outcome, rest = divmod((next_bits(rng) >> 32) * bound, 2**32)
        if rest >= 2**32 % bound:
            return outcome


def fill_bits(rng, out):
    """Consecutive draws of bits."""
    for i in range(len(out)):
        out[i] = next_bits(rng)


def fill_bits_in_lanes(rngs, out):
    """Consecutive draws of bits, a column from each generator."""
    for i in range(len(out)):
        for lane, generator in enumerate(rngs):
            out[i, lane] = next_bits(generator)


def fill_uniforms(rng, out):
    """Consecutive uniforms."""
    for i in range(len(out)):
        out[i] = uniform(rng)


def shuffle(rng, items):
    """Fisher and Yates, from the last item down."""
    for last in reversed(range(1, len(items))):
        other = below(rng, last + 1)
        items[last], items[other] = items[other], items[last]
