"""A slow, obvious reference for `learners/opsrl.py`: the paper's algorithm over lists of outcomes."""

import math

from . import variates


class OPSRL:
    """Counts by (level, label, action) and outcome, an outcome being (next label, least or greatest
    reward)."""

    def __init__(self, learner, task):
        self.learner, self.task = learner, task
        self.counts, self.visits = {}, {}
        (least, greatest), levels = task.reward_range, range(task.horizon)
        greatest_ahead = [min((task.horizon - h) * greatest, task.max_return) for h in levels]
        least_ahead = [(task.horizon - h) * least for h in levels]
        self.optimism = [least_ahead[h] + learner.r0 * (greatest_ahead[h] - least_ahead[h]) for h in levels]
        self.most = [max(self.optimism[h], greatest_ahead[h]) for h in levels]
        self.q = [[[self.optimism[h]] * task.n_actions for _ in range(task.n_labels)] for h in levels]

    def take_step(self, h, x, a, reward, next_label):
        """A reward in between is a share of the greatest and a share of the least."""
        least, greatest = self.task.reward_range
        share = (reward - least) / (greatest - least)
        y = next_label if h + 1 < self.task.horizon else 0
        counts = self.counts.setdefault((h, x, a), {})
        self.visits[h, x, a] = self.visits.get((h, x, a), 0) + 1
        for outcome, part in (((y, least), 1 - share), ((y, greatest), share)):
            counts[outcome] = counts.get(outcome, 0.0) + part

    def begin_episode(self, rng):
        """Backward induction, each action worth its best sample."""
        values = [0.0] * self.task.n_labels
        for h in reversed(range(self.task.horizon)):
            following, values = values, [self.optimism[h]] * self.task.n_labels
            for x in range(self.task.n_labels):
                if not any((h, x, a) in self.counts for a in range(self.task.n_actions)):
                    continue
                for a in range(self.task.n_actions):
                    self.q[h][x][a] = self.sample(rng, h, (h, x, a), following)
                values[x] = max(self.q[h][x])

    def sample(self, rng, h, pair, following):
        """The best of J Dirichlet samples; nothing is drawn where the result is certain."""
        n0, kappa, samples = self.learner.n0, self.learner.kappa, self.learner.samples
        if pair not in self.counts:
            return self.optimism[h]
        met = {outcome: n for outcome, n in sorted(self.counts[pair].items()) if n > 0}
        weights = [n0 / kappa] + [n / kappa for n in met.values()]
        worths = [self.optimism[h]] + [min(reward + following[y], self.most[h]) for y, reward in met]
        certain = {worth for worth, weight in zip(worths, weights, strict=True) if weight > 0}
        if len(certain) == 1:
            return certain.pop()
        if len(met) == 1 and weights[0] == 1 and worths[0] > worths[1]:
            longest = max(variates.exponential(rng) for _ in range(samples))
            return worths[1] - math.expm1(-longest / weights[1]) * (worths[0] - worths[1])
        return max(self.mean_of_sample(rng, weights, worths) for _ in range(samples))

    @staticmethod
    def mean_of_sample(rng, weights, worths):
        shares = [0.0] * len(weights)
        variates.dirichlet(rng, weights, shares)
        mean = 0.0
        for share, worth in zip(shares, worths, strict=True):
            mean += share * worth
        return mean

    def best_actions(self):
        """The greedy actions of the counts alone, by (level, label)."""
        task, best = self.task, {}
        values = [0.0] * task.n_labels
        for h in reversed(range(task.horizon)):
            following, values = values, [0.0] * task.n_labels
            for x in range(task.n_labels):
                means = {}
                for a in range(task.n_actions):
                    if (h, x, a) in self.counts:
                        means[a] = self.mean_worth((h, x, a), following)
                if means:
                    values[x] = max(means.values())
                best[h, x] = [a for a in means if means[a] == values[x]] or list(range(task.n_actions))
        return best

    def mean_worth(self, pair, following):
        total = 0.0
        for (y, reward), n in sorted(self.counts[pair].items()):
            total += n * (reward + following[y])
        return total / self.visits[pair]
