"""Mixtures of bits, categorical variables and counts, by expectation and maximisation.

Coordinates are independent given the component, and each belongs to an exponential family. With the
statistics t(x) of an observation and the means mu_k = E[t] of component k, its log-likelihood is affine in t,

    bits                    t = x               sum_j t_j log(mu_kj / (1 - mu_kj)) + log(1 - mu_kj)
    categorical variables   t = one-hot of x    sum_j t_j log(mu_kj)
    counts (Poisson)        t = x               sum_j t_j log(mu_kj) - mu_kj - log(x_j!)

and the maximisation step is the same for all of them: mu_k is the mean of t, each observation counting with
its probability of coming from k. As a prior, every component is taken to have shown `smoothing` observations
with the mean m of all data before the first: mu_k = (sum + smoothing m) / (size + smoothing), and what every
iteration increases (Dempster, Laird and Rubin, 1977) is the log-likelihood of these and of the data together.

Iterations begin at the clusters of k-means, on directions of large fourth moments, in which rare states stand
out, and on principal components; the likeliest end is kept.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.schema import setting
from .._kernels import mixtures as _mixtures
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import Decoder
from .clusters import MOST_STARTS, n_distinct, weighted_kmeans
from .counting import CountingOracle
from .oracle import n_axes
from .projection import KINDS, Floats, Observations, Projection


class Components(NamedTuple):
    """A mixture of K components over F statistics."""

    proportions: Floats  # [K]
    means: Floats  # [F, K]


class Fitted(NamedTuple):
    """Where iterations ended, and how likely each of them made data and prior together."""

    components: Components
    log_likelihood: float  # of the data alone, but for terms that do not depend on the components
    objectives: list[float]


@dataclass(eq=False, repr=False)
class MixtureOracle(CountingOracle):
    """What mixtures share: everything but the family of their coordinates.

    Fitted, a mixture has the proportions of the components `weights_` [K], the means of their statistics
    `means_` [K, F], its `log_likelihood_`, but for terms that do not depend on the components, and
    `objectives_`, the same with the prior, after each iteration.
    """

    smoothing: float = setting(
        0.5,
        above=0,
        unit="observations",
        help="How many observations like the mean of all data each component is taken to have shown before.",
        kw_only=True,
    )
    n_init: int = setting(
        1, least=1, most=MOST_STARTS, help="Number of starts of k-means for each projection.", kw_only=True
    )
    max_iter: int = setting(
        200, least=1, help="Most iterations of expectation and maximisation.", kw_only=True
    )
    tolerance: float = setting(
        1e-6,
        least=0,
        help="Iterations end once one adds less than this to the log-likelihood of each observation.",
        kw_only=True,
    )

    @abstractmethod
    def _statistics(self, data: Observations) -> Observations:
        """The statistics [n, F] of observations; ValueError where the family has no such observations."""

    @abstractmethod
    def _scores(self, means: Floats) -> tuple[Floats, Floats]:
        """Weights [F, K] and bias [K] of the log-likelihood, but for what does not depend on the
        component."""

    @abstractmethod
    def _decoder(self, data: Observations, weights: Floats, bias: Floats) -> Decoder:
        """The decoder of these weights [F, K] and bias [K]."""

    @abstractmethod
    def _n_parameters(self, data: Observations) -> int:
        """How many free numbers describe a component."""

    def _start_points(self, statistics: Observations) -> Observations:
        """What k-means clusters."""
        return statistics

    def _learn(self, data: Observations) -> dict[str, Any]:
        statistics = np.ascontiguousarray(self._statistics(data))
        if n_distinct(statistics, 2) == 1:
            return {"decoder_": ConstantDecoder(2), **self._attributes(self._fit_one(statistics))}
        points = self._start_points(statistics)
        directions = n_axes(None, self._n_clusters, points.shape[1])
        starts = [
            weighted_kmeans(
                Projection(points, directions, True, kind), self._n_clusters, self.n_init, self.random_state
            )[1]
            for kind in KINDS
        ]
        fits = [self._fit_from(statistics, labels) for labels in starts]
        best = max(fits, key=lambda fit: fit.objectives[-1])
        weights, bias = self._log_joint(best.components)
        return {"decoder_": self._decoder(data, weights, bias), **self._attributes(best)}

    @staticmethod
    def _attributes(fit: Fitted) -> dict[str, Any]:
        """What a fitted oracle has beside its decoder."""
        return {
            "weights_": fit.components.proportions,
            "means_": np.ascontiguousarray(fit.components.means.T),
            "objectives_": np.array(fit.objectives),
            "log_likelihood_": fit.log_likelihood,
        }

    def _fit_one(self, statistics: Observations) -> Fitted:
        return self._fit_from(statistics, np.zeros(len(statistics), np.int64), 1)

    def _fit_from(
        self, statistics: Observations, labels: NDArray[np.int64], n_components: int | None = None
    ) -> Fitted:
        """Expectation and maximisation, from the maximisation step of these labels on."""
        n = len(statistics)
        k = n_components or self._n_clusters
        prior_mean = statistics.mean(axis=0, dtype=np.float64)
        member = np.eye(k)[labels]
        sizes, sums = member.sum(axis=0), statistics.T.astype(np.float64) @ member
        shares = np.empty(k)
        objectives: list[float] = []
        while True:
            components = Components(
                (sizes + self.smoothing) / (n + k * self.smoothing),
                (sums + self.smoothing * prior_mean[:, None]) / (sizes + self.smoothing),
            )
            weights, bias = self._log_joint(components)
            log_likelihood = _mixtures.expectation(statistics, weights, bias, shares, sizes, sums)
            objectives.append(log_likelihood + self.smoothing * float((prior_mean @ weights + bias).sum()))
            gain = objectives[-1] - objectives[-2] if len(objectives) > 1 else np.inf
            if gain <= self.tolerance * n or len(objectives) > self.max_iter:
                return Fitted(components, log_likelihood, objectives)

    def _log_joint(self, components: Components) -> tuple[Floats, Floats]:
        """Weights and bias of the log-probability of an observation and its component together."""
        weights, bias = self._scores(components.means)
        return np.ascontiguousarray(weights), bias + np.log(components.proportions)

    def _criterion_of_one(self, data: Observations) -> float:
        fit = self._fit_one(np.ascontiguousarray(self._statistics(data)))
        return self._information_criterion(data, fit.log_likelihood, 1)

    def _criterion(self, data: Observations, learned: dict[str, Any]) -> float:
        return self._information_criterion(data, learned["log_likelihood_"], len(learned["weights_"]))

    def _information_criterion(self, data: Observations, log_likelihood: float, n_components: int) -> float:
        n_parameters = n_components * self._n_parameters(data) + n_components - 1
        return float(-2.0 * log_likelihood + n_parameters * np.log(len(data)))


def whole_numbers(data: Observations, must: str) -> None:
    """ValueError that begins with `must` unless all are whole numbers."""
    if data.dtype.kind == "f" and (broken := data != np.floor(data)).any():
        raise ValueError(f"{must}, got {data[broken][0]:g}")
