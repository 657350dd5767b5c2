"""Weighted k-means of projected observations: where k-means and mixtures start."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base.sampling import drawn_uniforms
from .._base.schema import setting
from .._kernels import clustering as _clustering
from .._kernels.records import kmeans_workspace
from ..decoders.affine import AffineDecoder
from .counting import CountingOracle, LabelCriterion
from .oracle import Oracle
from .projection import Floats, Observations, Projection, mean_variance

MIN_SEPARATION = 3.25
"""Lower limit on the standard deviations between two clusters: above what k-means makes of one Gaussian,
below what separates the states of a lock with noise 0.3."""
MOST_STARTS = 10_000
"""Upper limit on the starts of k-means: their random numbers are drawn beforehand."""
_MOST_ITERATIONS = 300
"""Upper limit on the iterations of k-means from one start."""


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
    n_init: int = setting(3, least=1, most=MOST_STARTS, help="Number of starts of k-means.", kw_only=True)

    def _criterion_of_one(self, data: Observations) -> float:
        return LabelCriterion(data)(np.zeros(len(data), np.int64))

    def _criterion(self, data: Observations, learned: dict[str, Any]) -> float:
        return LabelCriterion(data)(learned["decoder_"].decode(data))


def weighted_kmeans(
    projection: Projection, n_states: int, n_init: int, random_state: int | None
) -> tuple[Floats, NDArray[np.int64]]:
    """Centres [n_states, axes] and labels of weighted k-means; where there are fewer distinct points, some
    centres are the same."""
    points = projection.points
    n_clusters = n_distinct(points, n_states)
    if n_clusters == 1:
        return as_many_centres(points[:1], n_states), np.zeros(len(points), np.int64)
    uniforms = drawn_uniforms(np.random.default_rng(random_state), (n_init, uniforms_of_a_start(n_clusters)))
    centres, labels = cluster_points(points, projection.weights, n_clusters, uniforms)
    return as_many_centres(centres, n_states), labels


def as_many_centres(centres: Floats, n_states: int) -> Floats:
    """Centres [n_states, axes], of which the first stands for those that are missing."""
    if len(centres) == n_states:
        return centres
    return np.concatenate([centres, np.tile(centres[:1], (n_states - len(centres), 1))])


def cluster_points(
    points: Floats, weights: Floats | None, n_clusters: int, uniforms: Floats, tolerance: float = 0.0
) -> tuple[Floats, NDArray[np.int64]]:
    """Centres [n_clusters, R] and labels [n] of k-means, by the best of several starts, for each of which
    there is a row of `uniforms_of_a_start`: points [n, R] count alike, or with weights [n]. A start ends when
    the squared distances that centres move add up to no more than the tolerance, a share of the mean
    variance."""
    rows = np.ascontiguousarray(points, np.float64)
    columns = np.ascontiguousarray(rows.T)
    row_weights = np.ones(len(rows)) if weights is None else np.ascontiguousarray(weights)
    centres, workspace = np.empty((n_clusters, rows.shape[1])), kmeans_workspace(columns, n_clusters)
    trials, least_move = _trials(n_clusters), tolerance * mean_variance(rows) if tolerance else 0.0
    _clustering.kmeans(
        uniforms, columns, rows, row_weights, trials, _MOST_ITERATIONS, least_move, workspace, centres
    )
    return centres, workspace.labels.astype(np.int64)


def uniforms_of_a_start(n_clusters: int) -> int:
    """How many uniforms a start of k-means takes."""
    return 1 + (n_clusters - 1) * _trials(n_clusters)


def _trials(n_clusters: int) -> int:
    """How many places are tried for a centre: as many as scikit-learn's k-means tries."""
    return 2 + int(math.log(n_clusters))


def n_distinct(points: Observations, most: int) -> int:
    """How many distinct points there are, counted up to `most`."""
    # the first few mostly tell
    for some in (points[: 4 * most, 0], points[:, 0]):
        if len(set(some.tolist())) >= most:
            return most
    return min(most, len(np.unique(points, axis=0)))


def nearest_centre_decoder(centres: Floats, projection: Projection) -> AffineDecoder:
    """The decoder whose label is the nearest of the centres [n_states, axes] to the image of an
    observation."""
    # |A x + b - c|^2 is smallest where c' (A x + b) - |c|^2 / 2 is largest: nothing here grows with the
    # square of b, which is great where observations are far from the origin, and would drown the rest in
    # float32
    return AffineDecoder(
        centres @ projection.matrix, centres @ projection.offset - np.square(centres).sum(axis=1) / 2
    )
