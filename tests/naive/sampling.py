"""Whole episodes of a naive learner that samples before each of them, in plain Python."""

from .dynamics import start_state, step
from .rng import below


def greedy(row, policy_rng):
    """A best action, drawn only if several are best."""
    ties = [a for a, value in enumerate(row) if value == max(row)]
    return ties[below(policy_rng, len(ties))] if len(ties) > 1 else ties[0]


def learn(learner, dynamics, labels, dynamics_rng, policy_rng, returns):
    """Sample, play an episode greedily in the sample, and count what happened."""
    for e in range(len(returns)):
        learner.begin_episode(policy_rng)
        s = start_state(dynamics, dynamics_rng)
        returns[e] = 0.0
        for h in range(learner.task.horizon):
            x = int(labels[e, h, s])
            a = greedy(learner.q[h][x], policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            learner.take_step(h, x, a, reward, int(labels[e, h + 1, s]))
            returns[e] += reward
