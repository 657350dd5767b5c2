"""What naive learners share that sample before each episode: counts, and whole episodes, in plain Python."""

from collections import defaultdict

from .dynamics import start_state, step
from .rng import below
from .turns import Turns


class Counts:
    """An empirical model by (level, label, action), values of the sample, and the policy of the model alone.

    Subclasses have `sample_pair(rng, pair, following)`, the value of an action where the labels of the next
    level are worth `following`; what is shared by all of a sample is drawn by `begin_sample(rng)`.
    """

    samples_unmet_labels = False

    def __init__(self, learner, task, start):
        """All values of level h are `start[h]` at first."""
        self.learner, self.task = learner, task
        self.visits, self.rewards, self.transitions = defaultdict(int), defaultdict(float), defaultdict(int)
        self.q = [[[value] * task.n_actions for _ in range(task.n_labels)] for value in start]
        self.values = [[value] * task.n_labels for value in [*start, 0.0]]
        self.turns = Turns()

    def begin_sample(self, rng):
        """Nothing, unless a subclass has something to draw."""

    def sample_label(self, rng, h, x):
        for a in range(self.task.n_actions):
            self.q[h][x][a] = self.sample_pair(rng, (h, x, a), self.values[h + 1])
        self.values[h][x] = max(self.q[h][x])

    def begin_episode(self, rng):
        """Draw everything anew, the last level first."""
        if self.learner.planning == "full":
            self.begin_sample(rng)
            for h in reversed(range(self.task.horizon)):
                for x in range(self.task.n_labels):
                    met = any(self.visits[h, x, a] for a in range(self.task.n_actions))
                    if self.samples_unmet_labels or met:
                        self.sample_label(rng, h, x)

    def end_episode(self, rng, path):
        """Draw the labels of the path and those whose turn it is."""
        self.turns.meet(path)
        if self.learner.planning == "trajectory":
            self.begin_sample(rng)
            for h, x in self.turns.to_back_up(path):
                self.sample_label(rng, h, x)

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
        returns[e], path = 0.0, []
        for h in range(learner.task.horizon):
            x = int(labels[e, h, s])
            path.append(x)
            a = greedy(learner.q[h][x], policy_rng)
            s, reward = step(dynamics, dynamics_rng, h, s, a)
            learner.take_step(h, x, a, reward, int(labels[e, h + 1, s]))
            returns[e] += reward
        learner.end_episode(policy_rng, path)
