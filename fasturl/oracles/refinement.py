"""What an oracle finds among all observations, made better.

Clusters are found in a projection, from a random start, among states of which one may be seen a thousand
times as often as another. Where an oracle believes in clusters with centres (`clusters_have_centres`), so
that observations are normals of one covariance or independent bits given the label, its answer is compared
with what was believed before: each is refined (`likelihoods`), and the labels of least criterion are kept
(`counting.LabelCriterion`). A cluster that a fit happens to miss is not lost again so. Where there are fewer
labels than states may be, clusters are split for as long as the data say that they are two (`splitting`).

The answer of any other oracle is taken as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .counting import LabelCriterion
from .fitting import fit_decoder
from .likelihoods import Labels, are_bits, refined
from .oracle import OneCluster
from .projection import Observations
from .splits import split_further
from .splitting import SplitRule

_JUDGED = 2**13
"""Observations that the criterion is computed from, where there are more."""
_SPLIT_RULE = SplitRule(error_rate=1e-3, min_separation=3.25)


def fit_and_refine(
    oracle: Any, observations: Observations, believed: Labels | None, random_state: int, n_labels: int
) -> Decoder:
    """A decoder for observations [n, D], which had the labels `believed` [n] so far, if any. It has n_labels
    labels at most, unless the oracle itself says otherwise."""
    try:
        fitted = fit_decoder(oracle, observations, random_state, n_labels)
    except OneCluster:
        return ConstantDecoder(2)
    if not getattr(oracle, "clusters_have_centres", False):
        return fitted
    judged = observations[:: -(-len(observations) // _JUDGED)]
    criterion = LabelCriterion(judged)
    found = fitted.decode(observations)
    candidates = [fitted]
    for labels in [found] if believed is None else [found, believed]:
        distinct, numbers = np.unique(labels, return_inverse=True)
        if distinct.size > 1:
            candidates.append(refined(observations, numbers))
    objections = [criterion(candidate.decode(judged)) for candidate in candidates]
    best, least = candidates[int(np.argmin(objections))], min(objections)
    labels = np.unique(best.decode(observations), return_inverse=True)[1]
    if (n_found := int(labels.max()) + 1) < n_labels:
        rows, generator = np.asarray(observations, np.float32), np.random.default_rng(random_state)
        labels = split_further(rows, labels, n_labels, _SPLIT_RULE, generator, of_bits=are_bits(rows))
        if labels.max() >= n_found:
            divided = refined(observations, labels)
            if criterion(divided.decode(judged)) < least:
                best = divided
    return best
