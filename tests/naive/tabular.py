"""Slow, obvious references for `_kernels/tabular.py`."""

import math

from .dynamics import start_state, step
from .rng import below, uniform


def constant_schedule(horizon, rate, confidence, rates, bonuses):
    """The bonus is c sqrt(H / t) at visit t."""
    rates[:] = [0.0] + [rate for _ in rates[1:]]
    bonuses[:] = [0.0] + [confidence * math.sqrt(horizon / t) for t in range(1, len(bonuses))]


def jin_schedule(horizon, n_labels, n_actions, confidence, failure, rates, bonuses):
    """Jin et al. (2018), Algorithm 1, with iota = log(S A T / p) and T = K H."""
    iota = math.log(n_labels * n_actions * (len(rates) - 1) * horizon / failure)
    rates[:] = [0.0] + [(horizon + 1) / (horizon + t) for t in range(1, len(rates))]
    bonuses[:] = [0.0] + [confidence * math.sqrt(horizon**3 * iota / t) for t in range(1, len(bonuses))]


def falling_epsilons(fraction, epsilons):
    """1 at the first episode, 0.01 after the share `fraction` of them."""
    for e in range(len(epsilons)):
        epsilons[e] = max(0.01, 1 - 0.99 * (e / (fraction * len(epsilons))))


def greedy(q, h, x, policy_rng):
    """A best action of the row, drawn only if several are best; and its value."""
    best = max(q[h, x])
    ties = [a for a in range(q.shape[2]) if q[h, x, a] == best]
    return (ties[below(policy_rng, len(ties))] if len(ties) > 1 else ties[0]), best


def epsilon_greedy(q, h, x, epsilon, policy_rng):
    """The greedy action, replaced by a uniform one with probability epsilon; and the row's greatest value."""
    action, best = greedy(q, h, x, policy_rng)
    if epsilon > 0 and uniform(policy_rng) < epsilon:
        action = below(policy_rng, q.shape[2])
    return action, best


def update(values, h, x, a, target, rules):
    """Move Q towards the target plus the bonus of this visit, and no higher than the cap."""
    q, visits = values.q, values.visits
    visits[h, x, a] += 1
    rate, bonus = rules.rates[visits[h, x, a]], rules.bonuses[visits[h, x, a]]
    q[h, x, a] = min(rules.cap, (1 - rate) * q[h, x, a] + rate * (target + bonus))


def update_trajectory(values, labels, actions, rewards, rules):
    """Update every level of one finished trajectory, the first level first."""
    horizon = len(actions)
    for h in range(horizon):
        value = max(values.q[h + 1, labels[h + 1]]) if h + 1 < horizon else 0.0
        update(values, h, labels[h], actions[h], rewards[h] + value, rules)


def _play(dynamics, labels, q, epsilon, dynamics_rng, policy_rng):
    """One whole episode in a table that stays as it is: H+1 states, H actions, H rewards."""
    states, actions, rewards = [start_state(dynamics, dynamics_rng)], [], []
    for h in range(q.shape[0]):
        a, _ = epsilon_greedy(q, h, int(labels[h, states[h]]), epsilon, policy_rng)
        s, reward = step(dynamics, dynamics_rng, h, states[h], a)
        states.append(s)
        actions.append(a)
        rewards.append(reward)
    return states, actions, rewards


def learn(dynamics, labels, values, rules, dynamics_rng, policy_rng, returns):
    """Play each episode to its end, and then update in level order."""
    for e in range(len(returns)):
        states, actions, rewards = _play(
            dynamics, labels[e], values.q, rules.epsilons[e], dynamics_rng, policy_rng
        )
        seen = [int(labels[e, h, s]) for h, s in enumerate(states)]
        update_trajectory(values, seen, actions, rewards, rules)
        returns[e] = 0.0
        for reward in rewards:  # not sum(): newer Pythons compensate its rounding
            returns[e] += reward


def rollout(dynamics, labels, q, epsilon, dynamics_rng, policy_rng, trajectories):
    """Play and record episodes without learning."""
    states, actions, rewards = trajectories
    for e in range(len(states)):
        states[e], actions[e], rewards[e] = _play(dynamics, labels[e], q, epsilon, dynamics_rng, policy_rng)


def draw_policy(q, epsilon, policy_rng, actions):
    """One epsilon-greedy action for every row."""
    for h in range(q.shape[0]):
        for x in range(q.shape[1]):
            actions[h, x], _ = epsilon_greedy(q, h, x, epsilon, policy_rng)
