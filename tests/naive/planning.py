"""Slow, obvious references for `_kernels/planning.py`."""


def _action_value(transitions, rewards, values, h, s, a):
    """The expectation of reward plus next value."""
    total = 0.0
    for following in range(transitions.shape[3]):
        total += transitions[h, s, a, following] * (rewards[h, s, a, following] + values[h + 1, following])
    return total


def optimal_q(transitions, rewards, q, values):
    """Backward induction: a state is worth its best action."""
    values[-1] = 0.0
    for h in reversed(range(q.shape[0])):
        for s in range(q.shape[1]):
            for a in range(q.shape[2]):
                q[h, s, a] = _action_value(transitions, rewards, values, h, s, a)
            values[h, s] = max(q[h, s])


def policy_q(transitions, rewards, policy, q, values):
    """Backward induction: a state is worth the mean of its actions under the policy."""
    values[-1] = 0.0
    for h in reversed(range(q.shape[0])):
        for s in range(q.shape[1]):
            values[h, s] = 0.0
            for a in range(q.shape[2]):
                q[h, s, a] = _action_value(transitions, rewards, values, h, s, a)
                values[h, s] += policy[h, s, a] * q[h, s, a]


def reachable(start, transitions, reached):
    """From level to level, everything that follows on something reached with some action."""
    reached[0] = start > 0
    for h in range(transitions.shape[0]):
        for following in range(reached.shape[1]):
            reached[h + 1, following] = (transitions[h, reached[h], :, following] > 0).any()


def occupancy(start, transitions, policy, visits):
    """From level to level, every way to get from a state to the next one."""
    visits[0] = start
    for h in range(visits.shape[0] - 1):
        for following in range(visits.shape[1]):
            visits[h + 1, following] = 0.0
            for s in range(visits.shape[1]):
                for a in range(policy.shape[2]):
                    visits[h + 1, following] += (
                        visits[h, s] * policy[h, s, a] * transitions[h, s, a, following]
                    )
