"""A slow, obvious reference for `learners/rlsvi.py`: a normal draw around each regularised mean."""

import math

from . import variates
from .sampling import Counts


class RLSVI(Counts):
    """Action values with noise, from the last level to the first."""

    def __init__(self, learner, task):
        super().__init__(task)
        (least, greatest), levels = task.reward_range, range(task.horizon)
        self.least_ahead = [least * (task.horizon - h) for h in levels]
        spans = [min((task.horizon - h) * greatest, task.max_return) - self.least_ahead[h] for h in levels]
        self.sigma = learner.sigma * max(spans)
        self.prior_visits = learner.sigma**2 * learner.ridge

    def begin_episode(self, rng):
        task, values = self.task, [0.0] * self.task.n_labels
        for h in reversed(range(task.horizon)):
            following, values = values, [0.0] * task.n_labels
            for x in range(task.n_labels):
                if any(self.visits[h, x, a] for a in range(task.n_actions)):
                    for a in range(task.n_actions):
                        self.q[h][x][a] = self.sample(rng, (h, x, a), following)
                    values[x] = max(self.q[h][x])

    def sample(self, rng, pair, following):
        """Mean sum of targets / (n + sigma^2 ridge) above the least return, variance sigma^2 / (n + ...)."""
        least, visits = self.least_ahead[pair[0]], self.visits[pair]
        precision = visits + self.prior_visits
        mean = least + (self.targets(pair, following) - visits * least) / precision
        return mean + self.sigma / math.sqrt(precision) * variates.normal(rng)
