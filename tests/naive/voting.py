"""Slow, obvious references for `_kernels/voting.py`: one point at a time. Scratch arrays are not used."""

import math

import numpy as np


def support_vector_labels(points, classifier, workspace, relabel, labels):
    """Every pair of classes votes; the first class with most votes, renamed."""
    vectors, starts, coefficients, intercepts, gamma = classifier
    n_classes = len(starts) - 1
    for e, h, s in np.ndindex(*labels.shape):
        near = [
            math.exp(
                -gamma * sum((float(x) - v) ** 2 for x, v in zip(points[e, :, s, h], vector, strict=True))
            )
            for vector in vectors.T
        ]
        given = [0] * n_classes
        pairs = [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
        for intercept, (i, j) in zip(intercepts, pairs, strict=True):
            of_i = [coefficients[j - 1, v] * near[v] for v in range(starts[i], starts[i + 1])]
            of_j = [coefficients[i, v] * near[v] for v in range(starts[j], starts[j + 1])]
            given[i if sum(of_i + of_j) + intercept > 0 else j] += 1
        labels[e, h, s] = relabel[given.index(max(given))]
