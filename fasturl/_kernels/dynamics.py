"""The latent side of a Block MDP: start, step, and the combination lock's random tables.

An episode draws from its `dynamics_rng` in a fixed pattern: one uniform for the start, one for each
transition, and one for the reward of each level whose rewards are random. The pattern does not depend on
the actions, so agents that share a seed meet the same chances at the same trajectory.

A random reward of mean r and size z is z if its uniform is below r / z, and else 0.
"""

import numpy as np

from .compiling import inlined, kernel
from .entries import get_entry, place_of
from .records import NO_REWARDS, RANDOM_REWARDS
from .rng import shuffle, uniform

_0, _1 = np.uint64(0), np.uint64(1)


@inlined
def start_state(dynamics: tuple, dynamics_rng: np.ndarray) -> int:
    u = uniform(dynamics_rng)
    s = 0
    while u >= dynamics.start[s]:
        s += 1
    return s


@inlined
def random_reward(dynamics_rng: np.ndarray, mean: float, size: float) -> float:
    """The size with probability mean / size, else 0: one uniform."""
    return size if uniform(dynamics_rng) < mean / size else 0.0


@inlined
def step(dynamics: tuple, dynamics_rng: np.ndarray, h: int, s: int, a: int) -> tuple[int, float]:
    """The next state and the reward after action `a` in state `s` of level `h`."""
    u = uniform(dynamics_rng)
    transitions = dynamics.transitions
    outcome = (place_of(transitions, h, s) + np.uint64(a)) * np.uint64(transitions.shape[3])
    following = _0
    while u >= get_entry(transitions, outcome):
        outcome += _1
        following += _1
    kind = dynamics.reward_kinds[h]
    if kind == NO_REWARDS:  # as at most levels of many problems: no need to look
        return np.int64(following), 0.0
    reward = get_entry(dynamics.rewards, outcome)
    if kind == RANDOM_REWARDS:
        sizes = dynamics.reward_sizes
        size = get_entry(sizes, outcome if sizes.size > 1 else _0)
        reward = random_reward(dynamics_rng, reward, size)
    return np.int64(following), reward


@kernel
def cumulate(chances: np.ndarray, sums: np.ndarray) -> None:
    """Running sums of each row [rows, outcomes] that never pass 1 and are exactly 1 from the last outcome
    that can happen on."""
    for i in range(chances.shape[0]):
        total = 0.0
        last = 0
        for j in range(chances.shape[1]):
            total += chances[i, j]
            sums[i, j] = min(total, 1.0)
            if chances[i, j] > 0.0:
                last = j
        for j in range(last, chances.shape[1]):
            sums[i, j] = 1.0


@kernel
def draw_lock(rng: np.ndarray, switch: float, order: np.ndarray, out: np.ndarray) -> None:
    """Fill `out` (float64[H, 3, 4, 3], probabilities) with a fresh combination lock.

    For each level, and for states 0 and 1 separately, a random permutation of the actions: the first leads to
    state 0 with probability 1-switch and to state 1 with probability switch, the second the other way round,
    the rest to the absorbing state 2. `order` is int64[4] of scratch.
    """
    n_actions = out.shape[2]
    out[:] = 0.0
    for h in range(out.shape[0]):
        for s in range(2):
            for a in range(n_actions):
                order[a] = a
            shuffle(rng, order)
            out[h, s, order[0], 0] = 1.0 - switch
            out[h, s, order[0], 1] = switch
            out[h, s, order[1], 0] = switch
            out[h, s, order[1], 1] = 1.0 - switch
            for dead in range(2, n_actions):
                out[h, s, order[dead], 2] = 1.0
        for a in range(n_actions):
            out[h, 2, a, 2] = 1.0
