"""The paper's first oracle: principal component analysis, then k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._base.schema import setting
from .._kernels.clustering import TOLERANCE
from .clusters import (
    MOST_STARTS,
    as_many_centres,
    cluster_points,
    n_distinct,
    nearest_centre_decoder,
    uniforms_of_a_start,
)
from .principal import PrincipalOracle
from .projection import Observations


@dataclass(eq=False, repr=False)
class PCAKMeans(PrincipalOracle):
    """Principal component analysis, then k-means, as scikit-learn does both from the same random numbers:
    all observations weigh the same, every cluster keeps its own label.

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

    n_init: int = setting(
        10,
        least=1,
        most=MOST_STARTS,
        help="Number of starts of k-means; ten was scikit-learn's default in 2020.",
        kw_only=True,
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        projection, random = self._project(data), np.random.RandomState(self.random_state)
        n_clusters = n_distinct(projection.points, self._n_clusters)
        uniforms = random.random((self.n_init, uniforms_of_a_start(n_clusters)))
        centres, _ = cluster_points(projection.points, None, n_clusters, uniforms, TOLERANCE)
        centres = as_many_centres(centres, self._n_clusters)
        return {"decoder_": nearest_centre_decoder(centres, projection)}
