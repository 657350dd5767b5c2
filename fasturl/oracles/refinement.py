"""What an oracle finds among all observations, made better.

Clusters are found in a projection, from a random start, among states of which one may be seen a thousand
times as often as another. Where an oracle believes in clusters with centres (`clusters_have_centres`), so
that observations are normals of one covariance or independent bits given the label, its answer is compared
with the labels that observations had before: each is refined (`likelihoods`), and the labels of least
criterion are kept (`counting.LabelCriterion`). So a cluster is not lost where one fit misses it, and the
decoder of the labels before may stay where the fit finds the same clusters. Last, labels that lie together
become one, and where there are then fewer than states may be, clusters are split for as long as the data say
that they are two (`splitting`); that is kept where the criterion is less. Where there are still fewer, the
same is done in coordinates in which noise is as large in one direction as in any other: whatever the units of
the observations, and whatever their noise has in common.

The answer of any other oracle is taken as it is.
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
from .splits import split_further
from .splitting import best_split

_MOST_FITTED = 2**14
"""Upper limit on the observations that an oracle without centres is fitted on: it may need all pairs of
them."""
_SAMPLE_SIZE, _SAMPLE_SIZE_PER_LABEL = 2**13, 2**10
"""Upper limit on the observations that clusters are found in and that the criterion is computed from: the
greater of the first number and the second for each label. The borders between clusters are drawn by all."""
_NEAR = 0.25
"""Observations have the mean of another label where they miss it by less than this share of the way to it."""
_ROWS_PER_COORDINATE = 32
"""Observations that there must be for each coordinate, to tell how noise varies from one to the other."""
_INTEREST = 0.1
"""More labels must improve the criterion by this share of their cost on top of it: cuts through uniform noise
improve it by just what they cost."""
_TINY = np.finfo(np.float64).tiny
_DOUBTED_ERROR_RATE = 1e-6
"""Bound on the probability that one state is doubted so."""
_SPLIT_RULE = SplitRule(error_rate=1e-3, min_separation=3.25)
_DOUBTED_SEPARATION = 3.5
"""Standard deviations between two groups from which on a warning says that a label is two states. They are
more than the rule asks for, since no criterion confirms a warning: the tail of a hundred normals may lie 3.25
from the rest of them."""


def fit_and_refine(
    oracle: Any,
    observations: Observations,
    old_labels: RowLabels | None,
    random_state: int,
    n_labels: int,
    present: Decoder | None = None,
) -> Decoder:
    """A decoder for observations [n, D], which had `old_labels` [n] so far, if any. It has n_labels labels at
    most, unless the oracle itself says otherwise.

    `present` is the decoder that gave the old labels, if it was fitted on at least as many observations. It
    is returned as it is where the fit finds the same clusters, there may be no more of them, and uneven noise
    hides none.
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
    """The best of what was found, of that refined, and of the old labels [n] refined; or the present decoder,
    if any, as soon as the best has its clusters."""
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
    """A decoder, its labels of the sampled observations, and who judges these."""

    decoder: Decoder
    sample_labels: RowLabels
    judge: LabelCriterion

    @cached_property
    def criterion(self) -> float:
        """The less, the better; computed when it is asked for, which it often is not."""
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
    """A decoder of reals that tells apart clusters which uneven noise hides within the labels 0, 1, ... [n];
    None where there are none, or too few observations to tell how the noise varies."""
    if observations.of_bits or len(labels) < _ROWS_PER_COORDINATE * observations.rows.shape[1]:
        return None
    candidates: list[Decoder] = []
    start = labels
    if observations.is_uneven(labels):  # what was found may be cuts through the noise
        start = np.zeros_like(labels)
        candidates.append(ConstantDecoder(2))
    elif labels.max() + 1 >= n_labels:
        return None
    split_labels, generator, sphered = start, np.random.default_rng(random_state), observations.sphered(start)
    for most in range(int(start.max()) + 2, n_labels + 1):
        before = split_labels
        split_labels = split_further(
            sphered.rows, before, most, _SPLIT_RULE, generator, of_bits=False, sphered=True
        )
        if split_labels.max() == before.max():
            break
        sphered = observations.sphered(split_labels)
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
    """How many of the labels [n] of observations [n, D] look like more than one state, each of them for no
    reason with a probability of at most `error_rate`. A few observations of a state that has a label of its
    own do not count."""
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
    """Labels 0, 1, ... [n] of the clusters that observations [n, D] of one label fall apart into, `most` of
    them or fewer, by the rule of a warning."""
    rows, labels = CentredRows(observations), np.zeros(len(observations), np.int64)
    if not labels.size:
        return labels
    rule = SplitRule(_DOUBTED_ERROR_RATE, _DOUBTED_SEPARATION, shares_noise=False)
    return split_further(rows.rows, labels, most, rule, generator, of_bits=rows.of_bits)


def refined_decoder(observations: Observations, labels: RowLabels) -> Decoder:
    """The decoder of the mixture that starts from labels 0, 1, ... [n] of observations [n, D]."""
    return refined(CentredRows(observations), labels)


def improves(observations: Observations, labels: RowLabels, old_labels: RowLabels) -> bool:
    """Whether observations [n, D] are likelier with labels [n] than with the old ones [n], more labels being
    less so."""
    criterion = LabelCriterion(observations)
    return criterion(labels) < criterion(old_labels)


def _has_a_label(group: Reals, sides: Floats, others: Floats) -> bool:
    """Whether the smaller of two sides [2, D] of a group [n, D] is of another label, with a mean among these
    [K, D]: it lies near that mean along the line from the rest of its own group."""
    middle, line = sides.mean(axis=0), sides[0] - sides[1]
    n_first = int(np.count_nonzero((group - middle) @ line > 0.0))
    small, large = sides if 2 * n_first < len(group) else sides[::-1]
    lines = others - large
    shares = lines @ (small - large) / np.maximum(np.square(lines).sum(axis=1), _TINY)
    return bool((np.abs(shares - 1.0) < _NEAR).any())


def _merged_and_split(
    observations: CentredRows, sampled: Indices, labels: RowLabels, n_labels: int, random_state: int
) -> RowLabels:
    """Labels 0, 1, ... [n] of observations [n, D] after labels that lie together among the sampled ones are
    merged, and then split."""
    rows, n_clusters = observations.rows, int(labels.max()) + 1
    names = merged(
        observations.compact_rows[sampled], labels[sampled], n_clusters, _SPLIT_RULE.min_separation
    )
    labels = numbered(names[labels])
    if labels.max() + 1 == n_labels:
        return labels
    generator = np.random.default_rng(random_state)
    return split_further(rows, labels, n_labels, _SPLIT_RULE, generator, of_bits=observations.of_bits)
