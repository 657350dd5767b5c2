"""Backward induction on a finite-horizon MDP.

    Q[h, s, a] = sum over s' of p[h, s, a, s'] (r[h, s, a, s'] + V[h+1, s']),   V[H] = 0,

with V[h, s] the maximum over actions (`optimal_q`) or the mean under a policy (`policy_q`). And, forwards,
how likely a policy is in each state, and the states that can be reached at all.
"""

import numpy as np

from .compiling import kernel


@kernel
def _action_value(
    transitions: np.ndarray, rewards: np.ndarray, values: np.ndarray, h: int, s: int, a: int
) -> float:
    total = 0.0
    for following in range(transitions.shape[3]):
        p = transitions[h, s, a, following]
        if p > 0.0:
            total += p * (rewards[h, s, a, following] + values[h + 1, following])
    return total


@kernel
def optimal_q(transitions: np.ndarray, rewards: np.ndarray, q: np.ndarray, values: np.ndarray) -> None:
    """Fill q float64[H, S, A] and values float64[H+1, S]."""
    horizon, n_states, n_actions = q.shape
    values[horizon] = 0.0
    for h in range(horizon - 1, -1, -1):
        for s in range(n_states):
            for a in range(n_actions):
                q[h, s, a] = _action_value(transitions, rewards, values, h, s, a)
            best = q[h, s, 0]
            for a in range(1, n_actions):
                best = max(best, q[h, s, a])
            values[h, s] = best


@kernel
def policy_q(
    transitions: np.ndarray, rewards: np.ndarray, policy: np.ndarray, q: np.ndarray, values: np.ndarray
) -> None:
    """As `optimal_q`, for `policy` float64[H, S, A], the probability of each action."""
    horizon, n_states, n_actions = q.shape
    values[horizon] = 0.0
    for h in range(horizon - 1, -1, -1):
        for s in range(n_states):
            mean = 0.0
            for a in range(n_actions):
                q[h, s, a] = _action_value(transitions, rewards, values, h, s, a)
                mean += policy[h, s, a] * q[h, s, a]
            values[h, s] = mean


@kernel
def occupancy(start: np.ndarray, transitions: np.ndarray, policy: np.ndarray, visits: np.ndarray) -> None:
    """Fill visits float64[H, S]: the probability that an episode of `policy` float64[H, S, A] is in each
    state of each level. `start` is float64[S], probabilities."""
    horizon, n_states, n_actions, _ = transitions.shape
    visits[:] = 0.0
    for s in range(n_states):
        visits[0, s] = start[s]
    for h in range(horizon - 1):
        for s in range(n_states):
            for a in range(n_actions):
                chance = visits[h, s] * policy[h, s, a]
                if chance > 0.0:
                    for following in range(n_states):
                        visits[h + 1, following] += chance * transitions[h, s, a, following]


@kernel
def reachable(start: np.ndarray, transitions: np.ndarray, reached: np.ndarray) -> None:
    """Fill `reached` (bool[H+1, S]): the states that some policy can be in at each level. `start` is
    float64[S], probabilities."""
    horizon, n_states, n_actions, _ = transitions.shape
    reached[:] = False
    for s in range(n_states):
        reached[0, s] = start[s] > 0.0
    for h in range(horizon):
        for s in range(n_states):
            if reached[h, s]:
                for a in range(n_actions):
                    for following in range(n_states):
                        if transitions[h, s, a, following] > 0.0:
                            reached[h + 1, following] = True
