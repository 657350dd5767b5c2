"""What the paper's oracles share: the seed of their random choices, and a projection on principal components.

The appendix of Feng et al. (2020) says that observations are first projected by principal component analysis
and then clustered; it names no dimension and no scaling. The published program standardises each coordinate
and takes as many components as it looks for clusters, which is what is done here by default.
"""

from __future__ import annotations

from dataclasses import dataclass

from .._base.schema import setting
from ..decoders.decoder import MAX_LABELS
from .oracle import DecodingOracle, n_axes
from .projection import Observations, Projection

PUBLISHED_SEED = 0
"""The seed that the published program gives scikit-learn at every fit."""


@dataclass(eq=False, repr=False)
class PublishedOracle(DecodingOracle):
    """An oracle of the paper's experiments, fitted with the same seed every time."""

    random_state: int | None = setting(
        PUBLISHED_SEED,
        least=0,
        most=2**32 - 1,
        none="drawn from the run's stream",
        help="Seed of random choices, the same at every fit.",
        kw_only=True,
    )


@dataclass(eq=False, repr=False)
class PrincipalOracle(PublishedOracle):
    """An oracle of the paper's experiments that clusters principal components."""

    n_directions: int | None = setting(
        None,
        least=1,
        most=MAX_LABELS,
        none="n_states, or the dimension of observations if that is smaller",
        help="Number of principal components.",
        kw_only=True,
    )
    scale: bool = setting(
        True,
        help="Whether to divide coordinates by their standard deviation first.",
        kw_only=True,
    )

    def check_settings(self, dimension: int) -> None:
        super().check_settings(dimension)
        self._n_directions(dimension)

    def _n_directions(self, dimension: int) -> int:
        if self.n_directions is None:
            return min(self._n_clusters, dimension)
        return n_axes(self.n_directions, self._n_clusters, dimension)

    def _project(self, data: Observations) -> Projection:
        return Projection(data, self._n_directions(data.shape[1]), self.scale, "pca")
