"""
A vector environment and an agent in Python
===========================================

Two thousand locks at once through Gymnasium, and an agent of a few lines of NumPy: the cross-entropy method
on tables of action probabilities, which is shown the latent states."""

import gymnasium
import numpy as np
from matplotlib import pyplot

import fasturl.envs  # noqa: F401  # registers the ids, also where start-up files are off

N_ENVS, HORIZON = 2_000, 5
envs = gymnasium.make_vec(
    "fasturl/LockBernoulli-v0",
    num_envs=N_ENVS,
    horizon=HORIZON,
    switch=0.2,
    instance_seed=3,
    observe="latent",
)
rng = np.random.default_rng(0)
chances = np.full((HORIZON, 3, 4), 1 / 4)
means = []
states, _ = envs.reset(seed=0)
for _ in range(25):
    path, returns = [], np.zeros(N_ENVS)
    for level in range(HORIZON):
        actions = (chances[level, states].cumsum(axis=1) > rng.random((N_ENVS, 1))).argmax(axis=1)
        path.append((states, actions))
        states, rewards, *_ = envs.step(actions)
        returns += rewards
    states, *_ = envs.step(actions)  # begins the next episodes
    means.append(returns.mean())
    for level, (met, taken) in enumerate(path):
        counts = np.zeros((3, 4))
        np.add.at(counts, (met[returns > 0], taken[returns > 0]), 1.0)
        chances[level] = 0.7 * chances[level] + 0.3 * (counts + 0.1) / (counts + 0.1).sum(
            axis=1, keepdims=True
        )

# %%
# Thousands of random trajectories find a lock of five levels, since one in 32 stays alive. At H = 20 it would
# be one in a million: that is what exploration is for.

figure, axes = pyplot.subplots(figsize=(5.5, 3.4), layout="constrained")
axes.plot(np.arange(1, 26) * N_ENVS, means, marker="o", markersize=3)
axes.axhline(0.5, color="0.5", linewidth=0.8, linestyle="--")
axes.set(xlabel="number of trajectories", ylabel="mean return of 2,000 episodes", ylim=(0, 0.55))
