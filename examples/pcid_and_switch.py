"""
PCID and the switch
===================

PCID tells states apart by what led to them. With a switch of 0.5 the two live states of a lock have the same
past, and nothing led to one that did not lead to the other. URL tells them apart by how they look."""

import numpy as np
from matplotlib import pyplot

import fasturl as fu

switches = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)
agents = {"URL": fu.URL(), "PCID": fu.PCID()}
values = {
    name: np.array(
        [
            fu.train(fu.LockBernoulli(horizon=8, switch=switch), agent, episodes=4_000, seeds=6).values
            for switch in switches
        ]
    )
    for name, agent in agents.items()
}

# %%
# The value of each final policy as a share of the best, a dot for each seed.

figure, axes = pyplot.subplots(figsize=(5.5, 3.6), layout="constrained")
for place, (name, table) in enumerate(values.items()):
    shares = table / 0.5
    axes.plot(switches, shares.mean(axis=1), label=name)
    axes.scatter(np.repeat(switches, 6) + 0.006 * (2 * place - 1), shares.ravel(), s=9, alpha=0.6)
axes.set(xlabel="switch", ylabel="share of the best value", ylim=(0, 1.05))
axes.legend(frameon=False)
