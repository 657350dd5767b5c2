"""Slow, obvious references for `_kernels/quadratic_decoding.py`: one observation at a time, in float32, the
last coordinate first. Scratch arrays are not used."""

import numpy as np

from .decoding import each_observation, sum_from_the_last


def quadratic_scores(observations, mixture, tail, scores):
    """bias - |U x - centre|^2 / 2, U upper triangular"""
    factors, centres, bias = mixture
    for e, s, h, x in each_observation(observations):
        for k in range(len(bias)):
            gaps = [
                sum_from_the_last([factors[k, i, j] * x[j] for j in range(i, len(x))]) - centres[k, i]
                for i in range(len(x))
            ]
            scores[e, k, s, h] = bias[k] - np.float32(0.5) * sum_from_the_last([gap * gap for gap in gaps])
