"""Tabular learning over label tables.

`labels[e, h, s]` is the label that the agent sees in episode e at level h when the latent state is s: the
identity for an agent that sees latent states, a decoder's answer otherwise. The loops below never touch an
observation.

One update serves both learners. With t the number of visits of (h, x, a), this one included, and V the
maximum of the next level's row (0 after the last level),

    Q[h, x, a] <- min(cap, (1 - rates[t]) Q[h, x, a] + rates[t] (r + V + bonuses[t])).

OracleQ (Jin et al., 2018) acts greedily, starts at the cap and has a bonus; QLearning starts at 0, has no
bonus and no cap, and explores with probability epsilon. Updating while the episode runs is the same as
updating after it in level order: the update of level h reads level h+1, which no earlier update of the
episode has touched.
"""

import math

import numpy as np

from .compiling import inlined, kernel
from .dynamics import start_state, step
from .rng import below, uniform


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
    n_labels: int,
    n_actions: int,
    confidence: float,
    failure: float,
    rates: np.ndarray,
    bonuses: np.ndarray,
) -> None:
    """The rate (H+1) / (H+t) and the bonus c sqrt(H^3 log(S A T / p) / t), T being the number of steps."""
    pairs_and_steps = (
        float(n_labels) * n_actions * horizon * (rates.size - 1)
    )  # as float: there may be 2^62 labels
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
def greedy(q: np.ndarray, h: int, x: int, policy_rng: np.ndarray) -> tuple[int, float]:
    """The best action of row (h, x), ties broken uniformly at random, and its value."""
    best = q[h, x, 0]
    action = 0
    ties = 1
    for a in range(1, q.shape[2]):
        value = q[h, x, a]
        if value > best:
            best = value
            action = a
            ties = 1
        elif value == best:
            ties += 1
    if ties > 1:
        skip = below(policy_rng, ties)
        action = -1
        while skip >= 0:
            action += 1
            if q[h, x, action] == best:
                skip -= 1
    return action, best


@inlined
def epsilon_greedy(
    q: np.ndarray, h: int, x: int, epsilon: float, policy_rng: np.ndarray
) -> tuple[int, float]:
    """A uniform action with probability epsilon, else the greedy one; and the row's greatest value."""
    action, best = greedy(q, h, x, policy_rng)
    if epsilon > 0.0 and uniform(policy_rng) < epsilon:
        action = below(policy_rng, q.shape[2])
    return action, best


@inlined
def _update(
    q: np.ndarray,
    visits: np.ndarray,
    h: int,
    x: int,
    a: int,
    target: float,
    rates: np.ndarray,
    bonuses: np.ndarray,
    cap: float,
) -> None:
    """`update` with the arrays of both records."""
    visits[h, x, a] += 1
    t = visits[h, x, a]
    rate = rates[t]
    q[h, x, a] = min(cap, (1.0 - rate) * q[h, x, a] + rate * (target + bonuses[t]))


@inlined
def update(values: tuple, h: int, x: int, a: int, target: float, rules: tuple) -> None:
    """One step of the update above; `target` is r + V."""
    _update(values.q, values.visits, h, x, a, target, rules.rates, rules.bonuses, rules.cap)


@kernel
def update_trajectory(
    values: tuple, labels: np.ndarray, actions: np.ndarray, rewards: np.ndarray, rules: tuple
) -> None:
    """Update `values` from one finished trajectory: labels int64[H+1], actions int64[H], rewards
    float64[H]."""
    q = values.q
    horizon = actions.size
    for h in range(horizon):
        value = 0.0
        if h + 1 < horizon:
            row = q[h + 1, labels[h + 1]]
            value = row[0]
            for a in range(1, row.size):
                value = max(value, row[a])
        update(values, h, labels[h], actions[h], rewards[h] + value, rules)


@kernel
def learn(
    dynamics: tuple,
    labels: np.ndarray,
    values: tuple,
    rules: tuple,
    dynamics_rng: np.ndarray,
    policy_rng: np.ndarray,
    returns: np.ndarray,
) -> None:
    """Play and learn for `returns.size` episodes; fill in the return of each.

    labels uint8[E, H+1, S], int32 where there are more than 256; `values` are `ActionValues`, `rules`
    `LearningRules` whose epsilons begin with that of the first episode.
    """
    # taken out of their records once: an array taken out in the loop is counted there each time
    q, visits = values.q, values.visits
    rates, bonuses, cap, epsilons = rules.rates, rules.bonuses, rules.cap, rules.epsilons
    horizon = q.shape[0]
    for e in range(returns.size):
        epsilon = epsilons[e]
        total = 0.0
        s = start_state(dynamics, dynamics_rng)
        x = np.int64(labels[e, 0, s])
        a, value = epsilon_greedy(q, 0, x, epsilon, policy_rng)
        for h in range(horizon):
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            total += reward
            if h + 1 < horizon:
                next_x = np.int64(labels[e, h + 1, s])
                next_a, value = epsilon_greedy(q, h + 1, next_x, epsilon, policy_rng)
                _update(q, visits, h, x, a, reward + value, rates, bonuses, cap)
                x, a = next_x, next_a
            else:
                _update(q, visits, h, x, a, reward, rates, bonuses, cap)
        returns[e] = total


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
    horizon = q.shape[0]
    states, actions, rewards = trajectories.states, trajectories.actions, trajectories.rewards
    for e in range(states.shape[0]):
        s = start_state(dynamics, dynamics_rng)
        states[e, 0] = s
        for h in range(horizon):
            a, _ = epsilon_greedy(q, h, np.int64(labels[e, h, s]), epsilon, policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            states[e, h + 1] = s
            actions[e, h] = a
            rewards[e, h] = reward


@kernel
def draw_policy(q: np.ndarray, epsilon: float, policy_rng: np.ndarray, actions: np.ndarray) -> None:
    """Fill `actions` (int64[H, X]) with the epsilon-greedy action of every row: one episode's policy."""
    for h in range(q.shape[0]):
        for x in range(q.shape[1]):
            actions[h, x], _ = epsilon_greedy(q, h, x, epsilon, policy_rng)
