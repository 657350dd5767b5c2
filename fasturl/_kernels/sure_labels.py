"""Labels of real observations by scores that are affine, for many states.

An observation is noise n, which all states share, and the mean m of its state. Its score is taken of their
rounded sum, as everywhere (see `affine_decoding`), and so it has to be computed for each state anew:

    score[k] = sum over j of weights[k, j] (n[j] + m[j]) + bias[k]

Here the sums over n and m are taken apart, so that a state costs no more than an addition for each label.
They differ from the scores by rounding, at most by

    2 u (D + 3) (W (|n| + |m|) + B)

for D coordinates, rows of weights no longer than W, biases no larger than B and the unit u = 2^-24 of single
precision. Where the greatest of them leads by more than that would explain twice over, its label is that of
the greatest score. The few episodes with a label that hangs on rounding are labelled by the scores.
"""

import math
from typing import Any

import numpy as np

from .affine_decoding import label_episode, sum_tails, turn_at
from .compiling import inlined, kernel
from .records import RealObservations
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

_0F, _1F, _LOWEST = np.float32(0.0), np.float32(1.0), np.float32(-np.inf)
_0, _1 = np.arange(2, dtype=np.uint64)
_UNIT = 2.0**-24
_LEAD = 8.0
"""A label is sure whose lead is more than so many times (D + 4) u (W (|n| + |m|) + B); four times would do,
and what this is computed with is rounded too."""


@inlined
def _weight(weights: np.ndarray, k: int, j: int, h: int) -> float:
    """That of coordinate j in score k, at level h where each has its own."""
    if weights.ndim == 2:
        return np.float64(weights[k, j])
    return np.float64(weights[k, j, h])


@inlined
def _bias(bias: np.ndarray, k: int, h: int) -> float:
    """That of score k, at level h where each has its own."""
    if bias.ndim == 1:
        return np.float64(bias[k])
    return np.float64(bias[k, h])


@inlined
def _score_means(observations: tuple, scores: tuple, out: np.ndarray) -> tuple:
    """Fill out[s, k, h] with the scores of the means. Returns two numbers: a lead is sure whose square is
    more than the first times |n|^2 and the second."""
    means, weights, n_informative = observations.means, scores.weights, observations.n_informative
    longest, farthest, largest = 0.0, 0.0, 0.0
    for h in range(out.shape[2]):
        for k in range(out.shape[1]):
            bias, square = _bias(scores.bias, k, h), 0.0
            for j in range(weights.shape[1]):
                square += _weight(weights, k, j, h) ** 2
            longest = max(longest, square)
            if bias > -math.inf:  # that of a label which a level does not have
                largest = max(largest, abs(bias))
            for s in range(out.shape[0]):
                total = bias
                for j in range(n_informative):
                    total += _weight(weights, k, j, h) * np.float64(means[s, j, h])
                out[s, k, h] = total
        for s in range(out.shape[0]):
            square = 0.0
            for j in range(n_informative):
                square += np.float64(means[s, j, h]) ** 2
            farthest = max(farthest, square)
    # (a + b)^2 is at most 2 a^2 + 2 b^2
    scale = 2.0 * (_LEAD * _UNIT * (weights.shape[1] + 4)) ** 2
    rest = math.sqrt(longest * farthest) + largest
    return np.float32(scale * longest), np.float32(scale * rest * rest)


@inlined
def _square(read: Any, noise: np.ndarray, dimension: np.uint64, h: int) -> Any:
    """|n|^2 at several levels from h on."""
    total = full_like(read(noise[_0], h), _0F)
    for j in range(dimension):
        x = read(noise[j], h)
        total = total + x * x
    return total


@inlined
def _with_score(score: Any, name: np.uint8, best: tuple) -> tuple:
    """The greatest sums, the next ones and the labels of the greatest, among those so far and one more."""
    greatest, second, label = best
    second = where_greater(score, greatest, greatest, where_greater(score, second, score, second))
    label = where_greater(score, greatest, full_like(score, np.float32(name)), label)
    return where_greater(score, greatest, score, greatest), second, label


@inlined
def _label_surely(
    read: Any,
    width: int,
    observations: tuple,
    e: int,
    scores: tuple,
    tail: np.ndarray,
    scored_means: np.ndarray,
    limits: tuple,
    relabel: np.ndarray,
    labels: np.ndarray,
) -> bool:
    """Fill labels[e], for two registers of levels at a time, and say whether all of them are sure."""
    n_levels, n_states, n_scores = labels.shape[1], labels.shape[2], np.uint64(scores.weights.shape[0])
    noise, dimension = observations.noise[e], np.uint64(scores.weights.shape[1])
    noise_alone = RealObservations(observations.noise, observations.means, 0)
    sum_tails(read, width, noise_alone, e, scores, tail, n_levels)
    row, (per_square, least) = labels[e].reshape(n_levels * n_states), limits
    sure = full_like(read(tail[_0], 0), _1F)
    for start in range(0, n_levels, 2 * width):
        u, v, h, g = turn_at(start, width, n_levels)
        first_limit = _square(read, noise, dimension, h) * per_square + least
        second_limit = _square(read, noise, dimension, g) * per_square + least
        for s in range(np.uint64(n_states)):
            lowest, name = full_like(sure, _LOWEST), full_like(sure, np.float32(relabel[_0]))
            first = read(tail[_0], u) + read(scored_means[s, _0], h), lowest, name
            second = read(tail[_0], v) + read(scored_means[s, _0], g), lowest, name
            for k in range(_1, n_scores):
                first = _with_score(read(tail[k], u) + read(scored_means[s, k], h), relabel[k], first)
                second = _with_score(read(tail[k], v) + read(scored_means[s, k], g), relabel[k], second)
            lead, other_lead = first[0] - first[1], second[0] - second[1]
            # what is no number is greater than nothing
            sure = where_greater(lead * lead, first_limit, sure, full_like(sure, _0F))
            sure = where_greater(other_lead * other_lead, second_limit, sure, full_like(sure, _0F))
            write_spread(as_bytes(first[2]), row, h * n_states + s, n_states)
            write_spread(as_bytes(second[2]), row, g * n_states + s, n_states)
    write_numbers(sure, tail[_0], 0)
    least_sure = _1F
    for i in range(width):
        least_sure = min(least_sure, tail[_0, i])
    return least_sure > _0F


@inlined
def _label_one(read: Any, width: int, e: int, given: tuple, scored_means: np.ndarray, limits: tuple) -> bool:
    """Fill labels[e], by the scores where they are not sure; returns whether they are."""
    observations, scores, relabel, tail, labels = given
    are_sure = _label_surely(
        read, width, observations, e, scores, tail, scored_means, limits, relabel, labels
    )
    if not are_sure:
        label_episode(read, width, observations, e, scores, tail, relabel, labels)
    return are_sure


@kernel
def sure_labels(
    observations: tuple,
    scores: tuple,
    relabel: np.ndarray,
    tail: np.ndarray,
    scored_means: np.ndarray,
    labels: np.ndarray,
) -> int:
    """As `affine_labels`, for scores without curvature, with scratch for one score of each state, label and
    level: float32[S, K, L]. Returns how many episodes have a label that hangs on rounding."""
    n_levels, n_unsure = labels.shape[1], 0
    limits = _score_means(observations, scores, scored_means)
    given = observations, scores, relabel, tail, labels
    for e in range(labels.shape[0]):
        if n_levels >= wide():
            n_unsure += not _label_one(read_wide, wide(), e, given, scored_means, limits)
        elif n_levels >= FOUR:
            n_unsure += not _label_one(read_four, FOUR, e, given, scored_means, limits)
        else:
            n_unsure += not _label_one(read_one, 1, e, given, scored_means, limits)
    return n_unsure
