"""Unsupervised oracles in scikit-learn's style: `fit` on observations, then `decoder_` and `predict`.

Each projects the observations on a few directions first (`projection`): of large fourth moments, in which rare clusters stand
out, or plain principal components, as the paper's oracles do, where the former do not show as many clusters as there are states.

Any other object with `fit` and `predict` (a clusterer or a pipeline) serves as an oracle as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN as _SklearnDBSCAN
from sklearn.cluster import KMeans as _SklearnKMeans
from sklearn.exceptions import NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.svm import SVC

from . import validation
from .decoders import AffineDecoder, Decoder, QuadraticDecoder, SupportVectorDecoder
from .projection import KINDS, Floats, Observations, Projection, dependence, merged, separation

MIN_SEPARATION = 3.25
"""In standard deviations: above what k-means makes of one Gaussian, below what separates the states of a lock with noise 0.3."""
MOST_DEPENDENCE = 2.0
"""Beyond this, bits go together that would not if labels were states: by chance it is 1, and nearer to that the more bits there are."""
ENOUGH = 50
"""Observations for each state. Fewer fall apart by chance in one projection or another, so the first has to do."""


class NoClusters(ValueError):
    """All observations look like noise."""


class OneCluster(NoClusters):
    """All observations look alike. That is an error where they come from all levels; a single level may have one state."""


class Attempt(NamedTuple):
    """What an oracle makes of one projection."""

    learned: dict[str, Any]
    """The attributes that it gives a fitted oracle."""
    doubt: float
    """Nothing, or reason to try another projection."""


class Oracle(ClusterMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn carries no types
    """What the oracles share: checks, the choice of a projection, and prediction through the compiled decoder.

    There is no `labels_`: `fit` would spend time on labels that few ask for, and `fit_predict` gives them.
    """

    n_states: int
    n_components: int | str | None
    scale: bool | str
    projection: str
    random_state: int | None
    decoder_: Decoder
    n_features_in_: int

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        data = self._check(X)
        best: Attempt | None = None
        problem: NoClusters | None = None
        kinds = KINDS if self.projection == "auto" else (self.projection,)
        for kind in kinds if data.shape[0] >= ENOUGH * self.n_states else kinds[:1]:
            try:
                attempt = self._attempt(data, Projection(data, self._n_axes(data.shape[1]), self.scale, kind))
            except NoClusters as error:
                problem = problem or error
                continue
            if best is None or attempt.doubt < best.doubt:
                best = attempt
            if not best.doubt:
                break
        if best is None:
            assert problem is not None
            raise problem
        for name, value in best.learned.items():
            setattr(self, name, value)
        self.n_features_in_ = data.shape[1]
        return self

    @abstractmethod
    def _attempt(self, data: Observations, projection: Projection) -> Attempt: ...

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """The label of each observation."""
        if not hasattr(self, "decoder_"):
            raise NotFittedError(f"this {type(self).__name__} has not been fitted: call fit first")
        data = _table(X)
        if data.shape[1] != self.n_features_in_:
            raise ValueError(f"X must have {self.n_features_in_} coordinates, as the observations that were fitted, got {data.shape[1]}")
        return self.decoder_.decode(data) if len(data) else np.empty(0, np.int64)

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int64]:
        return self.fit(X).predict(X)

    def check_settings(self, dimension: int) -> None:
        """Refuse settings with which no observations of so many coordinates could be fitted."""
        validation.integer("n_states", self.n_states, least=2, most=256)
        if not (isinstance(self.scale, bool | np.bool_) or (isinstance(self.scale, str) and self.scale == "auto")):
            raise ValueError(f"scale must be True, False or 'auto', got {validation.shown(self.scale)}")
        validation.choice("projection", self.projection, ("auto", *KINDS))
        if self.random_state is not None:
            validation.integer("random_state", self.random_state, least=0, most=2**32 - 1)
        self._n_axes(dimension)
        self._check_own()

    def _n_axes(self, dimension: int) -> int:
        return n_axes(self.n_components, self.n_states, dimension)

    @abstractmethod
    def _check_own(self) -> None:
        """Refuse the settings that only this oracle has."""

    def _check(self, X: ArrayLike) -> Observations:
        data = _table(X)
        if data.shape[1] == 0:
            raise ValueError("X must have at least 1 coordinate, got 0")
        self.check_settings(data.shape[1])
        if data.shape[0] < self.n_states:
            raise ValueError(f"X must hold at least n_states = {self.n_states} observations, got {data.shape[0]}")
        _check_precision(data)
        return data

    def _doubt(self, data: Observations, labels: NDArray[np.integer], of_bits: bool) -> float:
        """What speaks against these labels: that bits go together all the same, or that clusters are missing."""
        if of_bits:
            return max(0.0, dependence(data, labels, self.n_states) - MOST_DEPENDENCE)
        return self.n_states - len(np.unique(labels))


def _table(X: ArrayLike) -> Observations:
    data = np.asarray(X)
    if data.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got {data.dtype}")
    if data.ndim != 2:
        raise ValueError(f"X must have shape [observations, coordinates], got {data.shape}")
    if data.dtype.kind == "f" and not np.all(np.isfinite(data)):
        raise ValueError("X must be finite, got NaN or infinity")
    return data


def _check_precision(data: Observations) -> None:
    """Decoders read observations as float32, which cannot tell apart what lies close together and far from 0."""
    if np.can_cast(data.dtype, np.float32):
        return
    centre, spread = data.mean(axis=0), data.std(axis=0)
    lost = (spread > 0) & (spread < np.finfo(np.float32).eps / 2 * np.abs(centre))
    if lost.any():
        j = int(lost.argmax())
        raise ValueError(
            f"X must lie nearer to 0: coordinate {j} is {centre[j]:g} with a standard deviation of {spread[j]:g}, "
            "which float32 cannot hold: subtract a constant first"
        )


def _cluster(projection: Projection, n_states: int, n_init: int, random_state: int | None) -> tuple[Floats, NDArray[np.int64]]:
    """Centres [n_states, axes] and labels of weighted k-means; where there are fewer distinct points, some centres are the same."""
    distinct = np.unique(projection.points[:, 0])
    if distinct.size < n_states:
        distinct = np.unique(projection.points, axis=0)
    n_clusters = min(n_states, len(distinct))
    if n_clusters == 1:
        return np.tile(projection.points[0], (n_states, 1)), np.zeros(len(projection.points), np.int64)
    kmeans = _SklearnKMeans(n_clusters, n_init=n_init, random_state=random_state)
    kmeans.fit(projection.points, sample_weight=projection.weights)
    centres = kmeans.cluster_centers_
    return np.concatenate([centres, np.tile(centres[:1], (n_states - n_clusters, 1))]), kmeans.labels_.astype(np.int64)


class KMeans(Oracle):
    """Scaling, projection, k-means.

    n_states
        Number of clusters.
    n_components
        Number of directions; n_states - 1 if not given: that many hold the centres of n_states clusters.
    scale
        Whether to divide coordinates by their standard deviation; "auto": where the observations are bits.
    projection
        On which directions: "moments", those of large fourth moments, where k-means counts each point with its squared length; or
        "pca", principal components, where it counts all alike. "auto" takes the former, which show rare states, unless the latter
        show more clusters: a state amid the others has no length to count with.
    min_separation
        Clusters whose centres are closer than so many standard deviations get one label: there may be fewer states to see
        than n_states.
    n_init
        Number of starts of k-means.
    random_state
        Seed of the starts.
    """

    def __init__(
        self,
        n_states: int = 3,
        *,
        n_components: int | None = None,
        scale: bool | str = "auto",
        projection: str = "auto",
        min_separation: float = MIN_SEPARATION,
        n_init: int = 3,
        random_state: int | None = None,
    ) -> None:
        self.n_states = n_states
        self.n_components = n_components
        self.scale = scale
        self.projection = projection
        self.min_separation = min_separation
        self.n_init = n_init
        self.random_state = random_state

    def _check_own(self) -> None:
        validation.real("min_separation", self.min_separation, least=0)
        validation.integer("n_init", self.n_init, least=1)

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        centres, labels = _cluster(projection, self.n_states, self.n_init, self.random_state)
        # |A x + b - c|^2 is smallest where c' (A x + b) - |c|^2 / 2 is largest: nothing here grows with the square of b, which is
        # great where observations are far from the origin, and would drown the rest in float32
        decoder = AffineDecoder(centres @ projection.matrix, centres @ projection.offset - np.square(centres).sum(axis=1) / 2)
        names = merged(self.n_states, separation(projection.points, labels, self.n_states), self.min_separation)
        return Attempt({"decoder_": decoder.relabelled(names)}, self._doubt(data, names[labels], projection.of_bits))


class GMM(Oracle):
    """A Gaussian mixture in the projected space, started from the clusters that k-means finds there.

    n_states
        Number of components.
    covariance
        "spherical" (one variance for each component), "tied", "diag" or "full", as scikit-learn's GaussianMixture has them.
    n_components
        Number of directions, as for `KMeans`; "all" fits the mixture to the observations themselves. These must then lie near the
        origin where covariance is "spherical" or "tied": their squares are added up in float32.
    scale, projection, min_separation, n_init, random_state
        As for `KMeans`. One start is enough where URL fits again until two fits agree.
    """

    def __init__(
        self,
        n_states: int = 3,
        *,
        covariance: str = "spherical",
        n_components: int | str | None = None,
        scale: bool | str = "auto",
        projection: str = "auto",
        min_separation: float = MIN_SEPARATION,
        n_init: int = 1,
        random_state: int | None = None,
    ) -> None:
        self.n_states = n_states
        self.covariance = covariance
        self.n_components = n_components
        self.scale = scale
        self.projection = projection
        self.min_separation = min_separation
        self.n_init = n_init
        self.random_state = random_state

    def _check_own(self) -> None:
        validation.choice("covariance", self.covariance, ("spherical", "tied", "diag", "full"))
        validation.real("min_separation", self.min_separation, least=0)
        validation.integer("n_init", self.n_init, least=1)

    def _fits_directly(self) -> bool:
        return isinstance(self.n_components, str) and self.n_components == "all"

    def _n_axes(self, dimension: int) -> int:
        """A mixture of the observations themselves is started from a projection too: the usual one."""
        return n_axes(None, self.n_states, dimension) if self._fits_directly() else super()._n_axes(dimension)

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        directly = self._fits_directly()
        _, labels = _cluster(projection, self.n_states, self.n_init, self.random_state)
        points = np.asarray(data, np.float64) if directly else projection.points
        mixture = _started_mixture(points, labels, self.n_states, self.covariance, self.random_state)
        components = mixture.fit_predict(points)
        decoder = mixture_decoder(mixture, *(() if directly else (projection.matrix, projection.offset)))
        names = merged(self.n_states, separation(projection.points, components, self.n_states), self.min_separation)
        learned = {"mixture_": mixture, "decoder_": decoder.relabelled(names)}
        return Attempt(learned, self._doubt(data, names[components], projection.of_bits))


def _started_mixture(points: Floats, labels: NDArray[np.int64], n_states: int, covariance: str, random_state: int | None) -> Any:
    """A mixture that begins at the given clusters, all with their common variance."""
    least_variance = 1e-6 * (float(points.var(axis=0).mean()) or 1.0)  # small beside the data, whatever their unit
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


EPS = (0.7, 0.5, 0.35, 0.25, 0.18)
"""Radii that DBSCAN tries, the greatest first, which leaves the fewest points out."""
MOST_NOISE = 0.1
MIN_GAP = 5.0
"""What falls to pieces at a small radius leaves out more than this share, or has pieces nearer than so many standard deviations."""


class DBSCAN(Oracle):
    """Density clusters in the projected space, then a support vector classifier that decodes new observations.

    Clusters are numbered by size, largest first. Where more than n_states are found, the smallest are left out; where fewer,
    the labels that are left over are never given.

    n_states
        The largest number of clusters.
    eps
        Radius of a neighbourhood, in standard deviations of the projected points along each direction. If not given, the greatest of
        a few that finds n_states clusters, or as near to that as any does.
    min_samples
        Points in a neighbourhood that make its centre a core point.
    min_share
        The same as a share of all points that are clustered; the greater number counts. Among more points, more lie between clusters.
    max_samples
        Points that are clustered: a random choice of that many where there are more, since the neighbourhoods of n points
        take up to n^2 memory.
    n_components, scale, projection, random_state
        As for `KMeans`; random_state seeds the choice of points.
    """

    def __init__(
        self,
        n_states: int = 3,
        *,
        eps: float | None = None,
        min_samples: int = 5,
        min_share: float = 0.005,
        max_samples: int = 4000,
        n_components: int | None = None,
        scale: bool | str = "auto",
        projection: str = "auto",
        random_state: int | None = None,
    ) -> None:
        self.n_states = n_states
        self.eps = eps
        self.min_samples = min_samples
        self.min_share = min_share
        self.max_samples = max_samples
        self.n_components = n_components
        self.scale = scale
        self.projection = projection
        self.random_state = random_state

    def _check_own(self) -> None:
        if self.eps is not None:
            validation.real("eps", self.eps, least=0, open_left=True)
        validation.integer("min_samples", self.min_samples, least=1)
        validation.real("min_share", self.min_share, least=0, most=1)
        validation.integer("max_samples", self.max_samples, least=self.n_states)

    def _attempt(self, data: Observations, projection: Projection) -> Attempt:
        unit = projection.points.std(axis=0)
        unit[unit == 0] = 1.0
        matrix, offset = projection.matrix / unit[:, None], projection.offset / unit
        points = projection.points / unit
        if points.shape[0] > self.max_samples:
            chosen = np.sort(np.random.default_rng(self.random_state).choice(points.shape[0], self.max_samples, replace=False))
            data, points = data[chosen], points[chosen]
        labels = self._clusters(points)
        kept = (labels >= 0) & (labels < self.n_states)
        classifier = SVC(kernel="rbf", gamma="scale").fit(points[kept], labels[kept])
        decoder = SupportVectorDecoder(matrix, offset, classifier)
        return Attempt({"decoder_": decoder}, self._doubt(data[kept], labels[kept], projection.of_bits))

    def _clusters(self, points: Floats) -> NDArray[np.int64]:
        """Labels of points by the size of their cluster, largest first; -1 is noise."""
        min_samples = max(self.min_samples, int(self.min_share * points.shape[0]))
        trials = []
        for eps in EPS if self.eps is None else (self.eps,):
            found = _SklearnDBSCAN(eps=eps, min_samples=min_samples).fit(points).labels_
            if self.eps is None:
                found = self._whole(points, found)
            sizes = np.bincount(found[found >= 0])
            misfit = (np.mean(found < 0) > MOST_NOISE, abs(sizes.size - self.n_states), sizes.size < self.n_states)
            trials.append((misfit, -eps, found, sizes))
            if not any(misfit):
                break
        _, eps, found, sizes = min(trials, key=lambda trial: trial[:2])
        where = f"in {points.shape[0]} observations with eps={-eps}, min_samples={min_samples}"
        if sizes.size == 0:
            raise NoClusters(f"DBSCAN found only noise {where}: try a larger eps, or a smaller min_samples or min_share")
        if sizes.size == 1:
            raise OneCluster(f"DBSCAN found one cluster {where}: try a smaller eps, or a larger min_samples or min_share")
        rank = np.full(sizes.size + 1, -1)  # the last entry is for noise, whose label is -1
        rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
        return np.asarray(rank[found])

    def _whole(self, points: Floats, found: NDArray[np.int64]) -> NDArray[np.int64]:
        """Pieces of one cluster are put together, unless there are so many that the radius will not do anyway."""
        n_found = found.max() + 1
        if not 1 < n_found <= 4 * self.n_states:
            return found
        names = merged(n_found, separation(points, found, n_found), MIN_GAP)
        return np.where(found < 0, -1, names[found])


BY_NAME: dict[str, Callable[..., Oracle]] = {"kmeans": KMeans, "dbscan": DBSCAN, "gmm": GMM}


def n_axes(wanted: int | str | None, n_states: int, dimension: int) -> int:
    """How many directions to project on: as many as wanted, or else as many as hold the centres of n_states clusters."""
    if wanted is None:
        return min(n_states - 1, dimension)
    return validation.integer("n_components", wanted, least=1, most=dimension)


def mixture_decoder(mixture: Any, matrix: Floats | None = None, offset: Floats | None = None) -> Decoder:
    """A fitted `sklearn.mixture.GaussianMixture`, of observations x or of their images A x + b, as a compiled decoder."""
    means, log_weights, kind = mixture.means_, np.log(mixture.weights_), mixture.covariance_type
    dimension = means.shape[1]
    if kind == "spherical":
        precision = 1 / mixture.covariances_
        bias = log_weights + dimension / 2 * np.log(precision) - precision / 2 * np.square(means).sum(axis=1)
        return AffineDecoder(means * precision[:, None], bias, -precision / 2, matrix, offset)
    if kind == "tied":
        weights = np.linalg.solve(mixture.covariances_, means.T).T
        return AffineDecoder(weights, log_weights - np.einsum("kd,kd->k", weights, means) / 2, None, matrix, offset)
    precisions = np.eye(dimension) / mixture.covariances_[:, None, :] if kind == "diag" else np.linalg.inv(mixture.covariances_)
    return QuadraticDecoder(means, precisions, log_weights, matrix, offset)
