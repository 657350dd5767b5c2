"""The mixture oracle: Gaussians in the projected space, started from the clusters of k-means."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.mixture import GaussianMixture

from .._base.schema import setting
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from ..decoders.quadratic import QuadraticDecoder
from .clusters import CentreOracle, weighted_kmeans
from .oracle import Attempt, n_axes
from .projection import Floats, Observations, Projection, merged, separation

COVARIANCES = ("spherical", "tied", "diag", "full")


@dataclass(eq=False, repr=False)
class GMM(CentreOracle):
    """A Gaussian mixture in the projected space, started from the clusters that k-means finds there.

    n_directions="all" fits the mixture to the observations themselves. These must then lie near the origin
    where covariance is "spherical" or "tied": their squares are added up in float32. One start is enough
    where URL fits again and again, and keeps the better one of two fits.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + generator.normal(0, 0.1, (600, 8))
    >>> labels = GMM(3, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    # an oracle of all directions projects on none, so the setting has a value that no other oracle's has
    n_directions: int | str | None = setting(  # type: ignore[assignment]
        None,
        none="n_states - 1",
        values="integer >= 1 or all",
        help="Number of directions to project on; all fits the observations themselves.",
        kw_only=True,
    )
    covariance: str = setting(
        "spherical",
        choices=COVARIANCES,
        help="Shape of the components, as scikit-learn's GaussianMixture has it.",
        kw_only=True,
    )
    n_init: int = setting(1, least=1, help="Number of starts of k-means.", kw_only=True)

    def _fits_directly(self) -> bool:
        return isinstance(self.n_directions, str) and self.n_directions == "all"

    def _n_axes(self, dimension: int) -> int:
        """A mixture of the observations themselves is started from a projection too: the usual one."""
        return (
            n_axes(None, self._n_clusters, dimension) if self._fits_directly() else super()._n_axes(dimension)
        )

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        directly = self._fits_directly()
        _, labels = weighted_kmeans(projection, self._n_clusters, self.n_init, self.random_state)
        points = np.asarray(data, np.float64) if directly else projection.points
        mixture = _started_mixture(points, labels, self._n_clusters, self.covariance, self.random_state)
        components = mixture.fit_predict(points)
        decoder = mixture_decoder(mixture, *(() if directly else (projection.matrix, projection.offset)))
        names = merged(
            self._n_clusters, separation(projection.points, components, self._n_clusters), self.min_separation
        )
        learned = {"mixture_": mixture, "decoder_": decoder.relabelled(names)}
        return Attempt(learned, self._doubt(data, names[components], projection.of_bits))


def _started_mixture(
    points: Floats, labels: NDArray[np.int64], n_states: int, covariance: str, random_state: int | None
) -> Any:
    """A mixture that begins at the given clusters, all with their common variance."""
    least_variance = 1e-6 * (
        float(points.var(axis=0).mean()) or 1.0
    )  # small beside the data, whatever their unit
    membership = np.eye(n_states)[labels]
    counts = np.maximum(membership.sum(axis=0), 1.0)
    means = (membership.T @ points) / counts[:, None]
    precision = 1 / max(float(np.square(points - means[labels]).mean()), least_variance)
    dimension = points.shape[1]
    precisions = {
        "spherical": np.full(n_states, precision),
        "diag": np.full((n_states, dimension), precision),
        "tied": precision * np.eye(dimension),
        "full": np.tile(precision * np.eye(dimension), (n_states, 1, 1)),
    }
    return GaussianMixture(
        n_states,
        covariance_type=covariance,
        means_init=means,
        weights_init=counts / counts.sum(),
        precisions_init=precisions[covariance],
        reg_covar=least_variance,
        init_params="random_from_data",
        tol=1e-4,
        max_iter=200,
        random_state=random_state,
    )


def mixture_decoder(mixture: Any, matrix: Floats | None = None, offset: Floats | None = None) -> Decoder:
    """A fitted `sklearn.mixture.GaussianMixture`, of observations x or of their images A x + b, as a compiled
    decoder."""
    means, log_weights, kind = mixture.means_, np.log(mixture.weights_), mixture.covariance_type
    dimension = means.shape[1]
    if kind == "spherical":
        precision = 1 / mixture.covariances_
        bias = log_weights + dimension / 2 * np.log(precision) - precision / 2 * np.square(means).sum(axis=1)
        return AffineDecoder(means * precision[:, None], bias, -precision / 2, matrix, offset)
    if kind == "tied":
        weights = np.linalg.solve(mixture.covariances_, means.T).T
        return AffineDecoder(
            weights, log_weights - np.einsum("kd,kd->k", weights, means) / 2, None, matrix, offset
        )
    precisions = (
        np.eye(dimension) / mixture.covariances_[:, None, :]
        if kind == "diag"
        else np.linalg.inv(mixture.covariances_)
    )
    return QuadraticDecoder(means, precisions, log_weights, matrix, offset)
