"""Mixtures of bits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from .mixtures import MixtureOracle
from .projection import Floats, Observations


@dataclass(eq=False, repr=False)
class BernoulliMixture(MixtureOracle):
    """A mixture of independent bits, for observations of zeros and ones. `means_` are the shares of ones.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(2, size=500)
    >>> X = generator.random((500, 12)) < np.where(states == 1, 0.9, 0.1)[:, None]
    >>> oracle = BernoulliMixture("auto", max_states=5, random_state=0)
    >>> labels = oracle.fit_predict(X)
    >>> oracle.n_clusters_, bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    (2, True)
    """

    def _statistics(self, data: Observations) -> Observations:
        others = (data != 0) & (data != 1)
        if others.any():
            raise ValueError(
                f"X must hold zeros and ones for a mixture of bits, got {float(data[others][0]):g}"
            )
        return data.astype(np.uint8)

    def _scores(self, means: Floats) -> tuple[Floats, Floats]:
        # a bit that is the same in all observations has no odds, and tells nothing
        free = (means > 0.0) & (means < 1.0)
        shares = np.where(free, means, 0.5)
        weights = np.log(shares / (1.0 - shares))
        return weights, np.where(free, np.log(1.0 - shares), 0.0).sum(axis=0)

    def _decoder(self, data: Observations, weights: Floats, bias: Floats) -> Decoder:
        return AffineDecoder(weights.T, bias)

    def _n_parameters(self, data: Observations) -> int:
        return int(data.shape[1])
