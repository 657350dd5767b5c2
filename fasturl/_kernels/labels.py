"""FixLabel (Algorithm 3 of Feng et al., 2020): majority counts and swaps, matching of whole labellings, and
what is counted in a label table."""

import numpy as np

from .compiling import inlined, kernel

_FEW = 8
"""Up to so many labels, a pass over the set for each is faster than one pass that counts all: sixteen are
compared at a time."""
_ROOM = np.uint64(255)
"""What a byte can count."""


@kernel
def count_labels(labels: np.ndarray, starts: np.ndarray, counts: np.ndarray) -> None:
    """counts[i, k]: how often label k occurs in labels[starts[i] : starts[i+1]]; labels uint8[n]."""
    counts[:] = 0
    for i in range(starts.size - 1):
        first, end = np.uint64(starts[i]), np.uint64(starts[i + 1])
        if counts.shape[1] > _FEW:
            for position in range(first, end):
                counts[i, labels[position]] += 1
        else:
            for k in range(counts.shape[1]):
                counts[i, k] = _occurrences(labels, first, end, np.uint8(k))


@inlined
def _occurrences(labels: np.ndarray, first: np.uint64, end: np.uint64, label: np.uint8) -> int:
    total = 0
    while first < end:
        stop = min(first + _ROOM, end)
        part = np.uint8(0)  # a byte, so that LLVM adds sixteen at a time
        for position in range(first, stop):
            part = np.uint8(part + np.uint8(labels[position] == label))
        total += np.int64(part)
        first = stop
    return total


@kernel
def fix_labels(counts: np.ndarray, standards: np.ndarray, relabel: np.ndarray) -> None:
    """Swap a decoder's outputs so that they agree with the label standard sets of its level.

    counts int64[n, K] holds the decoder's raw labels on each set, standards int64[n] the label that each set
    stands for, relabel uint8[K] (the identity at first) the decoder's output for each raw label. Taking the
    sets in order: where more than 3/5 of a set is given the label s' and the set stands for s, the outputs s
    and s' are swapped.
    """
    n_labels = relabel.size
    for i in range(standards.size):
        total = 0
        for raw in range(n_labels):
            total += counts[i, raw]
        for raw in range(n_labels):
            if 5 * counts[i, raw] > 3 * total:
                output, wanted = relabel[raw], standards[i]
                for other in range(n_labels):
                    if relabel[other] == wanted:
                        relabel[other] = output
                relabel[raw] = wanted


@kernel
def count_pairs(first: np.ndarray, second: np.ndarray, counts: np.ndarray) -> None:
    """counts[i, j]: how often labels i of `first` and j of `second` (uint8[n]) stand together."""
    counts[:] = 0
    for position in range(first.size):
        counts[first[position], second[position]] += 1


@kernel
def labels_along(labels: np.ndarray, states: np.ndarray, out: np.ndarray) -> None:
    """out[e, h] = labels[e, h, states[e, h]]: what a label table [E, L, S] of integers has along states
    int64[E, L]; out [E, L] of integers that hold the labels."""
    for e in range(states.shape[0]):
        for h in range(states.shape[1]):
            out[e, h] = labels[e, h, states[e, h]]


@kernel
def count_table(labels: np.ndarray, counts: np.ndarray) -> None:
    """counts[h, s, k] (int64[L, S, K]): in how many episodes of labels uint8[E, L, S] state s of level h gets
    label k."""
    counts[:] = 0
    for e in range(labels.shape[0]):
        for h in range(labels.shape[1]):
            for s in range(labels.shape[2]):
                counts[h, s, labels[e, h, s]] += 1


@kernel
def count_by_level(labels: np.ndarray, counts: np.ndarray) -> None:
    """Add to counts[h, k] (int64[L, K]) in how many rows of labels uint8[n, L] level h has label k."""
    for i in range(labels.shape[0]):
        for h in range(labels.shape[1]):
            counts[h, labels[i, h]] += 1


@kernel
def count_visits(labels: np.ndarray, actions: np.ndarray, counts: np.ndarray) -> None:
    """Add to counts[h, k, a] (int64[H, K, A]) how often action a was taken at level h and label k, of labels
    uint8[n, H or more] and actions, unsigned [n, H]."""
    for i in range(actions.shape[0]):
        for h in range(actions.shape[1]):
            counts[h, labels[i, h], actions[i, h]] += 1


@kernel
def effect_squares(labels: np.ndarray, effects: np.ndarray, squares: np.ndarray) -> None:
    """squares[h] (float64[H]): the sum over episodes e of (sum over s of effects[h, s, labels[e, h, s]])^2.

    labels uint8[E, H or more, S], effects float64[H, S, K]. The states of a level share the noise of an
    episode, so their effects are added up before they are squared.
    """
    squares[:] = 0.0
    for e in range(labels.shape[0]):
        for h in range(squares.size):
            total = 0.0
            for s in range(labels.shape[2]):
                total += effects[h, s, labels[e, h, s]]
            squares[h] += total * total
