"""Oracles, environments and observations for tests of oracles."""

import numpy as np

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.oracles import (
    DBSCAN,
    GMM,
    PCADBSCAN,
    AutoencoderSimHash,
    FullGMM,
    KMeans,
    PCAKMeans,
    Subspaces,
)
from fasturl.problems.environment import emission_rngs

ENVS = {
    "bits": fu.LockBernoulli(5),
    "reals": fu.LockGaussian(5, noise=0.1),
    "noisy reals": fu.LockGaussian(5, noise=0.2),
    "long bits": fu.LockBernoulli(20),
    "long noisy reals": fu.LockGaussian(20, noise=0.2),
}


ORACLES = {
    "kmeans": KMeans(3, random_state=0),
    "gmm": GMM(3, random_state=0),
    "dbscan": DBSCAN(3, random_state=0),
    "pca-kmeans": PCAKMeans(3),
    "pca-dbscan": PCADBSCAN(3),
    "full-gmm": FullGMM(3),
    "subspaces": Subspaces(3, random_state=0, max_samples=200),
    "autoencoder-simhash": AutoencoderSimHash(3, random_state=0, n_epochs=5),
}


def observations(env, seed=0, episodes=200, weights=(0.5, 0.3, 0.2)):
    """Observations [n, D] of states that are not equally frequent, and the states."""
    draw = np.random.default_rng(seed)
    states = draw.choice(3, (episodes, env.horizon + 1), p=weights)
    X = env.emission.draw(emission_rngs(Streams(seed)), episodes).observe(states)
    return X.reshape(-1, X.shape[-1]), states.ravel()


def worst_share(labels, states):
    """The least share, over the states, of observations that have the label of most of them, where no two
    states have the same one; else 0."""
    tables = [np.bincount(labels[states == s], minlength=labels.max() + 1) for s in np.unique(states)]
    if len({int(table.argmax()) for table in tables}) < len(tables):
        return 0.0
    return min(table.max() / table.sum() for table in tables)
