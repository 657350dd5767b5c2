"""
All agents on one lock
======================

A lock of five levels, and every kind of agent: one that is shown the latent states, the three that learn to
see, and one that takes each observation for a state of its own."""

from matplotlib import pyplot

import fasturl as fu

lock = fu.LockBernoulli(horizon=5, switch=0.2)
agents = {
    "latent states": fu.OracleQ(),
    "URL": fu.URL(),
    "URL as published": fu.URLAsPublished(),
    "PCID": fu.PCID(),
}
runs = {name: fu.train(lock, agent, episodes=5_000, seeds=6) for name, agent in agents.items()}
runs["observations"] = fu.train(lock, fu.OracleQ(), episodes=5_000, seeds=6, sees="observation")

# %%
# Who sees the latent states cannot be beaten. PCID explores level by level before it earns anything; URL
# earns while it learns to see.

figure, axes = pyplot.subplots(figsize=(6.5, 4), layout="constrained")
for name, run in runs.items():
    run.plot(axes, label=f"{name}: {run.near_optimal.sum()} of {run.n_seeds} near-optimal")
axes.axhline(lock.optimal_value(), color="0.5", linewidth=0.8, linestyle="--")
axes.set(xlabel="number of trajectories", ylabel="average reward", title="LockBernoulli, H = 5, switch 0.2")
axes.legend(frameon=False, fontsize=8, loc="center right")
