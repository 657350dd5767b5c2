"""Whether a cluster of observations is two, and which two: the step that the oracle of splits repeats.

`split_evidence` has the test of a split. Groups to test come from directions: the leading eigenvectors of E[r
r'] and of E[|r|^2 r r'], in which rare clusters stand out, and the rows of largest norm. A row is put on the
side whose mean it is closer to, until none moves.

Rows may also come in groups that were known before anyone looked at them, by what came before each. If a
state is reached by one action only, what follows that action is such a group, or the outermost k of its a
rows are: u is the logarithm of the number of groups times (a choose k), and two or three rows may tell a
state where five would be needed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .likelihoods import Labels, Reals, without_false_alarms
from .noise import MOST_ROWS, Noise, leading_direction
from .projection import Floats
from .split_evidence import Groups, Pair, Sample, SplitRule, left_out_scores, likelier_above, log_choose

_OUTERMOST = 128
"""How many of them are the outermost ones, where a rare cluster is."""
_SEEDS = 4
"""Rows of largest norm that serve as directions."""
_MOVES = 6
"""How often rows may change sides."""
_OUTERMOST_OF_GROUP = 16
"""Rows of a group that may be a cluster of their own."""
_SEVERAL = 2
"""Rows that a group has at least: a single one may be an outlier."""


class Split(NamedTuple):
    """Two groups that are two clusters: their means, and by how much they pass the test."""

    excess: float
    means: Floats  # [2, D]


@without_false_alarms
def best_split(
    rows: Reals,
    *,
    of_bits: bool,
    rule: SplitRule,
    generator: np.random.Generator,
    groups: Labels | None = None,
    noise: Noise | None = None,
) -> Split | None:
    """The two clusters that rows [n, D] fall apart into, or None where they look like one. Rows of one of the
    groups [n], if there are any, may go together; the noise of other clusters may be known."""
    if len(rows) < 4:
        return None
    centre = rows.mean(axis=0, dtype=np.float64)
    scale = np.ones_like(centre)
    if of_bits:
        # a rare bit tells as much as a frequent one
        scale = np.sqrt(centre * (1.0 - centre))
        scale[scale == 0.0] = 1.0
    residuals = (rows - centre.astype(np.float32)) / scale.astype(np.float32)
    norms = np.einsum("nd,nd->n", residuals, residuals)
    if norms.max() == 0.0:
        return None
    squares = np.einsum("nd,nd->d", residuals, residuals, dtype=np.float64)
    everything = Sample(residuals, norms, squares, of_bits)
    sample = everything if len(rows) <= MOST_ROWS else everything.part(_outer_and_random(norms, generator))
    best: Split | None = None
    patience = math.log(1.0 / rule.error_rate)
    if groups is not None and (known := _best_in_groups(everything, groups, patience)) is not None:
        group, choices = known
        pair = Pair(everything, group)
        excess = pair.excess(rule, patience, scale, centre, noise, choices)
        if excess > 0.0:
            best = Split(excess, pair.means * scale + centre)
    for group in _candidates(sample):
        pair = Pair(sample, group)
        if sample is not everything:
            if pair.separation() < rule.min_separation:
                continue
            # the outermost rows are no fair sample: the whole has the last word
            pair = Pair(everything, pair.likelier(residuals))
        excess = pair.excess(rule, patience, scale, centre, noise)
        if excess > 0.0 and (best is None or excess > best.excess):
            best = Split(excess, pair.means * scale + centre)
    return best


def _outer_and_random(norms: Reals, generator: np.random.Generator) -> NDArray[np.int64]:
    order = np.argpartition(norms, norms.size - _OUTERMOST)
    others = generator.choice(norms.size - _OUTERMOST, MOST_ROWS - _OUTERMOST, replace=False)
    return np.concatenate([order[-_OUTERMOST:], order[others]])


def _best_in_groups(sample: Sample, groups: Labels, patience: float) -> tuple[Groups, float] | None:
    """Of every group of several rows, some of the outermost; which of these sets lies farthest above what
    noise could reach, and the logarithm of the number of sets that it was chosen among."""
    n, dimension = sample.rows.shape
    order = np.lexsort((-sample.norms, groups))
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    several = (sizes >= _SEVERAL) & (sizes < n)
    first, sizes = first[several], sizes[several]
    if not sizes.size:
        return None
    trace = float(sample.squares.sum()) / n
    sums = np.zeros((sizes.size, dimension), np.float32)
    best = -math.inf, 0, 0, 0.0
    for k in range(1, min(int(sizes.max()), _OUTERMOST_OF_GROUP) + 1):
        there = sizes >= k
        sums[there] += sample.rows[order[first[there] + k - 1]]
        if k < _SEVERAL:
            continue
        subsets = log_choose(sizes, np.minimum(k, sizes)) + np.log(np.minimum(sizes, _OUTERMOST_OF_GROUP))
        choices = math.log(sizes.size) + subsets
        u = choices + patience
        gains = np.einsum("gd,gd->g", sums, sums) * (n / (k * (n - k)))
        excess = gains - trace * (1.0 + 2.0 * np.sqrt(u / dimension) + 2.0 * u / dimension)
        g = int(np.where(there, excess, -math.inf).argmax())
        if excess[g] > best[0]:
            best = float(excess[g]), g, k, float(choices[g])
    chosen = np.zeros(n, np.bool_)
    chosen[order[first[best[1]] : first[best[1]] + best[2]]] = True
    return chosen, best[3]


def _candidates(cluster: Sample) -> list[Groups]:
    """Groups [n] that may be clusters, each the smaller part of its split."""
    sample, norms = cluster.rows, cluster.norms
    seeds = np.argsort(-norms, kind="stable")[:_SEEDS]
    scores = [
        norms,
        sample @ leading_direction(sample, sample[seeds[0]]),
        sample @ leading_direction(sample, sample[seeds[0]], norms),
    ]
    if cluster.of_bits:
        scores.append(sample[:, _most_dependent(sample)])
    for seed in seeds:
        # a row goes with itself whether it has a cluster or not
        products = sample @ sample[seed]
        products[seed] = 0.0
        products[seed] = products.max()
        scores.append(products)
    groups = _best_thresholds(np.stack(scores))
    for _ in range(_MOVES):
        groups = groups[groups.any(axis=1) & ~groups.all(axis=1)]
        moved = _likelier(sample, norms, groups)
        if np.array_equal(moved, groups):
            break
        groups = moved
    smaller = np.where(2 * groups.sum(axis=1, keepdims=True) > groups.shape[1], ~groups, groups)
    distinct = {group.tobytes(): group for group in smaller if group.any()}
    return list(distinct.values())


def _most_dependent(sample: Reals) -> int:
    """The bit that goes together with another one most."""
    products = np.abs(sample.T @ sample)
    np.fill_diagonal(products, 0.0)
    return int(products.max(axis=0).argmax())


def _best_thresholds(scores: Reals) -> Groups:
    """For each direction [K, n] the part above the threshold whose likelihood, less what it takes to choose
    so many rows, is greatest."""
    n = scores.shape[1]
    order = np.argsort(scores, axis=1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=1).astype(np.float64)
    ranked -= ranked.mean(axis=1, keepdims=True)
    below = np.arange(1, n)
    sums = ranked.cumsum(axis=1)[:, :-1]
    between = np.square(sums) * (n / (below * (n - below)))
    total = np.square(ranked).sum(axis=1, keepdims=True)
    within = np.maximum(total - between, 1e-9 * total + np.finfo(float).tiny)
    gain = n * np.log1p(between / within) - 2.0 * log_choose(n, np.minimum(below, n - below))
    gain[ranked[:, 1:] <= ranked[:, :-1]] = -np.inf
    groups = np.empty(scores.shape, np.bool_)
    np.put_along_axis(groups, order, np.arange(n) > gain.argmax(axis=1)[:, None], axis=1)
    return groups


def _likelier(sample: Reals, norms: Reals, groups: Groups) -> Groups:
    """Every row on its likelier side, for each of the splits [K, n]."""
    scores, _ = left_out_scores(sample, norms, groups)
    return np.asarray(scores > likelier_above(scores, groups)[:, None])
