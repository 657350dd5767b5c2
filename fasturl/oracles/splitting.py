"""Whether a cluster of observations is two, and which two: the step that the oracle of splits repeats.

`split_evidence` has the test of a split. Groups to test come from directions: the leading eigenvectors of E[r
r'] and of E[|r|^2 r r'], in which rare clusters stand out (Cardoso, 1989), and the rows of largest norm;
where rows vary in all directions alike, those in which they are flattest. A row is put on the
side whose mean it is closer to, until none moves.

Rows may also come in groups that were known before anyone looked at them, by what came before each. If a
state is reached by one action only, what follows that action is such a group, or the outermost k of its a
rows are: u is the logarithm of the number of groups times (a choose k), and two or three rows may tell a
state where five would be needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._kernels.records import SubsetLimits
from .._kernels.splitting import best_thresholds, farthest_subset, mean_row
from .likelihoods import Reals, RowLabels
from .noise import MOST_ROWS, Noise, leading_directions
from .projection import Floats, leading_eigenvectors
from .sides import Groups, Sample, Sides
from .split_evidence import Pair, SplitRule, excesses, log_choose

_OUTERMOST = 128
"""Rows of a sample that are the outermost ones, where a rare cluster is; the others are drawn at random."""
_SEEDS = 4
"""Rows of largest norm that serve as directions."""
_FLATTEST = 4
"""Directions of least kurtosis that are looked at."""
_KURTOSIS_ROWS = 4096
"""Upper limit on the rows that these directions are found from."""
_KURTOSIS_STEPS = 8
"""Steps of the fixed point that finds them."""
_RIDGE = 1e-9
"""Share of the mean variance that is added to all, where some directions have none."""
_TINY = np.finfo(np.float64).tiny
_MOST_REASSIGNMENTS = 6
"""How often all rows may change sides."""
_NEARLY = 0.85
"""Share of `min_separation` that is enough for a split whose wider side is itself two clusters."""
_LEAST_OF_GROUP, _MOST_OF_GROUP = 2, 16
"""Limits on the outermost rows of a known group that may be a cluster of their own: a single one may be an
outlier."""
_KNOWN_GROUP_SEPARATION = 1 / 3
"""Share of `min_separation` that is asked of a group that was known before: its rows may be of two clusters
that are both new."""


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
    sphered: bool = False,
    groups: RowLabels | None = None,
    noise_of_others: Callable[[], Noise | None] = lambda: None,
    may_be_several: bool = True,
) -> Split | None:
    """The two clusters that rows [n, D] fall apart into, or None where they look like one. Rows of one of the
    groups [n], if there are any, may go together; the noise of other clusters may be known, and is asked for
    when it counts. Where rows are `sphered`, two clusters vary no more than one does, and it is their shape
    that tells. One side of the split may be several clusters, unless the caller knows better."""
    if len(rows) < 4:
        return None
    centre = np.empty(rows.shape[1])
    mean_row(rows, centre)
    scale = np.ones_like(centre)
    if of_bits:
        # a rare bit tells as much as a frequent one
        scale = np.sqrt(centre * (1.0 - centre))
        scale[scale == 0.0] = 1.0
    cluster = Sample.around(rows, centre, scale, of_bits=of_bits)
    if cluster.norms.max() == 0.0:
        return None
    sample = cluster
    if len(rows) > MOST_ROWS:
        sample = cluster.part(_outer_and_random(cluster.norms, generator))
    log_inverse_error = math.log(1.0 / rule.error_rate)
    pairs = _known_pairs(cluster, groups, rule, log_inverse_error)
    candidates = _candidates(sample, _flattest_directions(cluster) if sphered else None)
    separations = candidates.separations()
    if not pairs and not (separations >= _NEARLY * rule.min_separation).any():
        return None
    if sample is not cluster:
        # the outermost rows are no fair sample: the whole has the last word
        nearly_clear = separations >= _NEARLY * rule.min_separation
        candidates = Sides(cluster, _smaller_parts(candidates.likelier(cluster.rows)[nearly_clear]))
        separations = candidates.separations()
    clear = separations >= rule.min_separation
    if may_be_several and not clear.any():
        # of three clusters in a row, one lies too near to both others together, whose deviation is no noise;
        # to ask the same of these in turn might take a time that doubles with every coordinate
        for k in np.flatnonzero(separations >= _NEARLY * rule.min_separation).tolist():
            wider = rows[candidates.groups[k] == candidates.first_is_wider[k]]
            two = best_split(wider, of_bits=of_bits, rule=rule, generator=generator, may_be_several=False)
            clear[k] = two is not None
    pairs += [Pair(cluster, candidates, k) for k in np.flatnonzero(clear).tolist()]
    evidence = excesses(pairs, log_inverse_error, scale, centre, noise_of_others)
    if max(evidence, default=0.0) <= 0.0:
        return None
    best = int(np.argmax(evidence))
    return Split(evidence[best], pairs[best].means * scale + centre)


def _known_pairs(
    cluster: Sample, groups: RowLabels | None, rule: SplitRule, log_inverse_error: float
) -> list[Pair]:
    """The best set of rows within one of the groups [n], and the rest; nothing where there are no groups or
    where it lies too near to the rest."""
    if groups is None or (best := _best_in_groups(cluster, groups, log_inverse_error)) is None:
        return []
    group, log_choices = best
    sides = Sides(cluster, group[None])
    if sides.separations()[0] < _KNOWN_GROUP_SEPARATION * rule.min_separation:
        return []
    return [Pair(cluster, sides, 0, log_choices)]


def _outer_and_random(norms: Reals, generator: np.random.Generator) -> NDArray[np.int64]:
    """The indices of the rows of largest norm, and of others at random: `MOST_ROWS` of them."""
    order = np.argpartition(norms, norms.size - _OUTERMOST)
    others = generator.choice(norms.size - _OUTERMOST, MOST_ROWS - _OUTERMOST, replace=False)
    return np.concatenate([order[-_OUTERMOST:], order[others]])


def _best_in_groups(
    sample: Sample, groups: RowLabels, log_inverse_error: float
) -> tuple[Groups, float] | None:
    """Among the sets of outermost rows of each group, the one farthest above what noise could reach, and the
    logarithm of the number of sets that it was chosen among."""
    n, dimension = sample.rows.shape
    outermost_first = np.argsort(-sample.norms)
    order = outermost_first[np.argsort(groups[outermost_first], kind="stable")]
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    usable = (sizes >= _LEAST_OF_GROUP) & (sizes < n)
    first, sizes = first[usable], sizes[usable]
    if not sizes.size:
        return None
    limits = SubsetLimits(
        noise_trace=float(sample.squares.sum()) / n,
        log_inverse_error=log_inverse_error,
        least_rows=_LEAST_OF_GROUP,
        most_rows=_MOST_OF_GROUP,
    )
    best = np.empty(2, np.int64)
    total = np.empty(dimension, np.float32)
    log_choices = farthest_subset(sample.rows, order, first, sizes, limits, total, best)
    chosen = np.zeros(n, np.bool_)
    chosen[order[first[best[0]] : first[best[0]] + best[1]]] = True
    return chosen, log_choices


def _candidates(cluster: Sample, further_directions: Reals | None) -> Sides:
    """Splits into groups that may be clusters and the rest; there may be further directions [K, D] to look
    along."""
    sample, norms = cluster.rows, cluster.norms
    seeds = np.argsort(-norms, kind="stable")[:_SEEDS]
    directions = leading_directions(sample, sample[seeds[0]], np.stack([np.ones_like(norms), norms]))
    products = sample[seeds] @ sample.T
    # a row goes with itself whether it has a cluster or not
    itself = np.arange(seeds.size), seeds
    products[itself] = 0.0
    products[itself] = products.max(axis=1)
    scores = [norms[None], directions @ sample.T, products]
    if cluster.of_bits:
        scores.append(sample[None, :, _most_dependent(sample)])
    if further_directions is not None:
        scores.append(further_directions @ sample.T)
    groups = cluster.settled(_distinct(_best_thresholds(np.concatenate(scores))), _MOST_REASSIGNMENTS)
    return Sides(cluster, _smaller_parts(groups))


def _smaller_parts(groups: Groups) -> Groups:
    """Each of the groups [K, n], or what it leaves where that is smaller, once."""
    return _distinct(np.where(2 * groups.sum(axis=1, keepdims=True) > groups.shape[1], ~groups, groups))


def _distinct(groups: Groups) -> Groups:
    """Each group once, without those of no row or all."""
    first: dict[bytes, int] = {}
    for k, group in enumerate(groups):
        code = group.tobytes()
        if code not in first and 0 < code.count(1) < len(code):
            first[code] = k
    return np.asarray(groups[list(first.values())])


def _flattest_directions(cluster: Sample) -> Reals:
    """Directions [K, D] in which rows have the least kurtosis: two clusters of about the same size lie at two
    ends, with little between them and nothing far out.

    For rows z that vary in all directions alike, they start where E[|z|^2 z z'] is least, and go on by the
    fixed point of Hyvarinen and Oja (1997).
    """
    stride = -(-len(cluster.rows) // _KURTOSIS_ROWS)
    rows = cluster.rows[::stride].astype(np.float64)
    covariance = rows.T @ rows / len(rows)
    ridge = _RIDGE * covariance.trace() / len(covariance)
    whitening = np.linalg.inv(np.linalg.cholesky(covariance + ridge * np.eye(len(covariance))))
    rows = rows @ whitening.T
    moments = (rows * np.square(rows).sum(axis=1, keepdims=True)).T @ rows
    directions = leading_eigenvectors(-moments, min(_FLATTEST, len(moments)))
    for _ in range(_KURTOSIS_STEPS):
        scores = directions @ rows.T
        # a power would take ten times as long as two products
        directions = (scores * scores * scores) @ rows / len(rows) - 3.0 * directions
        directions /= np.maximum(np.linalg.norm(directions, axis=1, keepdims=True), _TINY)
    return np.asarray(directions @ whitening, np.float32)


def _most_dependent(sample: Reals) -> int:
    """The bit that goes together with another one most."""
    products = np.abs(sample.T @ sample)
    np.fill_diagonal(products, 0.0)
    return int(products.max(axis=0).argmax())


def _best_thresholds(scores: Reals) -> Groups:
    """For each direction [K, n] the part above the threshold whose likelihood, less what it takes to choose
    so many rows, is greatest."""
    n, ranked = scores.shape[1], np.sort(scores, axis=1)
    n_below = np.empty(len(scores), np.int64)
    best_thresholds(ranked, _log_choices(n), n_below)
    # rows with the same score are on the same side; where all have it, none is above
    least_above = np.take_along_axis(ranked, np.minimum(n_below, n - 1)[:, None], axis=1)
    return np.asarray((scores >= least_above) & (n_below < n)[:, None])


@lru_cache(maxsize=MOST_ROWS)
def _log_choices(n: int) -> Floats:
    """The logarithm of the number of ways to choose 0, ..., n - 1 of n rows."""
    return log_choose(n, np.arange(n))
