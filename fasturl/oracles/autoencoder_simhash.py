"""An autoencoder and SimHash: the decoder of count-based exploration (Tang et al., 2017), which motivates the
paper's oracle.

A network learns to reproduce observations through a narrow layer, whose activations c(x) are the code of an
observation. SimHash (Charikar, 2002) makes bits of it, sign(A c) with a Gaussian matrix A: two codes differ
in each bit with the probability angle / pi. The most frequent hashes that differ from each other in a quarter
of their bits or more are labels, and any hash has the label of the one from which it differs in the fewest
bits, the most frequent of several.

Nothing is known of how many observations that takes. A network that is trained on all observations alike
spends its narrow layer on frequent states: those of a few per cent are often missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.schema import setting
from ..decoders.constant import ConstantDecoder
from ..decoders.predict import PredictDecoder
from .clusters import n_distinct
from .oracle import DecodingOracle
from .projection import Floats, Observations

LEAST_DIFFERENCE = 0.25
"""Share of their bits in which the hashes of two labels differ at least, as codes 45 degrees apart do."""


@dataclass(eq=False, repr=False)
class AutoencoderSimHash(DecodingOracle):
    """The hash of a code that a network has learned; the most frequent hashes are labels.

    There are n_states labels, or as many as there are hashes that differ enough. Fitted, `hashes_` are the
    hashes of the labels, the most frequent first, a byte for each bit. The decoder calls the network for a
    whole block of episodes at once.

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(0)
    >>> states = generator.integers(2, size=600)
    >>> X = np.array([[-1.0], [1.0]])[states] + generator.normal(0, 0.2, (600, 8))
    >>> labels = AutoencoderSimHash(2, n_code=1, n_bits=1, random_state=0).fit_predict(X)
    >>> bool(np.mean((labels == labels[0]) == (states == states[0])) > 0.99)
    True
    """

    libraries: ClassVar[tuple[str, ...]] = ("sklearn.neural_network",)

    n_code: int | None = setting(
        None, least=1, none="n_states - 1", help="Units of the narrow layer.", kw_only=True
    )
    n_bits: int = setting(32, least=1, help="Bits of a hash.", kw_only=True)
    n_hidden: int = setting(32, least=1, help="Units of the layers before and after the code.", kw_only=True)
    n_epochs: int = setting(30, least=1, help="Passes over the observations in training.", kw_only=True)
    max_samples: int = setting(
        10_000,
        least=2,
        help="Observations that the network is trained on, a random choice where there are more.",
        kw_only=True,
    )

    def _learn(self, data: Observations) -> dict[str, Any]:
        if n_distinct(data, 2) == 1:
            return {"decoder_": ConstantDecoder(2)}
        generator = np.random.default_rng(self.random_state)
        chosen: Observations = data
        if len(data) > self.max_samples:
            chosen = data[np.sort(generator.choice(len(data), self.max_samples, replace=False))]
        encoder = self._trained(np.asarray(chosen, np.float64), generator)
        planes = generator.standard_normal((self.n_bits, encoder.second_offset.size))
        hashing = _Hashing(encoder, planes)
        hashes, counts = np.unique(hashing.hashes(data), axis=0, return_counts=True)
        label_hashes = _far_apart(hashes[np.argsort(-counts, kind="stable")], self._n_clusters)
        decoder = PredictDecoder(_NearestHash(hashing, label_hashes), max(2, len(label_hashes)))
        return {"decoder_": decoder, "hashes_": label_hashes}

    def _trained(self, rows: Floats, generator: np.random.Generator) -> _Encoder:
        """The encoder of a network that has learned to reproduce the rows."""
        from sklearn.neural_network import MLPRegressor

        centre, spread = rows.mean(axis=0), rows.std(axis=0)
        if not ((rows == 0.0) | (rows == 1.0)).all():
            # one unit for all: else coordinates of mere noise would count as much as those that tell states
            spread = np.full_like(spread, spread.max())
        scaled = (rows - centre) / np.where(spread > 0.0, spread, 1.0)
        n_code = self._n_clusters - 1 if self.n_code is None else self.n_code
        network = MLPRegressor(
            hidden_layer_sizes=(self.n_hidden, n_code, self.n_hidden),
            activation="tanh",
            learning_rate_init=0.01,
            random_state=int(generator.integers(2**31)),
        )
        for _ in range(self.n_epochs):
            order = generator.permutation(len(scaled))
            network.partial_fit(scaled[order], scaled[order])
        weights, offsets = network.coefs_[:2], network.intercepts_[:2]
        first = weights[0] / np.where(spread > 0.0, spread, 1.0)[:, None]
        return _Encoder(first, offsets[0] - centre @ first, weights[1], offsets[1])


def _far_apart(hashes: NDArray[np.uint8], most: int) -> NDArray[np.uint8]:
    """The first hash [bits] of hashes [n, bits], and each further one that differs enough from all that were
    taken before it: `most` at most."""
    distinct = [hashes[0]]
    for candidate in hashes[1:]:
        if len(distinct) == most:
            break
        if min(np.mean(candidate != other) for other in distinct) >= LEAST_DIFFERENCE:
            distinct.append(candidate)
    return np.stack(distinct)


class _Encoder(NamedTuple):
    """The first two layers of the network, with the scaling of observations in the first."""

    first: Floats  # [D, hidden]
    first_offset: Floats
    second: Floats  # [hidden, code]
    second_offset: Floats

    def codes(self, X: Observations) -> Floats:
        hidden = np.tanh(np.asarray(X, np.float64) @ self.first + self.first_offset)
        return np.asarray(np.tanh(hidden @ self.second + self.second_offset))


class _Hashing(NamedTuple):
    """SimHash of the codes of an encoder."""

    encoder: _Encoder
    planes: Floats  # [bits, code]

    def hashes(self, X: Observations) -> NDArray[np.uint8]:
        return (self.encoder.codes(X) @ self.planes.T > 0.0).astype(np.uint8)


class _NearestHash(NamedTuple):
    """Labels an observation by the nearest of some hashes, the first where several are."""

    hashing: _Hashing
    label_hashes: NDArray[np.uint8]  # [labels, bits]

    def predict(self, X: Observations) -> NDArray[np.int64]:
        hashes = self.hashing.hashes(X)
        differences = (hashes[:, None] != self.label_hashes[None]).sum(axis=2)
        return np.asarray(differences.argmin(axis=1), np.int64)
