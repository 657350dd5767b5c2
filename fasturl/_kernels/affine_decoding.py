"""Decoders whose scores are affine in real observations x, but for a multiple of |x|^2: see `decoding` for
what a decoder computes.

    score[k] = (sum over j of weights[k, j] x[j] + bias[k]) + curvature[k] |x|^2

`affine_scores` stores the scores of all labels, for those who do more with them. Where the label of the
greatest is all that is wanted, `affine_labels` stores none (and `sure_labels` sums less where there are many
states). Levels are taken as many at a time as two
registers hold (see `registers`), and the greatest scores so far stay in two.
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
_0, _1, _2, _3 = np.arange(4, dtype=np.uint64)

_NEAR_ROWS = np.uint64(32)
"""Coordinates whose noise stays in the nearest cache while it is read some levels at a time."""


@inlined
def _weight(read: Any, weights: np.ndarray, k: np.uint64, j: np.uint64, h: int) -> Any:
    """That of coordinate j in score k, or those of several levels from h on where each has its own."""
    if weights.ndim == 2:
        return weights[k, j]
    return read(weights[k, j], h)


@inlined
def _three_from(k: np.uint64, n_scores: np.uint64) -> tuple:
    """The numbers of three scores from k on; where there are fewer, the last one again."""
    last = n_scores - _1
    return k, min(k + _1, last), min(k + _2, last)


@inlined
def turn_at(start: int, width: int, n_levels: int) -> tuple:
    """The places in a tail of two registers from `start` on, and the first levels of both; where fewer levels
    are left, these are the last ones again."""
    last = n_levels - width
    return start, start + width, min(start, max(last - width, 0)), min(start + width, last)


@inlined
def _read_tails(read: Any, tail: np.ndarray, three: tuple, turn: tuple) -> tuple:
    """The sums of three scores in two registers: those of the first register, then those of the second."""
    (k0, k1, k2), (u, v, _, _) = three, turn
    return (
        read(tail[k0], u),
        read(tail[k1], u),
        read(tail[k2], u),
        read(tail[k0], v),
        read(tail[k1], v),
        read(tail[k2], v),
    )


@inlined
def _write_tails(sums: tuple, tail: np.ndarray, three: tuple, turn: tuple) -> None:
    """Put such sums there."""
    (a0, a1, a2, b0, b1, b2), (k0, k1, k2), (u, v, _, _) = sums, three, turn
    write_numbers(a0, tail[k0], u)
    write_numbers(a1, tail[k1], u)
    write_numbers(a2, tail[k2], u)
    write_numbers(b0, tail[k0], v)
    write_numbers(b1, tail[k1], v)
    write_numbers(b2, tail[k2], v)


@inlined
def _with_products(
    read: Any, sums: tuple, weights: np.ndarray, three: tuple, j: np.uint64, turn: tuple, pair: tuple
) -> tuple:
    """Such sums, and what coordinate j adds, which is `pair` in the two registers."""
    (a0, a1, a2, b0, b1, b2), (k0, k1, k2), (_, _, h, g), (x, y) = sums, three, turn, pair
    return (
        a0 + _weight(read, weights, k0, j, h) * x,
        a1 + _weight(read, weights, k1, j, h) * x,
        a2 + _weight(read, weights, k2, j, h) * x,
        b0 + _weight(read, weights, k0, j, g) * y,
        b1 + _weight(read, weights, k1, j, g) * y,
        b2 + _weight(read, weights, k2, j, g) * y,
    )


@inlined
def _with_squares(squares: tuple, pair: tuple) -> tuple:
    """|x|^2 in two registers, and what a coordinate adds that is `pair` there."""
    x, y = pair
    return squares[0] + x * x, squares[1] + y * y


@inlined
def sum_tails(
    read: Any, width: int, observations: tuple, e: int, scores: tuple, tail: np.ndarray, n_levels: int
) -> None:
    """tail[k, start : start + 2 width] = what the coordinates from `n_informative` on add to score k, at the
    levels from `start` on or at the last ones; one row more has what they add to |x|^2, where that counts.

    Three scores in two registers at a time: a sum waits for each of its additions, and others are made
    meanwhile.
    """
    noise, weights, first = observations.noise[e], scores.weights, np.uint64(observations.n_informative)
    n_scores, dimension = np.uint64(weights.shape[0]), np.uint64(weights.shape[1])
    tail[:] = _0F
    end = dimension
    while end > first:
        begin = max(first, end - min(end, _NEAR_ROWS))
        for start in range(0, n_levels, 2 * width):
            turn = turn_at(start, width, n_levels)
            for k in range(_0, n_scores, _3):
                three = _three_from(k, n_scores)
                sums = _read_tails(read, tail, three, turn)
                j = end
                while j > begin:
                    j -= _1
                    pair = read(noise[j], turn[2]), read(noise[j], turn[3])
                    sums = _with_products(read, sums, weights, three, j, turn, pair)
                _write_tails(sums, tail, three, turn)
        end = begin
    if scores.curvature.size > 0:
        for start in range(0, n_levels, 2 * width):
            u, v, h, g = turn_at(start, width, n_levels)
            squares = read(tail[n_scores], u), read(tail[n_scores], v)
            j = dimension
            while j > first:
                j -= _1
                squares = _with_squares(squares, (read(noise[j], h), read(noise[j], g)))
            write_numbers(squares[0], tail[n_scores], u)
            write_numbers(squares[1], tail[n_scores], v)


@inlined
def _in_state(observations: tuple, e: int, s: np.uint64) -> tuple:
    """The noise of an episode [D, L] and the means of a state [D, L], and how many of these count."""
    return observations.noise[e], observations.means[s], np.uint64(observations.n_informative)


@inlined
def _coordinate(read: Any, state: tuple, j: np.uint64, turn: tuple) -> tuple:
    """What an informative coordinate is in a state, in two registers."""
    noise, means, _ = state
    return read(noise[j], turn[2]) + read(means[j], turn[2]), read(noise[j], turn[3]) + read(
        means[j], turn[3]
    )


@inlined
def _squares_of(read: Any, state: tuple, scores: tuple, tail: np.ndarray, turn: tuple) -> tuple:
    """|x|^2 of a state in two registers; any numbers where it does not count."""
    row = np.uint64(scores.curvature.size)  # the one behind those of the scores
    squares = read(tail[row], turn[0]), read(tail[row], turn[1])
    if row > _0:
        j = state[2]
        while j > _0:
            j -= _1
            squares = _with_squares(squares, _coordinate(read, state, j, turn))
    return squares


@inlined
def _bias(read: Any, bias: np.ndarray, k: np.uint64, h: int) -> Any:
    """That of score k, or those of several levels from h on where each has its own."""
    if bias.ndim == 1:
        return bias[k]
    return read(bias[k], h)


@inlined
def _with_rest(read: Any, total: Any, scores: tuple, k: np.uint64, h: int, square: Any) -> Any:
    """Scores k of several levels, which lack their bias and what |x|^2 adds."""
    total = total + _bias(read, scores.bias, k, h)
    if scores.curvature.size > 0:
        total = total + scores.curvature[k] * square
    return total


@inlined
def _three_scores(
    read: Any, state: tuple, scores: tuple, tail: np.ndarray, three: tuple, turn: tuple, squares: tuple
) -> tuple:
    """Three scores of a state in two registers: those of the first, then those of the second."""
    sums, j = _read_tails(read, tail, three, turn), state[2]
    while j > _0:
        j -= _1
        sums = _with_products(read, sums, scores.weights, three, j, turn, _coordinate(read, state, j, turn))
    (a0, a1, a2, b0, b1, b2), (k0, k1, k2), (_, _, h, g), (q, p) = sums, three, turn, squares
    return (
        _with_rest(read, a0, scores, k0, h, q),
        _with_rest(read, a1, scores, k1, h, q),
        _with_rest(read, a2, scores, k2, h, q),
        _with_rest(read, b0, scores, k0, g, p),
        _with_rest(read, b1, scores, k1, g, p),
        _with_rest(read, b2, scores, k2, g, p),
    )


@inlined
def _better(score: Any, name: np.uint8, best: tuple) -> tuple:
    """The greatest scores and their labels, among those so far and one more."""
    greatest, label = best
    names = full_like(score, np.float32(name))
    return where_greater(score, greatest, score, greatest), where_greater(score, greatest, names, label)


@inlined
def _best_of_three(three_scores: tuple, relabel: np.ndarray, three: tuple, best: tuple) -> tuple:
    """The greatest scores at a register of levels and their labels, among those so far and three more. At
    first, before score 0, there are none."""
    (a, b, c), (k0, k1, k2) = three_scores, three
    best = (a if k0 == _0 else best[0]), best[1]
    return _better(c, relabel[k2], _better(b, relabel[k1], _better(a, relabel[k0], best)))


@inlined
def label_episode(
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
    n_levels, n_states, n_scores = labels.shape[1], labels.shape[2], np.uint64(scores.weights.shape[0])
    sum_tails(read, width, observations, e, scores, tail, n_levels)
    row = labels[e].reshape(n_levels * n_states)
    for start in range(0, n_levels, 2 * width):
        turn = turn_at(start, width, n_levels)
        for s in range(np.uint64(n_states)):
            state = _in_state(observations, e, s)
            squares = _squares_of(read, state, scores, tail, turn)
            blank = read(tail[0], start)  # until the first scores are there
            first = second = blank, full_like(blank, np.float32(relabel[0]))
            for k in range(_0, n_scores, _3):
                three = _three_from(k, n_scores)
                six = _three_scores(read, state, scores, tail, three, turn, squares)
                first = _best_of_three(six[:3], relabel, three, first)
                second = _best_of_three(six[3:], relabel, three, second)
            write_spread(as_bytes(first[1]), row, turn[2] * n_states + s, n_states)
            write_spread(as_bytes(second[1]), row, turn[3] * n_states + s, n_states)


@kernel
def affine_labels(
    observations: tuple, scores: tuple, relabel: np.ndarray, tail: np.ndarray, labels: np.ndarray
) -> None:
    """Labels uint8[E, L, S] of greatest score, for `AffineScores` that are stored nowhere.

    Only the first levels are labelled where `labels` has fewer than the observations; `tail` is float32 of
    scratch, [K, twice the levels of the labels], since whole pairs of registers may be up to twice as many,
    with one row more where there is curvature.
    """
    n_levels = labels.shape[1]
    for e in range(labels.shape[0]):
        if n_levels >= wide():
            label_episode(read_wide, wide(), observations, e, scores, tail, relabel, labels)
        elif n_levels >= FOUR:
            label_episode(read_four, FOUR, observations, e, scores, tail, relabel, labels)
        else:
            label_episode(read_one, 1, observations, e, scores, tail, relabel, labels)


@inlined
def _score_episode(
    read: Any, width: int, observations: tuple, e: int, scores: tuple, tail: np.ndarray, out: np.ndarray
) -> None:
    """Fill out[e], for two registers of levels at a time."""
    n_scores, n_states, n_levels = np.uint64(out.shape[1]), out.shape[2], out.shape[3]
    sum_tails(read, width, observations, e, scores, tail, n_levels)
    for start in range(0, n_levels, 2 * width):
        turn = turn_at(start, width, n_levels)
        _, _, h, g = turn
        for s in range(np.uint64(n_states)):
            state = _in_state(observations, e, s)
            squares = _squares_of(read, state, scores, tail, turn)
            for k in range(_0, n_scores, _3):
                three = _three_from(k, n_scores)
                a0, a1, a2, b0, b1, b2 = _three_scores(read, state, scores, tail, three, turn, squares)
                k0, k1, k2 = three
                write_numbers(a0, out[e, k0, s], h)
                write_numbers(a1, out[e, k1, s], h)
                write_numbers(a2, out[e, k2, s], h)
                write_numbers(b0, out[e, k0, s], g)
                write_numbers(b1, out[e, k1, s], g)
                write_numbers(b2, out[e, k2, s], g)


@kernel
def affine_scores(observations: tuple, scores: tuple, tail: np.ndarray, out: np.ndarray) -> None:
    """The scores float32[E, K, S, L] of `AffineScores`.

    Only those of the first levels are computed where `out` has fewer than the observations; `tail` is as
    `affine_labels` has it.
    """
    n_levels = out.shape[3]
    for e in range(out.shape[0]):
        if n_levels >= wide():
            _score_episode(read_wide, wide(), observations, e, scores, tail, out)
        elif n_levels >= FOUR:
            _score_episode(read_four, FOUR, observations, e, scores, tail, out)
        else:
            _score_episode(read_one, 1, observations, e, scores, tail, out)
