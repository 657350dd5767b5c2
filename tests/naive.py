"""Slow, obvious references for the kernels: same names, same order of arguments, no compilation.

A generator is a list of four Python integers. Tables are numpy arrays, read and written one entry at a time, so that a
reference can be called with the very arguments of its kernel (generators apart).
"""

# --- rng -----------------------------------------------------------------------------------------------------------

_WORD = 2**64


def _rotate_left(word, count):
    """The word with its top `count` bits moved to the bottom."""
    return (word << count) % _WORD | word >> (64 - count)


def next_bits(stream):
    """xoshiro256++: 64 fresh bits."""
    a, b, c, d = stream
    stream[:] = [a ^ b ^ d, a ^ b ^ c, a ^ c ^ (b << 17) % _WORD, _rotate_left(b ^ d, 45)]
    return (_rotate_left((a + d) % _WORD, 23) + a) % _WORD


def uniform(stream):
    """The top 53 bits as a fraction."""
    return (next_bits(stream) >> 11) / 2**53


def below(stream, bound):
    """Scale 32 bits to 0..bound-1 and reject the first 2^32 mod bound words of each outcome (Lemire, 2019)."""
    while True:
        outcome, rest = divmod((next_bits(stream) >> 32) * bound, 2**32)
        if rest >= 2**32 % bound:
            return outcome


def fill_bits(stream, out):
    """Consecutive draws of bits."""
    for i in range(len(out)):
        out[i] = next_bits(stream)


def fill_uniforms(stream, out):
    """Consecutive uniforms."""
    for i in range(len(out)):
        out[i] = uniform(stream)


def shuffle(stream, items):
    """Fisher and Yates, from the last item down."""
    for last in reversed(range(1, len(items))):
        other = below(stream, last + 1)
        items[last], items[other] = items[other], items[last]


# --- dynamics ------------------------------------------------------------------------------------------------------


def _outcome(cumulative, u):
    """The first outcome whose cumulative chance exceeds u."""
    return next(i for i in range(len(cumulative)) if u < cumulative[i])


def start_state(dynamics, luck):
    """The state at the first level: one uniform."""
    return _outcome(dynamics.start, uniform(luck))


def step(dynamics, luck, h, s, a):
    """The next state and the reward: one uniform, and one more where the level's rewards are random."""
    following = _outcome(dynamics.transitions[h, s, a], uniform(luck))
    reward = float(dynamics.rewards[h, s, a, following])
    if dynamics.random_rewards[h]:
        reward = float(uniform(luck) < reward)
    return following, reward


def draw_lock(stream, switch, order, out):
    """A combination lock, level by level; `order` is left holding the last permutation."""
    for h in range(len(out)):
        for s in range(3):
            for a in range(4):
                out[h, s, a] = [0.0, 0.0, 1.0]
        for s in range(2):
            order[:] = [0, 1, 2, 3]
            shuffle(stream, order)
            out[h, s, order[0]] = [1.0 - switch, switch, 0.0]
            out[h, s, order[1]] = [switch, 1.0 - switch, 0.0]


# --- tabular -------------------------------------------------------------------------------------------------------


def greedy(q, h, x, choice):
    """A best action of the row, drawn only if several are best; and its value."""
    best = max(q[h, x])
    ties = [a for a in range(q.shape[2]) if q[h, x, a] == best]
    return (ties[below(choice, len(ties))] if len(ties) > 1 else ties[0]), best


def epsilon_greedy(q, h, x, epsilon, choice):
    """The greedy action, replaced by a uniform one with probability epsilon; and the row's greatest value."""
    action, best = greedy(q, h, x, choice)
    if epsilon > 0 and uniform(choice) < epsilon:
        action = below(choice, q.shape[2])
    return action, best


def update(q, visits, h, x, a, target, rates, bonuses, cap):
    """Move Q towards the target plus the bonus of this visit, and no higher than the cap."""
    visits[h, x, a] += 1
    rate, bonus = rates[visits[h, x, a]], bonuses[visits[h, x, a]]
    q[h, x, a] = min(cap, (1 - rate) * q[h, x, a] + rate * (target + bonus))


def update_trajectory(q, visits, labels, actions, rewards, rates, bonuses, cap):
    """Update every level of one finished trajectory, the first level first."""
    horizon = len(actions)
    for h in range(horizon):
        value = max(q[h + 1, labels[h + 1]]) if h + 1 < horizon else 0.0
        update(q, visits, h, labels[h], actions[h], rewards[h] + value, rates, bonuses, cap)


def _play(dynamics, labels, q, epsilon, luck, choice):
    """One whole episode in a table that stays as it is: H+1 states, H actions, H rewards."""
    states, actions, rewards = [start_state(dynamics, luck)], [], []
    for h in range(q.shape[0]):
        a, _ = epsilon_greedy(q, h, int(labels[h, states[h]]), epsilon, choice)
        s, reward = step(dynamics, luck, h, states[h], a)
        states.append(s)
        actions.append(a)
        rewards.append(reward)
    return states, actions, rewards


def learn(dynamics, labels, q, visits, rates, bonuses, cap, epsilons, luck, choice, returns):
    """Play each episode to its end, and then update in level order."""
    for e in range(len(returns)):
        states, actions, rewards = _play(dynamics, labels[e], q, epsilons[e], luck, choice)
        seen = [int(labels[e, h, s]) for h, s in enumerate(states)]
        update_trajectory(q, visits, seen, actions, rewards, rates, bonuses, cap)
        returns[e] = 0.0
        for reward in rewards:  # not sum(): newer Pythons compensate its rounding
            returns[e] += reward


def rollout(dynamics, labels, q, epsilon, luck, choice, states, actions, rewards):
    """Play and record episodes without learning."""
    for e in range(len(states)):
        states[e], actions[e], rewards[e] = _play(dynamics, labels[e], q, epsilon, luck, choice)


def draw_policy(q, epsilon, choice, actions):
    """One epsilon-greedy action for every row."""
    for h in range(q.shape[0]):
        for x in range(q.shape[1]):
            actions[h, x], _ = epsilon_greedy(q, h, x, epsilon, choice)


# --- planning ------------------------------------------------------------------------------------------------------


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
