"""Slow, obvious references for `_kernels/mixtures.py`, scratch included in their arguments."""

import math

import numpy as np

from .decoding import each_observation


def expectation(statistics, weights, bias, shares, sizes, sums):
    """Bayes' rule, one observation at a time."""
    sizes[:] = 0
    sums[:] = 0
    total = 0.0
    for t in statistics.astype(float):
        likelihoods = [math.exp(score) for score in bias + t @ weights]
        total += math.log(sum(likelihoods))
        posterior = np.array(likelihoods) / sum(likelihoods)
        sizes += posterior
        sums += np.outer(t, posterior)
    return total


def symbol_scores(observations, tables, totals, scores):
    """A dictionary of the entries of each coordinate."""
    least, starts, entries, bias = tables
    known = [
        {int(least[j]) + i: entries[row] for i, row in enumerate(range(starts[j], starts[j + 1]))}
        for j in range(len(least))
    ]
    nothing = np.zeros(len(bias), np.float32)
    for e, s, h, x in each_observation(observations):
        total = bias.copy()
        for j in reversed(range(len(x))):
            total += known[j].get(math.floor(x[j] + np.float32(0.5)), nothing)
        scores[e, :, s, h] = total


def share_rows(scores, bias, labels, sizes):
    """One row at a time, in double precision."""
    before = labels.copy()
    for i, row in enumerate(scores.T):
        total = row + bias
        labels[i] = total.argmax()
        shares = np.exp(total.astype(np.float64) - total.max())
        row[:] = np.where(shares > 2.0**-25, shares, 0.0) / shares.sum()
    sizes[:] = scores.sum(axis=1, dtype=np.float64)
    return int((labels != before).sum())
