"""Decoders over blocks: a label for every episode, level and latent state that the level can have.

A decoder has `scores`, float32[E, K, S, L] with the level fastest, and the label of an observation is the
first k of greatest score, passed through `relabel` (uint8[K]): `best_labels`, for all decoders but those that
vote (see `voting`) or find the greatest score as they go. Where fewer than K labels are possible at a level,
the scores of the others are minus infinity. Scores are affine or quadratic in real observations
(`RealObservations`, see `emission`; `affine_decoding` and `quadratic_decoding`), affine in packed bits (see
`packed_decoding`), or mixtures of logistic units whose arguments are such scores:

    z[j] = 1 / (1 + exp(-scores[j])),   score of label k = mixing[k, K, h] + sum over j of mixing[k, j, h]
    z[j].

Sums over coordinates run from the last to the first, and coordinates from `n_informative` on have the same
value in every state, so what they add is computed once for all states. Every observation is summed in the
same order alone or in a block: the labels are equal bit for bit. Indices of coordinates are unsigned, so that
nobody asks whether they count from the end: loops over levels are vectors then.
"""

import numpy as np

from .compiling import kernel
from .networks import logistic


@kernel
def mix_units(scores: np.ndarray, mixing: np.ndarray, mixed: np.ndarray) -> None:
    """Fill `mixed`, like scores float32[E, K, S, L], with mixtures of logistic units; the scores become the
    units.

    mixing float32[K, K + 1, L or more].
    """
    n_episodes, n_labels, n_states, n_levels = scores.shape
    for e in range(n_episodes):
        for s in range(n_states):
            for k in range(n_labels):
                for h in range(n_levels):
                    scores[e, k, s, h] = logistic(scores[e, k, s, h])
                    mixed[e, k, s, h] = mixing[k, n_labels, h]
            for k in range(n_labels):
                for j in range(n_labels):
                    for h in range(n_levels):
                        mixed[e, k, s, h] += mixing[k, j, h] * scores[e, j, s, h]


@kernel
def best_labels(scores: np.ndarray, relabel: np.ndarray, labels: np.ndarray) -> None:
    """Labels uint8[E, L, S] of greatest score from scores float32[E, K, S * L], which are used up.

    Where the scores are those of the first levels alone, the labels of the others stay as they are.
    The scores of label 0 give way to the greatest ones, those of label 1 to the labels: numbers that lie side
    by side are compared several at a time, and what is scattered over `labels` is only stored. The first two
    labels have a loop of their own because LLVM must see that what is read and what is written do not
    overlap.
    """
    n_episodes, n_scores, n_points = scores.shape
    n_states = labels.shape[2]
    n_levels = n_points // n_states
    if n_scores == 1:
        labels[:, :n_levels] = relabel[0]
        return
    zeroth, first = np.float32(relabel[0]), np.float32(relabel[1])
    for e in range(n_episodes):
        for i in range(n_points):
            score, greatest = scores[e, 1, i], scores[e, 0, i]
            scores[e, 1, i] = first if score > greatest else zeroth
            scores[e, 0, i] = score if score > greatest else greatest
        for k in range(2, n_scores):
            label = np.float32(relabel[k])
            for i in range(n_points):
                score, greatest = scores[e, k, i], scores[e, 0, i]
                scores[e, 1, i] = label if score > greatest else scores[e, 1, i]
                scores[e, 0, i] = score if score > greatest else greatest
        for s in range(n_states):
            for h in range(n_levels):
                labels[e, h, s] = np.uint8(scores[e, 1, s * n_levels + h])
