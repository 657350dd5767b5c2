"""The splitting oracle: a cluster is split in two for as long as the data say that it is two.

It is for the levels of a Block MDP one by one: it finds how many states there are to see, up to n_states,
from a handful of observations of one among thousands of another, in a hundred dimensions. `splitting` has the
test. After each split, observations go to the cluster that is likeliest to have made them. What is found
becomes a decoder in the space of the observations themselves,

    reals   the label k of least (x - m_k)' C^-1 (x - m_k), C being the covariance that the clusters have in
            common, shrunk towards a multiple of the identity with weight D / n (as Ledoit and Wolf, 2004);
    bits    the label of greatest likelihood, bits being independent given the label. A bit whose share in a
            cluster differs from that in all clusters by no more than chance has the share of all.

All labels weigh the same there: how frequent a state is depends on the policy, and policies change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.schema import setting
from ..decoders.affine import AffineDecoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .oracle import DecodingOracle
from .projection import Observations
from .splitting import Floats, Reals, Split, SplitRule, best_split, divergence

_MOVES = 5
"""How often observations may change clusters after a split."""
_SHOWN_BEFORE = 0.5
"""Ones and zeros that every cluster is taken to have shown of each bit before the first observation."""

Labels = NDArray[np.int64]


@dataclass(eq=False, repr=False)
class Splits(DecodingOracle):
    """Clusters that are split in two for as long as the data say that they are two: as many as there are to
    see, up to n_states.

    States must differ by more than the noise does in its strongest direction: a difference that is small
    beside that is not looked for.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = (generator.random(500) < 0.02).astype(int)  # a state that is seen once in fifty times
    >>> X = np.eye(2, 40)[states] + generator.normal(0, 0.1, (500, 40))
    >>> labels = Splits(n_states=5).fit_predict(X)
    >>> len(np.unique(labels)), np.mean((labels == labels[0]) == (states == states[0]))
    (2, 1.0)
    """

    error_rate: float = setting(
        1e-3,
        above=0,
        most=1,
        help="Bound on the probability that a few observations of a state are taken for another one.",
        kw_only=True,
    )
    min_separation: float = setting(
        3.25,
        least=0,
        unit="standard deviations",
        help="Clusters whose centres are closer get one label.",
        kw_only=True,
    )

    def least_observations(self) -> dict[str, int]:
        return {}

    def _learn(self, data: Observations) -> dict[str, Any]:
        rows = np.asarray(data, np.float32)
        of_bits = bool(((rows == 0.0) | (rows == 1.0)).all())
        labels = self._cluster(rows, of_bits=of_bits)
        n_clusters = int(labels.max()) + 1
        decoder: Decoder = ConstantDecoder(2)
        if n_clusters > 1:
            decoder = AffineDecoder(*(_bit_scores if of_bits else _real_scores)(rows, labels, n_clusters))
        return {"decoder_": decoder, "n_clusters_": n_clusters}

    def _cluster(self, rows: Reals, *, of_bits: bool) -> Labels:
        """A label for each of the rows [n, D]."""
        rule = SplitRule(self.error_rate, self.min_separation)
        generator = np.random.default_rng(self.random_state)
        labels = np.zeros(len(rows), np.int64)
        for n_clusters in range(1, self._n_clusters):
            splits = [
                best_split(rows[labels == k], of_bits=of_bits, rule=rule, generator=generator)
                for k in range(n_clusters)
            ]
            found = [(split.excess, k, split) for k, split in enumerate(splits) if split is not None]
            if not found:
                break
            _, k, split = max(found, key=lambda entry: entry[:2])
            labels = _divided(rows, labels, k, split, n_clusters, of_bits=of_bits)
        return np.unique(labels, return_inverse=True)[1]


def _divided(rows: Reals, labels: Labels, k: int, split: Split, new: int, *, of_bits: bool) -> Labels:
    """The labels once cluster k is split, part of it being called `new`."""
    members = np.flatnonzero(labels == k)
    labels = labels.copy()
    gap = split.means[0] - split.means[1]
    if of_bits:
        shares = np.clip(split.means, 0.01, 0.99)
        weights, bias = _log_odds(shares)
        gap, middle = weights[0] - weights[1], bias[1] - bias[0]
    else:
        middle = split.means.sum(axis=0) @ gap / 2
    labels[members[rows[members] @ gap.astype(np.float32) > middle]] = new
    for _ in range(_MOVES):
        moved = _likeliest(rows, labels, new + 1, of_bits=of_bits)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return labels


def _likeliest(rows: Reals, labels: Labels, n_clusters: int, *, of_bits: bool) -> Labels:
    """The cluster that is likeliest to have made each row, frequent ones being likelier."""
    sizes = np.bincount(labels, minlength=n_clusters)
    if of_bits:
        weights, bias = _bit_scores(rows, labels, n_clusters)
        unit = 1.0
    else:
        weights = _sums(rows, labels, n_clusters) / np.maximum(sizes, 1)[:, None]
        bias = -np.square(weights).sum(axis=1) / 2
        unit = float(np.square(rows - weights[labels].astype(np.float32)).mean())
    scores = rows @ weights.T.astype(np.float32) + (bias + unit * np.log(np.maximum(sizes, 1)))
    scores[:, sizes == 0] = -np.inf
    return np.asarray(scores.argmax(axis=1))


def _sums(rows: Reals, labels: Labels, n_clusters: int) -> Floats:
    """The sum of the rows of each cluster: [K, D]."""
    return (np.eye(n_clusters, dtype=np.float32)[labels].T @ rows).astype(np.float64)


def _real_scores(rows: Reals, labels: Labels, n_clusters: int) -> tuple[Floats, Floats]:
    """Weights [K, D] and bias [K] of the scores whose greatest is the nearest centre in the metric of the
    common covariance."""
    n, dimension = rows.shape
    centres = _sums(rows, labels, n_clusters) / np.bincount(labels, minlength=n_clusters)[:, None]
    noise = rows - centres[labels].astype(np.float32)
    covariance = (noise.T @ noise).astype(np.float64) / max(n - n_clusters, 1)
    shrinkage = min(1.0, dimension / n)
    least = np.finfo(np.float32).eps * float(np.square(centres).mean()) or 1.0
    sphere = max(covariance.trace() / dimension, least)
    covariance = (1.0 - shrinkage) * covariance + shrinkage * sphere * np.eye(dimension)
    weights = np.linalg.solve(covariance, centres.T).T
    return weights, -np.einsum("kd,kd->k", weights, centres) / 2


def _bit_scores(rows: Reals, labels: Labels, n_clusters: int) -> tuple[Floats, Floats]:
    """Weights [K, D] and bias [K] of the log-likelihood of bits."""
    sizes = np.bincount(labels, minlength=n_clusters)[:, None]
    ones, n = _sums(rows, labels, n_clusters), len(rows)

    def share(number: Floats, of: Any) -> Floats:
        return np.asarray((number + _SHOWN_BEFORE) / (of + 2 * _SHOWN_BEFORE))

    everywhere, here = share(ones.sum(axis=0), n), share(ones, sizes)
    elsewhere = share(ones.sum(axis=0) - ones, n - sizes)
    gains = 2.0 * (sizes * divergence(here, everywhere) + (n - sizes) * divergence(elsewhere, everywhere))
    # the greatest of D chi-squared gains is about 2 log D by chance
    return _log_odds(np.where(gains > 2.0 + 2.0 * np.log(rows.shape[1]), here, everywhere))


def _log_odds(shares: Floats) -> tuple[Floats, Floats]:
    return np.log(shares / (1.0 - shares)), np.log(1.0 - shares).sum(axis=-1)
