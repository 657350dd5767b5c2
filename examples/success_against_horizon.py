"""
Success against the horizon
===========================

The share of seeds that end near-optimal, for locks that get longer, with 95 % intervals. All agents have
1,500 trajectories."""

import tempfile

from fasturl.experiments import Cell, sweep
from fasturl.experiments.analysis import figures

cells = [
    Cell.make("lock-bernoulli", {"horizon": horizon, "switch": 0.5}, agent, {}, episodes=1_500)
    for horizon in (2, 4, 8, 16)
    for agent in ("url", "pcid", "qlearning-lat")
]
with tempfile.TemporaryDirectory() as folder:
    frame = sweep(cells, seeds=8, out=folder, n_jobs=1, progress=False)

# %%
# Q-learning is shown the latent states and still fails on longer locks: it does not explore. PCID tells
# states apart by what led to them, and with switch 0.5 the two live states have the same past.

figure = figures.success(frame)
