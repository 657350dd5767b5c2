"""
An oracle of your own
=====================

An oracle is a class with ``fit`` and ``predict``. One that sets ``decoder_`` is used through it, compiled.
This one looks at the coordinates that vary most, and is known by name from the decorator on."""

from dataclasses import dataclass

import numpy as np
from matplotlib import pyplot
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans

import fasturl as fu
from fasturl.decoders import AffineDecoder


@fu.register(name="loud-coordinates")
@dataclass(eq=False)
class LoudCoordinates(ClusterMixin, BaseEstimator):
    """K-means on the coordinates of greatest variance."""

    n_states: int | None = fu.setting(None, least=2, none="the bound that agents are told", help="Clusters.")
    coordinates: int = fu.setting(3, least=1, help="How many coordinates to look at.")
    random_state: int | None = fu.setting(None, none="drawn from the run's stream", help="Seed.")

    def fit(self, X, y=None):
        data = np.asarray(X, np.float64)
        self.chosen_ = data.var(axis=0).argsort()[-self.coordinates :]
        fitted = KMeans(self.n_states, n_init=3, random_state=self.random_state).fit(data[:, self.chosen_])
        centres = np.zeros((self.n_states, data.shape[1]))
        centres[:, self.chosen_] = fitted.cluster_centers_
        self.decoder_ = AffineDecoder(centres, -np.square(centres).sum(axis=1) / 2)  # the nearest centre
        return self

    def predict(self, X):
        return self.decoder_.decode(X)


# %%
# On a lock with Gaussian noise the state moves three coordinates, which are the loud ones as long as all
# states are met. With one coordinate the oracle cannot tell three states apart, and the run says so by
# itself.

lock = fu.LockGaussian(horizon=4, switch=0.2)
figure, axes = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
for coordinates in (3, 1):
    agent = fu.URL(oracle=LoudCoordinates(coordinates=coordinates), levels="pooled")
    run = fu.train(lock, agent, episodes=1_500, seeds=3)
    run.plot(axes, label=f"{coordinates} coordinates, {len(run.warnings)} warnings")
axes.set(xlabel="number of trajectories", ylabel="average reward")
axes.legend(frameon=False)
