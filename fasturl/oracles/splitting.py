"""Whether a cluster of observations is two, and which two: the step that the oracle of splits repeats.

A level of a Block MDP shows one state a thousand times before it shows the next one twice, and the
observations have a hundred coordinates. So a rule that only measures how far two groups lie apart will not
do: in a hundred dimensions every point lies far from the mean of the others. What tells is whether the best
of all splits is better than the best split of mere noise could be. For a group A of a among n rows, B being
the rest, with means m_A and m_B and noise of covariance C around them,

    G = (a b / n) |m_A - m_B|^2

is tr C on average where there is one cluster and A is fixed beforehand, and exceeds

    tr C + 2 sqrt(tr C^2 u) + 2 |C| u                                  (Laurent and Massart, 2000, Lemma 1)

with probability at most exp(-u). There are (n choose a) groups of that size, so u = log (n choose a) +
log(1 / error_rate) makes the bound hold for all of them at once, the best one included. So that clusters are
seen that differ in one coordinate of many, the coordinate of largest difference may pass the test alone, with
log D added to u. Of bits, G is the likelihood ratio 2 (log L(A, B) - log L(all)), which is close to
chi-squared with a degree of freedom for each bit, and any s bits may pass alone, with log (D choose s) added
to u; a group that one bit tells apart, but for some rows, is one of D (n choose rows) groups only, in which
the other bits have to differ.

That is for small groups. Three large clusters would never be split, since the noise around two means of three
is itself large, so of reals u is at most the logarithm of (e n / (D + 1))^(D + 1), the number of ways in
which hyperplanes can cut n points (Cover, 1965). A cut through the middle of one large cluster passes then,
and it is another test that refuses it: the means must lie `min_separation` standard deviations apart, along
the line through them. Both are measured with each row left out of its own group's mean, since a row always
lies close to a mean that it is part of.

Groups to test come from directions: the leading eigenvectors of E[r r'] and of E[|r|^2 r r'], in which rare
clusters stand out, and the rows of largest norm. A row is put on the side whose mean it is closer to, until
none moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from .likelihoods import Reals, divergence, without_false_alarms
from .projection import Floats

Groups = NDArray[np.bool_]

_MOST_ROWS = 512
"""Rows that a split is looked for in, where there are more: the outermost and a random choice of the
others."""
_OUTERMOST = 128
"""How many of them are the outermost ones, where a rare cluster is."""
_SEEDS = 4
"""Rows of largest norm that serve as directions."""
_TURNS = 8
"""Steps of the power method, which need not be exact: rows are put on their sides afterwards."""
_MOVES = 6
"""How often rows may change sides."""
_PAIRED_ROWS = 128
"""Rows whose products tell tr C^2."""


@dataclass(frozen=True)
class SplitRule:
    """When two groups are two clusters.

    error_rate
        Bound on the probability that a cluster of noise is split.
    min_separation
        Standard deviations that the means of two clusters lie apart at least.
    """

    error_rate: float
    min_separation: float


class Split(NamedTuple):
    """Two groups that are two clusters: their means, and by how much they pass the test."""

    excess: float
    means: Floats  # [2, D]


@without_false_alarms
def best_split(
    rows: Reals, *, of_bits: bool, rule: SplitRule, generator: np.random.Generator
) -> Split | None:
    """The two clusters that rows [n, D] fall apart into, or None where they look like one."""
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
    everything = _Sample(residuals, norms, squares, of_bits)
    sample = everything if len(rows) <= _MOST_ROWS else everything.part(_outer_and_random(norms, generator))
    best: Split | None = None
    patience = math.log(1.0 / rule.error_rate)
    for group in _candidates(sample):
        pair = _Pair(sample, group)
        if sample is not everything:
            if pair.separation() < rule.min_separation:
                continue
            # the outermost rows are no fair sample: the whole has the last word
            pair = _Pair(everything, pair.likelier(residuals))
        excess = pair.excess(rule, patience, scale, centre)
        if excess > 0.0 and (best is None or excess > best.excess):
            best = Split(excess, pair.means * scale + centre)
    return best


class _Sample(NamedTuple):
    """Rows of a cluster around its mean."""

    rows: Reals  # [n, D]
    norms: Reals  # [n], squared
    squares: Floats  # [D], sum of the squares of all rows of the cluster
    of_bits: bool

    def part(self, chosen: NDArray[np.int64]) -> _Sample:
        return self._replace(rows=self.rows[chosen], norms=self.norms[chosen])


def _outer_and_random(norms: Reals, generator: np.random.Generator) -> NDArray[np.int64]:
    order = np.argpartition(norms, norms.size - _OUTERMOST)
    others = generator.choice(norms.size - _OUTERMOST, _MOST_ROWS - _OUTERMOST, replace=False)
    return np.concatenate([order[-_OUTERMOST:], order[others]])


def _candidates(cluster: _Sample) -> list[Groups]:
    """Groups [n] that may be clusters, each the smaller part of its split."""
    sample, norms = cluster.rows, cluster.norms
    seeds = np.argsort(-norms, kind="stable")[:_SEEDS]
    scores = [
        norms,
        sample @ _leading(sample, sample[seeds[0]]),
        sample @ _leading(sample, sample[seeds[0]], norms),
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


def _leading(sample: Reals, start: Reals, weights: Reals | None = None) -> Reals:
    """The direction of largest variance, with a weight for each row."""
    direction = start
    for _ in range(_TURNS):
        scores = sample @ direction
        direction = np.asarray((scores if weights is None else scores * weights) @ sample)
        length = np.linalg.norm(direction)
        if length == 0.0:
            return start
        direction = direction / np.float32(length)
    return direction


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
    scores, _ = _left_out_scores(sample, norms, groups)
    return np.asarray(scores > _cuts(scores, groups)[:, None])


def _cuts(scores: Reals, groups: Groups) -> Reals:
    """The score above which a row is likelier to be in A, for each split: of normals with these means, their
    common variance, and as frequent as the sides are large, but between a quarter and three quarters of the
    way. A rare cluster would else be swamped by the tail of a frequent one."""
    a = groups.sum(axis=1)
    b = groups.shape[1] - a
    inside = np.einsum("kn,kn->k", scores, groups) / a
    outside = np.einsum("kn,kn->k", scores, ~groups) / b
    spread = np.square(scores - np.where(groups, inside[:, None], outside[:, None])).mean(axis=1)
    gaps = np.maximum(inside - outside, np.finfo(np.float32).tiny)
    shifts = np.clip(spread * np.log(b / a) / gaps, -gaps / 4, gaps / 4)
    return np.asarray((inside + outside) / 2 + shifts)


def _left_out_scores(sample: Reals, norms: Reals, groups: Groups) -> tuple[Reals, Reals]:
    """(r - m_B) . (m_A - m_B) for each split and row [K, n], with the row left out of its own mean, and the
    means [2, K, D]."""
    a = groups.sum(axis=1, dtype=np.float32)[:, None]
    b = groups.shape[1] - a
    sums = groups.astype(np.float32) @ sample
    inner, outer = sums / a, (sample.sum(axis=0) - sums) / b
    gap = inner - outer
    scores = gap @ sample.T - np.einsum("kd,kd->k", outer, gap)[:, None]

    to_inner = norms - 2 * inner @ sample.T + np.einsum("kd,kd->k", inner, inner)[:, None]
    to_outer = norms - 2 * outer @ sample.T + np.einsum("kd,kd->k", outer, outer)[:, None]
    scores += np.where(groups, -to_inner / np.maximum(a - 1, 1), to_outer / np.maximum(b - 1, 1))
    return scores, np.stack([inner, outer])


class _Pair:
    """One split of a sample, and what the tests need to know of it."""

    def __init__(self, sample: _Sample, group: Groups) -> None:
        self.sample, self.group = sample, group
        self.size, self.n = int(group.sum()), len(sample.rows)
        if 0 < self.size < self.n:
            self._scores, means = _left_out_scores(sample.rows, sample.norms, group[None])
            self.means = means[:, 0].astype(np.float64)

    def likelier(self, rows: Reals) -> Groups:
        """Which rows are likelier to be in the group than among the others."""
        gap = (self.means[0] - self.means[1]).astype(np.float32)
        scores = rows @ gap - np.float32(self.means[1] @ gap)
        return np.asarray(scores > _cuts(self._scores, self.group[None])[0])

    def excess(self, rule: SplitRule, patience: float, scale: Floats, centre: Floats) -> float:
        """By how much the two groups pass the tests of two clusters; 0 or less where they do not."""
        if not 0 < self.size < self.n or self.separation() < rule.min_separation:
            return -math.inf
        if self.sample.of_bits:
            return _excess_of_bits(self, self.means * scale + centre, patience)
        return _excess_of_reals(self, patience)

    def separation(self) -> float:
        """Standard deviations between the means, along the line through them."""
        inside, outside = self._scores[0, self.group], self._scores[0, ~self.group]
        # the larger one: the tail of a normal is narrow, and lies far from the mean of the rest
        variance = float(max(outside.var(), inside.var()))
        gap = float(inside.mean() - outside.mean())
        return gap / math.sqrt(variance) if variance > 0.0 else math.copysign(math.inf, gap)

    def noise(self) -> Reals:
        """The rows around the mean of their group."""
        means = self.means.astype(np.float32)
        return np.asarray(self.sample.rows - np.where(self.group[:, None], means[0], means[1]))

    def differences(self) -> Floats:
        """(a b / n) times the squared difference of the means, for each coordinate."""
        weight = self.size * (self.n - self.size) / self.n
        return np.asarray(weight * np.square(self.means[0] - self.means[1]))


def _excess_of_reals(pair: _Pair, patience: float) -> float:
    """How far G lies above what noise can reach, in units of its largest variance."""
    n_cuts = pair.sample.rows.shape[1] + 1
    choices = float(log_choose(pair.n, min(pair.size, pair.n - pair.size)))
    if pair.n > n_cuts:
        choices = min(choices, n_cuts * math.log(math.e * pair.n / n_cuts))
    choices += patience
    freedom = max(pair.n - 2, 1)
    gains = pair.differences()
    variances = np.maximum(pair.sample.squares - gains, 0.0) / freedom
    trace = float(variances.sum())
    if trace == 0.0:
        return math.inf
    # no covariance of this trace has a smaller norm, or a smaller square
    least = trace / variances.size
    dense = -math.inf
    if gains.sum() > trace + 2.0 * math.sqrt(trace * least * choices) + 2.0 * least * choices:
        noise = pair.noise()
        # one of the groups may be several clusters, whose means differ by more than the noise
        norm = max(min(_norm(noise[pair.group]), _norm(noise[~pair.group])), least)
        square = _squared_trace(noise, trace)
        gain = _for_estimated_variance(float(gains.sum()) * trace / square, freedom * trace**2 / square)
        limit = trace + 2.0 * math.sqrt(square * choices) + 2.0 * norm * choices
        dense = (float(gain) * square / trace - limit) / norm
    known = variances > 0.0
    alone = _for_estimated_variance(gains[known] / variances[known], freedom)
    return max(dense, _sparse_excess(alone, choices, most=1))


def _for_estimated_variance(gains: Any, freedom: float) -> Any:
    """Gains in units of a variance that was itself estimated, as likelihood ratios: where it rests on few
    rows, a large ratio means less."""
    return freedom * np.log1p(gains / freedom)


def _norm(noise: Reals) -> float:
    """The largest eigenvalue of the covariance, by the power method."""
    scores = noise @ _leading(noise, noise[0])
    return float(scores @ scores) / max(len(noise) - 1, 1)


def _squared_trace(noise: Reals, trace: float) -> float:
    """tr C^2: the mean squared product of two rows."""
    rows = noise[:: max(1, len(noise) // _PAIRED_ROWS)].astype(np.float64)
    products = np.square(rows @ rows.T)
    pairs = len(rows) * (len(rows) - 1)
    return max(float(products.sum() - products.trace()) / pairs, float(trace**2 / noise.shape[1]))


def _excess_of_bits(pair: _Pair, shares: Floats, patience: float) -> float:
    """How far the likelihood ratio lies above what independent bits can reach."""
    a, b = pair.size, pair.n - pair.size
    shares = np.clip(shares, 0.0, 1.0)
    both = (a * shares[0] + b * shares[1]) / pair.n
    free = (both > 0.0) & (both < 1.0)
    inner, outer, both = shares[0, free], shares[1, free], both[free]
    gains = 2.0 * (a * divergence(inner, both) + b * divergence(outer, both))
    # how many rows a bit puts on another side than the split does
    mismatches = a * (1.0 - inner) + b * outer
    mismatches = np.rint(np.minimum(mismatches, pair.n - mismatches))
    by_rows = float(log_choose(pair.n, min(a, b)))
    by_bit = math.log(max(free.sum(), 1)) + log_choose(pair.n, mismatches)
    excess = _bits_excess(gains, by_rows + patience)
    told = int(by_bit.argmin())
    if by_bit[told] < by_rows:
        excess = max(excess, _bits_excess(np.delete(gains, told), by_bit[told] + patience))
    return excess


def _bits_excess(gains: Floats, choices: float) -> float:
    dense = _improbability(gains.sum(keepdims=True), np.array([gains.size])) - choices
    return max(float(dense[0]), _sparse_excess(gains, choices))


def _sparse_excess(gains: Floats, choices: float, most: int | None = None) -> float:
    """How far the greatest gains lie above what noise can reach: 1, 2, 4, ... of them, up to `most`."""
    if gains.size < 2:
        return -math.inf
    counts = 2 ** np.arange(int(math.log2(most or gains.size)) + (most is not None))
    sums = np.sort(gains)[::-1].cumsum()[counts - 1]
    return float((_improbability(sums, counts) - log_choose(gains.size, counts)).max()) - choices


def _improbability(sums: Floats, freedom: NDArray[np.int64]) -> Floats:
    """-log P(chi-squared of so many degrees of freedom >= sum), or Chernoff's bound on it where the
    probability is below what a float can hold."""
    ratio = np.maximum(sums / np.maximum(freedom, 1), 1.0)
    bound = freedom / 2 * (ratio - 1.0 - np.log(ratio))
    chance = chdtrc(freedom, np.maximum(sums, 0.0))
    return np.where(chance > 1e-290, -np.log(np.maximum(chance, 1e-290)), bound)


def log_choose(n: int, k: Floats | NDArray[np.int64] | int) -> Floats:
    """log (n choose k)."""
    return np.asarray(gammaln(n + 1.0) - gammaln(np.add(k, 1.0)) - gammaln(n - np.asarray(k) + 1.0))
