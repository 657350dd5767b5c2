"""The paper's third oracle: a Gaussian mixture of the observations themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from .clusters import n_distinct
from .gaussian_mixture import GaussianMixture
from .principal import PublishedOracle
from .projection import Observations


@dataclass(eq=False, repr=False)
class FullGMM(PublishedOracle):
    """A Gaussian mixture of the observations as they are, with full covariance matrices, started by
    k-means: scikit-learn's `GaussianMixture` as it comes.

    Where there are fewer distinct observations than n_states, it has as many components as these.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = FullGMM(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.mixture",)

    max_iter: int = setting(
        100, least=1, help="Most iterations of expectation and maximisation.", kw_only=True
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        points = np.asarray(data, np.float64)
        n_components = n_distinct(points, self._n_clusters)
        if n_components == 1:
            return {"decoder_": ConstantDecoder(2)}
        from .limited_estimators import LimitedMixture

        mixture = LimitedMixture(n_components, max_iter=self.max_iter, random_state=self.random_state)
        mixture.fit(points)
        fitted = GaussianMixture(mixture.weights_, mixture.means_, mixture.covariances_, "full")
        return {"mixture_": mixture, "decoder_": fitted.decoder()}
