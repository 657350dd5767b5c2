"""What oracles share, in scikit-learn's style: `fit` on observations, then `decoder_` and `predict`.

Ours (`Oracle`) project the observations on a few directions first (`projection`): of large fourth moments, in
which rare clusters stand out, or plain principal components, as the paper's oracles do, where the former do
not show as many clusters as there are states. The paper's own are in `pca_kmeans`, `pca_dbscan` and
`full_gmm`.

Any other object with `fit` and `predict` (a clusterer or a pipeline) serves as an oracle as it is.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.row_labels import that_occur
from .._base.schema import setting, settings_of
from ..decoders.decoder import MAX_LABELS, Decoder
from .estimator import Estimator
from .projection import KINDS, Observations, Projection, dependence

ENOUGH = 50
"""Observations for each state from which on several projections are compared. Fewer fall apart by chance in
one projection or another."""
MOST_DEPENDENCE = 2.0
"""Upper limit on how much bits depend on each other given the label, where labels are states. It is 1 by
chance, and nearer to that the more bits there are."""
_LEAST_WIDTH = 1e-17
"""Lower limit on the range of the coordinate that varies most: float32 holds the square of a hundredth of
it."""

_PLAIN = (int, float, str, type(None), np.number, np.bool_)
"""Kinds of values that a setting may have."""

_MOST_FITTED_SIZE = 1e17
"""Upper limit on the size of numbers that an oracle is fitted on: float32 holds what the squares of thousands
of them add up to, and the bias of a decoder is such a sum."""


class NoClusters(ValueError):
    """All observations look like noise."""


class OneCluster(NoClusters):
    """All observations look alike. That is an error where they come from all levels; a single level may have
    one state."""


class Attempt(NamedTuple):
    """What an oracle makes of one projection."""

    learned: dict[str, Any]
    """The attributes that it gives a fitted oracle."""
    doubt: float
    """0, or more where another projection should be tried: of several attempts the least doubtful counts."""


@dataclass(eq=False, repr=False)
class DecodingOracle(Estimator, ABC):
    """An oracle that learns a compiled decoder. Subclasses implement `_learn`; checks and prediction are
    here.

    There is no `labels_`: `fit` would spend time on labels that few ask for, and `fit_predict` gives them.
    """

    n_states: int | None = setting(
        None,
        least=2,
        most=MAX_LABELS,
        none="the environment's bound on the states of a level",
        help="Number of clusters. An oracle that is fitted by itself must be told.",
    )
    random_state: int | None = setting(
        None,
        least=0,
        most=2**32 - 1,
        none="drawn from the run's stream",
        help="Seed of random choices.",
        kw_only=True,
    )
    checks_its_data: ClassVar[bool] = True
    """Settings and observations are checked by `fit` itself: scikit-learn need not check them again."""
    libraries: ClassVar[tuple[str, ...]] = ()
    """Modules that `fit` imports: they are loaded before workers start, so that their threads are limited."""
    takes_history: ClassVar[bool] = False
    """Whether `fit` takes what is known of each observation beside its look: `y`, the label that it had so
    far, and `groups`, whole numbers that say what came before it."""
    decoder_: Decoder = field(init=False)
    n_features_in_: int = field(init=False)

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        data = self._check(X)
        return self._keep(data, self._learned(data))

    def _keep(self, data: Observations, learned: dict[str, Any]) -> Self:
        for name, value in learned.items():
            setattr(self, name, value)
        self.n_features_in_ = data.shape[1]
        return self

    def _learned(self, data: Observations) -> dict[str, Any]:
        """The attributes that `fit` keeps: those of `_learn`, unless several fits are to be compared."""
        return self._learn(data)

    @abstractmethod
    def _learn(self, data: Observations) -> dict[str, Any]:
        """The attributes of an oracle that is fitted on these observations; `decoder_` is among them."""

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """The label of each observation."""
        if not hasattr(self, "decoder_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"this {type(self).__name__} has not been fitted: call fit first")
        data = _table(X, float(np.finfo(np.float32).max))  # which decoders read
        if data.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have {self.n_features_in_} coordinates, as the observations that were fitted, "
                f"got {data.shape[1]}"
            )
        return self.decoder_.decode(data) if len(data) else np.empty(0, np.int64)

    def fit_predict(self, X: ArrayLike, y: object = None) -> NDArray[np.int64]:
        return self.fit(X).predict(X)

    def check_settings(self, dimension: int) -> None:
        """Refuse settings with which no observations of so many coordinates could be fitted."""
        for name, declared in settings_of(type(self)).items():
            if name not in self._free_settings:
                value = getattr(self, name)
                declared.check(value)
                if not isinstance(value, _PLAIN):
                    # kept as it is given, as estimators do, and handed on to scikit-learn
                    raise ValueError(f"{name} must be a plain number, got {checks.short_repr(value)}")
        if self.n_states is None:
            raise ValueError(
                f"n_states must be an integer from 2 to {MAX_LABELS} where an oracle is fitted by itself, "
                "got None"
            )

    def least_observations(self) -> dict[str, int]:
        """The settings that ask for a number of observations, and how many."""
        return {"n_states": self._n_clusters}

    _free_settings: ClassVar[tuple[str, ...]] = ()
    """Settings whose types or limits no declaration can say, which an oracle checks itself."""

    @property
    def _n_clusters(self) -> int:
        """The number of clusters, once it is known."""
        assert self.n_states is not None
        return self.n_states

    def _check(self, X: ArrayLike) -> Observations:
        data = _table(X, _MOST_FITTED_SIZE)
        if data.shape[1] == 0:
            raise ValueError("X must have at least 1 coordinate, got 0")
        self.check_settings(data.shape[1])
        if data.shape[0] < self._n_clusters:
            raise ValueError(
                f"X must hold at least n_states = {self._n_clusters} observations, got {data.shape[0]}"
            )
        _check_width(data)
        _check_precision(data)
        return data


@dataclass(eq=False, repr=False)
class Oracle(DecodingOracle):
    """What our oracles share: the choice of a projection."""

    n_directions: int | None = setting(
        None, least=1, none="n_states - 1", help="Number of directions to project on.", kw_only=True
    )
    scale: bool | str = setting(
        "auto",
        values="true, false or auto",
        help="Whether to divide coordinates by their standard deviation; auto does where the observations "
        "are bits.",
        kw_only=True,
    )
    projection: str = setting(
        "auto",
        choices=("auto", *KINDS),
        help="On directions of large fourth moments, on principal components, or auto: the former unless "
        "the latter show more clusters.",
        kw_only=True,
    )
    _free_settings: ClassVar[tuple[str, ...]] = ("scale", "n_directions")

    def _learn(self, data: Observations) -> dict[str, Any]:
        best: Attempt | None = None
        problem: NoClusters | None = None
        kinds = KINDS if self.projection == "auto" else (self.projection,)
        for kind in kinds if data.shape[0] >= ENOUGH * self._n_clusters else kinds[:1]:
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
        return best.learned

    @abstractmethod
    def _attempt(self, data: Observations, projection: Projection) -> Attempt: ...

    def check_settings(self, dimension: int) -> None:
        super().check_settings(dimension)
        if not (
            isinstance(self.scale, bool | np.bool_) or (isinstance(self.scale, str) and self.scale == "auto")
        ):
            raise ValueError(f"scale must be True, False or 'auto', got {checks.short_repr(self.scale)}")
        self._n_axes(dimension)

    def _n_axes(self, dimension: int) -> int:
        return n_axes(self.n_directions, self._n_clusters, dimension)

    def _doubt(self, data: Observations, labels: NDArray[np.integer], of_bits: bool) -> float:
        """What speaks against these labels: that bits go together all the same, or that clusters are
        missing."""
        if of_bits:
            return max(0.0, dependence(data, labels, self._n_clusters) - MOST_DEPENDENCE)
        return self._n_clusters - that_occur(labels).size


def _table(X: ArrayLike, most: float) -> Observations:
    """Observations [n, D] as they come, none of them greater than `most` in size."""
    data = checks.array("X", X)
    if data.dtype.kind not in "biuf":
        raise ValueError(f"X must hold real numbers, got {data.dtype}")
    if data.ndim != 2:
        raise ValueError(f"X must have shape [observations, coordinates], got {data.shape}")
    if data.size and data.dtype.itemsize > 1:
        largest = max(float(data.max()), -float(data.min()))
        if not math.isfinite(largest):
            raise ValueError("X must be finite, got NaN or infinity")
        if largest > most:
            raise ValueError(
                f"X must be at most {most:g} in size, got {largest:g}: divide by a constant first"
            )
    return data


def _check_width(data: Observations) -> None:
    """Oracles square observations, in float32 where they are many."""
    # the first few mostly tell
    if any(_width(rows) >= _LEAST_WIDTH for rows in (data[:64], data)):
        return
    if (width := _width(data)) > 0.0:
        raise ValueError(
            f"X must lie further apart: no coordinate has values more than {width:g} apart, whose squares "
            "float32 cannot hold: multiply by a constant first"
        )


def _width(data: Observations) -> float:
    """The greatest difference of two values of one coordinate."""
    return float((data.max(axis=0).astype(np.float64) - data.min(axis=0)).max(initial=0.0))


def _check_precision(data: Observations) -> None:
    """Decoders read observations as float32, which cannot tell apart what lies close together and far from
    0."""
    if np.can_cast(data.dtype, np.float32):
        return
    centre, spread = data.mean(axis=0), data.std(axis=0)
    lost = (spread > 0) & (spread < np.finfo(np.float32).eps / 2 * np.abs(centre))
    if lost.any():
        j = int(lost.argmax())
        raise ValueError(
            f"X must lie nearer to 0: coordinate {j} is {centre[j]:g} with a standard deviation of "
            f"{spread[j]:g}, "
            "which float32 cannot hold: subtract a constant first"
        )


def n_axes(n_directions: int | str | None, n_states: int, dimension: int) -> int:
    """How many directions to project on: n_directions, or where that is None, as many as hold the centres of
    n_states clusters."""
    if n_directions is None:
        return min(n_states - 1, dimension)
    return checks.integer("n_directions", n_directions, least=1, most=dimension)
