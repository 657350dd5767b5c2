"""
A Block MDP of your own
=======================

Tables of transitions and rewards, and an emission: here two rooms with a door between them, seen by twelve
noisy sensors."""

import numpy as np
from matplotlib import pyplot

import fasturl as fu

horizon, stay, door = 6, 0, 1
transitions = np.zeros((horizon, 2, 2, 2))  # [level, room, action, next room]
transitions[:, [0, 1], stay, [0, 1]] = 1.0
transitions[:, [0, 1], door] = [[0.3, 0.7], [0.7, 0.3]]  # the door sticks three times in ten
rewards = np.zeros((horizon, 2, 2))
rewards[:, 0, stay] = 0.1  # the first room pays a little at once
rewards[-1, 1, stay] = 1.0  # the second pays at the end

sensors = np.where(np.arange(12) % 2, 0.8, 0.2) * np.array([[1.0], [1.25]]) - np.array([[0.0], [0.3]])
rooms = fu.BlockMDP(
    transitions, rewards, emission=fu.emissions.Gaussian(sensors, noise=0.05, n_levels=horizon + 1)
)
rooms

# %%
# A Block MDP is an environment like any other. Its best value is computed from the tables.

run = fu.train(rooms, fu.URL(), episodes=1_500, seeds=4)
print(rooms.optimal_value(), run.values)

# %%
# What the two rooms look like, and how well the agent does in them.

seen = fu.envs.rollout(rooms, np.full((horizon, 2, 2), 0.5), episodes=30, seed=0)
figure, (looks, curve) = pyplot.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
order = seen.states.argsort(kind="stable")
looks.imshow(seen.observations[order], aspect="auto", cmap="Greys", interpolation="nearest")
looks.axhline((seen.states == 0).sum(), color="#C0392B")
looks.set(xlabel="sensor", ylabel="observation, by room", title="two rooms")
run.plot(curve)
curve.axhline(rooms.optimal_value(), color="0.5", linewidth=0.8, linestyle="--")
curve.set(xlabel="number of trajectories", ylabel="average reward", ylim=(0, None))
