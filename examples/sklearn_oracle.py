"""
An oracle from scikit-learn
===========================

Any clusterer or pipeline with ``fit`` and ``predict`` is an oracle as it is.
"""

from matplotlib import pyplot
from sklearn.cluster import MiniBatchKMeans
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

import fasturl as fu

lock = fu.LockGaussian(horizon=4, switch=0.2, noise=0.2)
oracles = {
    "ours, chosen by URL": None,
    "PCA and mini-batch k-means": make_pipeline(PCA(2), MiniBatchKMeans(3, n_init=3)),
    "a Gaussian mixture": GaussianMixture(3, covariance_type="spherical", n_init=3),
}
runs = {
    name: fu.train(lock, fu.URL(oracle=oracle, levels="pooled"), episodes=1_000, seeds=3)
    for name, oracle in oracles.items()
}

# %%
# What each of them sees, measured against the truth that no agent is shown: the share of right labels at each
# level.

figure, (curves, accuracy) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for name, run in runs.items():
    run.plot(curves, label=name)
    accuracy.plot(range(1, 6), run.diagnostics[0]["decoder_accuracy"], marker="o", label=name)
curves.set(xlabel="number of trajectories", ylabel="average reward")
accuracy.set(xlabel="level", ylabel="share of right labels", ylim=(0, 1.05), xticks=range(1, 6))
accuracy.legend(frameon=False, fontsize=8, loc="lower left")
