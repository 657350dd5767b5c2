"""
A sweep that is stopped and resumed
===================================

A sweep keeps each finished run on disk. Called again, with more seeds or more cells, it computes what is
missing and nothing else."""

import tempfile
import time

from matplotlib import pyplot

from fasturl.experiments import Cell, sweep
from fasturl.experiments.analysis import figures

cells = [
    Cell.make("lock-gaussian", {"horizon": 5, "noise": noise}, "url", {}, episodes=1_500)
    for noise in (0.1, 0.2)
]


def timed(seeds):
    """Seconds that a sweep over so many seeds takes, and its results."""
    begin = time.perf_counter()
    frame = sweep(cells, seeds=seeds, out=folder, n_jobs=1, progress=False)
    return time.perf_counter() - begin, frame


with tempfile.TemporaryDirectory() as folder:
    seconds = {}
    seconds["3 seeds"], _ = timed(3)
    seconds["again"], _ = timed(3)
    seconds["6 seeds"], frame = timed(6)

# %%
# The second call has nothing to do, the third computes three seeds more.

figure, axes = pyplot.subplots(figsize=(5, 2.2), layout="constrained")
axes.barh(list(seconds), list(seconds.values()), color="#3B78B0")
axes.invert_yaxis()
axes.set(xlabel="seconds")

# %%
# All six seeds, as if they had been computed at once.

figure = figures.curves(frame)
