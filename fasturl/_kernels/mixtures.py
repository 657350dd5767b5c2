"""Mixtures of exponential families: one expectation step, and scores of categorical variables.

A component k gives an observation with the statistics t the log-likelihood

    score[k] = bias[k] + sum over j of t[j] weights[j, k],

which is all that the families differ in: t is x itself for bits and counts, and the one-hot code of x for
categorical variables. Sums run in the order that is written here, so a fit does not depend on a BLAS library
or its number of threads.
"""

import math

import numpy as np

from .compiling import inlined, kernel

_HALF = np.float32(0.5)
_0F, _1F = np.float32(0.0), np.float32(1.0)
_NEGLIGIBLE = np.float32(-25.0 * math.log(2.0))
"""What is e to this, or less, of the greatest share leaves a sum of float32 as it is."""


@kernel
def expectation(
    statistics: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    shares: np.ndarray,
    sizes: np.ndarray,
    sums: np.ndarray,
) -> float:
    """The log-likelihood of statistics [n, F] under the mixture weights float64[F, K], bias float64[K] (log
    proportions included), with sizes float64[K] and sums float64[F, K] set to the expected numbers of
    observations and sums of statistics of each component. shares float64[K] is scratch."""
    n_components = bias.size
    sizes[:] = 0.0
    sums[:] = 0.0
    log_likelihood = 0.0
    for i in range(statistics.shape[0]):
        for k in range(n_components):
            shares[k] = bias[k]
        for j in range(statistics.shape[1]):
            t = np.float64(statistics[i, j])
            if t != 0.0:  # most entries of bits and one-hot codes
                for k in range(n_components):
                    shares[k] += t * weights[j, k]
        greatest = shares[0]
        for k in range(1, n_components):
            greatest = max(greatest, shares[k])
        total = 0.0
        for k in range(n_components):
            shares[k] = math.exp(shares[k] - greatest)
            total += shares[k]
        log_likelihood += greatest + math.log(total)
        for k in range(n_components):
            shares[k] /= total
            sizes[k] += shares[k]
        for j in range(statistics.shape[1]):
            t = np.float64(statistics[i, j])
            if t != 0.0:
                for k in range(n_components):
                    sums[j, k] += t * shares[k]
    return log_likelihood


@inlined
def _add_symbol(tables: tuple, j: int, x: np.float32, totals: np.ndarray, row: int) -> None:
    """totals[row] += the entry of the symbol of coordinate j that is nearest to x, if it has one."""
    # stays a float until it is known to be small: one beyond the integers has no entry either
    symbol = np.floor(x + _HALF) - tables.least[j]
    if 0.0 <= symbol < tables.starts[j + 1] - tables.starts[j]:
        entry = tables.starts[j] + np.int64(symbol)
        for k in range(totals.shape[1]):
            totals[row, k] += tables.entries[entry, k]


@kernel
def symbol_scores(observations: tuple, tables: tuple, totals: np.ndarray, scores: np.ndarray) -> None:
    """scores[e, k, s, h] = bias[k] + the sum over coordinates j of what the symbol nearest to x[j] adds to k,
    where `tables` is a `SymbolTables`; a symbol without an entry adds nothing.

    Sums run from the last coordinate to the first. `totals` is float32[2, K] of scratch.
    """
    noise, means, n_informative = observations.noise, observations.means, observations.n_informative
    n_labels = tables.bias.size
    for e in range(noise.shape[0]):
        for h in range(means.shape[2]):
            for k in range(n_labels):
                totals[0, k] = tables.bias[k]
            for j in range(tables.least.size - 1, n_informative - 1, -1):
                _add_symbol(tables, j, noise[e, j, h], totals, 0)
            for s in range(means.shape[0]):
                for k in range(n_labels):
                    totals[1, k] = totals[0, k]
                for j in range(n_informative - 1, -1, -1):
                    _add_symbol(tables, j, noise[e, j, h] + means[s, j, h], totals, 1)
                for k in range(n_labels):
                    scores[e, k, s, h] = totals[1, k]


@kernel
def share_rows(scores: np.ndarray, bias: np.ndarray, labels: np.ndarray, sizes: np.ndarray) -> int:
    """Turn scores float32[K, n], to which bias float32[K] is added, into the probabilities of components, of
    which negligible ones become 0; sizes float64[K] are set to their sums, labels int64[n] to the first of
    the likeliest. Returns how many labels have changed."""
    n_changed = 0
    sizes[:] = 0.0
    for i in range(scores.shape[1]):
        greatest, likeliest = scores[0, i] + bias[0], 0
        for k in range(bias.size):
            scores[k, i] += bias[k]
            if scores[k, i] > greatest:
                greatest, likeliest = scores[k, i], k
        n_changed += labels[i] != likeliest
        labels[i] = likeliest
        total = _0F
        for k in range(bias.size):
            gap = scores[k, i] - greatest
            # most are 0 or 1, and calls of exp took most of the time
            share = _1F if gap == _0F else np.float32(math.exp(gap)) if gap > _NEGLIGIBLE else _0F
            scores[k, i] = share
            total += share
        for k in range(bias.size):
            scores[k, i] /= total
            sizes[k] += np.float64(scores[k, i])
    return n_changed
