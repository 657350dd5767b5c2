"""References for `fasturl._kernels.packed_decoding`."""

import numpy as np

from .decoding import best_labels, sum_from_the_last


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


def find_deciding_group(tables, ranges, decided):
    """A value decides for the label whose score is least ahead of score 0, whatever the other groups add, by
    more than any other can be ahead of it; twice what sums in float32 may be wrong by lies between them."""
    n_groups, n_values, _ = tables.shape
    present = [k for k in range(tables.shape[2]) if tables[0, 0, k] != -np.inf]
    exact = tables[:, :, present].astype(np.float64)
    leads = exact - exact[:, :, :1]
    error = np.abs(exact).max(axis=1).sum(axis=0) * n_groups * 2.0**-23
    answers = np.full((n_groups, n_values), -1)
    for group, value in np.ndindex(n_groups, n_values):
        others = np.delete(leads, group, axis=0)
        least = leads[group, value] + others.min(axis=1).sum(axis=0) - error - error[0]
        greatest = leads[group, value] + others.max(axis=1).sum(axis=0) + error + error[0]
        best = int(np.argmax(least))
        if (np.delete(greatest, best) < least[best]).all():
            answers[group, value] = present[best]
    numbers = (answers >= 0).sum(axis=1)
    if not numbers.any():
        return n_groups
    best = int(numbers.argmax())
    decided[:] = answers[best]
    return best


def packed_scores(words, tables, scores):
    """The sum of what each group of bits of the observation adds."""
    n_tables, n_groups, n_values, _ = tables.shape
    for e, k, s, h in np.ndindex(*scores.shape):
        packed = sum(int(word) << 64 * w for w, word in enumerate(words[e, h, s]))
        table = tables[h if n_tables > 1 else 0]
        bits = n_values.bit_length() - 1
        values = [packed >> bits * group & n_values - 1 for group in range(n_groups)]
        scores[e, k, s, h] = sum_from_the_last([table[group, value, k] for group, value in enumerate(values)])


def packed_labels(words, tables, relabel, scratch, labels):
    """The first of the greatest scores, renamed, whatever one group decides for."""
    episodes, n_levels, n_states = labels.shape
    scores = np.empty((episodes, len(relabel), n_states, n_levels), np.float32)
    packed_scores(words, tables.scores, scores)
    best_labels(scores.reshape(episodes, len(relabel), -1), relabel, labels)
