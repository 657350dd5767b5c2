"""Whether two groups of observations are two clusters.

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
the other bits have to differ. In a group of few rows the ratio of a bit is more than 1 on average, 1.39 where
two rows show a fair one, so each is divided by its mean (Bartlett, 1937).

That is for small groups. Three large clusters would never be split, since the noise around two means of three
is itself large, so of reals u is at most the logarithm of (e n / (D + 1))^(D + 1), the number of ways in
which hyperplanes can cut n points (Cover, 1965). A cut through the middle of one large cluster passes then,
and it is another test that refuses it: the means must lie `min_separation` standard deviations apart, along
the line through them. Both are measured with each row left out of its own group's mean, since a row always
lies close to a mean that it is part of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose parts load when they are used
from numpy.typing import NDArray

from .likelihoods import Reals, divergence
from .noise import MOST_ROWS, Noise, largest_eigenvalue, squared_trace
from .projection import Floats
from .sides import Sample, Sides

_ENOUGH_ROWS = 10
"""Rows of a group from which on they tell how its noise varies by direction."""
_FEW_ROWS = 32
"""Rows of a group up to which the mean of a bit's likelihood ratio is not yet that of chi-squared."""
_SIMILAR_NOISE = 1.25
"""Factor up to which a cluster may have more noise than the others and is taken to have the same."""
_LEAST_CHANCE = 1e-290
"""Below this a float holds no probability well."""
_LEFT_BY_A_CUT = 1.0 - 2.0 / math.pi
"""Share of a normal's variance that is left around the means of its two halves."""


@dataclass(frozen=True)
class SplitRule:
    """When two groups are two clusters.

    error_rate
        Bound on the probability that a cluster of noise is split.
    min_separation
        Standard deviations that the means of two clusters lie apart at least.
    shares_noise
        Whether clusters of reals tell each other what the noise is. Where they do not, few rows tell less,
        and in less time.
    """

    error_rate: float
    min_separation: float
    shares_noise: bool = True


class Pair:
    """One split of a sample, the k-th of these, and what the tests need to know of it; `log_choices` is the
    logarithm of the number of groups among which these were chosen, None for all of their size."""

    def __init__(self, sample: Sample, sides: Sides, k: int, log_choices: float | None = None) -> None:
        self.sample, self.group = sample, sides.groups[k]
        self.size, self.n = int(self.group.sum()), len(sample.rows)
        self.means = sides.means[:, k].astype(np.float64)
        self.by_cut = log_choices is None
        self.log_choices = self._all_of_this_size() if log_choices is None else log_choices

    def _all_of_this_size(self) -> float:
        """The logarithm of the number of groups of this size."""
        return math.lgamma(self.n + 1) - math.lgamma(self.size + 1) - math.lgamma(self.n - self.size + 1)

    def noise(self) -> list[Reals]:
        """Rows around the mean of their group, for each of the two: all of them, or some where there are
        many."""
        members = np.flatnonzero(self.group), np.flatnonzero(~self.group)
        return [
            self.sample.rows[rows[:: -(-rows.size // MOST_ROWS)]] - mean
            for rows, mean in zip(members, self.means.astype(np.float32), strict=True)
        ]

    def differences(self) -> Floats:
        """(a b / n) times the squared difference of the means, for each coordinate."""
        weight = self.size * (self.n - self.size) / self.n
        return np.asarray(weight * np.square(self.means[0] - self.means[1]))


def excesses(
    pairs: list[Pair],
    log_inverse_error: float,
    scale: Floats,
    centre: Floats,
    noise_of_others: Callable[[], Noise | None],
) -> list[float]:
    """By how much the two groups of each pair lie farther apart than those of one cluster can; 0 or less
    where they do not.

    pairs
        Splits of one sample.
    log_inverse_error
        log(1 / error_rate), which is part of the bound u.
    scale, centre
        By which the rows of the sample were divided and shifted, [D] each.
    noise_of_others
        That of other clusters, where it is known; called where it counts.
    """
    if pairs and pairs[0].sample.of_bits:
        return _excesses_of_bits(pairs, log_inverse_error, scale, centre)
    return [_excess_of_reals(pair, log_inverse_error, noise_of_others) for pair in pairs]


def _excess_of_reals(
    pair: Pair, log_inverse_error: float, noise_of_others: Callable[[], Noise | None]
) -> float:
    """How far G lies above what noise can reach, in units of its largest variance."""
    n_cuts, log_choices = pair.sample.rows.shape[1] + 1, pair.log_choices
    if pair.by_cut and pair.n > n_cuts:
        log_choices = min(log_choices, n_cuts * math.log(math.e * pair.n / n_cuts))
    u = log_choices + log_inverse_error
    freedom = max(pair.n - 2, 1)
    gains = pair.differences()
    variances = np.maximum(pair.sample.squares - gains, 0.0) / freedom
    trace = float(variances.sum())
    if trace == 0.0:
        return math.inf
    # no covariance of this trace has a smaller norm, or a smaller square
    least = trace / variances.size
    dense = -math.inf
    if gains.sum() > trace + 2.0 * math.sqrt(trace * least * u) + 2.0 * least * u:
        noise = noise_of_others()
        if noise is None or trace > _SIMILAR_NOISE * noise.trace:
            noise = _noise_of_pair(pair, trace)
        square, norm = noise.square, noise.norm
        gain = _for_estimated_variance(float(gains.sum()) * trace / square, freedom * trace**2 / square)
        limit = trace + 2.0 * math.sqrt(square * u) + 2.0 * norm * u
        dense = (float(gain) * square / trace - limit) / norm
    varies = variances > 0.0
    ratios = _for_estimated_variance(gains[varies] / variances[varies], freedom)
    return max(dense, _greatest_excess(ratios, u))


def _noise_of_pair(pair: Pair, trace: float) -> Noise:
    """The noise around the two means, along whose difference a cluster may have been cut."""
    sides, least = pair.noise(), trace / pair.means.shape[1]
    noise = np.concatenate(sides)
    # one of the groups may be several clusters, whose means differ by more than the noise
    telling = [side for side in sides if len(side) >= _ENOUGH_ROWS] or [noise]
    norm = max(min(largest_eigenvalue(side, least) for side in telling), least)
    if pair.by_cut:
        norm = max(norm, _variance_along(noise, pair.means[0] - pair.means[1]) / _LEFT_BY_A_CUT)
    return Noise(trace, squared_trace(noise, trace), norm)


def _for_estimated_variance(gains: Any, freedom: float) -> Any:
    """Gains in units of a variance that was itself estimated, as likelihood ratios: where it rests on few
    rows, a large ratio means less."""
    return freedom * np.log1p(gains / freedom)


def _variance_along(noise: Reals, direction: Floats) -> float:
    scores = noise @ (direction / np.linalg.norm(direction)).astype(np.float32)
    return float(scores @ scores) / max(len(noise) - 2, 1)


def _excesses_of_bits(
    pairs: list[Pair], log_inverse_error: float, scale: Floats, centre: Floats
) -> list[float]:
    """How far the likelihood ratios lie above what independent bits can reach; where they do not, 0 or less,
    whatever it is."""
    n, free = pairs[0].n, (centre > 0.0) & (centre < 1.0)
    shares = np.clip(np.stack([pair.means * scale + centre for pair in pairs]), 0.0, 1.0)[:, :, free]
    inner, outer = shares[:, 0], shares[:, 1]
    sizes = np.array([pair.size for pair in pairs])
    a, b = sizes[:, None], n - sizes[:, None]
    both = (a * inner + b * outer) / n
    ratios = _likelihood_ratios(a, b, inner, outer, both)
    by_rows = np.array([pair.log_choices for pair in pairs])
    # how many rows a bit puts on another side than the split does
    mismatches = a * (1.0 - inner) + b * outer
    mismatches = np.rint(np.minimum(mismatches, n - mismatches))
    best_bits = mismatches.argmin(axis=1)
    by_bit = math.log(both.shape[1]) + log_choose(n, mismatches[np.arange(len(pairs)), best_bits])
    limits = _BitLimits(
        best_bits, by_rows + log_inverse_error, np.where(by_bit < by_rows, by_bit, np.inf) + log_inverse_error
    )
    # ratios are at least as large as gains, and those that do not pass need not be divided by their means
    result = np.full(len(pairs), -np.inf)
    likely = np.flatnonzero([_greatest_improbability(total) for total in ratios.sum(axis=1)] > limits.least())
    result[likely] = limits.part(likely).excesses(ratios[likely])
    few = np.flatnonzero((result > 0.0) & (np.minimum(sizes, n - sizes) <= _FEW_ROWS))
    for k in few.tolist():
        ratios[k] /= _mean_ratios(min(pairs[k].size, n - pairs[k].size), n, both[k])
    result[few] = limits.part(few).excesses(ratios[few])
    return [float(excess) for excess in result]


class _BitLimits(NamedTuple):
    """What the bits of P splits have to exceed: u where the rows of the group were chosen among all, and
    where a bit told which they are, and all but that bit count."""

    best_bits: NDArray[np.int64]  # [P]
    by_rows: Floats  # [P]
    by_bit: Floats  # [P], inf where no bit tells them

    def part(self, chosen: NDArray[np.int64]) -> _BitLimits:
        return _BitLimits(self.best_bits[chosen], self.by_rows[chosen], self.by_bit[chosen])

    def least(self) -> Floats:
        return np.minimum(self.by_rows, self.by_bit)

    def excesses(self, gains: Floats) -> Floats:
        """How far gains [P, D] lie above the limits, by the one way or the other: [P]."""
        if not len(gains):
            return np.empty(0)
        result = _evidence(gains) - self.by_rows
        told = np.flatnonzero(self.by_bit < np.inf)
        if told.size and gains.shape[1] > 1:
            others = np.arange(gains.shape[1]) != self.best_bits[told, None]
            of_others = _evidence(gains[told][others].reshape(told.size, -1)) - self.by_bit[told]
            result[told] = np.maximum(result[told], of_others)
        return result


def _likelihood_ratios(a: Any, b: Any, inner: Floats, outer: Floats, both: Floats) -> Floats:
    """2 (log L(A, B) - log L(all)) of bits with these shares of ones in a rows, in b rows and in all."""
    return np.asarray(2.0 * (a * divergence(inner, both) + b * divergence(outer, both)))


def _mean_ratios(size: int, n: int, both: Floats) -> Floats:
    """The mean of the likelihood ratio of each bit in a group of so many of n rows that was chosen blindly,
    1 at least."""
    ones = np.arange(size + 1)[:, None]
    others = np.clip((n * both - ones) / (n - size), 0.0, 1.0)
    ratios = _likelihood_ratios(size, n - size, ones / size, others, both)
    of_ones, of_zeros = scipy.special.xlogy(ones, both), scipy.special.xlogy(size - ones, 1.0 - both)
    chances = np.exp(log_choose(size, ones) + of_ones + of_zeros)
    return np.asarray(np.maximum((chances * ratios).sum(axis=0), 1.0))


def _evidence(gains: Floats) -> Floats:
    """How improbable gains [P, D] are, all together or the greatest 1, 2, 4, ... of each D alone: [P]."""
    freedom, log_choices = _subsets(gains.shape[1])
    greatest = np.sort(gains, axis=1)[:, ::-1].cumsum(axis=1)
    return np.asarray((_improbability(greatest[:, freedom - 1], freedom) - log_choices).max(axis=1))


@cache
def _subsets(dimension: int) -> tuple[NDArray[np.int64], Floats]:
    """How many of so many coordinates count together, all of them or 1, 2, 4, ..., and the logarithms of how
    many sets of that size there are."""
    counts = 2 ** np.arange(dimension.bit_length() - 1)
    freedom, log_choices = np.append(counts, dimension), np.append(log_choose(dimension, counts), 0.0)
    return freedom, log_choices


def _greatest_excess(gains: Floats, u: float) -> float:
    """How far the greatest gain lies above what noise can reach."""
    if gains.size < 2:
        return -math.inf
    greatest = max(float(gains.max()), 0.0)
    chance = math.erfc(math.sqrt(greatest / 2.0))  # that one squared normal is greater
    improbability = -math.log(chance) if chance > _LEAST_CHANCE else (greatest - 1.0 - math.log(greatest)) / 2
    return improbability - math.log(gains.size) - u


def _improbability(sums: Floats, freedom: NDArray[np.int64]) -> Floats:
    """-log P(chi-squared of so many degrees of freedom >= sum), or Chernoff's bound on it where the
    probability is below what a float can hold."""
    ratio = np.maximum(sums / np.maximum(freedom, 1), 1.0)
    bound = freedom / 2 * (ratio - 1.0 - np.log(ratio))
    chance = scipy.special.chdtrc(freedom, np.maximum(sums, 0.0))
    return np.where(chance > _LEAST_CHANCE, -np.log(np.maximum(chance, _LEAST_CHANCE)), bound)


def _greatest_improbability(total: float) -> float:
    """A bound on -log P(chi-squared >= total), which is greatest for one degree of freedom: erfc(x) is at
    least 2 / sqrt(pi) exp(-x^2) / (x + sqrt(x^2 + 2)), with x = sqrt(total / 2)."""
    half = max(total, 0.0) / 2.0  # ratios that are all 0 add up to less by rounding
    return half + math.log(math.sqrt(math.pi) / 2.0 * (math.sqrt(half) + math.sqrt(half + 2.0)))


def log_choose(n: NDArray[np.int64] | int, k: Floats | NDArray[np.int64] | int) -> Floats:
    """log (n choose k)."""
    log_factorials = [scipy.special.gammaln(np.add(m, 1.0)) for m in (n, k, np.subtract(n, k))]
    return np.asarray(log_factorials[0] - log_factorials[1] - log_factorials[2])
