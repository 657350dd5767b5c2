"""The mixture oracle: Gaussians in the projected space, started from the clusters of k-means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.schema import setting
from .clusters import MOST_STARTS, CentreOracle, weighted_kmeans
from .gaussian_mixture import COVARIANCES, fit_mixture, start_at
from .oracle import Attempt, n_axes
from .projection import Observations, Projection, mean_variance, merged

_LEAST_VARIANCE = 1e-37
"""Float32 holds the inverse of this, which is a decoder's number."""


@dataclass(eq=False, repr=False)
class GMM(CentreOracle):
    """A Gaussian mixture in the projected space, started from the clusters that k-means finds there.

    n_directions="all" fits the mixture to the observations themselves. These must then lie near the origin
    where covariance is "spherical" or "tied": their squares are added up in float32. One start is enough
    where URL fits again and again, and keeps the better one of two fits.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = GMM(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    # an oracle of all directions projects on none, so the setting has a value that no other oracle's has
    n_directions: int | str | None = setting(  # type: ignore[assignment]
        None,
        none="n_states - 1",
        values="integer >= 1 or all",
        help="Number of directions to project on; all fits the observations themselves.",
        kw_only=True,
    )
    covariance: str = setting(
        "spherical",
        choices=COVARIANCES,
        help="Shape of the components, as scikit-learn's GaussianMixture has it.",
        kw_only=True,
    )
    n_init: int = setting(1, least=1, most=MOST_STARTS, help="Number of starts of k-means.", kw_only=True)

    def _fits_directly(self) -> bool:
        return isinstance(self.n_directions, str) and self.n_directions == "all"

    def _n_axes(self, dimension: int) -> int:
        """A mixture of the observations themselves is started from a projection too: the usual one."""
        if self._fits_directly():
            return n_axes(None, self._n_clusters, dimension)
        return super()._n_axes(dimension)

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        _, labels = weighted_kmeans(projection, self._n_clusters, self.n_init, self.random_state)
        points = np.asarray(data, np.float64) if self._fits_directly() else projection.points
        # small beside the data, whatever their unit
        least_variance = max(1e-6 * (mean_variance(points) or 1.0), _LEAST_VARIANCE)
        start = start_at(points, labels, self._n_clusters, self.covariance, least_variance)
        mixture, components = fit_mixture(points, start, least_variance)
        if self._fits_directly():
            decoder = mixture.decoder()
        else:
            decoder = mixture.decoder(projection.matrix, projection.offset)
        names = merged(projection.points, components, self._n_clusters, self.min_separation)
        learned = {"mixture_": mixture, "decoder_": decoder.relabelled(names)}
        return Attempt(learned, self._doubt(data, names[components], projection.of_bits))
