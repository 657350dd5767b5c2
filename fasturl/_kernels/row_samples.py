"""Samples of rows."""

import numpy as np

from .compiling import kernel
from .rng import uniform


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
    for i in range(labels.size):
        chosen[n_chosen] = i  # kept where it is drawn
        n_chosen += uniform(rng) < chances[labels[i]]
    return n_chosen
