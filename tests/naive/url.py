"""URL's practical form, step by step: one observation at a time is made, decoded and acted on."""

from itertools import permutations

import numpy as np
from sklearn.base import clone

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.learners.learner import Task
from fasturl.problems.environment import emission_rngs

from .dynamics import start_state, step
from .pooled_ucbvi import PooledUCBVI
from .q_table import QLEARNING
from .tabular import epsilon_greedy


class Table:
    """OracleQ or Q-learning, whose tables say how often an action is random."""

    def __init__(self, learner, task, policy_rng):
        self.tables, self.policy_rng = learner.start(task).tables, policy_rng

    @property
    def q(self):
        return self.tables.q

    @property
    def epsilon(self):
        epsilons = self.tables.epsilons if len(self.tables.epsilons) else [0.0]  # OracleQ: no random actions
        return epsilons[min(self.tables.episode[0], len(epsilons) - 1)]

    def learn(self, labels, actions, rewards):
        QLEARNING.replay(self.tables, [labels], [actions], [rewards], self.policy_rng, [0] * 3)


class Planner:
    """Pooled UCBVI, which acts greedily in its plan."""

    epsilon = 0.0

    def __init__(self, learner, task):
        low, high = task.reward_range
        left = [task.horizon - h for h in range(task.horizon + 1)]  # steps, and so rewards, that are ahead
        caps = [min(task.max_return, n * high) if n else 0.0 for n in left]
        floors = [n * low for n in left]
        self.slow = PooledUCBVI((task.horizon, task.n_labels, task.n_actions), caps, floors, learner)

    @property
    def q(self):
        return np.array(self.slow.q)

    def learn(self, labels, actions, rewards):
        self.slow.learn(labels, actions, rewards)


def slow_learner(learner, task, policy_rng):
    if isinstance(learner, fu.PooledUCBVI):
        return Planner(learner, task)
    return Table(learner, task, policy_rng)


def practical_url(env, agent, episodes, seed):
    """The return of every trajectory, from the same streams as the run of that seed."""
    streams = Streams(seed)
    known, instance = env.describe(), env.draw(streams)
    dynamics_rng, policy_rng = (streams.row(name).tolist() for name in ("dynamics", "policy"))
    rngs, oracle_seeds = emission_rngs(streams), streams.generator("oracle")
    data, returns = [], []
    decoder = learner = None

    def play(decode, q, epsilon):
        """One trajectory: observations, labels, actions, rewards."""
        noise = instance.emission.draw(rngs, 1).every_state()[0]
        s = start_state(instance.dynamics, dynamics_rng)
        observations, labels, actions, rewards = [noise[0, s]], [decode(noise[0, s], 0)], [], []
        for h in range(instance.horizon):
            a, _ = epsilon_greedy(q[h, labels[h]], epsilon, policy_rng)
            s, reward = step(instance.dynamics, dynamics_rng, h, s, a)
            observations.append(noise[h + 1, s])
            labels.append(decode(observations[-1], h + 1))
            actions.append(a)
            rewards.append(reward)
        returns.append(np.cumsum(rewards)[-1])
        return observations, labels, actions, rewards

    def decode_one(x, level):
        return int(decoder.decode(x[None], level + 1)[0])

    def play_the_current_policy():
        if learner is None:
            return play(lambda x, level: 0, np.zeros((instance.horizon, 1, instance.n_actions)), 0.0)
        return play(decode_one, learner.q, learner.epsilon)

    def learn_from_one_trajectory():
        _, labels, actions, rewards = play_the_current_policy()
        learner.learn(labels, actions, rewards)

    batch, agreements = agent.batch or max(50, 5 * instance.horizon), []
    most = min(max(batch, episodes // 2), episodes)  # the first batch is always whole
    while len(returns) < most and not (len(agreements) >= 2 and min(agreements[-2:]) >= 0.98):
        fresh = [x for _ in range(min(batch, most - len(returns))) for x in play_the_current_policy()[0]]
        data.extend(fresh)
        fitted = (
            clone(agent.oracle).set_params(random_state=int(oracle_seeds.integers(2**31))).fit(np.array(data))
        )
        new = fitted.decoder_
        if decoder is None:
            agreements.append(0.0)
            n_labels = max(new.n_labels, known.max_states)
            size = known.horizon, n_labels, known.n_actions
            unused = np.zeros(4, np.uint64)
            task = Task(*size, known.max_return, episodes, unused, known.reward_range)
            learner = slow_learner(agent.learner, task, policy_rng)
        else:
            old_labels, new_labels = ([int(one.decode(x[None])[0]) for x in fresh] for one in (decoder, new))
            renaming, agreement = match_labels(old_labels, new_labels, new.n_labels)
            agreements.append(agreement if len(set(new_labels)) > 1 else 0.0)
            new = new.relabelled(renaming)
        decoder = new
        if len(returns) < episodes:
            learn_from_one_trajectory()
        batch = len(returns)
    while len(returns) < episodes:
        learn_from_one_trajectory()
    return np.array(returns)


def match_labels(old, new, n_labels):
    """The renaming of `new` that agrees with `old` most often, and on which share of its worst label's
    observations."""
    pairs = list(zip(old, new, strict=True))
    best = max(permutations(range(n_labels)), key=lambda renaming: sum(a == renaming[b] for a, b in pairs))
    shares = []
    for k in range(n_labels):
        in_old, in_new = sum(a == k for a, _ in pairs), sum(best[b] == k for _, b in pairs)
        if max(in_old, in_new) > 0:
            shares.append(sum(a == best[b] == k for a, b in pairs) / max(in_old, in_new))
    return list(best), min(shares)
