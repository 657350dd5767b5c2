"""Episodes of a slow learner: an object with `q[h][x]`, a list of action values, and `learn`, which takes one
finished trajectory."""

from .dynamics import start_state, step
from .rng import below


def greedy(values, policy_rng):
    """A best action of a row, drawn only if several are best."""
    ties = [a for a, value in enumerate(values) if value == max(values)]
    return ties[below(policy_rng, len(ties))] if len(ties) > 1 else ties[0]


def play(learner, dynamics, labels, dynamics_rng, policy_rng):
    """One episode: labels [H+1], actions [H], rewards [H]."""
    state = start_state(dynamics, dynamics_rng)
    seen, actions, rewards = [int(labels[0, state])], [], []
    for h in range(len(learner.q)):
        actions.append(greedy(learner.q[h][seen[h]], policy_rng))
        state, reward = step(dynamics, dynamics_rng, h, state, actions[h])
        seen.append(int(labels[h + 1, state]))
        rewards.append(reward)
    return seen, actions, rewards


def learn(learner, dynamics, labels, dynamics_rng, policy_rng, returns):
    """Play each episode to its end, and then learn from it."""
    for e in range(len(returns)):
        trajectory = play(learner, dynamics, labels[e], dynamics_rng, policy_rng)
        learner.learn(*trajectory)
        returns[e] = 0.0
        for reward in trajectory[2]:  # not sum(): newer Pythons compensate its rounding
            returns[e] += reward
