"""Inputs that kernels are compared on."""

import numpy as np
from hypothesis import strategies as st

from fasturl._kernels.records import NO_REWARDS, SIZE_ONE, Dynamics

WORDS = st.integers(0, 2**64 - 1)
GENERATORS = st.lists(WORDS, min_size=4, max_size=4).filter(any)
"""States of xoshiro256++: four words, not all zero."""

LANES = st.lists(GENERATORS, min_size=4, max_size=4)
"""Four generators side by side, as an emission has them."""


def row(generator):
    """A reference's generator, or several, as the rows that a kernel takes."""
    return np.array(generator, np.uint64)


def chances(draw, *shape):
    """Distributions over the last axis, some of whose outcomes have no chance."""
    weights = draw.random(shape) * (draw.random(shape) < 0.6)
    weights[..., draw.integers(shape[-1])] += 0.1
    return weights / weights.sum(axis=-1, keepdims=True)


def mdp(draw, horizon, n_states, n_actions):
    """Transition probabilities and mean rewards in [0, 1], some of them 0 or 1, both [H, S, A, S]."""
    shape = (horizon, n_states, n_actions, n_states)
    transitions, rewards = chances(draw, *shape), np.clip(draw.uniform(-0.5, 1.5, shape), 0.0, 1.0)
    for table in (transitions, rewards):
        table.setflags(write=False)  # as the tables of a model are: Numba compiles anew for writable ones
    return transitions, rewards


def dynamics(draw, horizon, n_states, n_actions):
    """Tables of an MDP as kernels take them."""
    transitions, rewards = mdp(draw, horizon, n_states, n_actions)
    start, onward = chances(draw, n_states).cumsum(), transitions.cumsum(axis=-1)
    start[-1], onward[..., -1] = 1.0, 1.0  # running sums may miss 1 by an ulp
    kinds = draw.integers(3, size=horizon, dtype=np.uint8)
    paid = np.where((kinds == NO_REWARDS)[:, None, None, None], 0.0, rewards)
    tables = Dynamics(start, onward, paid, kinds, reward_sizes(draw, rewards.shape))
    for table in tables:
        table.setflags(write=False)
    return tables


def reward_sizes(draw, shape):
    """Sizes of random rewards: one for all, or one for each transition, some of which are below 0."""
    if draw.random() < 0.5:
        return SIZE_ONE
    sizes = draw.uniform(0.5, 1.5, shape) * draw.choice([-1.0, 1.0], shape)
    sizes.setflags(write=False)
    return sizes


SIZES = st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 6))
"""Horizon, states, actions."""
DRAWS = st.integers(0, 2**32 - 1).map(np.random.default_rng)
"""Sources of tables."""


def latent_labels(episodes, horizon, n_states):
    """The label table of an agent that sees the latent state itself."""
    return np.tile(np.arange(n_states, dtype=np.uint8), (episodes, horizon + 1, 1))


def filling(draw):
    """A loop that fills an array with consecutive draws. Where `draw` is a piece of kernels, compile it."""

    def fill(rng, out, *parameters):
        for i in range(out.size):
            out[i] = draw(rng, *parameters)

    return fill


def filling_rows(draw):
    """As `filling`, for what draws a whole row: of parameters that are rows of a table."""

    def fill(rng, parameters, out):
        for i in range(out.shape[0]):
            draw(rng, parameters[i], out[i])

    return fill
