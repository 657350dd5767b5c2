"""What PCID does in every episode: walk to a learned state, act at random, decode level by level, count.

A decoder of level h is affine in the observation, scores[k] = bias[k, h] + weights[k, :, h] . x, and gives
the first k of greatest score. Where the model is a network, the scores go through logistic units first and
are then mixed:

    z[j] = 1 / (1 + exp(-scores[j])),   score of label k = mixing[k, K, h] + sum over j of mixing[k, j, h] z[j].

`found[h]` is the number of labels of level h; a level with one label is not looked at. Sums over coordinates
run from the last to the first, alone or in a block, so that an observation gets the same label in both.
"""

import numpy as np

from .compiling import inlined, kernel
from .dynamics import start_state, step
from .fitting import logistic
from .rng import below
from .tabular import greedy

_0 = np.float32(0.0)
_NIBBLE = np.uint64(15)


@kernel
def explore(
    dynamics: tuple,
    labels: np.ndarray,
    reach: np.ndarray,
    level: int,
    luck: np.ndarray,
    choice: np.ndarray,
    states: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Play episodes that show the transition into `level` (counted from 0), and record them as
    `tabular.rollout` does.

    An episode chooses one of the targets uniformly, is greedy in reach[target] (float64[T, level - 1, X, A],
    ties at random) on labels uint8[E, H+1, S] up to level - 1, and acts uniformly at random from there to its
    end. Filled are states int64[E, H+1], actions int64[E, H] and rewards float64[E, H].
    """
    horizon, _, n_actions, _ = dynamics.transitions.shape
    for e in range(states.shape[0]):
        target = below(choice, reach.shape[0])
        s = start_state(dynamics, luck)
        states[e, 0] = s
        for h in range(horizon):
            if h < level - 1:
                a, _ = greedy(reach[target], h, np.int64(labels[e, h, s]), choice)
            else:
                a = below(choice, n_actions)
            s, reward = step(dynamics, luck, h, s, a)
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward


@kernel
def count(
    before: np.ndarray,
    taken: np.ndarray,
    gained: np.ndarray,
    after: np.ndarray,
    counts: np.ndarray,
    sums: np.ndarray,
) -> None:
    """Add transitions (label, action) -> label to counts float64[X, A, X] and their rewards to sums
    float64[X, A]."""
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
def _label_level(scores: np.ndarray, found: int, h: int, labels: np.ndarray) -> None:
    """Labels of one level from scores float32[K or more, E * S]."""
    n_states = labels.shape[2]
    for e in range(labels.shape[0]):
        for s in range(n_states):
            i = e * n_states + s
            best = 0
            for k in range(1, found):
                best = k if scores[k, i] > scores[best, i] else best
            labels[e, h, s] = best


@kernel
def bit_labels(
    words: np.ndarray,
    tables: np.ndarray,
    found: np.ndarray,
    mixing: np.ndarray,
    levels: int,
    scores: np.ndarray,
    mixed: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Label packed bits, words uint64[E, L, S, W], at the first `levels` levels: labels uint8[E, L, S].

    tables float32[L, groups, 16, K rounded up to a multiple of 4], mixing float32[K, K + 1, L], empty where
    there is no logistic layer. Scratch: scores float32[K rounded up, E * S], mixed float32[K, E * S].
    """
    n_groups, n_states = tables.shape[1], words.shape[2]
    n_labels, n = mixed.shape
    for h in range(levels):
        if found[h] == 1:
            for e in range(words.shape[0]):
                for s in range(n_states):
                    labels[e, h, s] = 0
            continue
        for e in range(words.shape[0]):
            for s in range(n_states):
                i = e * n_states + s
                for k in range(0, scores.shape[0], 4):
                    a0, a1, a2, a3 = _0, _0, _0, _0
                    for group in range(n_groups - 1, -1, -1):
                        value = np.int64(
                            (words[e, h, s, group >> 4] >> np.uint64((group & 15) << 2)) & _NIBBLE
                        )
                        a0 += tables[h, group, value, k]
                        a1 += tables[h, group, value, k + 1]
                        a2 += tables[h, group, value, k + 2]
                        a3 += tables[h, group, value, k + 3]
                    scores[k, i], scores[k + 1, i], scores[k + 2, i], scores[k + 3, i] = a0, a1, a2, a3
        if mixing.size == 0:
            _label_level(scores, found[h], h, labels)
            continue
        for k in range(n_labels):
            constant = mixing[k, n_labels, h]
            for i in range(n):
                scores[k, i] = logistic(scores[k, i])
                mixed[k, i] = constant
        for k in range(n_labels):
            for j in range(n_labels):
                w = mixing[k, j, h]
                for i in range(n):
                    mixed[k, i] += w * scores[j, i]
        _label_level(mixed, found[h], h, labels)


@inlined
def _add_products(
    weights: np.ndarray, k: int, noise: np.ndarray, e: int, first: int, levels: int, sums: np.ndarray
) -> None:
    """sums[k, h] += weights[k, j, h] noise[e, j, h] for j from the last down to `first`, four coordinates a
    loop."""
    j = weights.shape[1] - 1
    while j - 3 >= first:
        for h in range(levels):
            total = sums[k, h] + weights[k, j, h] * noise[e, j, h]
            total += weights[k, j - 1, h] * noise[e, j - 1, h]
            total += weights[k, j - 2, h] * noise[e, j - 2, h]
            sums[k, h] = total + weights[k, j - 3, h] * noise[e, j - 3, h]
        j -= 4
    while j >= first:
        for h in range(levels):
            sums[k, h] += weights[k, j, h] * noise[e, j, h]
        j -= 1


@inlined
def _label_levels(
    scores: np.ndarray, found: np.ndarray, levels: int, e: int, s: int, labels: np.ndarray
) -> None:
    """Labels of one episode in one state from scores float32[K, L]; the scores of label 0 give way to the
    greatest ones."""
    for h in range(levels):
        labels[e, h, s] = 0
    for k in range(1, scores.shape[0]):
        for h in range(levels):
            greater = (scores[k, h] > scores[0, h]) & (k < found[h])
            labels[e, h, s] = k if greater else labels[e, h, s]
            scores[0, h] = scores[k, h] if greater else scores[0, h]


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
    mixed: np.ndarray,
    labels: np.ndarray,
) -> None:
    """Label noise float32[E, >= D, L] around means float32[S, D, L] at the first `levels` levels: labels
    uint8[E, L, S].

    Coordinates from `head` on have mean 0 in every state. weights float32[K, D, L], bias float32[K, L],
    mixing float32[K, K + 1, L], empty where there is no logistic layer; tail, sums and mixed float32[K, L]
    are scratch.
    """
    n_labels = weights.shape[0]
    for e in range(noise.shape[0]):
        for k in range(n_labels):
            for h in range(levels):
                tail[k, h] = _0
            _add_products(weights, k, noise, e, head, levels, tail)
        for s in range(means.shape[0]):
            for k in range(n_labels):
                if (
                    head == 3
                ):  # the code of a lock, in one loop: to start a short one takes longer than to run it
                    for h in range(levels):
                        total = tail[k, h] + weights[k, 2, h] * (noise[e, 2, h] + means[s, 2, h])
                        total += weights[k, 1, h] * (noise[e, 1, h] + means[s, 1, h])
                        total += weights[k, 0, h] * (noise[e, 0, h] + means[s, 0, h])
                        sums[k, h] = total + bias[k, h]
                    continue
                for h in range(levels):
                    sums[k, h] = tail[k, h]
                for j in range(head - 1, -1, -1):
                    for h in range(levels):
                        sums[k, h] += weights[k, j, h] * (noise[e, j, h] + means[s, j, h])
                for h in range(levels):
                    sums[k, h] += bias[k, h]
            if mixing.size == 0:
                _label_levels(sums, found, levels, e, s, labels)
                continue
            for k in range(n_labels):
                for h in range(levels):
                    sums[k, h] = logistic(sums[k, h])
                    mixed[k, h] = mixing[k, n_labels, h]
            for k in range(n_labels):
                for j in range(n_labels):
                    for h in range(levels):
                        mixed[k, h] += mixing[k, j, h] * sums[j, h]
            _label_levels(mixed, found, levels, e, s, labels)
