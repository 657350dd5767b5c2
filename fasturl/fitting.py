"""How an oracle is fitted, whoever wrote it, and what comes out as a decoder."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from .decoders import Decoder, PredictDecoder, checked
from .oracles import Oracle


def fit_decoder(oracle: Any, X: NDArray[np.generic], random_state: int, room: int = 2, *, grows: bool = True) -> Decoder:
    """Fit a fresh copy of the oracle and return its decoder. The given oracle is left as it is.

    An oracle that does not say how many labels it gives has room for `room` of them, and for more as they turn up where it `grows`.
    """
    fitted = clone(oracle) if hasattr(oracle, "get_params") else copy.deepcopy(oracle)
    if hasattr(fitted, "get_params"):
        seeds = {name: random_state for name, value in fitted.get_params().items() if name.endswith("random_state") and value is None}
        fitted.set_params(**seeds)
    # ours have checked their settings and the data by the time scikit-learn would check them again, for a good part of the time
    trusted = isinstance(fitted, Oracle)
    try:
        with config_context(assume_finite=trusted or None, skip_parameter_validation=trusted or None):
            fitted.fit(X)
        decoder = getattr(fitted, "decoder_", None)
        if isinstance(decoder, Decoder):
            return checked(decoder)
        if (said := n_labels_of(fitted)) is not None:
            return PredictDecoder(fitted, max(2, said))
        decoder = PredictDecoder(fitted, room, grows=grows)
        decoder.decode(X)  # which makes room for all labels of these observations
        return decoder
    except Exception as error:
        error.add_note(f"while {type(oracle).__name__} was fitted on {X.shape[0]} observations of {X.shape[1]} coordinates")
        raise


def n_labels_of(oracle: Any) -> int | None:
    """How many labels an oracle gives, if it says so."""
    clusterer = oracle
    while isinstance(clusterer, Pipeline):
        clusterer = clusterer.steps[-1][1]  # earlier steps may have clusters and components too, but give no labels
    says = ["n_states", "n_clusters"] + ["n_components"] * hasattr(clusterer, "weights_")  # the components of a mixture
    for number in (getattr(clusterer, name, None) for name in says):
        if isinstance(number, int | np.integer):
            return int(number)
    return None
