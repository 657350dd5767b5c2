"""How an oracle is fitted, whoever wrote it, and what comes out as a decoder."""

from __future__ import annotations

import copy
import importlib
import sys
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.false_alarms import without_false_alarms
from .._base.origin import in_method, is_ours
from .._base.schema import declared_fields, settings_of
from ..decoders.checked import check_decoder
from ..decoders.constant import ConstantDecoder
from ..decoders.decoder import MAX_LABELS, Decoder
from ..decoders.predict import PredictDecoder, predicted_labels
from .counting import is_auto
from .oracle import OneCluster

_PLAIN = (int, float, str, type(None))
"""Values that nobody can change."""


@without_false_alarms
def fit_decoder(
    oracle: Any,
    X: NDArray[np.generic],
    random_state: int,
    n_states: int,
    *,
    open_ended: bool = True,
    believed: NDArray[np.integer] | None = None,
    groups: NDArray[np.integer] | None = None,
) -> Decoder:
    """Fit a fresh copy of the oracle and return its decoder. The given oracle is left as it is.

    An oracle whose `n_states` or `random_state` is None gets those that are given here; where its `n_states`
    is "auto", the number given here is its `max_states`, unless it has one. One that does not say
    how many labels it gives has n_states of them; if it is `open_ended`, also those of the observations X,
    and one for all that turn up later. One that takes history is told what is believed of the observations.

    oracle
        Any object with `fit` and `predict`.
    X
        Observations [n, coordinates].
    random_state
        A seed for what the oracle draws.
    n_states
        The bound on the number of states.
    open_ended
        Whether labels may turn up that the observations X do not have.
    believed, groups
        The label that each observation had so far, and what came before it, for an oracle that takes history.

    Returns a `fasturl.decoders.Decoder`.

    Examples
    --------
    >>> import numpy as np
    >>> import fasturl as fu
    >>> states = np.random.default_rng(0).integers(3, size=600)
    >>> X = np.eye(3, 8)[states] + np.random.default_rng(1).normal(0, 0.1, (600, 8))
    >>> decoder = fit_decoder(fu.oracles.KMeans(), X, random_state=0, n_states=3)
    >>> decoder.n_labels, len(set(decoder.decode(X)))
    (3, 3)
    """
    checks.instance("oracle", oracle)
    fitted = _fresh_copy(oracle, random_state, n_states)
    try:
        _fit(fitted, X, believed, groups)
        decoder = getattr(fitted, "decoder_", None)
        if isinstance(decoder, Decoder):
            return check_decoder(decoder)
        if decoder is not None:
            raise ValueError(
                f"decoder_ of {type(fitted).__name__} must be a fasturl.decoders.Decoder, "
                f"got {checks.short_repr(decoder)}"
            )
        if (declared := n_labels_of(fitted)) is not None:
            return PredictDecoder(fitted, max(2, declared))
        if not open_ended:
            return PredictDecoder(fitted, n_states)
        n_labels = int(predicted_labels(fitted, X, MAX_LABELS).max()) + 1
        return PredictDecoder(fitted, max(n_states, n_labels), open_ended=True)
    except Exception as error:
        error.add_note(
            f"while {type(oracle).__name__} was fitted on {X.shape[0]} observations of {X.shape[1]} "
            f"coordinates"
        )
        raise


def fit_if_clusters(
    oracle: Any,
    X: NDArray[np.generic],
    random_state: int,
    n_states: int,
    believed: NDArray[np.integer] | None = None,
    groups: NDArray[np.integer] | None = None,
) -> Decoder:
    """As `fit_decoder`, on observations that may look all alike."""
    try:
        return fit_decoder(oracle, X, random_state, n_states, believed=believed, groups=groups)
    except OneCluster:
        return ConstantDecoder(2)


def fit_level_decoder(oracle: Any, X: NDArray[np.generic], random_state: int, n_labels: int) -> Decoder:
    """As `fit_decoder`, on the observations of one level, which may look all alike and have at most n_labels
    labels."""
    try:
        decoder = fit_decoder(oracle, X, random_state, n_labels, open_ended=False)
    except OneCluster:
        return ConstantDecoder(n_labels)
    if decoder.n_labels > n_labels:
        raise ValueError(f"oracle must give at most {n_labels} labels a level, got {decoder.n_labels}")
    return decoder


def _fresh_copy(oracle: Any, random_state: int, n_states: int) -> Any:
    """An oracle that can be fitted, with what it was not told filled in."""
    try:
        fresh = _unfitted(oracle)
        own = _settings(fresh)
    except Exception as error:
        error.add_note(f"while {type(oracle).__name__} was copied")
        raise
    unset = [name for name, value in own.items() if value is None]
    filled = {name: random_state for name in unset if name.endswith("random_state")}
    bound = "max_states" if is_auto(own.get("n_states")) else "n_states"
    if bound in unset:
        filled[bound] = n_states
    if hasattr(fresh, "get_params"):
        with in_method("set_params", fresh):
            fresh.set_params(**filled)
        return fresh
    checks.keep(fresh, **filled)
    return fresh


def _unfitted(oracle: Any) -> Any:
    """Another oracle with the same settings."""
    if not hasattr(oracle, "get_params"):
        return copy.deepcopy(oracle)
    if "sklearn" not in sys.modules:  # nothing of it can be among the settings
        settings = oracle.get_params(deep=False).items()
        return type(oracle)(**{name: _own_copy(value) for name, value in settings})
    from sklearn.base import clone

    return clone(oracle)


def _settings(oracle: Any) -> dict[str, Any]:
    """The settings of an oracle by name: those that it gives, or else that its class declares."""
    if hasattr(oracle, "get_params"):
        return dict(oracle.get_params())
    declaring: Any = type(oracle)
    try:
        names = declared_fields(declaring) or settings_of(declaring)
    except ValueError:
        return {}
    return {name: getattr(oracle, name) for name in names if hasattr(oracle, name)}


def _fit(oracle: Any, X: Any, believed: Any, groups: Any) -> None:
    """Fit an oracle. One that is not ours may work in place, so it is handed copies."""
    if not is_ours(type(oracle)):
        X, believed, groups = (None if data is None else np.array(data) for data in (X, believed, groups))
    with _checked_once(oracle):
        if getattr(oracle, "takes_history", False):
            oracle.fit(X, believed, groups=groups)
        else:
            oracle.fit(X)


def _own_copy(value: Any) -> Any:
    """The value of a setting, for another oracle to have."""
    return value if isinstance(value, _PLAIN) else copy.deepcopy(value)


def _checked_once(oracle: Any) -> AbstractContextManager[Any]:
    """A context in which scikit-learn checks neither settings nor data, where the oracle has checked both
    itself: the checks would be a good part of the time of a fit."""
    if "sklearn" not in sys.modules or not getattr(oracle, "checks_its_data", False):
        return nullcontext()
    from sklearn import config_context

    checked_once: AbstractContextManager[Any] = config_context(
        assume_finite=True, skip_parameter_validation=True
    )
    return checked_once


def n_labels_of(oracle: Any) -> int | None:
    """How many labels an oracle gives, if it says so."""
    clusterer = oracle
    while hasattr(clusterer, "steps"):  # a pipeline
        # earlier steps may have clusters and components too, but give no labels
        clusterer = clusterer.steps[-1][1]
    names = ["n_states", "n_clusters"]
    if hasattr(clusterer, "weights_"):  # the components of a mixture
        names.append("n_components")
    for number in (getattr(clusterer, name, None) for name in names):
        if isinstance(number, int | np.integer):
            return int(number)
    return None


def check_oracle(oracle: Any, n_states: int, dimension: int) -> None:
    """Refuse settings with which no observations of so many coordinates could be fitted, where the oracle can
    tell, and load what it needs."""
    for library in getattr(oracle, "libraries", ()):
        importlib.import_module(library)
    if callable(getattr(oracle, "check_settings", None)):
        fresh = _fresh_copy(oracle, 0, n_states)
        with in_method("check_settings", fresh):
            fresh.check_settings(dimension)


def least_observations(oracle: Any, n_states: int) -> dict[str, int]:
    """The settings of an oracle that ask for a number of observations, and how many, where it can tell."""
    fresh = _fresh_copy(oracle, 0, n_states)
    if not callable(getattr(fresh, "least_observations", None)):
        return {}
    with in_method("least_observations", fresh):
        least = fresh.least_observations()
    owner = f"least_observations of {type(oracle).__name__}"
    if not isinstance(least, Mapping):
        raise ValueError(f"{owner} must give numbers by name, got {checks.short_repr(least)}")
    return {need: checks.integer(f"{need} in {owner}", count, least=0) for need, count in least.items()}
