"""Slow, obvious references for `_kernels/affine_decoding.py`: one observation at a time, in float32, the last
coordinate first.

They take scratch arrays as the kernels do, and do not use them.
"""

import numpy as np

from .decoding import best_labels, each_observation, sum_from_the_last


def affine_scores(observations, scores, tail, out):
    """(weights . x + bias) + curvature |x|^2, with numbers of each level's own or of all."""
    weights, bias, curvature = scores
    if weights.ndim == 2:
        n_levels = observations.means.shape[2]
        weights, bias = (np.repeat(numbers[..., None], n_levels, axis=-1) for numbers in (weights, bias))
    for e, s, h, x in each_observation(observations):
        if h < out.shape[3]:
            for k in range(len(bias)):
                products = [weights[k, j, h] * x[j] for j in range(len(x))]
                out[e, k, s, h] = sum_from_the_last(products) + bias[k, h]
                if len(curvature):
                    out[e, k, s, h] += curvature[k] * sum_from_the_last([value * value for value in x])


def affine_labels(observations, scores, relabel, tail, labels):
    """All scores, and then the greatest."""
    episodes, n_levels, n_states = labels.shape
    every_score = np.empty((episodes, len(scores.bias), n_states, n_levels), np.float32)
    affine_scores(observations, scores, tail, every_score)
    best_labels(every_score.reshape(episodes, len(scores.bias), n_states * n_levels), relabel, labels)
