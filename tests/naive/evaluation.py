"""The value of a policy on labels and its standard error, one state, label and observation at a time."""

from math import sqrt

import numpy as np

from .planning import occupancy, policy_q


def value_on_labels(env, labels, chances):
    """Give every state the mean of the actions of its labels, and see what each observation changes."""
    episodes, n_states = labels.shape[0], labels.shape[2]
    horizon, n_labels, n_actions = chances.shape
    policy = np.zeros((horizon, n_states, n_actions))
    for e in range(episodes):
        for h, s in np.ndindex(horizon, n_states):
            policy[h, s] += chances[h, labels[e, h, s]] / episodes
    q, values, visits = np.empty_like(policy), np.empty((horizon + 1, n_states)), np.empty(policy.shape[:2])
    policy_q(env.transitions, env.rewards, policy, q, values)
    occupancy(env.start, env.transitions, policy, visits)

    def effect(h, s, x):
        return visits[h, s] * (sum(chances[h, x] * q[h, s]) - values[h, s])

    variance = 0.0
    for h in range(horizon):
        sums = [sum(effect(h, s, labels[e, h, s]) for s in range(n_states)) for e in range(episodes)]
        variance += np.var(sums, ddof=1) / episodes
    greatest = max(abs(effect(h, s, x)) for h, s, x in np.ndindex(horizon, n_states, n_labels))
    return sum(env.start * values[0]), sqrt(variance + (greatest / episodes) ** 2)
