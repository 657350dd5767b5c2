"""Decoders whose scores are affine in real observations: see `decoding` for what a decoder computes.

`affine_scores` and `level_affine_scores` store the scores of all labels, for those who do more with them.
Where the label of the greatest is all that is wanted, `affine_labels` stores none: levels are taken as many
at a time as a register holds (see `registers`), and the greatest score so far stays in one.
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

_FEW_REGISTERS = 6
"""Registers of levels up to which those that plain loops would leave over take longer than the rest."""
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
def _four_from(k: np.uint64, n_scores: np.uint64) -> tuple:
    """The numbers of four scores from k on; where there are fewer, the last one again."""
    last = n_scores - _1
    return k, min(k + _1, last), min(k + _2, last), min(k + _3, last)


@inlined
def _tails_of(read: Any, tail: np.ndarray, four: tuple, place: int) -> tuple:
    """What is in the rows of four scores from a place on."""
    k0, k1, k2, k3 = four
    return read(tail[k0], place), read(tail[k1], place), read(tail[k2], place), read(tail[k3], place)


@inlined
def _with_products(
    read: Any, sums: tuple, weights: np.ndarray, four: tuple, j: np.uint64, h: int, x: Any
) -> tuple:
    """The sums of four scores at several levels from h on, and what coordinate j, which is x there, adds."""
    (a, b, c, d), (k0, k1, k2, k3) = sums, four
    return (
        a + _weight(read, weights, k0, j, h) * x,
        b + _weight(read, weights, k1, j, h) * x,
        c + _weight(read, weights, k2, j, h) * x,
        d + _weight(read, weights, k3, j, h) * x,
    )


@inlined
def _sum_tails(
    read: Any, width: int, observations: tuple, e: int, weights: np.ndarray, tail: np.ndarray, n_levels: int
) -> None:
    """tail[k, start : start + width] = what the coordinates from `n_informative` on add to score k, at the
    levels from `start` on or at the last ones.

    Four scores at a time: a sum waits for each of its additions, and others are made meanwhile.
    """
    noise, first = observations.noise, np.uint64(observations.n_informative)
    n_scores, end = np.uint64(weights.shape[0]), np.uint64(weights.shape[1])
    tail[:] = _0F
    while end > first:
        begin = max(first, end - min(end, _NEAR_ROWS))
        for start in range(0, n_levels, width):
            h = min(start, n_levels - width)
            for k in range(_0, n_scores, _4):
                four = _four_from(k, n_scores)
                sums = _tails_of(read, tail, four, start)
                j = end
                while j > begin:
                    j -= _1
                    sums = _with_products(read, sums, weights, four, j, h, read(noise[e, j], h))
                for i in range(4):
                    write_numbers(sums[i], tail[four[i]], start)
        end = begin


@inlined
def _sum_long_tails(
    observations: tuple, e: int, weights: np.ndarray, tail: np.ndarray, n_levels: int
) -> None:
    """tail[k, h] = the same at level h, row after row: where rows are long, what is left over of them is
    little, and memory is read in its order."""
    tail[:] = _0F
    if weights.ndim == 2:
        _add_products(weights, observations.noise, e, observations.n_informative, tail, n_levels)
    else:
        _add_level_products(weights, observations.noise, e, observations.n_informative, tail, n_levels)


@inlined
def _better(score: Any, name: np.uint8, greatest: Any, label: Any) -> tuple:
    """The greatest scores and their labels, among those so far and one more."""
    names = full_like(score, np.float32(name))
    return where_greater(score, greatest, score, greatest), where_greater(score, greatest, names, label)


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
    """Fill labels[e], for as many levels at a time as are read."""
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    weights, bias = scores.weights, scores.bias
    n_levels, n_states, n_scores = labels.shape[1], labels.shape[2], np.uint64(weights.shape[0])
    is_long = n_levels > _FEW_REGISTERS * wide()
    if is_long:
        _sum_long_tails(observations, e, weights, tail, n_levels)
    else:
        _sum_tails(read, width, observations, e, weights, tail, n_levels)
    row = labels[e].reshape(n_levels * n_states)
    for start in range(0, n_levels, width):
        h = min(start, n_levels - width)  # the last levels again, where fewer are left
        place = h if is_long else start
        for s in range(np.uint64(n_states)):
            greatest = read(tail[0], place)  # until the first score is there
            label = full_like(greatest, np.float32(relabel[0]))
            for k in range(_0, n_scores, _4):
                four = _four_from(k, n_scores)
                sums = _tails_of(read, tail, four, place)
                j = np.uint64(n_informative)
                while j > _0:
                    j -= _1
                    x = read(noise[e, j], h) + read(means[s, j], h)
                    sums = _with_products(read, sums, weights, four, j, h, x)
                for i in range(4):
                    score = _with_bias(read, sums[i], bias, four[i], h)
                    greatest = score if k == _0 and i == 0 else greatest
                    greatest, label = _better(score, relabel[four[i]], greatest, label)
            write_spread(as_bytes(label), row, h * n_states + s, n_states)


@kernel
def affine_labels(
    observations: tuple, scores: tuple, relabel: np.ndarray, tail: np.ndarray, labels: np.ndarray
) -> None:
    """Labels uint8[E, L, S] of greatest score, for `AffineScores` that are stored nowhere.

    Only the first levels are labelled where `labels` has fewer than the observations; `tail` is float32 of
    scratch, [K, twice the levels of the labels]: whole registers may be up to twice as many.
    """
    n_levels = labels.shape[1]
    for e in range(labels.shape[0]):
        if n_levels >= wide():
            _label_episode(read_wide, wide(), observations, e, scores, tail, relabel, labels)
        elif n_levels >= FOUR:
            _label_episode(read_four, FOUR, observations, e, scores, tail, relabel, labels)
        else:
            _label_episode(read_one, 1, observations, e, scores, tail, relabel, labels)
