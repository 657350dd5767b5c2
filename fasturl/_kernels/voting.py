"""Support vector classifiers: every pair of classes votes, and the first class with most votes wins.

The similarity of a point x to vector v is exp(-gamma |x - v|^2), and classes i < j vote for i where

    sum over v of class i of coefficients[j - 1, v] similarity(v)
        + sum over v of class j of coefficients[i, v] similarity(v) + the intercept of the pair

is positive, one sum in this order, as LIBSVM makes it. Points are taken many at a time, side by side, so that
loops over them are vectors.
"""

import math

import numpy as np

from .compiling import inlined, kernel

_LOG2_E = 1.0 / math.log(2.0)
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # their sum is ln 2
_C3, _C4, _C5, _C6, _C7, _C8, _C9, _C10, _C11, _C12 = [1.0 / math.factorial(k) for k in range(3, 13)]
_LEAST_EXPONENT = -700.0  # of e, beyond which a double loses its precision


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
def _next_place(place: tuple, n_states: int, n_levels: int) -> tuple:
    """The episode, state and level that follow, the level being the fastest."""
    e, s, h = place
    if h + 1 < n_levels:
        return e, s, h + 1
    return (e, s + 1, 0) if s + 1 < n_states else (e + 1, 0, 0)


@inlined
def _find_similarities(classifier: tuple, workspace: tuple, n: int) -> None:
    """similarities[v, p] = exp(-gamma |x - v|^2) for each vector v and each x of the first n points."""
    vectors, gamma = classifier.vectors, classifier.gamma
    points, similarities = workspace.points, workspace.similarities
    for v in range(vectors.shape[1]):
        for p in range(n):
            similarities[v, p] = 0.0
        for r in range(vectors.shape[0]):
            for p in range(n):
                gap = points[r, p] - vectors[r, v]
                similarities[v, p] += gap * gap
        for p in range(n):
            similarities[v, p] = _decay(-gamma * similarities[v, p])


@inlined
def _add_class(classifier: tuple, row: int, c: int, workspace: tuple, n: int) -> None:
    """Add what the vectors of class c tell one pair, whose coefficients are in this row; many tell it
    nothing."""
    starts, coefficients = classifier.starts, classifier.coefficients
    similarities, totals = workspace.similarities, workspace.totals
    for v in range(starts[c], starts[c + 1]):
        coefficient = coefficients[row, v]
        if coefficient != 0.0:
            for p in range(n):
                totals[p] += coefficient * similarities[v, p]


@inlined
def _count_votes(classifier: tuple, workspace: tuple, n: int) -> None:
    """How many votes each class gets for each of the first n points."""
    totals, votes = workspace.totals, workspace.votes
    votes[:] = 0
    pair, n_classes = 0, classifier.starts.size - 1
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            for p in range(n):
                totals[p] = 0.0
            _add_class(classifier, j - 1, i, workspace, n)
            _add_class(classifier, i, j, workspace, n)
            intercept = classifier.intercepts[pair]
            for p in range(n):
                is_first = totals[p] + intercept > 0.0
                votes[i, p] += is_first
                votes[j, p] += not is_first
            pair += 1


@inlined
def _winner(votes: np.ndarray, p: int) -> int:
    """The first class with most votes for a point."""
    best = 0
    for c in range(1, votes.shape[0]):
        if votes[c, p] > votes[best, p]:
            best = c
    return best


@kernel
def support_vector_labels(
    points: np.ndarray, classifier: tuple, workspace: tuple, relabel: np.ndarray, labels: np.ndarray
) -> None:
    """Labels uint8[E, L, S] of points float32[E, R, S, L], by `SupportVectors` in a `VotingWorkspace`."""
    _, n_axes, n_states, n_levels = points.shape
    begin = end = 0, 0, 0
    for first in range(0, labels.size, workspace.totals.size):
        n = min(workspace.totals.size, labels.size - first)
        for p in range(n):
            e, s, h = end
            for r in range(n_axes):
                workspace.points[r, p] = points[e, r, s, h]
            end = _next_place(end, n_states, n_levels)
        _find_similarities(classifier, workspace, n)
        _count_votes(classifier, workspace, n)
        for p in range(n):
            e, s, h = begin
            labels[e, h, s] = relabel[_winner(workspace.votes, p)]
            begin = _next_place(begin, n_states, n_levels)
