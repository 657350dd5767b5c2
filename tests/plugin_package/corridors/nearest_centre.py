"""An oracle: Lloyd's algorithm from centres that are far apart, with a decoder that runs compiled."""

from dataclasses import dataclass, fields

import numpy as np

import fasturl as fu
from fasturl.decoders import AffineDecoder


@dataclass(eq=False)
class NearestCentre:
    """Each observation belongs to the nearest of `n_states` centres.

    Where `n_states` or `random_state` is None, the agent that fits the oracle fills it in, by `set_params`.
    scikit-learn's `BaseEstimator` has that too, and takes a second to import.
    """

    n_states: int | None = fu.setting(
        None, least=2, most=256, none="the bound that agents are told", help="Centres."
    )
    rounds: int = fu.setting(10, least=1, search=(5, 10, 20), help="How often the centres are moved.")
    random_state: int | None = fu.setting(None, least=0, none="drawn from the run's stream", help="Seed.")

    def get_params(self, deep=True):
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def set_params(self, **settings):
        vars(self).update(settings)
        return self

    def fit(self, X, y=None):
        data = np.asarray(X, np.float64)
        rng = np.random.default_rng(self.random_state)
        centres = data[rng.integers(len(data), size=1)]
        while len(centres) < self.n_states:
            farthest = _squared_distances(data, centres).min(axis=1).argmax()
            centres = np.vstack([centres, data[farthest]])
        for _ in range(self.rounds):
            labels = _squared_distances(data, centres).argmin(axis=1)
            centres = np.stack(
                [
                    data[labels == k].mean(axis=0) if (labels == k).any() else centre
                    for k, centre in enumerate(centres)
                ]
            )
        # |x - c|^2 is smallest where c'x - |c|^2 / 2 is largest
        self.decoder_ = AffineDecoder(centres, -np.square(centres).sum(axis=1) / 2)
        return self

    def predict(self, X):
        return self.decoder_.decode(X)


def _squared_distances(data, centres):
    return np.square(data).sum(axis=1)[:, None] - 2 * data @ centres.T + np.square(centres).sum(axis=1)
