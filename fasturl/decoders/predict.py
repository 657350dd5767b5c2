"""Decoders made of any object with `predict`, called once for a whole block of episodes."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._base.false_alarms import without_false_alarms
from .._base.origin import in_method
from ..problems.blocks import Block
from .decoder import MAX_LABELS, ByteLabels, Decoder, Observations, labels_of_shape, whole_labels


class Predictor(Protocol):
    """Any object with `predict`, such as a fitted clusterer of scikit-learn."""

    def predict(self, X: Any) -> Any: ...


class PredictDecoder(Decoder):
    """Any object with `predict`, called once for a whole block.

    Where nobody knows how many labels it gives, `n_labels` are those of the observations that it was fitted
    on; all others that turn up later, if `open_ended`, share one more label.

    predictor
        The object.
    n_labels
        How many labels it gives.
    open_ended
        Whether it may give more.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import KMeans
    >>> X = np.array([[0.0], [0.1], [1.0], [1.1]], np.float32)
    >>> fitted = KMeans(2, n_init=1, random_state=0).fit(X)
    >>> labels = PredictDecoder(fitted, n_labels=2).decode(X[1:3])
    >>> bool(labels[0] != labels[1])
    True
    """

    def __init__(self, predictor: Predictor, n_labels: int, *, open_ended: bool = False) -> None:
        super().__init__(n_labels if not open_ended else min(n_labels + 1, MAX_LABELS))
        self._open_ended = open_ended
        self._predictor = predictor

    def table(self, block: Block) -> ByteLabels:
        X = block.every_state()
        labels = self._predict(X.reshape(-1, block.dimension))
        return self.relabel[labels].reshape(X.shape[:-1])

    def _predict(self, X: Observations) -> NDArray[np.int64]:
        labels = predicted_labels(self._predictor, X, MAX_LABELS if self._open_ended else self.relabel.size)
        return np.minimum(labels, self.relabel.size - 1)


@without_false_alarms
def predicted_labels(predictor: Predictor, X: Observations, n_labels: int) -> NDArray[np.int64]:
    """The labels that `predict` gives, checked: whole numbers from 0 to n_labels - 1, one for each
    observation."""
    must = f"predict of {type(predictor).__name__} must give"
    one_each = f"{must} one label for each of {X.shape[0]} observations"
    with in_method("predict", predictor):
        # a predictor may work in place, and observations may be the emission's own
        labels = predictor.predict(np.array(X))
    return whole_labels(must, labels_of_shape(one_each, labels, X.shape[:1]), n_labels)
