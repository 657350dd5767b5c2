"""Samples of rows."""

import numpy as np

from .compiling import kernel
from .rng import advance, as_uniform


@kernel
def choose_evenly(
    rng: np.ndarray, labels: np.ndarray, most: int, chances: np.ndarray, chosen: np.ndarray
) -> int:
    """Choose about `most` of n rows with labels uint8[n] at random: every label gets the same share, or all
    that it has.

    Fills chosen int64[n] with their indices, in order, and returns how many there are; chances float64[K]
    become the probabilities of a row of each label.
    """
    chances[:] = 0.0
    for i in range(labels.size):
        chances[labels[i]] += 1.0
    n_labels = 0
    for k in range(chances.size):
        n_labels += chances[k] > 0.0
    for k in range(chances.size):
        chances[k] = most / (n_labels * max(chances[k], 1.0))
    n_chosen = 0
    a, b, c, d = rng  # in registers: one draw need not wait until another is stored
    for i in range(labels.size):
        a, b, c, d, bits = advance(a, b, c, d)
        chosen[n_chosen] = i  # kept where it is drawn
        n_chosen += as_uniform(bits) < chances[labels[i]]
    rng[0], rng[1], rng[2], rng[3] = a, b, c, d
    return n_chosen
