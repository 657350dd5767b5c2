"""Subspace clustering: every state is a linear subspace near which its observations lie.

k-subspaces (Bradley and Mangasarian, 2000; Tseng, 2000) is k-means with subspaces for centres: observations
go to the subspace of least residual |x|^2 - |U_k' x|^2, and the orthonormal basis U_k becomes the leading
eigenvectors of the second moments of what went there; neither step increases the sum of the residuals. Where
that ends depends on where it begins: once at the clusters of a graph that joins each of some observations to
those that lie in the most similar direction, whatever the sign (thresholding-based subspace clustering,
Heckel and Boelcskei, 2015), and `n_init` times at random subspaces. The least sum of residuals is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy  # whose parts load when they are used
from numpy.typing import NDArray

from .._base import checks
from .._base.sampling import drawn_uniforms
from .._base.schema import setting
from ..decoders.quadratic import QuadraticDecoder
from .clusters import cluster_points, uniforms_of_a_start
from .oracle import DecodingOracle
from .projection import Floats, Observations

_STARTS = 5
"""Starts of k-means on the points of the spectrum."""
_RIDGE = 1e-2
"""Added to all directions of every quadratic form, which changes no label: it has a Cholesky factor then."""


class _Clusters(NamedTuple):
    bases: Floats  # [K, D, d], orthonormal columns
    residuals: list[float]  # sums after each iteration


@dataclass(eq=False, repr=False)
class Subspaces(DecodingOracle):
    """Linear subspaces, one for each state, by k-subspaces.

    An observation and its multiples have the same label. Fitted, `bases_` [K, D, d] are orthonormal bases of
    the subspaces, and `residuals_` the sum of the squared distances from them after each iteration.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(2, size=400)
    >>> bases = generator.standard_normal((2, 2, 10))  # of two planes
    >>> X = np.einsum("nr,nrd->nd", generator.standard_normal((400, 2)), bases[states])
    >>> labels = Subspaces(2, subspace_dimension=2, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    subspace_dimension: int = setting(1, least=1, help="Dimension of the subspaces.", kw_only=True)
    n_init: int = setting(3, least=0, help="Number of starts at random subspaces.", kw_only=True)
    n_neighbours: int = setting(
        10,
        least=1,
        help="Observations to which each is joined in the graph of the first start.",
        kw_only=True,
    )
    max_samples: int = setting(
        500,
        least=2,
        help="Observations in that graph, a random choice where there are more: it takes n^2 memory.",
        kw_only=True,
    )
    max_iter: int = setting(100, least=1, help="Most iterations from each start.", kw_only=True)

    def check_settings(self, dimension: int) -> None:
        super().check_settings(dimension)
        checks.integer("max_samples", self.max_samples, least=self._n_clusters)
        if dimension == 1:
            raise ValueError("X must have at least 2 coordinates for subspaces to differ, got 1")
        checks.integer("subspace_dimension", self.subspace_dimension, least=1, most=dimension - 1)

    def _learn(self, data: Observations) -> dict[str, Any]:
        rows = np.asarray(data, np.float64)
        generator = np.random.default_rng(self.random_state)
        starts = [self._graph_start(rows, generator)]
        shape = (self._n_clusters, rows.shape[1], self.subspace_dimension)
        starts += [np.linalg.qr(generator.standard_normal(shape))[0] for _ in range(self.n_init)]
        fits = [self._cluster(rows, bases) for bases in starts]
        best = min(fits, key=lambda fit: fit.residuals[-1])
        return {
            "decoder_": _decoder(best.bases),
            "bases_": best.bases,
            "residuals_": np.array(best.residuals),
        }

    def _graph_start(self, rows: Floats, generator: np.random.Generator) -> Floats:
        """Bases of the clusters of a graph of similar directions, by its leading eigenvectors."""
        if len(rows) > self.max_samples:
            rows = rows[generator.choice(len(rows), self.max_samples, replace=False)]
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        directions = rows / np.where(lengths > 0.0, lengths, 1.0)
        angles = np.arccos(np.minimum(np.abs(directions @ directions.T), 1.0))
        np.fill_diagonal(angles, np.inf)
        n_neighbours = min(self.n_neighbours, len(rows) - 1)
        furthest = np.partition(angles, n_neighbours - 1, axis=1)[:, n_neighbours - 1 : n_neighbours]
        similarities = np.where(angles <= furthest, np.exp(-2.0 * angles), 0.0)
        similarities += similarities.T
        root_degrees = np.sqrt(similarities.sum(axis=1))
        n = len(rows)
        leading = [n - self._n_clusters, n - 1]
        normalised = similarities / np.outer(root_degrees, root_degrees)
        vectors = scipy.linalg.eigh(normalised, subset_by_index=leading)[1]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        # few distinct rows give fewer distinct points than clusters; a little noise makes them enough
        points = vectors / np.where(norms > 0.0, norms, 1.0) + 1e-6 * generator.standard_normal(vectors.shape)
        random = np.random.default_rng(self.random_state)
        uniforms = drawn_uniforms(random, (_STARTS, uniforms_of_a_start(self._n_clusters)))
        _, labels = cluster_points(points, None, self._n_clusters, uniforms)
        return np.stack([self._leading(rows[labels == k]) for k in range(self._n_clusters)])

    def _cluster(self, rows: Floats, bases: Floats) -> _Clusters:
        """Assign observations to subspaces and fit these to them in turn, until no observation changes."""
        lengths = np.square(rows).sum(axis=1)
        residuals: list[float] = []
        labels: NDArray[np.int64] | None = None
        for _ in range(self.max_iter):
            inside = np.stack([np.square(rows @ basis).sum(axis=1) for basis in bases])
            new_labels = inside.argmax(axis=0)
            residuals.append(float((lengths - inside.max(axis=0)).sum()))
            if labels is not None and np.array_equal(new_labels, labels):
                break
            labels = new_labels
            # a subspace that nothing is near to stays where it is
            bases = np.stack(
                [
                    self._leading(rows[labels == k]) if (labels == k).any() else bases[k]
                    for k in range(len(bases))
                ]
            )
        return _Clusters(bases, residuals)

    def _leading(self, rows: Floats) -> Floats:
        """The basis [D, d] of the subspace nearest to the rows."""
        return np.linalg.eigh(rows.T @ rows)[1][:, -self.subspace_dimension :]


def _decoder(bases: Floats) -> QuadraticDecoder:
    """The label of least x' (I - U_k U_k') x. The volumes of all these forms are equal, so they decide
    nothing."""
    n_subspaces, dimension, _ = bases.shape
    forms = (1.0 + _RIDGE) * np.eye(dimension) - bases @ bases.transpose(0, 2, 1)
    return QuadraticDecoder(np.zeros((n_subspaces, dimension)), forms, np.zeros(n_subspaces))
