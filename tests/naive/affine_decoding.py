"""Slow, obvious references for `_kernels/affine_decoding.py`: one observation at a time, in float32, the last
coordinate first.

They take scratch arrays as the kernels do, and do not use them.
"""

import numpy as np

from .decoding import best_labels, each_observation, sum_from_the_last


def affine_scores(observations, weights, bias, tail, scores):
    """bias + weights . x"""
    for e, s, h, x in each_observation(observations):
        for k in range(len(bias)):
            scores[e, k, s, h] = sum_from_the_last([weights[k, j] * x[j] for j in range(len(x))]) + bias[k]


def level_affine_scores(observations, weights, bias, tail, scores):
    """bias + weights . x, with weights of each level's own"""
    for e, s, h, x in each_observation(observations):
        if h < scores.shape[3]:
            for k in range(len(bias)):
                products = [weights[k, j, h] * x[j] for j in range(len(x))]
                scores[e, k, s, h] = sum_from_the_last(products) + bias[k, h]


def affine_labels(observations, scores, relabel, tail, labels):
    """All scores, and then the greatest."""
    weights, bias = scores
    if weights.ndim == 2:
        n_levels = observations.means.shape[2]
        weights, bias = (np.repeat(numbers[..., None], n_levels, axis=-1) for numbers in (weights, bias))
    episodes, n_levels, n_states = labels.shape
    every_score = np.empty((episodes, len(bias), n_states, n_levels), np.float32)
    level_affine_scores(observations, weights, bias, tail, every_score)
    best_labels(every_score.reshape(episodes, len(bias), n_states * n_levels), relabel, labels)
