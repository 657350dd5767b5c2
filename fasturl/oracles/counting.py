"""The number of states found from data: the oracle is fitted with 1, 2, 3, ... clusters, and the number of
least criterion is kept.

The search ends at `max_states`, or once two numbers in a row were no better than the best so far. A mixture
of observations is judged by the Bayesian information criterion (Schwarz, 1978),

    -2 log-likelihood + (number of free parameters) log n.

Where projections or hard clusters were fitted, likelihoods of different numbers cannot be compared, so the
labels z are judged in the space of the observations themselves, by the integrated completed likelihood
(Biernacki, Celeux and Govaert, 2000): the same formula with the likelihood of observations and labels
together. Given the label, reals are Gaussian with one covariance matrix for all labels, bits independent. To
cut a Gaussian in two halves takes log 2 for each label and brings log(1 / (1 - 2 / pi)) / 2 = 0.51, so what
is one cluster stays one; a state that is told by a single bit is not found so.

Most bits may be noise that no label changes, and a frequency for each label and bit would then outweigh a
state that few observations show. So a bit has one frequency for all labels or one for each, whichever the
criterion prefers, and 2 log D for the choice among D bits, as in its extended form (Chen and Chen, 2008).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy  # whose parts load when they are used
from numpy.typing import NDArray

from .._base import checks
from .._base.row_labels import numbered, that_occur
from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import MAX_LABELS
from .oracle import DecodingOracle
from .projection import Floats, Observations, are_bits, mean_of, sums_around, sums_of

_PATIENCE = 2
"""The search ends once so many numbers in a row were no better than the best."""
_LEAST_VARIANCE = 1e-6
"""Added to the variance of each coordinate given the label, as a share of the mean variance: a coordinate
that the label tells exactly would else be worth any number of clusters."""


def is_auto(n_states: object) -> bool:
    return isinstance(n_states, str) and n_states == "auto"


@dataclass(eq=False, repr=False)
class CountingOracle(DecodingOracle):
    """An oracle that can find the number of clusters itself: n_states="auto". Fitted so, it has the number in
    `n_clusters_`."""

    # wider than other oracles have it: it may be "auto"
    n_states: int | str | None = setting(  # type: ignore[assignment]
        None,
        values=f"integer from 2 to {MAX_LABELS} or auto",
        none="the environment's bound on the states of a level",
        help="Number of clusters; auto finds it from the data. An oracle that is fitted by itself must be "
        "told.",
    )
    max_states: int | None = setting(
        None,
        least=2,
        most=MAX_LABELS,
        none="the environment's bound on the states of a level",
        help="Most clusters that n_states = auto looks for.",
        kw_only=True,
    )

    def check_settings(self, dimension: int) -> None:
        if isinstance(self.n_states, str):
            if not is_auto(self.n_states):
                raise ValueError(
                    f"n_states must be an integer from 2 to {MAX_LABELS} or 'auto', "
                    f"got {checks.short_repr(self.n_states)}"
                )
            if self.max_states is None:
                raise ValueError(
                    f"max_states must be an integer from 2 to {MAX_LABELS} where an oracle that finds the "
                    "number of states is fitted by itself, got None"
                )
        elif self.n_states is not None:
            checks.integer("n_states", self.n_states, least=2, most=MAX_LABELS)
        super().check_settings(dimension)
        if self.max_states is not None and not isinstance(self.n_states, str):
            checks.integer("n_states", self.n_states, least=2, most=self.max_states)

    @property
    def _n_clusters(self) -> int:
        # of the numbers that auto tries, the least asks for the fewest observations
        return 2 if isinstance(self.n_states, str) else super()._n_clusters

    def _learned(self, data: Observations) -> dict[str, Any]:
        if not isinstance(self.n_states, str):
            return self._learn(data)
        assert self.max_states is not None
        best: dict[str, Any] = {"decoder_": ConstantDecoder(2), "n_clusters_": 1}
        least, n_failures = self._criterion_of_one(data), 0
        for number in range(2, min(self.max_states, len(data)) + 1):
            candidate = self.unfitted().set_params(n_states=number, max_states=None)
            learned = candidate._learn(data)
            criterion = candidate._criterion(data, learned)
            n_failures += 1
            if criterion < least:
                # clusters that lie together may have got one label
                n_labels = that_occur(learned["decoder_"].relabel).size
                best, least, n_failures = {**learned, "n_clusters_": n_labels}, criterion, 0
            if n_failures == _PATIENCE:
                break
        return best

    @abstractmethod
    def _criterion_of_one(self, data: Observations) -> float:
        """The criterion where all observations are one cluster."""

    @abstractmethod
    def _criterion(self, data: Observations, learned: dict[str, Any]) -> float:
        """The criterion of a fit, given the attributes that it learned: the less, the better."""


class LabelCriterion:
    """The integrated completed likelihood of labels of given observations, times -2."""

    def __init__(self, data: Observations) -> None:
        self._last_clusters, self._last_value = np.empty(0, np.int64), 0.0
        self._of_bits = are_bits(data)
        if self._of_bits:
            self._rows: Observations = np.ascontiguousarray(data, np.uint8)
            return
        self._rows, self._centre = data, mean_of(data)

    @cached_property
    def _moments(self) -> Floats:
        """The sum of x x' over the reals around their mean, [D, D]."""
        rows = np.subtract(self._rows, self._centre, dtype=np.float64)
        return np.asarray(rows.T @ rows)

    def __call__(self, labels: NDArray[np.integer]) -> float:
        clusters = numbered(labels)
        if np.array_equal(clusters, self._last_clusters):  # refined labels are often the same as before
            return self._last_value
        n_clusters = int(clusters.max()) + 1
        if self._of_bits:
            sums = sums_of(self._rows, clusters, n_clusters)
            of_observations = self._bits(sums.means, sums.sizes)
        else:
            sums, _ = sums_around(self._rows, clusters, n_clusters, self._centre)
            of_observations = self._reals(sums.means, sums.sizes)
        self._last_clusters = clusters
        self._last_value = float(of_observations + _cost_of_labels(sums.sizes))
        return self._last_value

    def cost(self, labels: NDArray[np.integer]) -> float:
        """The part of the criterion that is due to the labels themselves, whatever the observations."""
        return _cost_of_labels(np.bincount(numbered(labels)))

    def _bits(self, shares: Floats, sizes: Floats) -> float:
        n, dimension = self._rows.shape
        by_label = 2.0 * sizes @ _entropies(shares) + sizes.size * math.log(n) + 2.0 * math.log(dimension)
        by_all = 2.0 * n * _entropies(sizes @ shares / n) + math.log(n)
        return float(np.minimum(by_label, by_all).sum())

    def _reals(self, centres: Floats, sizes: Floats) -> float:
        n, dimension = self._rows.shape
        covariance = (self._moments - (centres.T * sizes) @ centres) / n
        # with fewer rows than coordinates the matrix itself is singular
        shrinkage = min(1.0, dimension / n)
        sphere = covariance.trace() / dimension * np.eye(dimension)
        covariance = (1.0 - shrinkage) * covariance + shrinkage * sphere
        variance = float(self._moments.trace()) / (n * dimension)
        covariance += _LEAST_VARIANCE * (variance or 1.0) * np.eye(dimension)
        return float(n * np.linalg.slogdet(covariance)[1] + sizes.size * dimension * math.log(n))


def _cost_of_labels(sizes: NDArray[Any]) -> float:
    """The part of the criterion that is due to labels, each of which so many observations have."""
    n = sizes.sum()
    return float(-2.0 * (sizes * np.log(sizes / n)).sum() + (sizes.size - 1) * math.log(n))


def _entropies(shares: Floats) -> Floats:
    """The entropies of bits that are 1 with these probabilities."""
    return np.asarray(scipy.special.entr(shares) + scipy.special.entr(1.0 - shares))
