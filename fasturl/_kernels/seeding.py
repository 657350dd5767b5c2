"""NumPy's SeedSequence (after O'Neill's seed_seq alternatives, 2015) for one 64-bit seed and a spawn key.

A pool of four 32-bit words is hashed from the seed's two words, padded with zeros to the size of the pool,
and the words of the spawn key; the state is hashed from the pool in turn. All arithmetic is modulo 2^32, done
here in uint64.
"""

import numpy as np

from .compiling import inlined, kernel

_LOW = np.uint64(0xFFFFFFFF)
_16 = np.uint64(16)
_32 = np.uint64(32)
_POOL_START, _POOL_STEP = np.uint64(0x43B0D7E5), np.uint64(0x931E8875)
_STATE_START, _STATE_STEP = np.uint64(0x8B51F9DD), np.uint64(0x58F38DED)
_MIX_LEFT, _MIX_RIGHT = np.uint64(0xCA01F9DD), np.uint64(0x4973F715)


@inlined
def _hashed(word: np.uint64, constant: np.uint64, step: np.uint64) -> tuple[np.uint64, np.uint64]:
    """The hash of a word, and the constant for the next."""
    following = (constant * step) & _LOW
    value = ((word ^ constant) * following) & _LOW
    return value ^ (value >> _16), following


@inlined
def _mixed(x: np.uint64, y: np.uint64) -> np.uint64:
    value = (_MIX_LEFT * x - _MIX_RIGHT * y) & _LOW
    return value ^ (value >> _16)


@kernel
def seed_stream(seed: np.uint64, key: np.ndarray, pool: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (uint64[n]) as SeedSequence(seed, spawn_key=key).generate_state(n, uint64); key uint32[m],
    pool uint64[4] of scratch."""
    constant = _POOL_START
    for i in range(4):
        word = np.uint64(0)
        if i == 0:
            word = seed & _LOW
        elif i == 1:
            word = seed >> _32
        pool[i], constant = _hashed(word, constant, _POOL_STEP)
    for source in range(4):
        for target in range(4):
            if source != target:
                value, constant = _hashed(pool[source], constant, _POOL_STEP)
                pool[target] = _mixed(pool[target], value)
    for i in range(key.size):
        for target in range(4):
            value, constant = _hashed(np.uint64(key[i]), constant, _POOL_STEP)
            pool[target] = _mixed(pool[target], value)
    constant = _STATE_START
    for i in range(out.size):
        low, constant = _hashed(pool[(2 * i) & 3], constant, _STATE_STEP)
        high, constant = _hashed(pool[(2 * i + 1) & 3], constant, _STATE_STEP)
        out[i] = low | (high << _32)
