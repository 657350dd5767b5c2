"""The paper's third oracle: a Gaussian mixture of the observations themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from .clusters import n_distinct
from .gmm import mixture_decoder
from .principal import PublishedOracle
from .projection import Observations


class _Mixture(GaussianMixture):  # type: ignore[misc]  # scikit-learn carries no types
    """A mixture whose iterations are limited on purpose, so that nobody is warned."""

    @property
    def converged_(self) -> bool:
        return True

    @converged_.setter
    def converged_(self, value: bool) -> None:
        pass


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

    max_iter: int = setting(
        100, least=1, help="Most iterations of expectation and maximisation.", kw_only=True
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        points = np.asarray(data, np.float64)
        n_components = n_distinct(points, self._n_clusters)
        if n_components == 1:
            return {"decoder_": ConstantDecoder(2)}
        mixture = _Mixture(n_components, max_iter=self.max_iter, random_state=self.random_state)
        mixture.fit(points)
        return {"mixture_": mixture, "decoder_": mixture_decoder(mixture)}
