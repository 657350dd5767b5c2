"""FixLabel (Algorithm 3 of Feng et al., 2020): majority counts and swaps, and matching of whole labellings."""

import numpy as np

from .compiling import kernel


@kernel
def count_labels(labels: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> None:
    """counts[i, k]: how often label k occurs in labels[starts[i] : starts[i+1]]; labels uint8[n]."""
    counts[:] = 0
    for i in range(starts.size - 1):
        for position in range(starts[i], starts[i + 1]):
            counts[i, labels[position]] += 1


@kernel
def fix_labels(counts: np.ndarray, standards: np.ndarray, relabel: np.ndarray) -> None:
    """Swap a decoder's outputs so that they agree with the label standard sets of its level.

    counts int64[n, K] holds the decoder's raw labels on each set, standards int64[n] the label that each set stands for,
    relabel uint8[K] (the identity at first) the decoder's output for each raw label. Taking the sets in order: where
    more than 3/5 of a set is given the label s' and the set stands for s, the outputs s and s' are swapped.
    """
    n_labels = relabel.size
    for i in range(standards.size):
        total = 0
        for raw in range(n_labels):
            total += counts[i, raw]
        for raw in range(n_labels):
            if 5 * counts[i, raw] > 3 * total:
                found, wanted = relabel[raw], standards[i]
                for other in range(n_labels):
                    if relabel[other] == wanted:
                        relabel[other] = found
                relabel[raw] = wanted


@kernel
def count_pairs(first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> None:
    """counts[i, j]: how often labels i of `first` and j of `second` (uint8[n]) stand together."""
    counts[:] = 0
    for position in range(first.size):
        counts[first[position], second[position]] += 1
