"""Statistics of experiments: what is said about a cell, given its seeds.

Seeds are independent draws, so everything here treats the runs of a cell as a sample x_1..x_n and says how
sure one can be of a summary of it. All functions are deterministic: those that resample take the seed of
their own generator.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..._base import checks
from ...run import near_optimal_value

Floats = NDArray[np.float64]

LEVEL = 0.95
RESAMPLES = 2000


class Interval(NamedTuple):
    low: Any
    high: Any


class Slope(NamedTuple):
    slope: float
    error: float
    """Standard error of the slope; nan when two points leave no residual to judge by."""
    intercept: float
    """Of the logarithms: y = exp(intercept) x^slope."""


def interquartile_mean(samples: ArrayLike) -> Any:
    """2/n times the integral of the sorted sample from n/4 to 3n/4: the mean of the middle half, over the
    first axis.

    Robust to a few lucky or broken seeds, yet it uses half of them where the median uses one or two. Where n
    is not a multiple of 4 the two outermost values that remain count in part, so that exactly half of the
    sample is used.
    """
    ordered = np.sort(_sample(samples), axis=0)
    n = len(ordered)
    edges = np.arange(n + 1.0)
    weights = np.diff(np.clip(edges, n / 4, 3 * n / 4)) / (n / 2)
    return np.tensordot(weights, ordered, axes=1)[()]


def bootstrap_interval(
    samples: ArrayLike, *, level: float = LEVEL, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """[q((1 - level)/2), q((1 + level)/2)], q the quantiles of the mean of x*_1..x*_n, each x*_i drawn
    uniformly from x_1..x_n.

    Efron's percentile interval of the mean. `samples` is [seeds, ...]: whole seeds are resampled, the same
    ones for all points of a curve. For n normal values the interval covers the true mean with probability
    P(|t_(n-1)| < z sqrt((n-1)/n)), that is 90 % for 10 seeds and 94 % for 50 at the nominal 95 %.
    """
    values = _sample(samples)
    tail = (1 - _level(level)) / 2
    draws = np.random.default_rng(seed).integers(
        len(values), size=(checks.integer("resamples", resamples, least=1), len(values))
    )
    # how often each seed was drawn: the resampled means are then one product of matrices
    rows = np.arange(len(draws))[:, None] * len(values)
    counts = np.bincount((rows + draws).ravel(), minlength=draws.size).reshape(draws.shape)
    resampled = np.tensordot(counts / len(values), values, axes=1)
    low, high = np.quantile(resampled, [tail, 1 - tail], axis=0)
    return Interval(low[()], high[()])


def wilson_interval(successes: ArrayLike, trials: ArrayLike, *, level: float = LEVEL) -> Interval:
    """The p with (k/n - p)^2 <= z^2 p (1 - p) / n: the shares that a score test does not reject (Wilson
    1927).

    In closed form (k + z^2/2 -+ z sqrt(k (n-k) / n + z^2/4)) / (n + z^2). Unlike k/n -+ z sqrt(k (n-k) / n^3)
    it stays inside [0, 1] and does not shrink to a point when all seeds succeed: 50 of 50 gives [0.93, 1].
    """
    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    if np.any(n < 1) or np.any(k < 0) or np.any(k > n):
        raise ValueError(
            f"successes must be from 0 to the number of trials, and trials at least 1, got {successes!r} of "
            f"{trials!r}"
        )
    z = NormalDist().inv_cdf((1 + _level(level)) / 2)
    centre, half = (k + z**2 / 2) / (n + z**2), z * np.sqrt(k * (n - k) / n + z**2 / 4) / (n + z**2)
    # at the ends rounding must not put the interval beside the share itself
    low, high = np.where(k == 0, 0.0, centre - half), np.where(k == n, 1.0, centre + half)
    return Interval(low[()], high[()])


def median_interval(samples: ArrayLike, *, level: float = LEVEL) -> Interval:
    """[x_(l), x_(n+1-l)] of the sorted sample, l the greatest with P(Binomial(n, 1/2) < l) <= (1 - level)/2.

    It covers the median with at least the given probability whatever the distribution, and takes censored
    values as infinity. With too few values for that (5 or fewer at 95 %) it is the whole line.
    """
    ordered = np.sort(_sample(samples))
    n, tail = len(ordered), (1 - _level(level)) / 2
    below, rank = 0.0, 0
    while rank < n and below + math.comb(n, rank) / 2**n <= tail:
        below += math.comb(n, rank) / 2**n
        rank += 1
    if rank == 0:
        return Interval(-math.inf, math.inf)
    return Interval(float(ordered[rank - 1]), float(ordered[n - rank]))


def median(samples: ArrayLike) -> float:
    """The middle value, or the mean of the two middle ones; infinite when one of those is censored."""
    ordered = np.sort(_sample(samples))
    return float(ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def near_optimal_from(
    trajectories: ArrayLike, average_reward: ArrayLike, v_star: float, near_optimal: ArrayLike = True
) -> Any:
    """argmax over the recorded n of 0.9 V* n - S(n), with S(n) the sum of the first n rewards: n times the
    average reward.

    This is the number of trajectories a run needs before it plays near-optimally. 0.9 V* n - S(n) is what the
    run has lost so far against a policy that is exactly near-optimal: it grows while the run plays worse than
    that and shrinks once it plays better, so its peak is where the one turns into the other. At the peak n*,
    and ties apart at no other point,

        (S(m) - S(n*)) / (m - n*) >= 0.9 V*  for every later recorded m, and
        (S(n*) - S(m)) / (n* - m) <= 0.9 V*  for every earlier one:

    the trajectories after n* are near-optimal on average wherever one stops, those before it are not. Waiting
    for the average reward itself to come within 10 % of V* would say about ten times as much, because the
    average never forgets the exploration.

    A run is censored, and the answer infinite, when its loss is greatest at the last recorded point or
    `near_optimal`, whether its final policy is, says no. The answer is exact to the distance of recorded
    points. `average_reward` is [points] or [seeds, points].
    """
    n = np.asarray(trajectories, np.float64)
    averages = np.asarray(average_reward, np.float64)
    loss = n * (near_optimal_value(v_star) - averages)
    peak = np.argmax(loss, axis=-1)
    reached = (peak < n.size - 1) & np.asarray(near_optimal, bool)
    return np.where(reached, n[peak], np.inf)[()]


def log_log_slope(x: ArrayLike, y: ArrayLike) -> Slope:
    """b of log y = a + b log x by least squares, b = Sxy / Sxx, with standard error sqrt(RSS / (n-2) / Sxx).

    y grows as x^b. Pairs that are not finite and positive (censored medians) are left out; at least two
    different x must remain.
    """
    xs, ys = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(y, np.float64))
    usable = np.isfinite(xs) & np.isfinite(ys) & (xs > 0) & (ys > 0)
    u, v = np.log(xs[usable]), np.log(ys[usable])
    if np.unique(u).size < 2:
        raise ValueError(
            f"a slope needs at least two different x with finite positive y, got {np.unique(u).size}"
        )
    du, dv = u - u.mean(), v - v.mean()
    slope = float(du @ dv / (du @ du))
    residual = dv - slope * du
    error = math.sqrt(residual @ residual / (u.size - 2) / (du @ du)) if u.size > 2 else math.nan
    return Slope(slope, error, float(v.mean() - slope * u.mean()))


def second_half_slope(trajectories: ArrayLike, regret: ArrayLike) -> Slope:
    """`log_log_slope` of a cumulative quantity over the second half of its trajectories: n from N/2 to N, the
    last.

    Regret that grows as n^b has the slope b: 1 where a run goes on losing as much in every trajectory, 1/2
    for c sqrt(n), and nearly 0 once it loses nothing any more. The first half, in which a run still explores,
    says little of that. The points of one curve are sums of the same returns, so the standard error of the
    slope is too small to be quoted.
    """
    n = np.asarray(trajectories, np.float64)
    later = 2 * n >= n.max()
    return log_log_slope(n[later], np.asarray(regret, np.float64)[later])


def _sample(samples: ArrayLike) -> Floats:
    values = np.asarray(samples, np.float64)
    if values.ndim == 0 or len(values) == 0:
        raise ValueError("samples must hold at least one value, got none")
    return values


def _level(level: float) -> float:
    return checks.real("level", level, least=0, most=1, open_left=True, open_right=True)
