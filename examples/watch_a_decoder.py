"""
Watch a decoder find the states
===============================

Observations of a lock with much Gaussian noise, seen along their two principal directions. Random play soon
ends in the dead state, which fills most of what is seen. After three trajectories the oracle has hardly met
the rarest state and gives its observations to another; after some more it has found all three."""

import numpy as np
from matplotlib import pyplot
from matplotlib.animation import FuncAnimation
from sklearn.decomposition import PCA

import fasturl as fu

lock = fu.LockGaussian(horizon=8, switch=0.2, noise=0.3)
random_play = np.full((8, 3, 4), 1 / 4)
played = fu.envs.rollout(lock, random_play, episodes=300, seed=1)
flat = PCA(2, random_state=0).fit_transform(played.observations)

# %%
# The oracle is fitted on more and more trajectories. Labels are numbered as it likes, so each
# fit is coloured by the latent state that most of a label's observations come from.

counts = [3, 4, 5, 6, 8, 12, 20, 50, 120, 300]
levels = lock.horizon + 1


def labels_after(trajectories):
    """Labels of all observations by an oracle that has seen the first trajectories alone."""
    seen = played.observations[: trajectories * levels]
    labels = fu.oracles.GMM(3, random_state=0).fit(seen).predict(played.observations)
    majority = {label: np.bincount(played.states[labels == label]).argmax() for label in np.unique(labels)}
    return np.array([majority[label] for label in labels])


def draw(axes, trajectories):
    """The observations, coloured by what the decoder makes of them; those that it has seen are darker."""
    axes.clear()
    labels = labels_after(trajectories)
    seen = np.arange(len(flat)) < trajectories * levels
    colours = np.array(["#3B78B0", "#E08A2E", "#4C9A5B"])[labels]
    axes.scatter(*flat[~seen].T, s=4, c=colours[~seen], alpha=0.15, linewidths=0)
    axes.scatter(*flat[seen].T, s=8, c=colours[seen], alpha=0.9, linewidths=0)
    right = (labels == played.states).mean()
    axes.set(xticks=[], yticks=[], title=f"{trajectories} trajectories: {right:.0%} right")


figure, axes = pyplot.subplots(figsize=(4, 4), layout="constrained")
animation = FuncAnimation(figure, lambda step: draw(axes, counts[step]), frames=len(counts), interval=700)

# %%
# The same as a row of pictures.

figure, panels = pyplot.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for panel, trajectories in zip(panels, (3, 5, 20, 300), strict=True):
    draw(panel, trajectories)
