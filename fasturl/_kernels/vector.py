"""Many environments side by side: one call moves all of them by one step.

Every environment has generators, a level and a latent state of its own. Tables are shared as far as they can
be: a transition is an index into a short list of cumulative distributions. A lock of any size has three of
these (on, flipped and dead), so that the tables of thousands of locks stay in the cache.

What is seen comes in four kinds: bits of a lock, reals around a mean, observations that were made beforehand
for every state, and the latent state itself. For each kind there is `begin`, which starts new episodes where
a mask says so and shows every environment, and `step`. Noise is laid out level by level, because the
environments are usually at the same level.
"""

import numpy as np

from .compiling import inlined, kernel
from .dynamics import random_reward, start_state, step
from .emission import draw_bits, make_normals, show_word
from .entries import get_entry, place_of, small_product
from .rng import fill_bits_in_lanes, shuffle, uniform

_CODE = np.uint64(7)
_NOTHING = np.float32(0)
_1 = np.uint64(1)


@kernel
def draw_locks(rngs: np.ndarray, mask: np.ndarray, order: np.ndarray, ways: np.ndarray) -> None:
    """A fresh lock for each environment of `mask`: ways uint8[H, N, 3, 4], draws as those of
    `dynamics.draw_lock`.

    0 is the way on, 1 the flipped one, 2 the way out; `order` is int64[4] of scratch.
    """
    n_actions = ways.shape[3]
    for e in range(mask.size):
        if mask[e]:
            for h in range(ways.shape[0]):
                for s in range(2):
                    for a in range(n_actions):
                        order[a] = a
                    shuffle(rngs[e], order)
                    for place in range(n_actions):
                        ways[h, e, s, order[place]] = min(place, 2)
                for a in range(n_actions):
                    ways[h, e, 2, a] = 2


@inlined
def _pair(table: np.ndarray, h: np.uint64, e: int, s: np.uint64, a: int) -> np.uint64:
    """The number of [h, e, s, a] among the first four axes of a table [H, N, S, A, ...], or [H, 1, S, A, ...]
    where all environments share it."""
    own = np.uint64(e) if table.shape[1] > 1 else np.uint64(0)
    return (place_of(table, h, own) + s) * np.uint64(table.shape[3]) + np.uint64(a)


@inlined
def _move(tables: tuple, players: tuple, e: int, a: int) -> float:
    """One step of environment e, with the draws of `dynamics.step`; returns the reward."""
    h, s = np.uint64(players.levels[e]), np.uint64(players.states[e])
    dynamics_rng = players.dynamics_rngs[e]
    way = np.uint64(get_entry(tables.ways, _pair(tables.ways, h, e, s, a)))
    u = uniform(dynamics_rng)
    following = 0
    for outcome in range(tables.outcomes.shape[1] - 1):
        # all of them: a loop that stops by chance is mispredicted
        following += u >= tables.outcomes[way, outcome]
    rewards = tables.rewards
    place = small_product(_pair(rewards, h, e, s, a), rewards.shape[4]) + np.uint64(following)
    reward = get_entry(rewards, place)
    if tables.random_rewards[h, np.uint64(e) if rewards.shape[1] > 1 else np.uint64(0)]:
        sizes = tables.reward_sizes
        size = get_entry(sizes, place if sizes.size > 1 else np.uint64(0))
        reward = random_reward(dynamics_rng, reward, size)
    players.levels[e] += 1
    players.states[e] = following
    return reward


@inlined
def _move_all(
    tables: tuple, players: tuple, actions: np.ndarray, rewards: np.ndarray, ended: np.ndarray
) -> int:
    """Move every environment whose episode is not over; returns how many episodes this ended."""
    horizon = tables.ways.shape[0]
    count = 0
    for e in range(actions.size):
        if players.levels[e] == horizon:
            rewards[e] = 0.0
            ended[e] = False
        else:
            rewards[e] = _move(tables, players, e, actions[e])
            ended[e] = players.levels[e] == horizon
            count += ended[e]
    return count


@inlined
def _start(tables: tuple, players: tuple, e: int) -> None:
    """The first state of an episode of environment e, with the draw of `dynamics.start_state`."""
    own = e if tables.start.shape[0] > 1 else 0
    u = uniform(players.dynamics_rngs[e])
    s = 0
    while u >= tables.start[own, s]:
        s += 1
    players.levels[e] = 0
    players.states[e] = s


# --- bits of a lock ---


@inlined
def _show_bits(coins: tuple, players: tuple, e: int, out: np.ndarray) -> None:
    h = np.uint64(players.levels[e])
    first = coins.first[h]
    dimension = out.shape[1]
    word = (coins.words[e, first] >> coins.shift[h] << coins.room) & ~_CODE | _1 << np.uint64(
        players.states[e]
    )
    show_word(word, e, 0, min(64, dimension), out)
    for w in range(1, (dimension + 63) >> 6):
        show_word(coins.words[e, first + w], e, 64 * w, min(64 * w + 64, dimension), out)


@kernel
def begin_bits(tables: tuple, players: tuple, mask: np.ndarray, coins: tuple, out: np.ndarray) -> None:
    """out int8[N, D]."""
    for e in range(mask.size):
        if mask[e]:
            fill_bits_in_lanes(players.emission_rngs[e], coins.raw[e])
            _start(tables, players, e)
        _show_bits(coins, players, e, out)


@kernel
def step_bits(
    tables: tuple,
    players: tuple,
    actions: np.ndarray,
    coins: tuple,
    out: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
) -> int:
    count = _move_all(tables, players, actions, rewards, ended)
    for e in range(actions.size):
        _show_bits(coins, players, e, out)
    return count


# --- reals around a mean ---


@inlined
def _show_reals(normals: tuple, players: tuple, out: np.ndarray, flat: np.ndarray) -> None:
    levels = players.levels
    together = True
    for e in range(levels.size):
        together &= levels[e] == levels[0]
    if together:  # one long loop and a short one for each environment, instead of many middling ones
        h = np.uint64(levels[0])
        for i in range(flat.size):
            flat[i] = normals.flat[h, i] + _NOTHING  # as a mean of 0 is added: it makes a zero of -0
        for e in range(levels.size):
            s = np.uint64(players.states[e])
            for j in range(normals.n_informative):
                out[e, j] += normals.means[h, s, j]
    else:
        for e in range(levels.size):
            h, s = np.uint64(levels[e]), np.uint64(players.states[e])
            for j in range(out.shape[1]):
                out[e, j] = normals.noise[h, e, j] + normals.means[h, s, j]


@inlined
def _first_of(mask: np.ndarray, e: int) -> int:
    """The first environment of the mask from e on; their number where there is none."""
    while e < mask.size and not mask[e]:
        e += 1
    return e


@kernel
def begin_reals(
    tables: tuple, players: tuple, mask: np.ndarray, normals: tuple, out: np.ndarray, flat: np.ndarray
) -> None:
    """out float32[N, D], flat float32[N D] the same memory."""
    n_envs = mask.size
    turn, e = 0, _first_of(mask, 0)
    if e < n_envs:
        draw_bits(players.emission_rngs[e], normals.drawn[turn])
    while e < n_envs:
        drawn, room, following = normals.drawn[turn], normals.drawn[1 - turn], _first_of(mask, e + 1)
        next_rngs = players.emission_rngs[min(following, n_envs - 1)]
        make_normals(drawn, normals.deviation, drawn, next_rngs, room, following < n_envs)
        for h in range(normals.noise.shape[0]):
            for j in range(normals.noise.shape[2]):
                normals.noise[h, e, j] = normals.grid[turn, j, h]
        _start(tables, players, e)
        turn, e = 1 - turn, following
    _show_reals(normals, players, out, flat)


@kernel
def step_reals(
    tables: tuple,
    players: tuple,
    actions: np.ndarray,
    normals: tuple,
    out: np.ndarray,
    flat: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
) -> int:
    count = _move_all(tables, players, actions, rewards, ended)
    _show_reals(normals, players, out, flat)
    return count


# --- observations made beforehand ---


@inlined
def _show_observations(observations: np.ndarray, players: tuple, e: int, out: np.ndarray) -> None:
    h, s = np.uint64(players.levels[e]), np.uint64(players.states[e])
    for j in range(out.shape[1]):
        out[e, j] = observations[h, e, s, j]


@kernel
def begin_observations(
    tables: tuple, players: tuple, mask: np.ndarray, observations: np.ndarray, out: np.ndarray
) -> None:
    """observations [L, N, S, D] holds what the new episodes look like; out [N, D] of the same type."""
    for e in range(mask.size):
        if mask[e]:
            _start(tables, players, e)
        _show_observations(observations, players, e, out)


@kernel
def step_observations(
    tables: tuple,
    players: tuple,
    actions: np.ndarray,
    observations: np.ndarray,
    out: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
) -> int:
    count = _move_all(tables, players, actions, rewards, ended)
    for e in range(actions.size):
        _show_observations(observations, players, e, out)
    return count


# --- latent states ---


@kernel
def begin_latent(tables: tuple, players: tuple, mask: np.ndarray, out: np.ndarray) -> None:
    """out int64[N]."""
    for e in range(mask.size):
        if mask[e]:
            _start(tables, players, e)
        out[e] = players.states[e]


@kernel
def step_latent(
    tables: tuple,
    players: tuple,
    actions: np.ndarray,
    out: np.ndarray,
    rewards: np.ndarray,
    ended: np.ndarray,
) -> int:
    count = _move_all(tables, players, actions, rewards, ended)
    for e in range(actions.size):
        out[e] = players.states[e]
    return count


# --- whole episodes of a fixed policy ---


@kernel
def play_policy(
    dynamics: tuple,
    policy: np.ndarray,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    states: np.ndarray,
    actions: np.ndarray,
    rewards: np.ndarray,
) -> None:
    """Play `policy` (float64[H, S, A], cumulative over actions): states int64[E, H+1], actions int64[E, H],
    rewards float64[E, H].

    Each action takes one uniform from `policy_rng`, so that policies that share it can be compared.
    """
    for e in range(states.shape[0]):
        s = start_state(dynamics, dynamics_rng)
        states[e, 0] = s
        for h in range(policy.shape[0]):
            u = uniform(policy_rng)
            a = 0
            while u >= policy[h, s, a]:
                a += 1
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward
