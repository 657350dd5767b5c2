"""The k-means oracle: scaling, projection, weighted k-means."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..decoders.affine import AffineDecoder
from .clusters import CentreOracle, weighted_kmeans
from .oracle import Attempt
from .projection import Observations, Projection, merged, separation


@dataclass(eq=False, repr=False)
class KMeans(CentreOracle):
    """Scaling, projection, k-means.

    In the projection on large fourth moments k-means counts each point with its squared length, which gives
    rare clusters their due; on principal components it counts all alike. projection="auto" takes the former,
    which show rare states, unless the latter show more clusters: a state amid the others has no length to
    count with.
    """

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        centres, labels = weighted_kmeans(projection, self._n_clusters, self.n_init, self.random_state)
        # |A x + b - c|^2 is smallest where c' (A x + b) - |c|^2 / 2 is largest: nothing here grows with the
        # square of b, which is great where observations are far from the origin, and would drown the rest in
        # float32
        decoder = AffineDecoder(
            centres @ projection.matrix, centres @ projection.offset - np.square(centres).sum(axis=1) / 2
        )
        names = merged(
            self._n_clusters, separation(projection.points, labels, self._n_clusters), self.min_separation
        )
        return Attempt(
            {"decoder_": decoder.relabelled(names)}, self._doubt(data, names[labels], projection.of_bits)
        )
