"""Mixtures of counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from .mixtures import MixtureOracle, whole_numbers
from .projection import Floats, Observations


@dataclass(eq=False, repr=False)
class PoissonMixture(MixtureOracle):
    """A mixture of independent Poisson counts, for observations of whole numbers from 0 on. `means_` are the
    expected counts.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(2, size=500)
    >>> X = generator.poisson(np.where(states == 1, 9.0, 2.0)[:, None], (500, 6))
    >>> labels = PoissonMixture(2, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    def _statistics(self, data: Observations) -> Observations:
        whole_numbers(data, "X must hold whole numbers for a mixture of counts")
        if data.min() < 0:
            raise ValueError(f"X must hold no negative numbers for a mixture of counts, got {data.min():g}")
        return data.astype(np.float32)

    def _start_points(self, statistics: Observations) -> Observations:
        # the root of a count has about the same variance whatever its mean (Anscombe, 1948)
        return np.asarray(np.sqrt(np.asarray(statistics, np.float32) + np.float32(0.375)))

    def _scores(self, means: Floats) -> tuple[Floats, Floats]:
        # what is never counted tells nothing
        return np.log(np.where(means > 0.0, means, 1.0)), -means.sum(axis=0)

    def _decoder(self, data: Observations, weights: Floats, bias: Floats) -> Decoder:
        return AffineDecoder(weights.T, bias)

    def _n_parameters(self, data: Observations) -> int:
        return int(data.shape[1])
