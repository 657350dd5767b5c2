"""The paper's third oracle: a Gaussian mixture of the observations themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from .clusters import n_distinct
from .gaussian_mixture import fit_mixture, start_at
from .principal import PublishedOracle
from .projection import Observations

_LEAST_VARIANCE = 1e-6
"""Added to every variance: what scikit-learn adds."""
_TOLERANCE = 1e-3
"""What an iteration must add to the mean log-likelihood for another one to follow: as scikit-learn has it."""


@dataclass(eq=False, repr=False)
class FullGMM(PublishedOracle):
    """A Gaussian mixture of the observations as they are, with full covariance matrices, started by
    k-means, as scikit-learn's `GaussianMixture` fits it.

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

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.cluster",)

    max_iter: int = setting(
        100, least=1, help="Most iterations of expectation and maximisation.", kw_only=True
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        points = np.asarray(data, np.float64)
        n_components = n_distinct(points, self._n_clusters)
        if n_components == 1:
            return {"decoder_": ConstantDecoder(2)}
        from sklearn.cluster import KMeans

        # scikit-learn's own: observations of bits are as far from one centre as from another, and rounding
        # says which is the nearest
        labels = KMeans(n_components, n_init=1, random_state=self.random_state).fit(points).labels_
        start = start_at(points, labels, n_components, "full", _LEAST_VARIANCE)
        mixture = start.maximised(points, np.eye(n_components)[labels], _LEAST_VARIANCE)
        try:
            mixture, _ = fit_mixture(points, mixture, _LEAST_VARIANCE, _TOLERANCE, self.max_iter)
        except np.linalg.LinAlgError:
            raise ValueError(
                f"X must have numbers for which a variance of {_LEAST_VARIANCE:g} is more than rounding, "
                f"got some of {np.abs(points).max():.3g} in size"
            ) from None
        return {"mixture_": mixture, "decoder_": mixture.decoder()}
