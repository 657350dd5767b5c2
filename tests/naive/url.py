"""URL's practical form, step by step: one observation at a time is made, decoded and acted on."""

import math
from itertools import permutations
from types import SimpleNamespace

import numpy as np

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl.agents.clear_labels import are_clear
from fasturl.agents.telling_directions import depend_on_actions
from fasturl.learners.learner import Task
from fasturl.oracles.refinement import fit_and_refine
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
    """The return of every trajectory, from the same streams as the run of that seed, where all levels are
    decoded alike."""
    streams = Streams(seed)
    known, instance = env.describe(), env.draw(streams)
    dynamics_rng, policy_rng = (streams.row(name).tolist() for name in ("dynamics", "policy"))
    rngs, oracle_seeds = emission_rngs(streams), streams.generator("oracle")
    size = known.horizon, known.max_states, known.n_actions
    task = Task(*size, known.max_return, episodes, np.zeros(4, np.uint64), known.reward_range)
    learner, decoder, history = slow_learner(agent.learner, task, policy_rng), None, []
    next_fit, growth = agent.batch, 1.5

    def label(x):
        return 0 if decoder is None else int(decoder.decode(x[None])[0])

    def play():
        """One trajectory: observations, labels, actions, rewards."""
        noise = instance.emission.draw(rngs, 1).every_state()[0]
        s = start_state(instance.dynamics, dynamics_rng)
        observations, labels, actions, rewards = [noise[0, s]], [label(noise[0, s])], [], []
        for h in range(instance.horizon):
            a, _ = epsilon_greedy(learner.q[h, labels[h]], learner.epsilon, policy_rng)
            s, reward = step(instance.dynamics, dynamics_rng, h, s, a)
            observations.append(noise[h + 1, s])
            labels.append(label(observations[-1]))
            actions.append(a)
            rewards.append(reward)
        return observations, labels, actions, rewards

    while len(history) < episodes:
        history.append(play())
        learner.learn(*history[-1][1:])
        if len(history) < next_fit:
            continue
        seen = [x for observations, *_ in history for x in observations]
        believed = None if decoder is None else np.array([label(x) for x in seen])
        if believed is not None and is_confirmed(agent.oracle, np.array(seen), believed, history, known):
            growth = min(2 * growth, 16.0)
            next_fit = math.ceil(growth * len(history))
            continue
        oracle_seed = int(oracle_seeds.integers(2**31))
        decoder = fit_and_refine(agent.oracle, np.array(seen), believed, oracle_seed, known.max_states)
        old, new = [one for _, labels, *_ in history for one in labels], [label(x) for x in seen]
        renaming, agreement = match_labels(old, new, known.max_states)
        decoder = decoder.relabelled(renaming)
        history = [([*xs], [label(x) for x in xs], actions, rewards) for xs, _, actions, rewards in history]
        learner = slow_learner(agent.learner, task, policy_rng)
        for _, labels, actions, rewards in history:
            learner.learn(labels, actions, rewards)
        growth = min(2 * growth, 4.0) if agreement >= 0.98 else 1.5
        next_fit = math.ceil(growth * len(history))
    return np.array([np.cumsum(rewards)[-1] for *_, rewards in history])


def is_confirmed(oracle, seen, labels, history, known):
    """Whether no fit could tell anything new of so few observations that all of them are looked at."""
    actions = np.array([actions for _, _, actions, _ in history])
    past = SimpleNamespace(actions=actions, observed=np.arange(len(history)), n_actions=known.n_actions)
    clear = getattr(oracle, "clusters_have_centres", False) and are_clear(seen, labels, known.max_states)
    return clear and depend_on_actions(labels.reshape(len(history), -1), past)


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
