"""Slow, obvious references for `_kernels/decoding.py`, and what those of scores share: observations one at a
time, and sums in float32, the last coordinate first."""

import math

import numpy as np

ZERO = np.float32(0)


def each_observation(observations):
    """Every (e, s, h) with its observation, a list of float32."""
    noise, means, _ = observations
    n_states, dimension, n_levels = means.shape
    for e in range(noise.shape[0]):
        for s in range(n_states):
            for h in range(n_levels):
                yield e, s, h, [noise[e, j, h] + means[s, j, h] for j in range(dimension)]


def sum_from_the_last(terms):
    total = ZERO
    for term in reversed(terms):
        total = total + term
    return total


def mix_units(scores, mixing, mixed):
    """One unit at a time, in double precision; the scores become the units."""
    n_labels = scores.shape[1]
    for e, s, h in np.ndindex(scores.shape[0], scores.shape[2], scores.shape[3]):
        units = [1 / (1 + math.exp(-score)) for score in scores[e, :, s, h]]
        for k in range(n_labels):
            mixed[e, k, s, h] = mixing[k, -1, h] + sum(mixing[k, j, h] * z for j, z in enumerate(units))
        scores[e, :, s, h] = units


def best_labels(scores, relabel, labels):
    """The first of the greatest scores, renamed."""
    n_levels = scores.shape[2] // labels.shape[2]
    for e, h, s in np.ndindex(len(labels), n_levels, labels.shape[2]):
        row = list(scores[e, :, s * n_levels + h])
        labels[e, h, s] = relabel[row.index(max(row))]
