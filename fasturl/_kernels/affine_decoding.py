"""Decoders whose scores are affine in real observations: see `decoding` for what a decoder computes.

`affine_scores` and `level_affine_scores` store the scores of all labels, for those who do more with them.
Where the label of the greatest is all that is wanted, `affine_labels` stores none: levels are taken as many
at a time as two registers hold (see `registers`), and the greatest scores so far stay in two.
"""

from typing import Any

import numpy as np

from .compiling import inlined, kernel
from .registers import (
    FOUR,
    as_bytes,
    full_like,
    read_four,
    read_one,
    read_wide,
    where_greater,
    wide,
    write_numbers,
    write_spread,
)

_0F = np.float32(0.0)
_0, _1, _2, _3, _4 = np.arange(5, dtype=np.uint64)

_NEAR_ROWS = np.uint64(32)
"""Coordinates whose noise stays in the nearest cache while it is read some levels at a time."""


@inlined
def _add_products(
    weights: np.ndarray, noise: np.ndarray, e: int, first: int, sums: np.ndarray, n_levels: int
) -> None:
    """sums[k, h] += weights[k, j] * noise[e, j, h] for the first levels h and j from the last down to
    `first`.

    Four coordinates at a time: a sum is then loaded and stored once for four products, which are still added
    one by one.
    """
    n_scores, dimension = weights.shape
    j, end = np.uint64(dimension), np.uint64(first)
    while j >= end + _4:
        j0, j1, j2, j3 = j - _1, j - _2, j - _3, j - _4
        for k in range(n_scores):
            w0, w1, w2, w3 = weights[k, j0], weights[k, j1], weights[k, j2], weights[k, j3]
            for h in range(n_levels):
                total = sums[k, h] + w0 * noise[e, j0, h]
                total += w1 * noise[e, j1, h]
                total += w2 * noise[e, j2, h]
                sums[k, h] = total + w3 * noise[e, j3, h]
        j -= _4
    while j > end:
        j -= _1
        for k in range(n_scores):
            w0 = weights[k, j]
            for h in range(n_levels):
                sums[k, h] += w0 * noise[e, j, h]


@inlined
def _add_level_products(
    weights: np.ndarray, noise: np.ndarray, e: int, first: int, sums: np.ndarray, n_levels: int
) -> None:
    """sums[k, h] += weights[k, j, h] * noise[e, j, h] likewise, four coordinates at a time as above."""
    n_scores, dimension, _ = weights.shape
    j, end = np.uint64(dimension), np.uint64(first)
    while j >= end + _4:
        j0, j1, j2, j3 = j - _1, j - _2, j - _3, j - _4
        for k in range(n_scores):
            for h in range(n_levels):
                total = sums[k, h] + weights[k, j0, h] * noise[e, j0, h]
                total += weights[k, j1, h] * noise[e, j1, h]
                total += weights[k, j2, h] * noise[e, j2, h]
                sums[k, h] = total + weights[k, j3, h] * noise[e, j3, h]
        j -= _4
    while j > end:
        j -= _1
        for k in range(n_scores):
            for h in range(n_levels):
                sums[k, h] += weights[k, j, h] * noise[e, j, h]


@kernel
def affine_scores(
    observations: tuple, weights: np.ndarray, bias: np.ndarray, tail: np.ndarray, scores: np.ndarray
) -> None:
    """scores[e, k, s, h] = bias[k] + weights[k] . x, for weights float32[K, D] and bias float32[K].

    `tail` is float32[K, L] of scratch.
    """
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    n_scores, dimension = weights.shape
    n_levels = means.shape[2]
    for e in range(noise.shape[0]):
        if n_informative == 0 and dimension == 2:  # the image of a lock, in one loop as below
            for k in range(n_scores):
                w1, w0, b = weights[k, 1], weights[k, 0], bias[k]
                for s in range(means.shape[0]):
                    for h in range(n_levels):
                        scores[e, k, s, h] = (w1 * noise[e, 1, h] + w0 * noise[e, 0, h]) + b
            continue
        tail[:] = _0F
        _add_products(weights, noise, e, n_informative, tail, n_levels)
        for s in range(means.shape[0]):
            if n_informative == 3:  # the code of a lock, in one loop: many short ones take longer to start
                for k in range(n_scores):
                    w2, w1, w0, b = weights[k, 2], weights[k, 1], weights[k, 0], bias[k]
                    for h in range(n_levels):
                        total = tail[k, h] + w2 * (noise[e, 2, h] + means[s, 2, h])
                        total += w1 * (noise[e, 1, h] + means[s, 1, h])
                        total += w0 * (noise[e, 0, h] + means[s, 0, h])
                        scores[e, k, s, h] = total + b
                continue
            for k in range(n_scores):
                for h in range(n_levels):
                    scores[e, k, s, h] = tail[k, h]
            j = np.uint64(n_informative)
            while j > _0:
                j -= _1
                for k in range(n_scores):
                    w0 = weights[k, j]
                    for h in range(n_levels):
                        scores[e, k, s, h] += w0 * (noise[e, j, h] + means[s, j, h])
            for k in range(n_scores):
                for h in range(n_levels):
                    scores[e, k, s, h] += bias[k]


@kernel
def level_affine_scores(
    observations: tuple, weights: np.ndarray, bias: np.ndarray, tail: np.ndarray, scores: np.ndarray
) -> None:
    """scores[e, k, s, h] = bias[k, h] + weights[k, :, h] . x, for weights float32[K, D, L] and bias
    float32[K, L].

    Only the first levels are computed where `scores` has fewer than the observations; `tail` is float32 of
    scratch, [K, levels of the scores].
    """
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    n_scores, n_levels = weights.shape[0], scores.shape[3]
    for e in range(noise.shape[0]):
        tail[:] = _0F
        _add_level_products(weights, noise, e, n_informative, tail, n_levels)
        for s in range(means.shape[0]):
            if n_informative == 3:  # the code of a lock, in one loop as above
                for k in range(n_scores):
                    for h in range(n_levels):
                        total = tail[k, h] + weights[k, 2, h] * (noise[e, 2, h] + means[s, 2, h])
                        total += weights[k, 1, h] * (noise[e, 1, h] + means[s, 1, h])
                        total += weights[k, 0, h] * (noise[e, 0, h] + means[s, 0, h])
                        scores[e, k, s, h] = total + bias[k, h]
                continue
            for k in range(n_scores):
                for h in range(n_levels):
                    scores[e, k, s, h] = tail[k, h]
            j = np.uint64(n_informative)
            while j > _0:
                j -= _1
                for k in range(n_scores):
                    for h in range(n_levels):
                        scores[e, k, s, h] += weights[k, j, h] * (noise[e, j, h] + means[s, j, h])
            for k in range(n_scores):
                for h in range(n_levels):
                    scores[e, k, s, h] += bias[k, h]


@inlined
def _weight(read: Any, weights: np.ndarray, k: np.uint64, j: np.uint64, h: int) -> Any:
    """That of coordinate j in score k, or those of several levels from h on where each has its own."""
    if weights.ndim == 2:
        return weights[k, j]
    return read(weights[k, j], h)


@inlined
def _with_bias(read: Any, total: Any, bias: np.ndarray, k: np.uint64, h: int) -> Any:
    """The scores k of several levels, whose bias is one number or that of each level."""
    if bias.ndim == 1:
        return total + bias[k]
    return total + read(bias[k], h)


@inlined
def _three_from(k: np.uint64, n_scores: np.uint64) -> tuple:
    """The numbers of three scores from k on; where there are fewer, the last one again."""
    last = n_scores - _1
    return k, min(k + _1, last), min(k + _2, last)


@inlined
def _two_from(start: int, width: int, n_levels: int) -> tuple:
    """The first levels of two registers from `start` on; where fewer levels are left, the last ones again."""
    last = n_levels - width
    return min(start, max(last - width, 0)), min(start + width, last)


@inlined
def _read_tails(read: Any, width: int, tail: np.ndarray, three: tuple, start: int) -> tuple:
    """The sums of three scores in two registers from a place on: those of the first register, then those of
    the second."""
    (k0, k1, k2), second = three, start + width
    return (
        read(tail[k0], start),
        read(tail[k1], start),
        read(tail[k2], start),
        read(tail[k0], second),
        read(tail[k1], second),
        read(tail[k2], second),
    )


@inlined
def _write_tails(width: int, sums: tuple, tail: np.ndarray, three: tuple, start: int) -> None:
    """Put such sums there."""
    (a0, a1, a2, b0, b1, b2), (k0, k1, k2), second = sums, three, start + width
    write_numbers(a0, tail[k0], start)
    write_numbers(a1, tail[k1], start)
    write_numbers(a2, tail[k2], start)
    write_numbers(b0, tail[k0], second)
    write_numbers(b1, tail[k1], second)
    write_numbers(b2, tail[k2], second)


@inlined
def _with_products(
    read: Any, sums: tuple, weights: np.ndarray, three: tuple, j: np.uint64, levels: tuple, pair: tuple
) -> tuple:
    """Such sums, and what coordinate j adds, which is `pair` at the two registers of levels."""
    (a0, a1, a2, b0, b1, b2), (k0, k1, k2), (h, g), (x, y) = sums, three, levels, pair
    return (
        a0 + _weight(read, weights, k0, j, h) * x,
        a1 + _weight(read, weights, k1, j, h) * x,
        a2 + _weight(read, weights, k2, j, h) * x,
        b0 + _weight(read, weights, k0, j, g) * y,
        b1 + _weight(read, weights, k1, j, g) * y,
        b2 + _weight(read, weights, k2, j, g) * y,
    )


@inlined
def _sum_tails(
    read: Any, width: int, observations: tuple, e: int, weights: np.ndarray, tail: np.ndarray, n_levels: int
) -> None:
    """tail[k, start : start + 2 width] = what the coordinates from `n_informative` on add to score k, at the
    levels from `start` on or at the last ones.

    Three scores in two registers at a time: a sum waits for each of its additions, and others are made
    meanwhile.
    """
    noise, first = observations.noise, np.uint64(observations.n_informative)
    n_scores, end = np.uint64(weights.shape[0]), np.uint64(weights.shape[1])
    tail[:] = _0F
    while end > first:
        begin = max(first, end - min(end, _NEAR_ROWS))
        for start in range(0, n_levels, 2 * width):
            levels = _two_from(start, width, n_levels)
            for k in range(_0, n_scores, _3):
                three = _three_from(k, n_scores)
                sums = _read_tails(read, width, tail, three, start)
                j = end
                while j > begin:
                    j -= _1
                    pair = read(noise[e, j], levels[0]), read(noise[e, j], levels[1])
                    sums = _with_products(read, sums, weights, three, j, levels, pair)
                _write_tails(width, sums, tail, three, start)
        end = begin


@inlined
def _better(score: Any, name: np.uint8, greatest: Any, label: Any) -> tuple:
    """The greatest scores and their labels, among those so far and one more."""
    names = full_like(score, np.float32(name))
    return where_greater(score, greatest, score, greatest), where_greater(score, greatest, names, label)


@inlined
def _best_of_three(
    read: Any, sums: tuple, bias: np.ndarray, relabel: np.ndarray, three: tuple, h: int, best: tuple
) -> tuple:
    """The greatest scores at a register of levels and their labels, among those so far and three more, whose
    biases the sums lack. At first, before score 0, there are none."""
    (a, b, c), (k0, k1, k2), (greatest, label) = sums, three, best
    a = _with_bias(read, a, bias, k0, h)
    greatest = a if k0 == _0 else greatest
    greatest, label = _better(a, relabel[k0], greatest, label)
    greatest, label = _better(_with_bias(read, b, bias, k1, h), relabel[k1], greatest, label)
    return _better(_with_bias(read, c, bias, k2, h), relabel[k2], greatest, label)


@inlined
def _label_episode(
    read: Any,
    width: int,
    observations: tuple,
    e: int,
    scores: tuple,
    tail: np.ndarray,
    relabel: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Fill labels[e], for two registers of levels at a time."""
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    weights, bias = scores.weights, scores.bias
    n_levels, n_states, n_scores = labels.shape[1], labels.shape[2], np.uint64(weights.shape[0])
    _sum_tails(read, width, observations, e, weights, tail, n_levels)
    row = labels[e].reshape(n_levels * n_states)
    for start in range(0, n_levels, 2 * width):
        levels = _two_from(start, width, n_levels)
        h, g = levels
        for s in range(np.uint64(n_states)):
            blank = read(tail[0], start)  # until the first scores are there
            first = second = blank, full_like(blank, np.float32(relabel[0]))
            for k in range(_0, n_scores, _3):
                three = _three_from(k, n_scores)
                sums = _read_tails(read, width, tail, three, start)
                j = np.uint64(n_informative)
                while j > _0:
                    j -= _1
                    x = read(noise[e, j], h) + read(means[s, j], h)
                    y = read(noise[e, j], g) + read(means[s, j], g)
                    sums = _with_products(read, sums, weights, three, j, levels, (x, y))
                first = _best_of_three(read, sums[:3], bias, relabel, three, h, first)
                second = _best_of_three(read, sums[3:], bias, relabel, three, g, second)
            write_spread(as_bytes(first[1]), row, h * n_states + s, n_states)
            write_spread(as_bytes(second[1]), row, g * n_states + s, n_states)


@kernel
def affine_labels(
    observations: tuple, scores: tuple, relabel: np.ndarray, tail: np.ndarray, labels: np.ndarray
) -> None:
    """Labels uint8[E, L, S] of greatest score, for `AffineScores` that are stored nowhere.

    Only the first levels are labelled where `labels` has fewer than the observations; `tail` is float32 of
    scratch, [K, twice the levels of the labels]: whole pairs of registers may be up to twice as many.
    """
    n_levels = labels.shape[1]
    for e in range(labels.shape[0]):
        if n_levels >= wide():
            _label_episode(read_wide, wide(), observations, e, scores, tail, relabel, labels)
        elif n_levels >= FOUR:
            _label_episode(read_four, FOUR, observations, e, scores, tail, relabel, labels)
        else:
            _label_episode(read_one, 1, observations, e, scores, tail, relabel, labels)
