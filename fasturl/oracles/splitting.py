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

Rows may also come in groups that were known before anyone looked at them, by what came before each. If a
state is reached by one action only, what follows that action is such a group, or the outermost k of its a
rows are: u is the logarithm of the number of groups times (a choose k), and two or three rows may tell a
state where five would be needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaln

from .likelihoods import Labels, Reals, divergence, without_false_alarms
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
_ENOUGH = 10
"""Rows that tell how the noise of a group varies by direction."""
_TELLING = 100
"""Rows of other clusters that tell what the noise is."""
_LIKE = 1.25
"""How much more noise a cluster may have than the others, where it is taken to be the same."""
_CLEARLY = 1.25
"""How much more than by chance noise varies in a direction, where it is taken to do so."""
_LEFT_BY_A_CUT = 1.0 - 2.0 / math.pi
"""Share of a normal's variance that is left around the means of its two halves."""
_OUTERMOST_OF_GROUP = 16
"""Rows of a group that may be a cluster of their own."""
_IN_GROUPS = 1 / 3
"""Share of the separation that is asked of a group that was known before: its rows may be of two clusters
that are both new."""
_SEVERAL = 2
"""Rows that a group has at least: a single one may be an outlier."""
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


class Noise(NamedTuple):
    """The covariance C of noise: tr C, tr C^2 and the largest eigenvalue."""

    trace: float
    square: float
    norm: float

    @classmethod
    def measured(cls, noise: Reals) -> Noise | None:
        """That of rows [n, D] around the means of their clusters; None where they are too few to tell."""
        if len(noise) < _TELLING:
            return None
        noise = noise[:: -(-len(noise) // _MOST_ROWS)]
        trace = float(np.einsum("nd,nd->", noise, noise, dtype=np.float64)) / (len(noise) - 1)
        return cls(trace, _squared_trace(noise, trace), _norm(noise, trace / noise.shape[1]))


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
    everything = _Sample(residuals, norms, squares, of_bits)
    sample = everything if len(rows) <= _MOST_ROWS else everything.part(_outer_and_random(norms, generator))
    best: Split | None = None
    patience = math.log(1.0 / rule.error_rate)
    if groups is not None and (known := _best_in_groups(everything, groups, patience)) is not None:
        group, choices = known
        pair = _Pair(everything, group)
        excess = pair.excess(rule, patience, scale, centre, noise, choices)
        if excess > 0.0:
            best = Split(excess, pair.means * scale + centre)
    for group in _candidates(sample):
        pair = _Pair(sample, group)
        if sample is not everything:
            if pair.separation() < rule.min_separation:
                continue
            # the outermost rows are no fair sample: the whole has the last word
            pair = _Pair(everything, pair.likelier(residuals))
        excess = pair.excess(rule, patience, scale, centre, noise)
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


def _best_in_groups(sample: _Sample, groups: Labels, patience: float) -> tuple[Groups, float] | None:
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

    def excess(
        self,
        rule: SplitRule,
        patience: float,
        scale: Floats,
        centre: Floats,
        noise: Noise | None,
        choices: float | None = None,
    ) -> float:
        """By how much the two groups pass the tests of two clusters; 0 or less where they do not. They were
        chosen among exp(choices) groups, or among all of their size."""
        least = rule.min_separation * (1.0 if choices is None else _IN_GROUPS)
        if not 0 < self.size < self.n or self.separation() < least:
            return -math.inf
        if self.sample.of_bits:
            return _excess_of_bits(self, self.means * scale + centre, patience, choices)
        return _excess_of_reals(self, patience, choices, noise)

    def log_choices(self) -> float:
        """The logarithm of the number of groups of this size."""
        return float(log_choose(self.n, min(self.size, self.n - self.size)))

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


def _excess_of_reals(pair: _Pair, patience: float, choices: float | None, known: Noise | None) -> float:
    """How far G lies above what noise can reach, in units of its largest variance."""
    n_cuts = pair.sample.rows.shape[1] + 1
    by_cut = choices is None
    if choices is None:
        choices = pair.log_choices()
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
        if known is None or trace > _LIKE * known.trace:
            known = _noise_of_pair(pair, trace, by_cut=by_cut)
        square, norm = known.square, known.norm
        gain = _for_estimated_variance(float(gains.sum()) * trace / square, freedom * trace**2 / square)
        limit = trace + 2.0 * math.sqrt(square * choices) + 2.0 * norm * choices
        dense = (float(gain) * square / trace - limit) / norm
    varied = variances > 0.0
    alone = _for_estimated_variance(gains[varied] / variances[varied], freedom)
    return max(dense, _sparse_excess(alone, choices, most=1))


def _noise_of_pair(pair: _Pair, trace: float, *, by_cut: bool) -> Noise:
    """The noise around the two means, along whose difference a cluster may have been cut."""
    noise, least = pair.noise(), trace / pair.means.shape[1]
    # one of the groups may be several clusters, whose means differ by more than the noise
    sides = [side for side in (noise[pair.group], noise[~pair.group]) if len(side) >= _ENOUGH]
    norm = max(min(_norm(side, least) for side in sides or [noise]), least)
    if by_cut:
        norm = max(norm, _variance_along(noise, pair.means[0] - pair.means[1]) / _LEFT_BY_A_CUT)
    return Noise(trace, _squared_trace(noise, trace), norm)


def _for_estimated_variance(gains: Any, freedom: float) -> Any:
    """Gains in units of a variance that was itself estimated, as likelihood ratios: where it rests on few
    rows, a large ratio means less."""
    return freedom * np.log1p(gains / freedom)


def _variance_along(noise: Reals, direction: Floats) -> float:
    scores = noise @ (direction / np.linalg.norm(direction)).astype(np.float32)
    return float(scores @ scores) / max(len(noise) - 2, 1)


def _norm(noise: Reals, mean: float) -> float:
    """The largest eigenvalue of the covariance of noise [n, D], by the power method, of which the mean of all
    is known. If they are all the same, that of a sample is greater by (1 + sqrt(D / n))^2 (Marchenko and
    Pastur, 1967); only one that is greater still is taken for what it is."""
    freedom = max(len(noise) - 1, 1)
    scores = noise @ _leading(noise, noise[0])
    largest = float(scores @ scores) / freedom
    by_chance = (1.0 + math.sqrt(noise.shape[1] / freedom)) ** 2
    return largest if largest > _CLEARLY * by_chance * mean else largest / by_chance


def _squared_trace(noise: Reals, trace: float) -> float:
    """tr C^2: the mean squared product of two rows."""
    rows = noise[:: max(1, len(noise) // _PAIRED_ROWS)].astype(np.float64)
    products = np.square(rows @ rows.T)
    pairs = len(rows) * (len(rows) - 1)
    return max(float(products.sum() - products.trace()) / pairs, float(trace**2 / noise.shape[1]))


def _excess_of_bits(pair: _Pair, shares: Floats, patience: float, choices: float | None) -> float:
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
    by_rows = pair.log_choices() if choices is None else choices
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


def log_choose(n: NDArray[np.int64] | int, k: Floats | NDArray[np.int64] | int) -> Floats:
    """log (n choose k)."""
    return np.asarray(gammaln(np.add(n, 1.0)) - gammaln(np.add(k, 1.0)) - gammaln(np.subtract(n, k) + 1.0))
