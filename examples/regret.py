"""
Regret of learners
==================

Cumulative regret on logarithmic axes: what was lost so far against the best policy. A slope of 1 is an agent
that never learns, 1/2 one that keeps to a bound of the square root, and 0 one that loses nothing any more.
"""

import tempfile

from fasturl.experiments import Cell, sweep
from fasturl.experiments.analysis import figures

cells = [
    Cell.make("river-swim", {"horizon": 12, "emission": "none"}, agent, {}, episodes=4_000)
    for agent in ("pooled-ucbvi-lat", "psrl-lat", "oracleq-lat", "qlearning-lat")
]
with tempfile.TemporaryDirectory() as folder:
    frame = sweep(cells, seeds=6, out=folder, n_jobs=1, progress=False)

# %%
# On RiverSwim the far end pays much, against the stream. Epsilon-greedy exploration hardly gets there.

figure = figures.regret(frame)
