"""Slow, obvious references for `_kernels/labels.py`, and Algorithm 3 to the letter."""

from collections import Counter

import numpy as np


def count_labels(labels, starts, counts):
    """How often each label occurs in each set."""
    for i in range(len(starts) - 1):
        found = Counter(labels[starts[i] : starts[i + 1]].tolist())
        for k in range(counts.shape[1]):
            counts[i, k] = found[k]


def count_pairs(first, second, counts):
    """How often two labels stand together."""
    found = Counter(zip(first.tolist(), second.tolist(), strict=True))
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            counts[i, j] = found[i, j]


def count_table(labels, counts):
    """In how many episodes each state of each level gets each label."""
    for h, s, k in np.ndindex(counts.shape):
        counts[h, s, k] = sum(row[h, s] == k for row in labels)


def labels_along(labels, states, out):
    """One place at a time."""
    for e, h in np.ndindex(*states.shape):
        out[e, h] = labels[e, h, states[e, h]]


def count_by_level(labels, counts):
    """One label at a time."""
    for i, h in np.ndindex(*labels.shape):
        counts[h, labels[i, h]] += 1


def count_visits(labels, actions, counts):
    """One step at a time."""
    for i, h in np.ndindex(*actions.shape):
        counts[h, labels[i, h], actions[i, h]] += 1


def effect_squares(labels, effects, squares):
    """The effects of the labels that the states of a level get in one episode, added up, squared and added
    up over episodes."""
    n_states = labels.shape[2]
    for h in range(len(squares)):
        totals = [sum(effects[h, s, row[h, s]] for s in range(n_states)) for row in labels]
        squares[h] = sum(total * total for total in totals)


def fix_label(decoder, standard_sets, n_labels):
    """FixLabel on one level: a function from observations to labels, and pairs (s, observations that stand
    for s).

    For every set: if some label s' is given to more than 3/5 of it, swap the outputs s' and s of the
    function.
    """
    for s, observations in standard_sets:
        for other in range(n_labels):
            if 5 * sum(decoder(x) == other for x in observations) > 3 * len(observations):
                decoder = _swapped(decoder, s, other)
                break
    return decoder


def _swapped(decoder, first, second):
    renamed = {first: second, second: first}
    return lambda x: renamed.get(decoder(x), decoder(x))


def fix_labels(counts, standards, relabel):
    """`fix_label` with the arguments of its kernel: an observation is the raw label that the decoder gives
    it."""
    sets = [
        (int(s), [raw for raw in range(len(relabel)) for _ in range(row[raw])])
        for s, row in zip(standards, counts, strict=True)
    ]
    output = dict(enumerate(relabel.tolist()))
    fixed = fix_label(output.get, sets, len(relabel))
    for raw in range(len(relabel)):
        relabel[raw] = fixed(raw)
