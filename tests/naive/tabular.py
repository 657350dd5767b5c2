"""Slow, obvious references for `_kernels/tabular.py`."""

import math

from .dynamics import start_state, step
from .rng import below, uniform


def constant_schedule(horizon, rate, confidence, rates, bonuses):
    """The bonus is c sqrt(H / t) at visit t."""
    rates[:] = [0.0] + [rate for _ in rates[1:]]
    bonuses[:] = [0.0] + [confidence * math.sqrt(horizon / t) for t in range(1, len(bonuses))]


def jin_schedule(horizon, n_labels, n_actions, episodes, confidence, failure, rates, bonuses):
    """Jin et al. (2018), Algorithm 1, with iota = log(S A T / p) and T = K H."""
    iota = math.log(n_labels * n_actions * episodes * horizon / failure)
    rates[:] = [0.0] + [(horizon + 1) / (horizon + t) for t in range(1, len(rates))]
    bonuses[:] = [0.0] + [confidence * math.sqrt(horizon**3 * iota / t) for t in range(1, len(bonuses))]


def falling_epsilons(fraction, epsilons):
    """1 at the first episode, 0.01 after the share `fraction` of them."""
    for e in range(len(epsilons)):
        epsilons[e] = max(0.01, 1 - 0.99 * (e / (fraction * len(epsilons))))


def greedy(values, policy_rng):
    """A best action of a row, drawn only if several are best; and its value."""
    best = max(values)
    ties = [a for a in range(len(values)) if values[a] == best]
    return (ties[below(policy_rng, len(ties))] if len(ties) > 1 else ties[0]), best


def epsilon_greedy(values, epsilon, policy_rng):
    """The greedy action, replaced by a uniform one with probability epsilon; and the row's greatest value."""
    action, best = greedy(values, policy_rng)
    if epsilon > 0 and uniform(policy_rng) < epsilon:
        action = below(policy_rng, len(values))
    return action, best


def fill_greedy(values, chances):
    """Equal chances for the best actions."""
    ties = [value == max(values) for value in values]
    chances[:] = [tie / sum(ties) for tie in ties]


def _play(dynamics, labels, q, epsilon, dynamics_rng, policy_rng):
    """One whole episode in a table that stays as it is: H+1 states, H actions, H rewards."""
    states, actions, rewards = [start_state(dynamics, dynamics_rng)], [], []
    for h in range(q.shape[0]):
        a, _ = epsilon_greedy(q[h, int(labels[h, states[h]])], epsilon, policy_rng)
        s, reward = step(dynamics, dynamics_rng, h, states[h], a)
        states.append(s)
        actions.append(a)
        rewards.append(reward)
    return states, actions, rewards


def rollout(dynamics, labels, q, epsilon, dynamics_rng, policy_rng, trajectories):
    """Play and record episodes without learning."""
    states, actions, rewards = trajectories
    for e in range(len(states)):
        states[e], actions[e], rewards[e] = _play(dynamics, labels[e], q, epsilon, dynamics_rng, policy_rng)


def draw_policy(q, epsilon, policy_rng, actions):
    """One epsilon-greedy action for every row."""
    for h in range(q.shape[0]):
        for x in range(q.shape[1]):
            actions[h, x], _ = epsilon_greedy(q[h, x], epsilon, policy_rng)
