"""Slow, obvious references for `_kernels/decoding.py`: one observation at a time, in float32, the last
coordinate first.

They take `head` and scratch arrays as the kernels do, and use neither.
"""

import math

import numpy as np

ZERO = np.float32(0)


def _observations(noise, means):
    """Every (e, s, h) with its observation, a list of float32."""
    n_states, dimension, n_levels = means.shape
    for e in range(noise.shape[0]):
        for s in range(n_states):
            for h in range(n_levels):
                yield e, s, h, [noise[e, j, h] + means[s, j, h] for j in range(dimension)]


def _sum_from_the_last(terms):
    total = ZERO
    for term in reversed(terms):
        total = total + term
    return total


def affine_scores(noise, means, head, weights, bias, tail, scores):
    """bias + weights . x"""
    for e, s, h, x in _observations(noise, means):
        for k in range(len(bias)):
            scores[e, k, s, h] = _sum_from_the_last([weights[k, j] * x[j] for j in range(len(x))]) + bias[k]


def add_squares(noise, means, head, curvature, squares, scores):
    """+ curvature |x|^2"""
    for e, s, h, x in _observations(noise, means):
        for k in range(len(curvature)):
            scores[e, k, s, h] += curvature[k] * _sum_from_the_last([value * value for value in x])


def quadratic_scores(noise, means, head, factors, centres, bias, tail, scores):
    """bias - |U x - centre|^2 / 2, U upper triangular"""
    for e, s, h, x in _observations(noise, means):
        for k in range(len(bias)):
            gaps = [
                _sum_from_the_last([factors[k, i, j] * x[j] for j in range(i, len(x))]) - centres[k, i]
                for i in range(len(x))
            ]
            scores[e, k, s, h] = bias[k] - np.float32(0.5) * _sum_from_the_last([gap * gap for gap in gaps])


def byte_scores(words, tables, scores):
    """The sum of what each byte of the observation adds."""
    for e, h, s in np.ndindex(*words.shape[:3]):
        values = b"".join(int(word).to_bytes(8, "little") for word in words[e, h, s])[: tables.shape[0]]
        for k in range(scores.shape[1]):
            scores[e, k, s, h] = _sum_from_the_last([tables[b, value, k] for b, value in enumerate(values)])


def best_labels(scores, relabel, labels):
    """The first of the greatest scores, renamed."""
    for e, h, s in np.ndindex(*labels.shape):
        row = list(scores[e, :, s * labels.shape[1] + h])
        labels[e, h, s] = relabel[row.index(max(row))]


def support_vector_labels(
    points, vectors, starts, coefficients, intercepts, gamma, similarities, votes, relabel, labels
):
    """Every pair of classes votes; the first class with most votes, renamed."""
    n_classes = len(starts) - 1
    for e, h, s in np.ndindex(*labels.shape):
        near = [
            math.exp(
                -gamma * sum((float(x) - v) ** 2 for x, v in zip(points[e, :, s, h], vector, strict=True))
            )
            for vector in vectors
        ]
        given = [0] * n_classes
        pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
        for intercept, (i, j) in zip(intercepts, pairs, strict=True):
            of_i = sum(coefficients[j - 1, v] * near[v] for v in range(starts[i], starts[i + 1]))
            of_j = sum(coefficients[i, v] * near[v] for v in range(starts[j], starts[j + 1]))
            given[i if of_i + of_j + intercept > 0 else j] += 1
        labels[e, h, s] = relabel[given.index(max(given))]
