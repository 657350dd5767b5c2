"""Decoders over blocks: a label for every episode, level and latent state that the level can have.

A decoder has `scores`, float32[E, K, S, L] with the level fastest, and the label of an observation is the
first k of greatest score, passed through `relabel` (uint8[K]): `best_labels`, for all decoders but those that
vote or find the greatest score as they go. Where fewer than K labels are possible at a level, the scores of
the others are minus infinity. Scores are affine (see `affine_decoding`) or quadratic in real observations
(`RealObservations`, see `emission`), affine in packed bits (see `packed_decoding`), or mixtures of logistic
units whose arguments are such scores:

    z[j] = 1 / (1 + exp(-scores[j])),   score of label k = mixing[k, K, h] + sum over j of mixing[k, j, h]
    z[j].

Sums over coordinates run from the last to the first, and coordinates from `n_informative` on have the same
value in every state, so what they add is computed once for all states. Every observation is summed in the
same order alone or in a block: the labels are equal bit for bit. Indices of coordinates are unsigned, so that
nobody asks whether they count from the end: loops over levels are vectors then.
"""

import math
from typing import Any

import numpy as np

from .compiling import inlined, kernel
from .networks import logistic
from .registers import FOUR, full_like, read_four, read_one, read_wide, wide, write_numbers

_0, _1 = np.arange(2, dtype=np.uint64)
_0F = np.float32(0.0)
_HALF = np.float32(0.5)
_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = [1.0 / math.factorial(k) for k in range(3, 13)]
_LEAST_EXPONENT = -700.0  # of e, beyond which a double loses its precision

# --- reals ---


@inlined
def _turned_noise(
    read: Any, factors: np.ndarray, noise: np.ndarray, i: np.uint64, first: np.uint64, levels: tuple
) -> tuple:
    """What the coordinates from `first` on add to entry i of U x, at two registers of levels."""
    h, g = levels
    a = b = full_like(read(noise[_0], h), _0F)
    j = np.uint64(noise.shape[0])
    while j > first:
        j -= _1
        a, b = a + factors[i, j] * read(noise[j], h), b + factors[i, j] * read(noise[j], g)
    return a, b


@inlined
def _turned_state(
    read: Any, factors: np.ndarray, entry: tuple, state: tuple, i: np.uint64, end: np.uint64, levels: tuple
) -> tuple:
    """Entry i of U x in a state at two registers of levels, from what the coordinates from `end` on add to
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
    read: Any, observations: tuple, e: int, mixture: tuple, levels: tuple, tail: np.ndarray, scores: np.ndarray
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
            shared = _with_square(shared, _turned_noise(read, factors, noise, i, i, levels), centres[i])
        while i > _0:
            i -= _1
            entry = _turned_noise(read, factors, noise, i, n_informative, levels)
            write_numbers(entry[0], tail[i], h)
            write_numbers(entry[1], tail[i], g)
        for s in range(observations.means.shape[0]):
            state, squares, i = (noise, observations.means[s]), shared, n_informative
            while i > _0:
                i -= _1
                entry = read(tail[i], h), read(tail[i], g)
                entry = _turned_state(read, factors, entry, state, i, n_informative, levels)
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


# --- from scores to labels ---


@kernel
def mix_units(scores: np.ndarray, mixing: np.ndarray, mixed: np.ndarray) -> None:
    """Fill `mixed`, like scores float32[E, K, S, L], with mixtures of logistic units; the scores become the
    units.

    mixing float32[K, K + 1, L or more].
    """
    n_episodes, n_labels, n_states, n_levels = scores.shape
    for e in range(n_episodes):
        for s in range(n_states):
            for k in range(n_labels):
                for h in range(n_levels):
                    scores[e, k, s, h] = logistic(scores[e, k, s, h])
                    mixed[e, k, s, h] = mixing[k, n_labels, h]
            for k in range(n_labels):
                for j in range(n_labels):
                    for h in range(n_levels):
                        mixed[e, k, s, h] += mixing[k, j, h] * scores[e, j, s, h]


@kernel
def best_labels(scores: np.ndarray, relabel: np.ndarray, labels: np.ndarray) -> None:
    """Labels uint8[E, L, S] of greatest score from scores float32[E, K, S * L], which are used up.

    Where the scores are those of the first levels alone, the labels of the others stay as they are.
    The scores of label 0 give way to the greatest ones, those of label 1 to the labels: numbers that lie side
    by side are compared several at a time, and what is scattered over `labels` is only stored. The first two
    labels have a loop of their own because LLVM must see that what is read and what is written do not
    overlap.
    """
    n_episodes, n_scores, n_points = scores.shape
    n_states = labels.shape[2]
    n_levels = n_points // n_states
    if n_scores == 1:
        labels[:, :n_levels] = relabel[0]
        return
    zeroth, first = np.float32(relabel[0]), np.float32(relabel[1])
    for e in range(n_episodes):
        for i in range(n_points):
            score, greatest = scores[e, 1, i], scores[e, 0, i]
            scores[e, 1, i] = first if score > greatest else zeroth
            scores[e, 0, i] = score if score > greatest else greatest
        for k in range(2, n_scores):
            label = np.float32(relabel[k])
            for i in range(n_points):
                score, greatest = scores[e, k, i], scores[e, 0, i]
                scores[e, 1, i] = label if score > greatest else scores[e, 1, i]
                scores[e, 0, i] = score if score > greatest else greatest
        for s in range(n_states):
            for h in range(n_levels):
                labels[e, h, s] = np.uint8(scores[e, 1, s * n_levels + h])


@inlined
def _decay(t: float) -> float:
    """exp(t) for t of 0 or less, to 1e-15, without branches or calls, so that loops over it become vector
    instructions.

    It is 2^n exp(r) with n the integer nearest to t / ln 2, and exp(r) by its Taylor series on [-ln 2 / 2,
    ln 2 / 2].
    """
    t = max(t, _LEAST_EXPONENT)
    n = np.floor(t * _LOG2_E + 0.5)
    r = (t - n * _LN2_HIGH) - n * _LN2_LOW
    r2 = r * r
    r4 = r2 * r2
    # pairs first (Estrin, 1960): one product after the other would wait for each
    low = (1.0 + r) + (0.5 + _C3 * r) * r2 + ((_C4 + _C5 * r) + (_C6 + _C7 * r) * r2) * r4
    series = low + ((_C8 + _C9 * r) + (_C10 + _C11 * r) * r2 + _C12 * r4) * (r4 * r4)
    return series * np.int64((np.int64(n) + 1023) << 52).view(np.float64)


@inlined
def _weighted_sum(weights: np.ndarray, row: int, values: np.ndarray, first: int, end: int) -> float:
    """The sum of weights[row, v] values[v] over v, as four sums side by side: one alone waits for each of its
    additions."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    v = first
    while v + 3 < end:
        s0 += weights[row, v] * values[v]
        s1 += weights[row, v + 1] * values[v + 1]
        s2 += weights[row, v + 2] * values[v + 2]
        s3 += weights[row, v + 3] * values[v + 3]
        v += 4
    while v < end:
        s0 += weights[row, v] * values[v]
        v += 1
    return (s0 + s1) + (s2 + s3)


@kernel
def support_vector_labels(
    points: np.ndarray, classifier: tuple, workspace: tuple, relabel: np.ndarray, labels: np.ndarray
) -> None:
    """One-against-one votes of an RBF support vector classifier, over points float32[E, R, S, L].

    `classifier` are `SupportVectors`, `workspace` a `VotingWorkspace`. The first class with most votes wins.
    """
    vectors, starts, coefficients = classifier.vectors, classifier.starts, classifier.coefficients
    intercepts, gamma = classifier.intercepts, classifier.gamma
    similarities, votes = workspace.similarities, workspace.votes
    n_axes, n_vectors = vectors.shape
    n_classes = starts.size - 1
    for e in range(points.shape[0]):
        for s in range(points.shape[2]):
            for h in range(points.shape[3]):
                for v in range(n_vectors):
                    similarities[v] = 0.0
                for r in range(n_axes):
                    x = np.float64(points[e, r, s, h])
                    for v in range(n_vectors):
                        gap = x - vectors[r, v]
                        similarities[v] += gap * gap
                for v in range(n_vectors):
                    similarities[v] = _decay(-gamma * similarities[v])
                for c in range(n_classes):
                    votes[c] = 0
                pair = 0
                for i in range(n_classes):
                    for j in range(i + 1, n_classes):
                        of_i = _weighted_sum(coefficients, j - 1, similarities, starts[i], starts[i + 1])
                        of_j = _weighted_sum(coefficients, i, similarities, starts[j], starts[j + 1])
                        votes[i if intercepts[pair] + of_i + of_j > 0.0 else j] += 1
                        pair += 1
                best = 0
                for c in range(1, n_classes):
                    if votes[c] > votes[best]:
                        best = c
                labels[e, h, s] = relabel[best]
