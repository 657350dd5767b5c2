"""Slow, obvious references for `_kernels/vector.py`: one environment after the other, each as the references
of single episodes play it.

They take the arguments of their kernels, generators included, and leave the same numbers in them.
"""

import contextlib

import numpy as np

from fasturl._kernels.records import Dynamics

from .dynamics import draw_lock, start_state, step
from .emission import fill_normals, fill_words, lock_words, unpack
from .rng import uniform


@contextlib.contextmanager
def _generator(rows):
    """Rows of a kernel's generators as lists of integers, written back at the end."""
    generator = rows.tolist()
    yield generator
    rows[...] = np.array(generator, np.uint64)


def draw_locks(rngs, mask, order, ways):
    """Locks with a known switch, told apart by it."""
    for e in np.flatnonzero(mask):
        lock = np.empty((ways.shape[0], 3, 4, 3))
        with _generator(rngs[e]) as rng:
            draw_lock(rng, 0.25, order, lock)
        ways[:, e] = np.select([lock[..., 0] == 0.75, lock[..., 0] == 0.25], [0, 1], 2)


def _dynamics(tables, e):
    """The tables of one environment."""
    ways = tables.ways[:, e % tables.ways.shape[1]]
    own = e % len(tables.start)
    return Dynamics(
        tables.start[own],
        tables.outcomes[ways],
        tables.rewards[:, own],
        tables.random_rewards[:, own].astype(np.uint8),
        tables.reward_sizes[:, e % tables.reward_sizes.shape[1]],
    )


def begin_latent(tables, players, mask, out):
    """A first state for those of the mask; everybody's state is shown."""
    for e in np.flatnonzero(mask):
        with _generator(players.dynamics_rngs[e]) as dynamics_rng:
            players.states[e] = start_state(_dynamics(tables, e), dynamics_rng)
        players.levels[e] = 0
    out[:] = players.states


def step_latent(tables, players, actions, out, rewards, ended):
    """A step for those whose episode is not over."""
    horizon = len(tables.ways)
    rewards[:], ended[:] = 0.0, False
    for e in np.flatnonzero(players.levels < horizon):
        with _generator(players.dynamics_rngs[e]) as dynamics_rng:
            players.states[e], rewards[e] = step(
                _dynamics(tables, e), dynamics_rng, players.levels[e], players.states[e], actions[e]
            )
        players.levels[e] += 1
        ended[e] = players.levels[e] == horizon
    out[:] = players.states
    return int(ended.sum())


def _show_bits(tables, players, coins, out):
    """The words of each episode for every state, unpacked."""
    horizon = len(tables.ways)
    for e in range(len(out)):
        words = np.empty((1, horizon + 1, 3, -(-out.shape[1] // 64)), np.uint64)
        lock_words(coins.words[e : e + 1], horizon, words)
        unpack(words[0, players.levels[e], players.states[e]][None], out[e : e + 1])


def begin_bits(tables, players, mask, coins, out):
    for e in np.flatnonzero(mask):
        with _generator(players.emission_rngs[e]) as rngs:
            fill_words(rngs, coins.raw[e : e + 1])
    begin_latent(tables, players, mask, np.empty_like(players.states))
    _show_bits(tables, players, coins, out)


def step_bits(tables, players, actions, coins, out, rewards, ended):
    count = step_latent(tables, players, actions, np.empty_like(players.states), rewards, ended)
    _show_bits(tables, players, coins, out)
    return count


def _show_reals(players, normals, out):
    for e in range(len(out)):
        out[e] = normals.noise[players.levels[e], e] + normals.means[players.levels[e], players.states[e]]


def begin_reals(tables, players, mask, normals, out, flat):
    for e in np.flatnonzero(mask):
        with _generator(players.emission_rngs[e]) as rngs:
            fill_normals(rngs, normals.drawn[1], normals.deviation, normals.drawn[:1])
        normals.noise[:, e] = normals.grid[0, : normals.noise.shape[2]].T
    begin_latent(tables, players, mask, np.empty_like(players.states))
    _show_reals(players, normals, out)


def step_reals(tables, players, actions, normals, out, flat, rewards, ended):
    count = step_latent(tables, players, actions, np.empty_like(players.states), rewards, ended)
    _show_reals(players, normals, out)
    return count


def _show_observations(players, observations, out):
    for e in range(len(out)):
        out[e] = observations[players.levels[e], e, players.states[e]]


def begin_observations(tables, players, mask, observations, out):
    begin_latent(tables, players, mask, np.empty_like(players.states))
    _show_observations(players, observations, out)


def step_observations(tables, players, actions, observations, out, rewards, ended):
    count = step_latent(tables, players, actions, np.empty_like(players.states), rewards, ended)
    _show_observations(players, observations, out)
    return count


def play_policy(dynamics, policy, dynamics_rng, policy_rng, states, actions, rewards):
    """One episode after the other; an action is the first whose cumulative chance exceeds a uniform."""
    for e in range(len(states)):
        states[e, 0] = start_state(dynamics, dynamics_rng)
        for h in range(len(policy)):
            u = uniform(policy_rng)
            actions[e, h] = next(a for a, chance in enumerate(policy[h, states[e, h]]) if u < chance)
            states[e, h + 1], rewards[e, h] = step(dynamics, dynamics_rng, h, states[e, h], actions[e, h])
