"""A slow, obvious reference for `learners/rlsvi.py`: a normal draw around each regularised mean."""

import math

from . import variates
from .sampling import Counts


class RLSVI(Counts):
    """Action values with noise, from the last level to the first."""

    def __init__(self, learner, task):
        super().__init__(learner, task, [0.0] * task.horizon)
        (least, greatest), levels = task.reward_range, range(task.horizon)
        self.least_ahead = [least * (task.horizon - h) for h in levels]
        spans = [min((task.horizon - h) * greatest, task.max_return) - self.least_ahead[h] for h in levels]
        self.sigma = learner.sigma * max(spans)
        self.prior_visits = learner.sigma**2 * learner.ridge

    def sample_pair(self, rng, pair, following):
        """Mean sum of targets / (n + sigma^2 ridge) above the least return, variance sigma^2 / (n + ...)."""
        least, visits = self.least_ahead[pair[0]], self.visits[pair]
        precision = visits + self.prior_visits
        mean = least + (self.targets(pair, following) - visits * least) / precision
        return mean + self.sigma / math.sqrt(precision) * variates.normal(rng)
