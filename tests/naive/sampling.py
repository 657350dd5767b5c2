"""What naive learners share that sample before each episode: counts, and whole episodes, in plain Python."""

from collections import defaultdict

from .dynamics import start_state, step
from .rng import below


class Counts:
    """An empirical model by (level, label, action), action values of the sample, and the policy of the model
    alone."""

    def __init__(self, task):
        self.task = task
        self.visits, self.rewards, self.transitions = defaultdict(int), defaultdict(float), defaultdict(int)
        self.q = [[[0.0] * task.n_actions for _ in range(task.n_labels)] for _ in range(task.horizon)]

    def take_step(self, h, x, a, reward, next_label):
        self.visits[h, x, a] += 1
        self.rewards[h, x, a] += reward
        self.transitions[h, x, a, next_label] += 1

    def targets(self, pair, following):
        """The sum of reward plus value ahead over all visits."""
        total = 0.0
        if pair[0] + 1 < self.task.horizon:
            for y in range(self.task.n_labels):
                total += self.transitions[(*pair, y)] * following[y]
        return self.rewards[pair] + total

    def mean_worth(self, pair, following):
        return self.targets(pair, following) / self.visits[pair]

    def best_actions(self):
        """The greedy actions of the model alone, by (level, label); all of them where none was taken."""
        task, best = self.task, {}
        values = [0.0] * task.n_labels
        for h in reversed(range(task.horizon)):
            following, values = values, [0.0] * task.n_labels
            for x in range(task.n_labels):
                taken = [a for a in range(task.n_actions) if self.visits[h, x, a]]
                means = {a: self.mean_worth((h, x, a), following) for a in taken}
                if means:
                    values[x] = max(means.values())
                best[h, x] = [a for a in means if means[a] == values[x]] or list(range(task.n_actions))
        return best


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
