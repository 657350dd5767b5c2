"""Pieces that tabular learners share: schedules, greedy actions, and episodes of a fixed policy.

`labels[e, h, s]` is the label that the agent sees in episode e at level h when the latent state is s: the
identity for an agent that sees latent states, a decoder's answer otherwise.
"""

import math

import numpy as np

from .compiling import inlined, kernel
from .dynamics import start_state, step
from .entries import get_entry, place_of, place_of_block, row_at
from .rng import below, uniform

_0, _1, _2, _3, _4 = np.arange(5, dtype=np.uint64)


@kernel
def constant_schedule(
    horizon: int, rate: float, confidence: float, rates: np.ndarray, bonuses: np.ndarray
) -> None:
    """One rate, and the bonus c sqrt(H / t). Visits count from 1: entry 0 is never read, here and below."""
    rates[0] = bonuses[0] = 0.0
    for t in range(1, rates.size):
        rates[t] = rate
        bonuses[t] = confidence * math.sqrt(horizon / t)


@kernel
def jin_schedule(
    horizon: int,
    n_labels: float,
    n_actions: int,
    episodes: int,
    confidence: float,
    failure: float,
    rates: np.ndarray,
    bonuses: np.ndarray,
) -> None:
    """The rate (H+1) / (H+t) and the bonus c sqrt(H^3 log(S A T / p) / t), T being the number of steps."""
    # as float: there may be 2^62 labels
    pairs_and_steps = float(n_labels) * n_actions * horizon * episodes
    scale = float(horizon) ** 3 * math.log(pairs_and_steps / failure)
    rates[0] = bonuses[0] = 0.0
    for t in range(1, rates.size):
        rates[t] = (horizon + 1) / (horizon + t)
        bonuses[t] = confidence * math.sqrt(scale / t)


@kernel
def falling_epsilons(fraction: float, epsilons: np.ndarray) -> None:
    """From 1 to 0.01 along a line over the first `fraction` of the episodes."""
    for e in range(epsilons.size):
        epsilons[e] = max(0.01, 1.0 - 0.99 * (e / (fraction * epsilons.size)))


@inlined
def greedy(values: np.ndarray, policy_rng: np.ndarray) -> tuple[int, float]:
    """The best action of a row of action values, ties broken uniformly at random, and its value."""
    n_actions = np.uint64(values.size)
    best = values[_0]
    action, ties, following = _0, _1, _1
    if n_actions >= _4:  # written out: a loop would cost as much as what it does
        second, third, fourth = values[_1], values[_2], values[_3]
        if second > best:
            best = second
            action = _1
        elif second == best:
            ties = _2
        if third > best:
            best = third
            action = _2
            ties = _1
        elif third == best:
            ties += _1
        if fourth > best:
            best = fourth
            action = _3
            ties = _1
        elif fourth == best:
            ties += _1
        following = _4
    for a in range(following, n_actions):
        if values[a] > best:
            best = values[a]
            action = a
            ties = _1
        elif values[a] == best:
            ties += _1
    if ties > _1:
        skip = below(policy_rng, ties)
        if ties == n_actions:  # as in a row that is new: no need to search
            return skip, best
        for a in range(n_actions):
            if values[a] == best:
                action = a
                if skip == 0:
                    break
                skip -= 1
    return np.int64(action), best


@inlined
def greedy_at(table: np.ndarray, first: np.uint64, policy_rng: np.ndarray) -> tuple[int, float]:
    """`greedy` in the row of a table that begins at the place `first`."""
    return greedy(row_at(table, first), policy_rng)


@inlined
def epsilon_greedy(values: np.ndarray, epsilon: float, policy_rng: np.ndarray) -> tuple[int, float]:
    """A uniform action with probability epsilon, else the greedy one; and the row's greatest value."""
    action, best = greedy(values, policy_rng)
    if epsilon > 0.0 and uniform(policy_rng) < epsilon:
        action = below(policy_rng, values.size)
    return action, best


@inlined
def epsilon_greedy_at(
    table: np.ndarray, first: np.uint64, epsilon: float, policy_rng: np.ndarray
) -> tuple[int, float]:
    """`epsilon_greedy` in the row of a table that begins at the place `first`."""
    return epsilon_greedy(row_at(table, first), epsilon, policy_rng)


@inlined
def greatest(values: np.ndarray) -> float:
    """The greatest of a row of action values."""
    n_actions = np.uint64(values.size)
    best = values[_0]
    following = _1
    if n_actions >= _4:  # written out, as in `greedy`
        best = _greater(_greater(best, values[_1]), _greater(values[_2], values[_3]))
        following = _4
    for a in range(following, n_actions):
        best = _greater(best, values[a])
    return best


@inlined
def greatest_at(table: np.ndarray, first: np.uint64) -> float:
    """`greatest` in the row of a table that begins at the place `first`."""
    return greatest(row_at(table, first))


@inlined
def _greater(one: float, other: float) -> float:
    """The greater of two numbers; `max` would look for what is no number too."""
    return other if other > one else one


@inlined
def fill_greedy(values: np.ndarray, chances: np.ndarray) -> None:
    """The chances of the greedy action of a row of action values, ties being equally likely."""
    best = greatest(values)
    ties = 0
    for a in range(values.size):
        ties += values[a] == best
    for a in range(values.size):
        chances[a] = 1.0 / ties if values[a] == best else 0.0


@kernel
def rollout(
    dynamics: tuple,
    labels: np.ndarray,
    q: np.ndarray,
    epsilon: float,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    trajectories: tuple,
) -> None:
    """Play epsilon-greedily in `q` without learning, and fill `trajectories`, a record of whole episodes.

    A fixed policy is a `q` of its own.
    """
    n_states = np.uint64(labels.shape[2])
    states, actions, rewards = trajectories.states, trajectories.actions, trajectories.rewards
    for e in range(states.shape[0]):
        s = start_state(dynamics, dynamics_rng)
        states[e, 0] = s
        seen = place_of_block(labels, e)
        for h in range(q.shape[0]):
            x = get_entry(labels, seen + np.uint64(s))
            a, _ = epsilon_greedy_at(q, place_of(q, h, x), epsilon, policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            seen += n_states
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward


@kernel
def draw_policy(q: np.ndarray, epsilon: float, policy_rng: np.ndarray, actions: np.ndarray) -> None:
    """Fill `actions` (int64[H, X]) with the epsilon-greedy action of every row: one episode's policy."""
    for h in range(q.shape[0]):
        for x in range(q.shape[1]):
            actions[h, x], _ = epsilon_greedy_at(q, place_of(q, h, x), epsilon, policy_rng)
