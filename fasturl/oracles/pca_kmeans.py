"""The paper's first oracle: principal component analysis, then k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .._base.schema import setting
from .clusters import as_many_centres, n_distinct, nearest_centre_decoder
from .principal import PrincipalOracle
from .projection import Observations


@dataclass(eq=False, repr=False)
class PCAKMeans(PrincipalOracle):
    """Principal component analysis, then k-means, as scikit-learn does both: all observations weigh the same,
    every cluster keeps its own label.

    A state that is rarely met has little variance, so its cluster is found once play meets it often enough.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = PCAKMeans(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.cluster",)

    n_init: int = setting(
        10, least=1, help="Number of starts of k-means; ten was scikit-learn's default in 2020.", kw_only=True
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        from sklearn.cluster import KMeans

        projection = self._project(data)
        n_clusters = n_distinct(projection.points, self._n_clusters)
        kmeans = KMeans(n_clusters, n_init=self.n_init, random_state=self.random_state).fit(projection.points)
        centres = as_many_centres(kmeans.cluster_centers_, self._n_clusters)
        return {"decoder_": nearest_centre_decoder(centres, projection)}
