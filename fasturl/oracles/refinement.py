"""What an oracle finds among all observations, made better.

Clusters are found in a projection, from a random start, among states of which one may be seen a thousand
times as often as another. Where an oracle believes in clusters with centres (`clusters_have_centres`), so
that observations are normals of one covariance or independent bits given the label, its answer is compared
with what was believed before: each is refined (`likelihoods`), and the labels of least criterion are kept
(`counting.LabelCriterion`). A cluster that a fit happens to miss is not lost again so. Last, labels that lie
together become one, and where there are then fewer than states may be, clusters are split for as long as the
data say that they are two (`splitting`); that is kept where the criterion is less. Where there are still
fewer, the same is done in coordinates in which noise is as large in one direction as in any other: whatever
the units of the observations, and whatever their noise has in common.

The answer of any other oracle is taken as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .counting import LabelCriterion
from .fitting import fit_if_clusters
from .likelihoods import (
    CentredRows,
    Labels,
    Reals,
    numbered,
    refined,
    same_clusters,
)
from .projection import Floats, Observations, are_bits, merged, without_false_alarms
from .split_evidence import SplitRule
from .splits import split_further
from .splitting import best_split

_FITTED = 2**14
"""Observations that any other oracle is fitted on, where there are more: it may need all pairs of them."""
_JUDGED = 2**13
"""Observations that the criterion is computed from, where there are more."""
_NEAR = 0.25
"""By what share of the way to the mean of another label observations of that label may miss it."""
_ROWS_OF_A_COORDINATE = 32
"""Observations that there must be for each coordinate, to tell how noise varies from one to the other."""
_INTEREST = 0.1
"""Share of what labels cost that they must bring beyond it: cuts through uniform noise bring just what they
cost."""
_TINY = np.finfo(np.float64).tiny
_SPLIT_RULE = SplitRule(error_rate=1e-3, min_separation=3.25)
_DOUBTED_SEPARATION = 3.5
"""Standard deviations between two states that have one label: the tail of a hundred normals may lie 3.25 from
the rest of them, and no criterion has the last word on a doubt."""


def fit_and_refine(
    oracle: Any, observations: Observations, believed: Labels | None, random_state: int, n_labels: int
) -> Decoder:
    """A decoder for observations [n, D], which had the labels `believed` [n] so far, if any. It has n_labels
    labels at most, unless the oracle itself says otherwise."""
    if not getattr(oracle, "clusters_have_centres", False):
        some = observations[:: -(-len(observations) // _FITTED)]
        return fit_if_clusters(oracle, np.ascontiguousarray(some), random_state, n_labels)
    fitted = fit_if_clusters(oracle, observations, random_state, n_labels)
    every, centred = -(-len(observations) // _JUDGED), CentredRows(observations)
    judged = observations[::every]
    criterion = LabelCriterion(judged)
    labels = fitted.decode(observations)
    best, least = fitted, criterion(labels[::every])
    starts = [labels] if believed is None or same_clusters(labels, believed) else [labels, believed]
    judged_labels = labels[::every]
    for numbers in map(numbered, starts):
        if numbers.max() > 0:
            candidate = refined(centred, numbers)
            candidate_labels = candidate.decode(judged)
            objection = criterion(candidate_labels)
            if objection <= least:
                best, judged_labels, least = candidate, candidate_labels, objection
    if best is not fitted:
        labels = judged_labels if every == 1 else best.decode(observations)
    labels = numbered(labels)
    other = _merged_and_split(centred, labels, n_labels, random_state)
    if other.max() > 0 and not np.array_equal(other, labels):
        divided = refined(centred, other)
        if criterion(divided.decode(judged)) < least:
            best, labels = divided, numbered(divided.decode(observations))
    return _split_where_sphered(centred, judged, labels, n_labels, random_state) or best


@without_false_alarms
def _split_where_sphered(
    observations: CentredRows, judged: Observations, labels: Labels, n_labels: int, random_state: int
) -> Decoder | None:
    """A decoder that tells apart what noise hid from labels 0, 1, ... [n] of reals; None where that is
    nothing, or where there are too few observations to tell how the noise varies."""
    if observations.of_bits or len(labels) < _ROWS_OF_A_COORDINATE * observations.rows.shape[1]:
        return None
    candidates: list[Decoder] = []
    start = labels
    if observations.is_uneven(labels):  # what was found may be cuts through the noise
        start = np.zeros_like(labels)
        candidates.append(ConstantDecoder(2))
    elif labels.max() + 1 >= n_labels:
        return None
    other, generator, sphered = start, np.random.default_rng(random_state), observations.sphered(start)
    for most in range(int(start.max()) + 2, n_labels + 1):
        before = other
        other = split_further(sphered.rows, before, most, _SPLIT_RULE, generator, of_bits=False, sphered=True)
        if other.max() == before.max():
            break
        sphered = observations.sphered(other)
    if other.max() > 0:
        candidates.append(refined(sphered, other))
    every = -(-len(labels) // len(judged))
    criterion, kept, least = LabelCriterion(sphered.rows[::every]), None, labels[::every]
    for candidate in candidates:
        found = candidate.decode(judged)
        if criterion(found) + _INTEREST * (criterion.cost(found) - criterion.cost(least)) < criterion(least):
            kept, least = candidate, found
    return kept


def labels_that_split(
    observations: Observations, labels: Labels, error_rate: float, generator: np.random.Generator
) -> int:
    """How many of the labels [n] of observations [n, D] look like more than one state, each of them for no
    reason with a probability of at most `error_rate`. A few observations of a state that has a label of its
    own do not count."""
    rows, rule = np.asarray(observations, np.float32), SplitRule(error_rate, _DOUBTED_SEPARATION)
    of_bits, groups = are_bits(rows), [rows[labels == label] for label in np.unique(labels)]
    means = np.stack([group.mean(axis=0, dtype=np.float64) for group in groups])
    n_found = 0
    for k, group in enumerate(groups):
        split = best_split(group, of_bits=of_bits, rule=rule, generator=generator)
        n_found += split is not None and not _has_a_label(group, split.means, np.delete(means, k, axis=0))
    return n_found


def _has_a_label(group: Reals, sides: Floats, others: Floats) -> bool:
    """Whether the smaller of two sides [2, D] of a group [n, D] is of another label, with a mean among these
    [K, D]: it lies near that mean along the line from the rest of its own group."""
    middle, line = sides.mean(axis=0), sides[0] - sides[1]
    n_first = int(np.count_nonzero((group - middle) @ line > 0.0))
    small, large = sides if 2 * n_first < len(group) else sides[::-1]
    lines = others - large
    shares = lines @ (small - large) / np.maximum(np.square(lines).sum(axis=1), _TINY)
    return bool((np.abs(shares - 1.0) < _NEAR).any())


def _merged_and_split(observations: CentredRows, labels: Labels, n_labels: int, random_state: int) -> Labels:
    """Labels 0, 1, ... [n] of observations [n, D] after labels that lie together are merged, and then
    split."""
    rows, n_found = observations.rows, int(labels.max()) + 1
    every = -(-len(rows) // _JUDGED)
    some_labels = np.ascontiguousarray(labels[::every])
    names = merged(rows[::every], some_labels, n_found, _SPLIT_RULE.min_separation)
    labels = numbered(names[labels])
    if labels.max() + 1 == n_labels:
        return labels
    generator = np.random.default_rng(random_state)
    return split_further(rows, labels, n_labels, _SPLIT_RULE, generator, of_bits=observations.of_bits)
