"""A slow, obvious reference for `learners/psrl.py`: draw an MDP, then solve it by backward induction."""

from . import variates
from .sampling import Counts


class PSRL(Counts):
    """Dirichlet and Beta posteriors of every (level, label, action)."""

    samples_unmet_labels = True

    def __init__(self, learner, task):
        left = [task.horizon - h for h in range(task.horizon)]
        self.most = [min(steps * task.reward_range[1], task.max_return) for steps in left]
        super().__init__(learner, task, self.most)
        self.prior = 1 / task.n_labels if learner.transition_prior is None else learner.transition_prior

    def sample_pair(self, rng, pair, following):
        value = self.reward(rng, pair)
        if pair[0] + 1 < self.task.horizon:
            value += self.ahead(rng, pair, following)
        return min(value, self.most[pair[0]])

    def reward(self, rng, pair):
        """A mean reward from its Beta posterior, a reward between the limits being a share of either."""
        least, greatest = self.task.reward_range
        visits = float(self.visits[pair])
        shares = (self.rewards[pair] - visits * least) / (greatest - least)
        shares = min(max(shares, 0.0), visits)
        alpha, beta = self.learner.reward_alpha + shares, self.learner.reward_beta + (visits - shares)
        return least + (greatest - least) * variates.beta(rng, alpha, beta)

    def ahead(self, rng, pair, following):
        """The mean of the values of the next level under a distribution from its Dirichlet posterior."""
        weights = [self.prior + self.transitions[(*pair, y)] for y in range(self.task.n_labels)]
        shares = [0.0] * len(weights)
        variates.dirichlet(rng, weights, shares)
        mean = 0.0
        for share, value in zip(shares, following, strict=True):
            mean += share * value
        return mean
