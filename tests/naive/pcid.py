"""Slow, obvious references for `_kernels/pcid.py`, scratch included in their arguments, and the whole
algorithm as one plain loop."""

import math

import numpy as np

from fasturl._kernels.records import kmeans_workspace

from .clustering import kmeans
from .dynamics import start_state, step
from .networks import adagrad_network, adam_network
from .planning import optimal_q
from .rng import below, uniform
from .tabular import greedy

# --- episodes ---


def explore(dynamics, labels, reach, level, dynamics_rng, policy_rng, trajectories):
    """To a random target along its reach-policy up to the level before, then at random."""
    horizon, _, n_actions, _ = dynamics.transitions.shape
    states, actions, rewards = trajectories
    for e in range(len(states)):
        target = below(policy_rng, len(reach))
        states[e, 0] = start_state(dynamics, dynamics_rng)
        for h in range(horizon):
            if h < level - 1:
                a, _ = greedy(reach[target, h, int(labels[e, h, states[e, h]])], policy_rng)
            else:
                a = below(policy_rng, n_actions)
            actions[e, h] = a
            states[e, h + 1], rewards[e, h] = step(dynamics, dynamics_rng, h, states[e, h], a)


def count(before, taken, gained, after, counts, sums):
    """One transition and one reward at a time."""
    for x, a, reward, following in zip(before, taken, gained, after, strict=True):
        counts[x, a, following] += 1
        sums[x, a, following] += reward


# --- the whole algorithm ---


def _cluster(rng, predictions, n_clusters):
    """One cluster fewer while any has under 30 samples."""
    for size in range(n_clusters, 1, -1):
        centres, points = np.empty((size, predictions.shape[1])), predictions.T
        workspace = kmeans_workspace(points, size)
        uniforms = [[uniform(rng) for _ in range(size)] for _ in range(10)]
        tolerance = 1e-4 * predictions.var(axis=0).mean()
        kmeans(uniforms, points, None, np.ones(len(predictions)), 1, 300, tolerance, workspace, centres)
        if np.bincount(workspace.labels, minlength=size).min() >= 30:
            return centres
    return predictions.mean(axis=0)[None]


def fit_line(rng, X, codes, n_codes, n_units):
    """Least squares without an intercept: a function from observations to predictions."""
    slopes = np.linalg.lstsq(X, np.eye(n_codes)[codes], rcond=1e-10)[0]
    return lambda seen: seen @ slopes


def fit_network(rng, X, codes, n_codes, n_units):
    """Adagrad in float64 from a random start; the units have a bias, the outputs have none."""
    dimension = X.shape[1]
    hidden = np.array([[2 * uniform(rng) - 1 for _ in range(dimension + 1)] for _ in range(n_units)])
    output = np.array([[2 * uniform(rng) - 1 for _ in range(n_units)] for _ in range(n_codes)])
    hidden /= math.sqrt(dimension)
    output /= math.sqrt(n_units)

    def inputs(seen):
        return np.column_stack([seen, np.ones(len(seen))])

    adagrad_network(inputs(X).T, np.array(codes), 0.1, 5000, hidden, output, None)
    return lambda seen: 1 / (1 + np.exp(-inputs(seen) @ hidden.T)) @ output.T


def fit_warm_network(rng, X, codes, n_codes, n_units):
    """Adam in float64, from units that lie along the principal axes of the linear predictions, longest
    first."""
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread[spread == 0] = 1

    def inputs(seen):
        return np.column_stack([(seen - centre) / spread, np.ones(len(seen))])

    onehot = np.eye(n_codes)[codes]
    slopes = np.linalg.lstsq(inputs(X)[:, :-1], onehot - onehot.mean(axis=0), rcond=1e-10)[0]
    variances, axes = np.linalg.eigh(np.cov((inputs(X)[:, :-1] @ slopes).T, bias=True))
    hidden, output = np.zeros((n_units, X.shape[1] + 1)), np.zeros((n_units + 1, n_codes))
    output[-1] = onehot.mean(axis=0)
    for unit in range(min(n_units, n_codes)):
        axis, length = axes[:, -1 - unit], math.sqrt(max(variances[-1 - unit], 0))
        if length > 1e-6:
            hidden[unit, :-1] = slopes @ axis / length
            output[unit] = 4 * length * axis  # the slope of the logistic function at 0 is 1/4, its value 1/2
            output[-1] -= output[unit] / 2
    adam_network(inputs(X), None, codes, 0.02, 40, hidden, output, None)
    return lambda seen: 1 / (1 + np.exp(-inputs(seen) @ hidden.T)) @ output[:-1] + output[-1]


class Explorer:
    """PCID, one episode and one observation at a time, on a lock seen through bits or reals.

    `streams` are those of the run; the noise of an episode is drawn from them as the library draws it, and
    decoded when it is met.
    """

    def __init__(self, model, streams, rngs, n_clusters, samples, fit=fit_line):
        self.model, self.rngs, self.n_clusters, self.samples, self.fit = (
            model,
            rngs,
            n_clusters,
            samples,
            fit,
        )
        self.dynamics_rng, self.policy_rng, self.oracle = (
            streams.row(name).tolist() for name in ("dynamics", "policy", "oracle")
        )
        self.regressions = {0: None}
        shape = (model.horizon, n_clusters, model.n_actions)
        self.counts, self.sums = np.zeros((*shape, n_clusters)), np.zeros((*shape, n_clusters))
        self.learned = 0

    def decode(self, level, x):
        """The label of one observation: the nearest centre to its prediction."""
        if self.regressions.get(level) is None:
            return 0
        predict, centres = self.regressions[level]
        gaps = centres - predict(x[None])
        return int(np.argmin((gaps * gaps).sum(axis=1)))

    def episode(self, act):
        """Play one; `act(level, label)` chooses. Returns labels as they were met, observations, actions and
        rewards."""
        X = self.model.emission.draw(self.rngs, 1).every_state()[0]
        s = start_state(self.model.dynamics, self.dynamics_rng)
        labels, seen, actions, rewards = [], [X[0, s]], [], []
        for h in range(self.model.horizon):
            labels.append(self.decode(h, X[h, s]))
            actions.append(act(h, labels[-1]))
            s, reward = step(self.model.dynamics, self.dynamics_rng, h, s, actions[-1])
            seen.append(X[h + 1, s])
            rewards.append(reward)
        return labels, seen, actions, rewards

    def plan(self, rewards):
        """The actions [level, label] that are best by backward induction on the shares of the transitions
        seen, with rewards [level, label] of the states that are arrived in: the first of the best."""
        transitions = np.zeros_like(self.counts[: len(rewards)])
        of_transitions = np.zeros_like(transitions)
        for h, x, a, following in np.ndindex(transitions.shape):
            of_transitions[h, x, a, following] = rewards[h, following]
            if self.counts[h, x, a].sum() > 0:
                transitions[h, x, a, following] = self.counts[h, x, a, following] / self.counts[h, x, a].sum()
        q, values = np.empty(transitions.shape[:3]), np.empty((len(rewards) + 1, self.n_clusters))
        optimal_q(transitions, of_transitions, q, values)
        q[transitions.sum(axis=3) == 0] = -1  # what was never tried is never chosen, unless nothing was
        return np.argmax(q, axis=2)

    def explore_level(self, level, episodes):
        """Walk to a state of the level before and act at random from there. Returns what was met on the way
        into the level, and the returns."""
        targets = 1 if self.regressions[level - 1] is None else len(self.regressions[level - 1][1])
        reach = [None]
        if level > 1:
            hits = np.zeros((targets, level - 1, self.n_clusters))
            for target in range(targets):
                hits[target, -1, target] = 1
            reach = [self.plan(rewards) for rewards in hits]
        samples, returns = [], []
        for _ in range(episodes):
            policy = reach[below(self.policy_rng, targets)]

            def act(h, label, policy=policy):
                return policy[h, label] if h < level - 1 else below(self.policy_rng, self.model.n_actions)

            labels, seen, actions, rewards = self.episode(act)
            samples.append((labels[level - 1], actions[level - 1], rewards[level - 1], seen[level]))
            returns.append(sum(rewards))
        return samples, returns

    def learn_level(self, level, samples):
        """Regress, cluster, count."""
        found = 1 if self.regressions[level - 1] is None else len(self.regressions[level - 1][1])
        X = np.array([x for *_, x in samples], float)
        codes = [x * self.model.n_actions + a for x, a, *_ in samples]
        predict = self.fit(self.oracle, X, codes, found * self.model.n_actions, self.n_clusters)
        centres = _cluster(self.oracle, predict(X), self.n_clusters)
        self.regressions[level] = None if len(centres) == 1 else (predict, centres)
        before, taken, gained = zip(*(sample[:3] for sample in samples), strict=True)
        after = [self.decode(level, seen) for *_, seen in samples]
        count(before, taken, gained, after, self.counts[level - 1], self.sums[level - 1])
        self.learned = level

    def final_actions(self):
        """Value iteration on the learned model with the mean reward of each state that is arrived in."""
        visits, sums = self.counts.sum(axis=(1, 2)), self.sums.sum(axis=(1, 2))
        return self.plan((sums / np.where(visits > 0, visits, 1))[: self.learned])

    def play(self, episodes):
        """The return of every episode."""
        returns = []
        for level in range(1, self.model.horizon + 1):
            samples, earned = self.explore_level(level, min(self.samples, episodes - len(returns)))
            returns += earned
            if len(samples) < self.samples:
                return np.array(returns)
            self.learn_level(level, samples)
        actions = self.final_actions()
        while len(returns) < episodes:
            returns.append(sum(self.episode(lambda h, label: actions[h, label])[3]))
        return np.array(returns)
