"""The k-means oracle: scaling, projection, weighted k-means."""

from __future__ import annotations

from dataclasses import dataclass

from .clusters import CentreOracle, nearest_centre_decoder, weighted_kmeans
from .oracle import Attempt
from .projection import Observations, Projection, merged


@dataclass(eq=False, repr=False)
class KMeans(CentreOracle):
    """Scaling, projection, k-means.

    In the projection on large fourth moments k-means counts each point with its squared length, which gives
    rare clusters their due; on principal components it counts all alike. projection="auto" takes the former,
    which show rare states, unless the latter show more clusters: a state amid the others has no length to
    count with.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = KMeans(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        centres, labels = weighted_kmeans(projection, self._n_clusters, self.n_init, self.random_state)
        decoder = nearest_centre_decoder(centres, projection)
        names = merged(projection.points, labels, self._n_clusters, self.min_separation)
        return Attempt(
            {"decoder_": decoder.relabelled(names)}, self._doubt(data, names[labels], projection.of_bits)
        )
