"""
The rich lock
=============

Ten actions, rewards that lead astray, and observations that depend on the level and are rotated: the field's
standard benchmark. URL finds out that each level needs a decoder of its own."""

from matplotlib import pyplot

import fasturl as fu

lock = fu.RichLock(horizon=6)
run = fu.train(lock, fu.URL(), episodes=600, seeds=3, points=fu.Recording(evaluate_every=25))
print(run.values, run.diagnostics[0]["levels"])

# %%
# The value of the policy that it would end with, every 25 trajectories. A random policy opens this lock once
# in a million times.

figure, axes = pyplot.subplots(figsize=(5.5, 3.4), layout="constrained")
for seed, about in zip(run.seeds, run.diagnostics, strict=True):
    evaluations = about["evaluations"]
    axes.step(evaluations["trajectories"], evaluations["values"], where="post", label=f"seed {seed}")
axes.axhline(0.9, color="0.5", linewidth=0.8, linestyle="--")
axes.set(xlabel="number of trajectories", ylabel="value of the policy", ylim=(0, 1.05))
axes.legend(frameon=False)
