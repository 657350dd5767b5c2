"""What PCID does in every episode: walk to a learned state, act at random, decode level by level, count.

A decoder of level h is affine in the observation, scores[k] = bias[k, h] + weights[k, :, h] . x, and gives the first k of greatest
score. Where the model is a network, the scores go through logistic units first and are then mixed:

    z[j] = 1 / (1 + exp(-scores[j])),   score of label k = mixing[h, k, K] + sum over j of mixing[h, k, j] z[j].

`found[h]` is the number of labels of level h; a level with one label is not looked at. Sums over coordinates run from the last to
the first, alone or in a block, so that an observation gets the same label in both.
"""

import numpy as np

from .compiling import inlined, kernel
from .dynamics import Dynamics, start_state, step
from .fitting import logistic
from .rng import below
from .tabular import greedy

_0 = np.float32(0.0)
_NIBBLE = np.uint64(15)


@kernel
def explore(
    dynamics: Dynamics,
    labels: np.ndarray,
    reach: np.ndarray,
    level: int,
    luck: np.ndarray,
    choice: np.ndarray,
    before: np.ndarray,
    taken: np.ndarray,
    gained: np.ndarray,
    after: np.ndarray,
    returns: np.ndarray,
) -> None:
    """Play `returns.size` episodes that show the transition into `level` (counted from 0).

    An episode chooses one of the targets uniformly, is greedy in reach[target] (float64[T, level - 1, X, A], ties at random)
    on labels uint8[E, H+1, S] up to level - 1, and acts uniformly at random from there to its end. Recorded are the label before
    the transition, the action, its reward and the latent state after it, and the return of the episode.
    """
    horizon, _, n_actions, _ = dynamics.transitions.shape
    for e in range(returns.size):
        target = below(choice, reach.shape[0])
        total = 0.0
        s = start_state(dynamics, luck)
        for h in range(level - 1):
            a, _ = greedy(reach[target], h, np.int64(labels[e, h, s]), choice)
            s, reward = step(dynamics, luck, h, s, a)
            total += reward
        before[e] = labels[e, level - 1, s]
        a = below(choice, n_actions)
        s, reward = step(dynamics, luck, level - 1, s, a)
        taken[e], gained[e], after[e] = a, reward, s
        total += reward
        for h in range(level, horizon):
            s, reward = step(dynamics, luck, h, s, below(choice, n_actions))
            total += reward
        returns[e] = total


@kernel
def count(before: np.ndarray, taken: np.ndarray, gained: np.ndarray, after: np.ndarray, counts: np.ndarray, sums: np.ndarray) -> None:
    """Add transitions (label, action) -> label to counts float64[X, A, X] and their rewards to sums float64[X, A]."""
    for i in range(before.size):
        counts[before[i], taken[i], after[i]] += 1.0
        sums[before[i], taken[i]] += gained[i]


@kernel
def fill_nibble_tables(weights: np.ndarray, bias: np.ndarray, tables: np.ndarray) -> None:
    """What each value of each group of four bits adds to each score; the bias goes with the first group.

    weights float32[K, D], bias float32[K], tables float32[groups, 16, K rounded up to a multiple of 4].
    """
    n_scores, dimension = weights.shape
    tables[:] = _0
    for k in range(n_scores):
        for group in range(tables.shape[0]):
            tables[group, 0, k] = bias[k] if group == 0 else _0
            for value in range(1, 16):
                lowest = 0
                while not (value >> lowest) & 1:
                    lowest += 1
                j = 4 * group + lowest
                weight = weights[k, j] if j < dimension else _0
                tables[group, value, k] = tables[group, value & (value - 1), k] + weight


@inlined
def _nearest(scores: np.ndarray, found: int, mixing: np.ndarray, h: int) -> int:
    """The label of one observation, whose scores are those of logistic units unless `mixing` (float64[L, K, K + 1]) is empty."""
    best = 0
    if mixing.size == 0:
        for k in range(1, found):
            if scores[k] > scores[best]:
                best = k
        return best
    n_units = mixing.shape[2] - 1
    greatest = -np.inf
    for k in range(found):
        total = mixing[h, k, n_units]
        for j in range(n_units):
            total += mixing[h, k, j] * np.float64(scores[j])
        if total > greatest:
            best, greatest = k, total
    return best


@kernel
def bit_labels(
    words: np.ndarray, tables: np.ndarray, found: np.ndarray, mixing: np.ndarray, levels: int, scores: np.ndarray, labels: np.ndarray
) -> None:
    """Label packed bits, words uint64[E, L, S, W], at the first `levels` levels: labels uint8[E, L, S].

    tables float32[L, groups, 16, K rounded up to a multiple of 4]; scores float32 of that size is scratch.
    """
    n_groups = tables.shape[1]
    for h in range(levels):
        for e in range(words.shape[0]):
            for s in range(words.shape[2]):
                if found[h] == 1:
                    labels[e, h, s] = 0
                    continue
                for k in range(0, scores.size, 4):
                    a0, a1, a2, a3 = _0, _0, _0, _0
                    for group in range(n_groups - 1, -1, -1):
                        value = np.int64((words[e, h, s, group >> 4] >> np.uint64((group & 15) << 2)) & _NIBBLE)
                        a0 += tables[h, group, value, k]
                        a1 += tables[h, group, value, k + 1]
                        a2 += tables[h, group, value, k + 2]
                        a3 += tables[h, group, value, k + 3]
                    scores[k], scores[k + 1], scores[k + 2], scores[k + 3] = a0, a1, a2, a3
                if mixing.size > 0:
                    for k in range(scores.size):
                        scores[k] = logistic(scores[k])
                labels[e, h, s] = _nearest(scores, found[h], mixing, h)


@kernel
def real_labels(
    noise: np.ndarray,
    means: np.ndarray,
    head: int,
    weights: np.ndarray,
    bias: np.ndarray,
    found: np.ndarray,
    mixing: np.ndarray,
    levels: int,
    tail: np.ndarray,
    sums: np.ndarray,
    scores: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Label noise float32[E, >= D, L] around means float32[S, D, L] at the first `levels` levels: labels uint8[E, L, S].

    Coordinates from `head` on have mean 0 in every state. weights float32[K, D, L], bias float32[K, L]; tail and sums float32[K, L] and
    scores float32[K] are scratch.
    """
    n_scores, dimension, _ = weights.shape
    for e in range(noise.shape[0]):
        for k in range(n_scores):
            for h in range(levels):
                tail[k, h] = _0
            for j in range(dimension - 1, head - 1, -1):
                for h in range(levels):
                    tail[k, h] += weights[k, j, h] * noise[e, j, h]
        for s in range(means.shape[0]):
            for k in range(n_scores):
                for h in range(levels):
                    sums[k, h] = tail[k, h]
                for j in range(head - 1, -1, -1):
                    for h in range(levels):
                        sums[k, h] += weights[k, j, h] * (noise[e, j, h] + means[s, j, h])
                for h in range(levels):
                    sums[k, h] += bias[k, h]
                if mixing.size > 0:
                    for h in range(levels):
                        sums[k, h] = logistic(sums[k, h])
            for h in range(levels):
                for k in range(n_scores):
                    scores[k] = sums[k, h]
                labels[e, h, s] = _nearest(scores, found[h], mixing, h)
