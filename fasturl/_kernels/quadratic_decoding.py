"""Decoders whose scores are quadratic in real observations: log densities of normals with a covariance matrix
each. See `decoding` for what a decoder computes.

Levels are taken as many at a time as two registers hold (see `registers`): a sum waits for each of its
additions, and that of the other register is made meanwhile.
"""

from typing import Any

import numpy as np

from .compiling import inlined, kernel
from .registers import FOUR, full_like, read_four, read_one, read_wide, wide, write_numbers

_0, _1 = np.arange(2, dtype=np.uint64)
_0F = np.float32(0.0)
_HALF = np.float32(0.5)


@inlined
def _entry_from_noise(
    read: Any, factors: np.ndarray, noise: np.ndarray, i: np.uint64, first: np.uint64, levels: tuple
) -> tuple:
    """Entry i of U x at two registers of levels, as far as the coordinates from `first` on make it."""
    h, g = levels
    a = b = full_like(read(noise[_0], h), _0F)
    j = np.uint64(noise.shape[0])
    while j > first:
        j -= _1
        a, b = a + factors[i, j] * read(noise[j], h), b + factors[i, j] * read(noise[j], g)
    return a, b


@inlined
def _entry_in_state(
    read: Any, factors: np.ndarray, entry: tuple, state: tuple, i: np.uint64, end: np.uint64, levels: tuple
) -> tuple:
    """Entry i of U x in a state at two registers of levels, given what the coordinates from `end` on make of
    it."""
    (noise, means), (a, b), (h, g), j = state, entry, levels, end
    while j > i:
        j -= _1
        a = a + factors[i, j] * (read(noise[j], h) + read(means[j], h))
        b = b + factors[i, j] * (read(noise[j], g) + read(means[j], g))
    return a, b


@inlined
def _with_square(squares: tuple, entry: tuple, centre: np.float32) -> tuple:
    """The sums of squared distances from a centre in two registers, and that of one more entry."""
    gap, other_gap = entry[0] - centre, entry[1] - centre
    return squares[0] + gap * gap, squares[1] + other_gap * other_gap


@inlined
def _score_levels(
    read: Any,
    observations: tuple,
    e: int,
    mixture: tuple,
    levels: tuple,
    tail: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Fill in the scores of an episode at the levels of two registers, which begin at `levels`."""
    (h, g), n_informative = levels, np.uint64(observations.n_informative)
    noise = observations.noise[e, : mixture.factors.shape[1]]
    for k in range(mixture.bias.size):
        factors, centres, bias = mixture.factors[k], mixture.centres[k], mixture.bias[k]
        blank, i = full_like(read(noise[_0], h), _0F), np.uint64(noise.shape[0])
        shared = blank, blank
        while i > n_informative:
            i -= _1
            shared = _with_square(shared, _entry_from_noise(read, factors, noise, i, i, levels), centres[i])
        while i > _0:
            i -= _1
            entry = _entry_from_noise(read, factors, noise, i, n_informative, levels)
            write_numbers(entry[0], tail[i], h)
            write_numbers(entry[1], tail[i], g)
        for s in range(observations.means.shape[0]):
            state, squares, i = (noise, observations.means[s]), shared, n_informative
            while i > _0:
                i -= _1
                entry = read(tail[i], h), read(tail[i], g)
                entry = _entry_in_state(read, factors, entry, state, i, n_informative, levels)
                squares = _with_square(squares, entry, centres[i])
            write_numbers(bias - _HALF * squares[0], scores[e, k, s], h)
            write_numbers(bias - _HALF * squares[1], scores[e, k, s], g)


@inlined
def _score_episode(
    read: Any, width: int, observations: tuple, e: int, mixture: tuple, tail: np.ndarray, scores: np.ndarray
) -> None:
    """Fill in the scores of an episode; where levels do not fill registers, the last ones come twice."""
    last = scores.shape[3] - width
    for start in range(0, scores.shape[3], 2 * width):
        levels = min(start, last), min(start + width, last)
        _score_levels(read, observations, e, mixture, levels, tail, scores)


@kernel
def quadratic_scores(observations: tuple, mixture: tuple, tail: np.ndarray, scores: np.ndarray) -> None:
    """scores[e, k, s, h] = bias[k] - |U_k x - centres[k]|^2 / 2, for the `QuadraticScores` of a mixture.

    Row i of a factor reads the coordinates from i on, so rows from `n_informative` on are the same in every
    state. `tail` is float32[n_informative, L] of scratch.
    """
    for e in range(scores.shape[0]):
        if scores.shape[3] >= wide():
            _score_episode(read_wide, wide(), observations, e, mixture, tail, scores)
        elif scores.shape[3] >= FOUR:
            _score_episode(read_four, FOUR, observations, e, mixture, tail, scores)
        else:
            _score_episode(read_one, 1, observations, e, mixture, tail, scores)
