"""Many environments side by side: one call moves all of them by one step.

Every environment has generators, a level and a latent state of its own. Tables are shared as far as they can be: a
transition is an index into a short list of cumulative distributions. A lock of any size has three of these (on, flipped and
dead), so that the tables of thousands of locks stay in the cache.

What is seen comes in four kinds: bits of a lock, reals around a mean, observations that were made beforehand for every
state, and the latent state itself. For each kind there is `begin`, which starts new episodes where a mask says so and shows
every environment, and `step`. Noise is laid out level by level, because the environments are usually at the same level.
"""

from typing import NamedTuple

import numpy as np

from .compiling import inlined, kernel
from .dynamics import Dynamics, start_state, step
from .emission import fill_normals, fill_words, lock_words
from .rng import shuffle, uniform

_CODE = np.uint64(7)
_1 = np.uint64(1)


class Tables(NamedTuple):
    """H levels, at most S states a level, A actions, K distributions; ways of M = 1 or M = N environments."""

    start: np.ndarray  # float64[S], cumulative
    outcomes: np.ndarray  # float64[K, S], cumulative
    ways: np.ndarray  # int32[H, M, S, A], the row of `outcomes` that an action leads to
    rewards: np.ndarray  # float64[H, S, A, S]
    random_rewards: np.ndarray  # bool[H]


class Players(NamedTuple):
    """N environments; level H is the terminal one."""

    luck: np.ndarray  # uint64[N, 4]
    lanes: np.ndarray  # uint64[N, 4, 4]
    levels: np.ndarray  # int64[N]
    states: np.ndarray  # int64[N]


class Episodes(NamedTuple):
    """Scratch for the noise of one episode: each pair is the same memory under two shapes."""

    draws: np.ndarray  # bits: uint64[1, n, 4]; reals: uint64[n, 4]
    drawn: np.ndarray  # bits: uint64[1, 4 n]; reals: uint32[2, 4 n]
    filled: np.ndarray  # bits: uint64[1, L, 3, W]; reals: float32[1, 2, 4 n]
    shaped: np.ndarray  # bits: uint64[L, 3, W]; reals: float32[coordinates, L]


@kernel
def draw_locks(streams: np.ndarray, mask: np.ndarray, order: np.ndarray, ways: np.ndarray) -> None:
    """A fresh lock for each environment of `mask`: ways int32[H, N, 3, 4], draws as those of `dynamics.draw_lock`.

    0 is the way on, 1 the flipped one, 2 the way out; `order` is int64[4] of scratch.
    """
    n_actions = ways.shape[3]
    for e in range(mask.size):
        if mask[e]:
            for h in range(ways.shape[0]):
                for s in range(2):
                    for a in range(n_actions):
                        order[a] = a
                    shuffle(streams[e], order)
                    for place in range(n_actions):
                        ways[h, e, s, order[place]] = min(place, 2)
                for a in range(n_actions):
                    ways[h, e, 2, a] = 2


@inlined
def _move(tables: Tables, players: Players, e: int, a: int) -> float:
    """One step of environment e, with the draws of `dynamics.step`; returns the reward."""
    h, s = players.levels[e], players.states[e]
    luck = players.luck[e]
    way = tables.ways[h, e if tables.ways.shape[1] > 1 else 0, s, a]
    u = uniform(luck)
    following = 0
    while u >= tables.outcomes[way, following]:
        following += 1
    reward = tables.rewards[h, s, a, following]
    if tables.random_rewards[h]:
        reward = 1.0 if uniform(luck) < reward else 0.0
    players.levels[e] = h + 1
    players.states[e] = following
    return reward


@inlined
def _play(tables: Tables, players: Players, e: int, a: int, rewards: np.ndarray, ended: np.ndarray) -> bool:
    """Move environment e unless its episode is over; whether this ended its episode."""
    horizon = tables.ways.shape[0]
    over = players.levels[e] == horizon
    rewards[e] = 0.0 if over else _move(tables, players, e, a)
    ended[e] = not over and players.levels[e] == horizon
    return ended[e]


@inlined
def _start(tables: Tables, players: Players, e: int) -> None:
    players.levels[e] = 0
    players.states[e] = start_state(tables, players.luck[e])


# --- bits of a lock ------------------------------------------------------------------------------------------------


@inlined
def _show_bits(coins: np.ndarray, players: Players, e: int, out: np.ndarray) -> None:
    h = players.levels[e]
    word = (coins[h, e, 0] & ~_CODE) | (_1 << np.uint64(players.states[e]))
    for j in range(min(64, out.shape[1])):
        out[e, j] = np.int8((word >> np.uint64(j)) & _1)
    for w in range(1, coins.shape[2]):
        word = coins[h, e, w]
        first = 64 * w
        for j in range(min(64, out.shape[1] - first)):
            out[e, first + j] = np.int8((word >> np.uint64(j)) & _1)


@kernel
def begin_bits(tables: Tables, players: Players, mask: np.ndarray, scratch: Episodes, coins: np.ndarray, out: np.ndarray) -> None:
    """coins uint64[L, N, W], of which the first three bits are replaced by the code of the state; out int8[N, D]."""
    for e in range(mask.size):
        if mask[e]:
            fill_words(players.lanes[e], scratch.draws)
            lock_words(scratch.drawn, tables.ways.shape[0], scratch.filled)
            for h in range(coins.shape[0]):
                for w in range(coins.shape[2]):
                    coins[h, e, w] = scratch.shaped[h, 0, w]
            _start(tables, players, e)
        _show_bits(coins, players, e, out)


@kernel
def step_bits(
    tables: Tables, players: Players, actions: np.ndarray, coins: np.ndarray, out: np.ndarray, rewards: np.ndarray, ended: np.ndarray
) -> int:
    """Move every environment whose episode is not over; returns how many episodes ended."""
    count = 0
    for e in range(actions.size):
        count += _play(tables, players, e, actions[e], rewards, ended)
        _show_bits(coins, players, e, out)
    return count


# --- reals around a mean -------------------------------------------------------------------------------------------


@inlined
def _show_reals(noise: np.ndarray, means: np.ndarray, players: Players, e: int, out: np.ndarray) -> None:
    h, s = players.levels[e], players.states[e]
    for j in range(out.shape[1]):
        out[e, j] = noise[h, e, j] + means[h, s, j]


@kernel
def begin_reals(
    tables: Tables,
    players: Players,
    mask: np.ndarray,
    scratch: Episodes,
    deviation: np.float32,
    noise: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
) -> None:
    """noise float32[L, N, D], means float32[L, S, D], out float32[N, D]."""
    for e in range(mask.size):
        if mask[e]:
            fill_normals(players.lanes[e], scratch.draws, scratch.drawn, deviation, scratch.filled)
            for h in range(noise.shape[0]):
                for j in range(noise.shape[2]):
                    noise[h, e, j] = scratch.shaped[j, h]
            _start(tables, players, e)
        _show_reals(noise, means, players, e, out)


@kernel
def step_reals(
    tables: Tables,
    players: Players,
    actions: np.ndarray,
    noise: np.ndarray,
    means: np.ndarray,
    out: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
) -> int:
    """Move every environment whose episode is not over; returns how many episodes ended."""
    count = 0
    for e in range(actions.size):
        count += _play(tables, players, e, actions[e], rewards, ended)
        _show_reals(noise, means, players, e, out)
    return count


# --- observations made beforehand ----------------------------------------------------------------------------------


@inlined
def _show_looks(looks: np.ndarray, players: Players, e: int, out: np.ndarray) -> None:
    h, s = players.levels[e], players.states[e]
    for j in range(out.shape[1]):
        out[e, j] = looks[h, e, s, j]


@kernel
def begin_looks(tables: Tables, players: Players, mask: np.ndarray, looks: np.ndarray, out: np.ndarray) -> None:
    """looks [L, N, S, D] holds what the new episodes look like; out [N, D] of the same type."""
    for e in range(mask.size):
        if mask[e]:
            _start(tables, players, e)
        _show_looks(looks, players, e, out)


@kernel
def step_looks(
    tables: Tables, players: Players, actions: np.ndarray, looks: np.ndarray, out: np.ndarray, rewards: np.ndarray, ended: np.ndarray
) -> int:
    """Move every environment whose episode is not over; returns how many episodes ended."""
    count = 0
    for e in range(actions.size):
        count += _play(tables, players, e, actions[e], rewards, ended)
        _show_looks(looks, players, e, out)
    return count


# --- latent states -------------------------------------------------------------------------------------------------


@kernel
def begin_latent(tables: Tables, players: Players, mask: np.ndarray, out: np.ndarray) -> None:
    """out int64[N]."""
    for e in range(mask.size):
        if mask[e]:
            _start(tables, players, e)
        out[e] = players.states[e]


@kernel
def step_latent(
    tables: Tables, players: Players, actions: np.ndarray, out: np.ndarray, rewards: np.ndarray, ended: np.ndarray
) -> int:
    """Move every environment whose episode is not over; returns how many episodes ended."""
    count = 0
    for e in range(actions.size):
        count += _play(tables, players, e, actions[e], rewards, ended)
        out[e] = players.states[e]
    return count


# --- whole episodes of a fixed policy ------------------------------------------------------------------------------


@kernel
def play_policy(
    dynamics: Dynamics,
    policy: np.ndarray,
    luck: np.ndarray,
    choice: np.ndarray,
    states: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Play `policy` (float64[H, S, A], cumulative over actions): states int64[E, H+1], actions int64[E, H], rewards float64[E, H].

    Each action takes one uniform from `choice`, so that policies that share it can be compared.
    """
    for e in range(states.shape[0]):
        s = start_state(dynamics, luck)
        states[e, 0] = s
        for h in range(policy.shape[0]):
            u = uniform(choice)
            a = 0
            while u >= policy[h, s, a]:
                a += 1
            s, reward = step(dynamics, luck, h, s, a)
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward
