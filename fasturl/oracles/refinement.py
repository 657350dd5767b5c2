"""The fit of an oracle on all observations, improved.

An oracle finds clusters in a projection, from a random start, among states of which one may be seen a
thousand times as often as another, so one fit may miss a cluster. Where an oracle believes in clusters with
centres (`clusters_have_centres`), that is, in observations that are normals of one covariance or independent
bits given the label, `fit_and_refine` improves its fit in these steps:

1. fit: the oracle is fitted on a sample, which gives new labels,
2. refine: the new labels and those that the observations had before are each the start of a mixture that is
   fitted to all observations (`likelihoods`); the labels of the least criterion are kept
   (`counting.LabelCriterion`), so that a cluster is not lost where one fit misses it. The present decoder may
   stay where the fit finds its clusters again,
3. merge and split: labels that lie together become one; if there are then fewer labels than states may be,
   clusters are split for as long as the data say that they are two (`splitting`). The result is kept if its
   criterion is less,
4. split in whitened coordinates: if there are still fewer labels than states may be, or if the noise of
   reals is uneven, the same is tried in coordinates in which the noise within labels has the same variance
   in all directions. These depend neither on the units of the observations nor on what their coordinates'
   noise has in common. In the code such coordinates are called sphered.

The decoder of any other oracle is taken as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._base.false_alarms import without_false_alarms
from .._base.row_labels import numbered, that_occur
from .._base.sampling import Indices, random_choice
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder, block_of, labels_of_block
from .counting import LabelCriterion
from .fitting import fit_if_clusters
from .likelihoods import (
    CentredRows,
    Reals,
    RowLabels,
    refined,
    same_clusters,
)
from .projection import Floats, Observations, are_bits, merged
from .split_evidence import SplitRule
from .splits import split_further, split_where_sphered
from .splitting import best_split

_MOST_FITTED = 2**14
"""Upper limit on the observations that an oracle without centres is fitted on, since it may need memory for
all pairs of them."""
_SAMPLE_SIZE, _SAMPLE_SIZE_PER_LABEL = 2**13, 2**10
"""Upper limits on the sample that clusters are found in and the criterion is computed from, whichever is
greater: on all of it, and for each label. Mixtures, which draw the borders, are fitted to everything."""
_NEAR = 0.25
"""One side of a split belongs to another label if the side's mean misses that label's mean by less than this
share of the way from the other side to it."""
_INTEREST = 0.1
"""Further labels in whitened coordinates are accepted only if the criterion, which includes their cost, falls
by more than this share of that cost. Cuts through uniform noise leave it about where it was."""
_TINY = np.finfo(np.float64).tiny
_DOUBTED_ERROR_RATE = 1e-6
"""Upper limit on the probability that the label of one state is split by the rule of a warning."""
_SPLIT_RULE = SplitRule(error_rate=1e-3, min_separation=3.25)
_DOUBTED_SEPARATION = 3.5
"""Lower limit on the standard deviations between two groups of a label for a warning. It is higher than that
of `_SPLIT_RULE`, since no criterion confirms a warning: of a hundred observations of one normal distribution,
the tail may lie 3.25 from the rest."""


def fit_and_refine(
    oracle: Any,
    observations: Observations,
    old_labels: RowLabels | None,
    random_state: int,
    n_labels: int,
    present: Decoder | None = None,
) -> Decoder:
    """A decoder for observations, by the steps at the head of this file.

    oracle
        The oracle that is fitted.
    observations
        All observations: [n, D].
    old_labels
        The labels that they had so far, [n], if any.
    random_state
        Seed of all random choices.
    n_labels
        Upper limit on the number of labels, unless the oracle itself says otherwise.
    present
        The decoder that gave the old labels, or None, as where it was fitted on fewer observations. It is
        returned as it is if it has n_labels labels, the fit finds the same clusters again, and splitting in
        whitened coordinates finds no others.
    """
    n = len(observations)
    if not getattr(oracle, "clusters_have_centres", False):
        some = observations[random_choice(n, _MOST_FITTED, random_state)]
        return fit_if_clusters(oracle, np.ascontiguousarray(some), random_state, n_labels)
    # not the same share of every old label: where clusters overlap, those that are wrong would be many
    most = max(_SAMPLE_SIZE, _SAMPLE_SIZE_PER_LABEL * n_labels)
    comparison = _Comparison(observations, random_choice(n, most, random_state))
    best = comparison.candidate(fit_if_clusters(oracle, comparison.sample, random_state, n_labels))
    centred = CentredRows(observations)
    if old_labels is None or np.count_nonzero(np.bincount(old_labels)) < n_labels:
        present = None
    best = _refined_or_present(centred, comparison, best, old_labels, present)
    if old_labels is not None and best.decoder is present:
        labels = numbered(old_labels)
    else:
        labels = numbered(comparison.all_labels(best))
        split_labels = _merged_and_split(centred, comparison.sampled, labels, n_labels, random_state)
        if split_labels.max() > 0 and not np.array_equal(split_labels, labels):
            candidate = comparison.candidate(refined(centred, split_labels))
            if candidate.criterion < best.criterion:
                best, labels = candidate, numbered(comparison.all_labels(candidate))
    sphered = _split_where_sphered(centred, comparison, labels, n_labels, random_state)
    return best.decoder if sphered is None else sphered


def _refined_or_present(
    observations: CentredRows,
    comparison: _Comparison,
    found: _Candidate,
    old_labels: RowLabels | None,
    present: Decoder | None,
) -> _Candidate:
    """The candidate of least criterion: the fitted one, that refined, or the old labels [n] refined. If there
    is a present decoder and the best candidate so far has its clusters, it is the present decoder instead."""
    labels, best = comparison.all_labels(found), found
    starts = [labels]
    if old_labels is not None and not same_clusters(labels, old_labels):
        starts.append(old_labels)
    while True:
        if present is not None and old_labels is not None and same_clusters(labels, old_labels):
            return _Candidate(present, old_labels[comparison.sampled], comparison.judge)
        if not starts:
            return best
        start = numbered(starts.pop(0))
        if start.max() > 0:
            candidate = comparison.candidate(refined(observations, start))
            if candidate.criterion <= best.criterion:
                best, labels = candidate, comparison.all_labels(candidate)


@dataclass(frozen=True)
class _Candidate:
    """A decoder, the labels that it gives to the sampled observations, and the criterion for them."""

    decoder: Decoder
    sample_labels: RowLabels
    judge: LabelCriterion

    @cached_property
    def criterion(self) -> float:
        """The criterion of the labels: the less, the better. It is computed when first asked for."""
        return self.judge(self.sample_labels)


class _Comparison:
    """Decoders of the same observations, compared by their labels of a sample.

    sampled, sample
        The indices of the sampled observations, and these themselves.
    judge
        The criterion of their labels.
    """

    def __init__(self, observations: Observations, sampled: Indices) -> None:
        self.sampled, self.sample = sampled, observations[sampled]
        # decoders read observations in a form of their own, which is made once
        self._block = block_of(observations)
        all_are_sampled = len(self.sample) == len(observations)
        self._sample_block = self._block if all_are_sampled else block_of(self.sample)
        self.judge = LabelCriterion(self.sample)

    def candidate(self, decoder: Decoder) -> _Candidate:
        return _Candidate(decoder, self.sample_labels(decoder), self.judge)

    def sample_labels(self, decoder: Decoder) -> RowLabels:
        """The labels that a decoder gives to the sampled observations."""
        return labels_of_block(decoder, self._sample_block)

    def all_labels(self, candidate: _Candidate) -> RowLabels:
        """The labels that a decoder gives to all observations."""
        if self._sample_block is self._block:
            return candidate.sample_labels
        return labels_of_block(candidate.decoder, self._block)


@without_false_alarms
def _split_where_sphered(
    observations: CentredRows, comparison: _Comparison, labels: RowLabels, n_labels: int, random_state: int
) -> Decoder | None:
    """A decoder of reals with labels for clusters that uneven noise hides, found in whitened coordinates.

    The search starts from the labels 0, 1, ... [n], or from a single label where the noise within these is so
    uneven that they may be cuts through it. None where no decoder is better than the labels, and where
    observations are too few to estimate the covariance of the noise.
    """
    if not observations.tell_their_noise:
        return None
    candidates: list[Decoder] = []
    start = labels
    if observations.is_uneven(labels):  # what was found may be cuts through the noise
        start = np.zeros_like(labels)
        candidates.append(ConstantDecoder(2))
    elif labels.max() + 1 >= n_labels:
        return None
    generator = np.random.default_rng(random_state)
    sphered, split_labels = split_where_sphered(observations, start, n_labels, _SPLIT_RULE, generator)
    if split_labels.max() > 0:
        candidates.append(refined(sphered, split_labels))
    best, best_labels = None, labels[comparison.sampled]
    criterion = LabelCriterion(sphered.rows[comparison.sampled])
    for candidate in candidates:
        new_labels = comparison.sample_labels(candidate)
        interest = _INTEREST * (criterion.cost(new_labels) - criterion.cost(best_labels))
        if criterion(new_labels) + interest < criterion(best_labels):
            best, best_labels = candidate, new_labels
    return best


def labels_that_split(
    observations: Observations, labels: RowLabels, error_rate: float, generator: np.random.Generator
) -> int:
    """The number of labels that look like more than one state.

    observations, labels
        Observations [n, D] and their labels [n].
    error_rate
        Upper limit on the probability that the label of one state is counted.
    generator
        Draws what the test draws.

    A label is not counted if its smaller part lies near the mean of another label: those are a few
    observations with a wrong label.
    """
    rows, rule = np.asarray(observations, np.float32), SplitRule(error_rate, _DOUBTED_SEPARATION)
    of_bits, groups = are_bits(observations), [rows[labels == label] for label in that_occur(labels)]
    splits = [best_split(group, of_bits=of_bits, rule=rule, generator=generator) for group in groups]
    if not any(splits):
        return 0
    means = np.stack([group.mean(axis=0, dtype=np.float64) for group in groups])
    return sum(
        split is not None and not _has_a_label(group, split.means, np.delete(means, k, axis=0))
        for k, (group, split) in enumerate(zip(groups, splits, strict=True))
    )


def parts_of_label(observations: Observations, most: int, generator: np.random.Generator) -> RowLabels:
    """Observations [n, D] of one label, split by the rule of a warning into at most `most` clusters: the
    cluster 0, 1, ... of each, [n]."""
    rows, labels = CentredRows(observations), np.zeros(len(observations), np.int64)
    if not labels.size:
        return labels
    rule = SplitRule(_DOUBTED_ERROR_RATE, _DOUBTED_SEPARATION, shares_noise=False)
    return split_further(rows.rows, labels, most, rule, generator, of_bits=rows.of_bits)


def refined_decoder(observations: Observations, labels: RowLabels) -> Decoder:
    """The decoder of the mixture that starts from labels 0, 1, ... [n] of observations [n, D]."""
    return refined(CentredRows(observations), labels)


def improves(observations: Observations, labels: RowLabels, old_labels: RowLabels) -> bool:
    """Whether the criterion of observations [n, D], which counts likelihood against the number of labels, is
    less with labels [n] than with the old ones [n]."""
    criterion = LabelCriterion(observations)
    return criterion(labels) < criterion(old_labels)


def _has_a_label(group: Reals, sides: Floats, others: Floats) -> bool:
    """Whether the smaller of the two sides that a group [n, D] is split into belongs to another label.

    sides
        The means of the two sides: [2, D].
    others
        The means of the other labels: [K, D]. The side belongs to one of them if its mean lies near that one,
        measured along the line from the mean of the larger side.
    """
    middle, line = sides.mean(axis=0), sides[0] - sides[1]
    n_first = int(np.count_nonzero((group - middle) @ line > 0.0))
    small, large = sides if 2 * n_first < len(group) else sides[::-1]
    lines = others - large
    shares = lines @ (small - large) / np.maximum(np.square(lines).sum(axis=1), _TINY)
    return bool((np.abs(shares - 1.0) < _NEAR).any())


def _merged_and_split(
    observations: CentredRows, sampled: Indices, labels: RowLabels, n_labels: int, random_state: int
) -> RowLabels:
    """New labels 0, 1, ... [n] of observations [n, D]: labels whose clusters lie together in the sample are
    merged, and if there are then fewer than n_labels, clusters are split."""
    rows, n_clusters = observations.rows, int(labels.max()) + 1
    names = merged(
        observations.compact_rows[sampled], labels[sampled], n_clusters, _SPLIT_RULE.min_separation
    )
    labels = numbered(names[labels])
    if labels.max() + 1 == n_labels:
        return labels
    generator = np.random.default_rng(random_state)
    return split_further(rows, labels, n_labels, _SPLIT_RULE, generator, of_bits=observations.of_bits)
