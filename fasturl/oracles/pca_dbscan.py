"""The paper's second oracle: principal component analysis, DBSCAN, then a support vector classifier.

DBSCAN numbers its clusters in the order in which it meets them. Observations are kept in the order of play,
so a cluster that was found early has the same number at later fits, unless it has grown together with
another.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import MAX_LABELS, Decoder
from ..decoders.support_vector import SupportVectorDecoder
from .principal import PrincipalOracle
from .projection import Observations, Projection


@dataclass(eq=False, repr=False)
class PCADBSCAN(PrincipalOracle):
    """Principal component analysis, density clusters, and a support vector classifier that decodes new
    observations.

    What DBSCAN calls noise is a class of its own, with label 0; the clusters have the labels 1, 2, ... in
    the order in which they are met. Labels are bytes: from the 256th cluster on, clusters count as noise.
    The memory that DBSCAN needs may grow with the square of the number of observations.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = PCADBSCAN(3, eps=0.5, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.cluster", "sklearn.svm")

    n_states: int | None = setting(
        None,
        least=2,
        most=MAX_LABELS,
        none="the environment's bound on the states of a level",
        help="Bound on the number of states, which sets n_directions; DBSCAN finds as many clusters as "
        "there are.",
    )
    eps: float = setting(
        0.5, above=0, help="Radius of a neighbourhood; the default is scikit-learn's.", kw_only=True
    )
    min_samples: int = setting(
        8, least=1, help="Points in a neighbourhood that make its centre a core point.", kw_only=True
    )
    max_iter: int = setting(
        1000,
        least=1,
        help="Most iterations of the support vector classifier for each pair of classes.",
        kw_only=True,
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        from sklearn.cluster import DBSCAN

        projection = self._project(data)
        clusters = DBSCAN(eps=self.eps, min_samples=self.min_samples).fit(projection.points).labels_
        labels = np.where(clusters < MAX_LABELS - 1, clusters + 1, 0)
        return {"decoder_": self._decoder(projection, labels)}

    def _decoder(self, projection: Projection, labels: np.ndarray[Any, Any]) -> Decoder:
        present = np.unique(labels)
        if present.size == 1:
            names = np.array([present[0], present[0]])
            return ConstantDecoder(2).relabelled(names)
        from .limited_estimators import LimitedClassifier

        classifier = LimitedClassifier(max_iter=self.max_iter).fit(projection.points, labels)
        return SupportVectorDecoder(projection.matrix, projection.offset, classifier).relabelled(present)
