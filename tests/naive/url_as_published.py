"""URL as published, step by step as the appendix has it: scikit-learn's own steps are the oracles, one
observation at a time is decoded, and the learner is a dictionary of the (level, label) that it has met."""

from collections import defaultdict
from math import sqrt

import numpy as np
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from fasturl._base.streams import Streams
from fasturl.problems.environment import emission_rngs

from .dynamics import start_state, step
from .tabular import epsilon_greedy


def pca_kmeans(data):
    """Oracle 1: principal components, k-means."""
    fitted = make_pipeline(StandardScaler(), PCA(3), KMeans(3, n_init=10, random_state=0)).fit(data)
    return lambda x: int(fitted.predict([x])[0])


def pca_dbscan(data):
    """Oracle 2: principal components, density clusters, a support vector classifier; -1 is noise."""
    projection = make_pipeline(StandardScaler(), PCA(3))
    points = projection.fit_transform(data)
    clusters = DBSCAN(eps=0.5, min_samples=8).fit_predict(points)
    if len(set(clusters)) == 1:
        return lambda x: int(clusters[0])
    classifier = SVC(max_iter=1000).fit(points, clusters)
    return lambda x: int(classifier.predict(projection.transform([x]))[0])


def full_gmm(data):
    """Oracle 3: a Gaussian mixture of the observations."""
    mixture = GaussianMixture(3, covariance_type="full", random_state=0).fit(data)
    return lambda x: int(mixture.predict([x])[0])


def url_as_published(env, oracle, episodes, seed, *, batches, learning_rate, confidence):
    """The return of every trajectory, from the same streams as the run of that seed.

    batches
        The number of training trajectories of each iteration.
    """
    streams = Streams(seed)
    instance = env.draw(streams)
    H, A = instance.horizon, instance.n_actions
    dynamics_rng, policy_rng = (streams.row(name).tolist() for name in ("dynamics", "policy"))
    rngs = emission_rngs(streams)
    D, returns = [], []
    Q = defaultdict(lambda: np.ones(A))  # nobody has won more than 1
    N = defaultdict(lambda: np.zeros(A))

    def play(f):
        """One trajectory of the greedy policy on the labels of f: observations, labels, actions, rewards."""
        noise = instance.emission.draw(rngs, 1).every_state()[0].astype(float)
        s = start_state(instance.dynamics, dynamics_rng)
        observations, labels, actions, rewards = [noise[0, s]], [f(noise[0, s])], [], []
        for h in range(H):
            a, _ = epsilon_greedy(Q[h, labels[h]], 0.0, policy_rng)
            s, reward = step(instance.dynamics, dynamics_rng, h, s, a)
            observations.append(noise[h + 1, s])
            labels.append(f(observations[-1]))
            actions.append(a)
            rewards.append(reward)
        returns.append(sum(rewards))
        return observations, labels, actions, rewards

    def learn(labels, actions, rewards):
        """OracleQ with a constant rate."""
        for h in range(H):
            label, a = labels[h], actions[h]
            N[h, label][a] += 1
            V = Q[h + 1, labels[h + 1]].max() if h + 1 < H else 0.0
            target = rewards[h] + V + confidence * sqrt(H / N[h, label][a])
            Q[h, label][a] = min(1.0, (1 - learning_rate) * Q[h, label][a] + learning_rate * target)

    def f(x):
        return 0  # before the first fit nobody has learned: all actions are as good, so they are random

    for B in batches:
        if len(returns) == episodes:
            break
        for _ in range(min(B, episodes - len(returns))):
            D.extend(play(f)[0])
        f = oracle(np.array(D))
        if len(returns) < episodes:
            learn(*play(f)[1:])
    while len(returns) < episodes:
        learn(*play(f)[1:])
    return np.array(returns)
