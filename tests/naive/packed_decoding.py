"""References for `fasturl._kernels.packed_decoding`."""

import numpy as np

from .decoding import _sum_from_the_last, best_labels


def fill_packed_tables(weights, bias, tables):
    """Entry (group, value): the weights of the bits that are set in the value, and the bias in the first
    group. Scores that nobody asked for are minus infinity."""
    tables[:] = 0
    tables[0, :, len(bias) :] = -np.inf
    bits = tables.shape[1].bit_length() - 1
    for group, value, k in np.ndindex(*tables.shape[:2], len(bias)):
        total = float(bias[k]) if group == 0 else 0.0
        for bit in range(bits):
            if value >> bit & 1 and bits * group + bit < weights.shape[1]:
                total += float(weights[k, bits * group + bit])
        tables[group, value, k] = total


def packed_scores(words, tables, scores):
    """The sum of what each group of bits of the observation adds."""
    n_tables, n_groups, n_values, _ = tables.shape
    for e, k, s, h in np.ndindex(*scores.shape):
        packed = sum(int(word) << 64 * w for w, word in enumerate(words[e, h, s]))
        table = tables[h if n_tables > 1 else 0]
        bits = n_values.bit_length() - 1
        values = [packed >> bits * group & n_values - 1 for group in range(n_groups)]
        scores[e, k, s, h] = _sum_from_the_last(
            [table[group, value, k] for group, value in enumerate(values)]
        )


def packed_labels(words, tables, relabel, greatest, labels):
    """The first of the greatest scores, renamed."""
    episodes, n_levels, n_states = labels.shape
    scores = np.empty((episodes, len(relabel), n_states, n_levels), np.float32)
    packed_scores(words, tables, scores)
    best_labels(scores.reshape(episodes, len(relabel), -1), relabel, labels)
