"""Decoders over blocks: a label for every episode, level and latent state that the level can have.

Observations come as blocks of noise (see `emission`). Sums over coordinates run from the last to the first,
and coordinates from `head` on have the same value in every state, so what they add is computed once for all
states. Every observation is summed in the same order alone or in a block: the labels are equal bit for bit.

`scores` is float32[E, K, S, L], the level fastest; the label of an observation is the first k of greatest
score, passed through `relabel` (uint8[K]).
"""

import math

import numpy as np

from .compiling import inlined, kernel

_0 = np.float32(0.0)
_HALF = np.float32(0.5)


@inlined
def _add_products(
    weights: np.ndarray, k: int, noise: np.ndarray, e: int, first: int, last: int, sums: np.ndarray
) -> None:
    """sums[k, h] += weights[k, j] * noise[e, j, h] for j from `last` down to `first`.

    Four coordinates at a time: a sum is then loaded and stored once for four products, which are still added
    one by one.
    """
    n_levels = sums.shape[1]
    j = last
    while j - 3 >= first:
        w0, w1, w2, w3 = weights[k, j], weights[k, j - 1], weights[k, j - 2], weights[k, j - 3]
        for h in range(n_levels):
            total = sums[k, h] + w0 * noise[e, j, h]
            total += w1 * noise[e, j - 1, h]
            total += w2 * noise[e, j - 2, h]
            sums[k, h] = total + w3 * noise[e, j - 3, h]
        j -= 4
    while j >= first:
        w0 = weights[k, j]
        for h in range(n_levels):
            sums[k, h] += w0 * noise[e, j, h]
        j -= 1


@kernel
def affine_scores(
    noise: np.ndarray,
    means: np.ndarray,
    head: int,
    weights: np.ndarray,
    bias: np.ndarray,
    tail: np.ndarray,
    scores: np.ndarray,
) -> None:
    """scores[e, k, s, h] = bias[k] + weights[k] . x, for noise float32[E, >= D, L] and means float32[S, D,
    L].

    `tail` is float32[K, L] of scratch.
    """
    n_scores, dimension = weights.shape
    n_levels = means.shape[2]
    for e in range(noise.shape[0]):
        if head == 0 and dimension == 2:  # the image of a lock, in one loop as below
            for k in range(n_scores):
                w1, w0, b = weights[k, 1], weights[k, 0], bias[k]
                for s in range(means.shape[0]):
                    for h in range(n_levels):
                        scores[e, k, s, h] = (w1 * noise[e, 1, h] + w0 * noise[e, 0, h]) + b
            continue
        for k in range(n_scores):
            for h in range(n_levels):
                tail[k, h] = _0
            _add_products(weights, k, noise, e, head, dimension - 1, tail)
        for s in range(means.shape[0]):
            for k in range(n_scores):
                b = bias[k]
                if (
                    head == 3
                ):  # the code of a lock, in one loop: to start a short one takes longer than to run it
                    w2, w1, w0 = weights[k, 2], weights[k, 1], weights[k, 0]
                    for h in range(n_levels):
                        total = tail[k, h] + w2 * (noise[e, 2, h] + means[s, 2, h])
                        total += w1 * (noise[e, 1, h] + means[s, 1, h])
                        total += w0 * (noise[e, 0, h] + means[s, 0, h])
                        scores[e, k, s, h] = total + b
                    continue
                for h in range(n_levels):
                    scores[e, k, s, h] = tail[k, h]
                for j in range(head - 1, -1, -1):
                    w = weights[k, j]
                    for h in range(n_levels):
                        scores[e, k, s, h] += w * (noise[e, j, h] + means[s, j, h])
                for h in range(n_levels):
                    scores[e, k, s, h] += b


@kernel
def add_squares(
    noise: np.ndarray,
    means: np.ndarray,
    head: int,
    curvature: np.ndarray,
    squares: np.ndarray,
    scores: np.ndarray,
) -> None:
    """scores[e, k, s, h] += curvature[k] * |x|^2. `squares` is float32[2, L] of scratch."""
    n_states, dimension, n_levels = means.shape
    for e in range(noise.shape[0]):
        for h in range(n_levels):
            squares[0, h] = _0
        for j in range(dimension - 1, head - 1, -1):
            for h in range(n_levels):
                x = noise[e, j, h]
                squares[0, h] += x * x
        for s in range(n_states):
            for h in range(n_levels):
                squares[1, h] = squares[0, h]
            for j in range(head - 1, -1, -1):
                for h in range(n_levels):
                    x = noise[e, j, h] + means[s, j, h]
                    squares[1, h] += x * x
            for k in range(curvature.size):
                for h in range(n_levels):
                    scores[e, k, s, h] += curvature[k] * squares[1, h]


@kernel
def quadratic_scores(
    noise: np.ndarray,
    means: np.ndarray,
    head: int,
    factors: np.ndarray,
    centres: np.ndarray,
    bias: np.ndarray,
    tail: np.ndarray,
    scores: np.ndarray,
) -> None:
    """scores[e, k, s, h] = bias[k] - |U_k x - centres[k]|^2 / 2, for upper triangular U_k = factors[k].

    Row i of a factor reads the coordinates from i on, so rows from `head` on are the same in every state.
    `tail` is float32[head + 2, L] of scratch.
    """
    n_scores, dimension, _ = factors.shape
    n_levels = means.shape[2]
    shared, row = head, head + 1
    for e in range(noise.shape[0]):
        for k in range(n_scores):
            for h in range(n_levels):
                tail[shared, h] = _0
            for i in range(dimension - 1, -1, -1):
                target = i if i < head else row
                for h in range(n_levels):
                    tail[target, h] = _0
                for j in range(dimension - 1, max(i, head) - 1, -1):
                    u = factors[k, i, j]
                    for h in range(n_levels):
                        tail[target, h] += u * noise[e, j, h]
                if i >= head:
                    centre = centres[k, i]
                    for h in range(n_levels):
                        y = tail[row, h] - centre
                        tail[shared, h] += y * y
            for s in range(means.shape[0]):
                for h in range(n_levels):
                    scores[e, k, s, h] = tail[shared, h]
                for i in range(head - 1, -1, -1):
                    for h in range(n_levels):
                        tail[row, h] = tail[i, h]
                    for j in range(head - 1, i - 1, -1):
                        u = factors[k, i, j]
                        for h in range(n_levels):
                            tail[row, h] += u * (noise[e, j, h] + means[s, j, h])
                    centre = centres[k, i]
                    for h in range(n_levels):
                        y = tail[row, h] - centre
                        scores[e, k, s, h] += y * y
                for h in range(n_levels):
                    scores[e, k, s, h] = bias[k] - _HALF * scores[e, k, s, h]


@kernel
def byte_scores(words: np.ndarray, tables: np.ndarray, scores: np.ndarray) -> None:
    """Affine scores of packed bits: words uint64[E, L, S, W], tables float32[n_bytes, 256, K rounded up to a
    multiple of 4].

    tables[b, v] is what byte b with value v adds to each score. Four scores at a time are one vector.
    """
    n_bytes = tables.shape[0]
    n_scores = scores.shape[1]
    for e in range(words.shape[0]):
        for h in range(words.shape[1]):
            for s in range(words.shape[2]):
                for k in range(0, n_scores, 4):
                    a0, a1, a2, a3 = _0, _0, _0, _0
                    for b in range(n_bytes - 1, -1, -1):
                        value = np.int64((words[e, h, s, b >> 3] >> np.uint64((b & 7) << 3)) & np.uint64(255))
                        a0 += tables[b, value, k]
                        a1 += tables[b, value, k + 1]
                        a2 += tables[b, value, k + 2]
                        a3 += tables[b, value, k + 3]
                    scores[e, k, s, h] = a0
                    if k + 1 < n_scores:
                        scores[e, k + 1, s, h] = a1
                    if k + 2 < n_scores:
                        scores[e, k + 2, s, h] = a2
                    if k + 3 < n_scores:
                        scores[e, k + 3, s, h] = a3


@kernel
def best_labels(scores: np.ndarray, relabel: np.ndarray, labels: np.ndarray) -> None:
    """labels uint8[E, L, S] from scores float32[E, K, S * L], which are used up.

    The scores of label 0 give way to the greatest ones, those of label 1 to the labels: numbers that lie side
    by side are compared several at a time, and what is scattered over `labels` is only stored. The first two
    labels have a loop of their own because LLVM must see that what is read and what is written do not
    overlap.
    """
    n_episodes, n_scores, n_points = scores.shape
    n_levels, n_states = labels.shape[1:]
    if n_scores == 1:
        labels[:] = relabel[0]
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


@kernel
def support_vector_labels(
    points: np.ndarray,
    vectors: np.ndarray,
    starts: np.ndarray,
    coefficients: np.ndarray,
    intercepts: np.ndarray,
    gamma: float,
    similarities: np.ndarray,
    votes: np.ndarray,
    relabel: np.ndarray,
    labels: np.ndarray,
) -> None:
    """One-against-one votes of an RBF support vector classifier, over points float32[E, R, S, L].

    vectors float64[V, R], those of class c from starts[c] to starts[c+1]; coefficients float64[K-1, V] and
    intercepts as scikit-learn's SVC lays them out; similarities float64[V] and votes int64[K] are scratch.
    """
    n_vectors, n_axes = vectors.shape
    n_classes = starts.size - 1
    for e in range(points.shape[0]):
        for s in range(points.shape[2]):
            for h in range(points.shape[3]):
                for v in range(n_vectors):
                    distance = 0.0
                    for r in range(n_axes):
                        gap = np.float64(points[e, r, s, h]) - vectors[v, r]
                        distance += gap * gap
                    similarities[v] = math.exp(-gamma * distance)
                for c in range(n_classes):
                    votes[c] = 0
                pair = 0
                for i in range(n_classes):
                    for j in range(i + 1, n_classes):
                        total = intercepts[pair]
                        for v in range(starts[i], starts[i + 1]):
                            total += coefficients[j - 1, v] * similarities[v]
                        for v in range(starts[j], starts[j + 1]):
                            total += coefficients[i, v] * similarities[v]
                        votes[i if total > 0.0 else j] += 1
                        pair += 1
                best = 0
                for c in range(1, n_classes):
                    if votes[c] > votes[best]:
                        best = c
                labels[e, h, s] = relabel[best]
