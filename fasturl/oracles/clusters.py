"""Weighted k-means of projected observations: where k-means and mixtures start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans as _SklearnKMeans

from .._base.schema import setting
from ..decoders.affine import AffineDecoder
from .counting import CountingOracle, LabelCriterion
from .oracle import Oracle
from .projection import Floats, Observations, Projection

MIN_SEPARATION = 3.25
"""In standard deviations: above what k-means makes of one Gaussian, below what separates the states of a lock
with noise 0.3."""


@dataclass(eq=False, repr=False)
class CentreOracle(CountingOracle, Oracle):
    """An oracle whose clusters have centres, of which those that lie together get one label."""

    clusters_have_centres: ClassVar[bool] = True
    """Whether observations are taken to be normals of one covariance, or independent bits, around the centre
    of their cluster: what such an oracle finds can be refined by likelihoods."""

    min_separation: float = setting(
        MIN_SEPARATION,
        least=0,
        unit="standard deviations",
        help="Clusters whose centres are closer get one label: there may be fewer states to see than "
        "n_states.",
        kw_only=True,
    )
    n_init: int = setting(3, least=1, help="Number of starts of k-means.", kw_only=True)

    def _criterion_of_one(self, data: Observations) -> float:
        return LabelCriterion(data)(np.zeros(len(data), np.int64))

    def _criterion(self, data: Observations, learned: dict[str, Any]) -> float:
        return LabelCriterion(data)(learned["decoder_"].decode(data))


def weighted_kmeans(
    projection: Projection, n_states: int, n_init: int, random_state: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Centres [n_states, axes] and labels of weighted k-means; where there are fewer distinct points, some
    centres are the same."""
    n_clusters = n_distinct(projection.points, n_states)
    if n_clusters == 1:
        return np.tile(projection.points[0], (n_states, 1)), np.zeros(len(projection.points), np.int64)
    kmeans = _SklearnKMeans(n_clusters, n_init=n_init, random_state=random_state)
    kmeans.fit(projection.points, sample_weight=projection.weights)
    centres = kmeans.cluster_centers_
    return np.concatenate([centres, np.tile(centres[:1], (n_states - n_clusters, 1))]), kmeans.labels_.astype(
        np.int64
    )


def n_distinct(points: Observations, most: int) -> int:
    """How many distinct points there are, counted up to `most`."""
    distinct = np.unique(points[:, 0])
    if distinct.size < most:
        distinct = np.unique(points, axis=0)
    return min(most, len(distinct))


def nearest_centre_decoder(centres: Floats, projection: Projection) -> AffineDecoder:
    """The decoder whose label is the nearest of the centres [n_states, axes] to the image of an
    observation."""
    # |A x + b - c|^2 is smallest where c' (A x + b) - |c|^2 / 2 is largest: nothing here grows with the
    # square of b, which is great where observations are far from the origin, and would drown the rest in
    # float32
    return AffineDecoder(
        centres @ projection.matrix, centres @ projection.offset - np.square(centres).sum(axis=1) / 2
    )
