"""Whether labels are so clear that the oracle need not be asked again: a quick look instead of a fit.

A fit tells something new where clusters are missing, or where more observations draw the borders between
clusters better. Neither is so where

- there are as many labels as there may be states, so that none is missing,
- every observation lies clearly on its own side of the border between any two labels. From the mean of its
  own label to that of another is a way of length 1, the border is half-way, and no observation has come
  farther than `_FARTHEST` along it,
- no label looks as if it were two clusters.

Clusters may still be of noise, so that whoever asks has to see to it that labels have to do with what was
done (`telling_directions.depend_on_actions`).

To look takes a third of the time of a fit or less. Where noise is wide, has long tails or clusters of its
own, some observation comes too far or some label looks like two, and it is the fit that tells.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._kernels import bit_pairs as _bit_pairs
from .._kernels import directions as _directions

_FARTHEST = 0.4
"""Of clusters of normal noise that are d deviations apart, some of 4,096 observations comes as far as 3.6 / d
of the way: labels are clear from d = 9 on."""
_LEAST_MEMBERS = 16
"""Lower limit on the observations of a label that is clear: fewer do not tell where its mean is."""
_LEAST_ROWS = 64
"""Lower limit on the observations among which two clusters are looked for: a few of one cluster often look
like two."""
_MOST_ROWS = 2**11
"""Upper limit on the observations of a label among which two clusters are looked for."""
_APART = 2.8
"""Observations may be two clusters if the two sides of some cut lie farther apart than this many standard
deviations and `_BY_CHANCE` over the root of the size of the smaller side. The halves of a normal distribution
lie 2.66 apart, and its outermost observations farther."""
_BY_CHANCE = 3.0
_OUTLYING = 10.0
"""Or if the squared length of some observation, seen from the mean, lies more than so many standard
deviations above the mean of all: a cluster of two or three observations tells no line."""
_ERROR_RATE = 1e-4
"""Bound on the probability that the bits of one cluster seem to go together."""


@without_false_alarms
def are_clear(rows: NDArray[np.generic], labels: NDArray[np.integer], n_states: int) -> bool:
    """Whether observations [n, D] with labels [n] are of n_states clusters that nothing lies between."""
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    if sizes.size != n_states or sizes.min() < _LEAST_MEMBERS:
        return False
    clusters = np.split(rows[np.argsort(labels, kind="stable")], np.cumsum(sizes)[:-1])
    return _farthest_along(clusters) <= _FARTHEST and not any(map(may_be_two, clusters))


def _farthest_along(clusters: list[NDArray[np.generic]]) -> float:
    """How far the row of clusters [n, D] that has come farthest has come on the way from the mean of its own
    cluster to that of another."""
    from ..oracles.projection import mean_of

    means, farthest = np.array([mean_of(rows) for rows in clusters]), 0.0
    for k, rows in enumerate(clusters):
        ways = means - means[k]
        squares = np.einsum("kd,kd->k", ways, ways)
        squares[k] = np.inf
        if squares.min() == 0.0:
            return np.inf
        ways /= squares[:, None]
        along = ways.astype(np.float32) @ rows.astype(np.float32, copy=False).T
        farthest = max(farthest, float((along.max(axis=1) - ways @ means[k]).max()))
    return farthest


@without_false_alarms
def may_be_two(rows: NDArray[np.generic]) -> bool:
    """Whether observations [n, D] may be two clusters: a look in a tenth of the time of a split."""
    from ..oracles.projection import are_bits

    some = rows[:: -(-len(rows) // _MOST_ROWS)]
    if len(some) < _LEAST_ROWS:
        return False
    return _some_bits_go_together(some) if are_bits(some) else _lie_on_two_sides(some)


def _some_bits_go_together(rows: NDArray[np.generic]) -> bool:
    """Whether two bits of rows [n, D] depend on each other, as they do where rows are of two clusters that
    differ in both."""
    from ..oracles.projection import bits_together

    n, dimension = rows.shape
    # a chi-squared number is greater than x with a probability of less than exp(-x / 2)
    n_pairs = max(dimension * (dimension - 1) / 2.0, 1.0)
    by_chance = 2.0 * math.log(n_pairs / _ERROR_RATE)
    return bool(_bit_pairs.greatest_dependence(bits_together(rows), n) > by_chance)


def _lie_on_two_sides(rows: NDArray[np.generic]) -> bool:
    """Whether some cut through rows [n, D] leaves two sides that lie far apart.

    Two clusters vary most along the line between their means, or where one of them is rare, they do so if
    each row counts with its squared length. Half of the rows tell that line, so that it has nothing to do
    with what is outermost among the others, which are cut.
    """
    from ..oracles.noise import leading_directions
    from ..oracles.projection import mean_of

    around_mean: NDArray[np.float32] = np.subtract(rows, mean_of(rows).astype(np.float32), dtype=np.float32)
    largest = max(around_mean.max(), -around_mean.min())
    if largest == 0.0:
        return False
    around_mean /= largest
    lengths = np.einsum("nd,nd->n", around_mean, around_mean)
    if lengths.max() - lengths.mean() > _OUTLYING * lengths.std():
        return True
    telling, others, weights = np.ascontiguousarray(around_mean[::2]), around_mean[1::2], lengths[::2]
    weights = np.stack([np.ones_like(weights), weights])
    directions = leading_directions(telling, telling[weights[1].argmax()], weights)
    ranked = np.sort((directions @ others.T).astype(np.float64), axis=1)
    return any(_directions.widest_cut(line, _BY_CHANCE) > _APART for line in ranked)
