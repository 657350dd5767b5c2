"""The density oracle: DBSCAN in the projected space, then a support vector classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.schema import setting
from ..decoders.support_vector import SupportVectorDecoder
from .oracle import Attempt, NoClusters, OneCluster, Oracle
from .projection import Floats, Observations, Projection, merged

EPS = (0.7, 0.5, 0.35, 0.25, 0.18)
"""Radii that DBSCAN tries, the greatest first, which leaves the fewest points out."""
MOST_NOISE = 0.1
"""Share of noise points beyond which a radius is taken to be too small."""
MIN_GAP = 5.0
"""Pieces nearer than so many standard deviations are taken for one cluster that fell apart."""


@dataclass(eq=False, repr=False)
class DBSCAN(Oracle):
    """Density clusters in the projected space, then a support vector classifier that decodes new
    observations.

    Clusters are numbered by size, largest first. Where more than n_states are found, the smallest are left
    out; where fewer, the labels that are left over are never given.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = DBSCAN(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.cluster", "sklearn.svm")

    eps: float | None = setting(
        None,
        above=0,
        unit="standard deviations of the projected points",
        none="the greatest of a few that finds n_states clusters, or as near to that as any does",
        help="Radius of a neighbourhood.",
        kw_only=True,
    )
    min_samples: int = setting(
        5, least=1, help="Points in a neighbourhood that make its centre a core point.", kw_only=True
    )
    min_share: float = setting(
        0.005,
        least=0,
        most=1,
        help="The same as a share of all points that are clustered; the greater number counts. Among more "
        "points, more lie between clusters.",
        kw_only=True,
    )
    max_samples: int = setting(
        4000,
        least=2,
        help="Points that are clustered, a random choice where there are more: neighbourhoods of n points "
        "take up to n^2 memory.",
        kw_only=True,
    )

    def check_settings(self, dimension: int) -> None:
        super().check_settings(dimension)
        checks.integer("max_samples", self.max_samples, least=self._n_clusters)

    def least_observations(self) -> dict[str, int]:
        return {**super().least_observations(), "min_samples": self.min_samples}

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        unit = projection.points.std(axis=0)
        unit[unit == 0] = 1.0
        matrix, offset = projection.matrix / unit[:, None], projection.offset / unit
        points = projection.points / unit
        if points.shape[0] > self.max_samples:
            chosen = np.sort(
                np.random.default_rng(self.random_state).choice(
                    points.shape[0], self.max_samples, replace=False
                )
            )
            data, points = data[chosen], points[chosen]
        from sklearn.svm import SVC

        labels = self._clusters(points)
        in_cluster = (labels >= 0) & (labels < self._n_clusters)
        classifier = SVC(kernel="rbf", gamma="scale").fit(points[in_cluster], labels[in_cluster])
        decoder = SupportVectorDecoder(matrix, offset, classifier)
        doubt = self._doubt(data[in_cluster], labels[in_cluster], projection.of_bits)
        return Attempt({"decoder_": decoder}, doubt)

    def _clusters(self, points: Floats) -> NDArray[np.int64]:
        """Labels of points by the size of their cluster, largest first; -1 is noise."""
        from sklearn.cluster import DBSCAN as SklearnDBSCAN

        min_samples = max(self.min_samples, int(self.min_share * points.shape[0]))
        trials = []
        for eps in EPS if self.eps is None else (self.eps,):
            labels = SklearnDBSCAN(eps=eps, min_samples=min_samples).fit(points).labels_
            if self.eps is None:
                labels = self._with_pieces_merged(points, labels)
            sizes = np.bincount(labels[labels >= 0])
            misfit = (
                np.mean(labels < 0) > MOST_NOISE,
                abs(sizes.size - self._n_clusters),
                sizes.size < self._n_clusters,
            )
            trials.append((misfit, -eps, labels, sizes))
            if not any(misfit):
                break
        _, eps, labels, sizes = min(trials, key=lambda trial: trial[:2])
        where = f"in {points.shape[0]} observations with eps={-eps}, min_samples={min_samples}"
        if sizes.size == 0:
            raise NoClusters(
                f"DBSCAN found only noise {where}: try a larger eps, or a smaller min_samples or min_share"
            )
        if sizes.size == 1:
            raise OneCluster(
                f"DBSCAN found one cluster {where}: try a smaller eps, or a larger min_samples or min_share"
            )
        rank = np.full(sizes.size + 1, -1)  # the last entry is for noise, whose label is -1
        rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
        return np.asarray(rank[labels])

    def _with_pieces_merged(self, points: Floats, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Labels by which pieces of one cluster are the same. Where there are very many pieces, the radius is
        too small anyway, and labels stay as they are."""
        n_pieces = labels.max() + 1
        if not 1 < n_pieces <= 4 * self._n_clusters:
            return labels
        is_noise = labels < 0
        names = merged(points[~is_noise], labels[~is_noise], n_pieces, MIN_GAP)
        return np.where(is_noise, -1, names[labels])
