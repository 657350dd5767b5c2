"""A slow, obvious reference for `learners/psrl.py`: draw an MDP, then solve it by backward induction."""

from . import variates
from .sampling import Counts


class PSRL(Counts):
    """Dirichlet and Beta posteriors of every (level, label, action)."""

    def __init__(self, learner, task):
        super().__init__(task)
        self.learner = learner
        self.prior = 1 / task.n_labels if learner.transition_prior is None else learner.transition_prior

    def begin_episode(self, rng):
        task, values = self.task, [0.0] * self.task.n_labels
        for h in reversed(range(task.horizon)):
            most = min((task.horizon - h) * task.reward_range[1], task.max_return)
            following = values
            for x in range(task.n_labels):
                for a in range(task.n_actions):
                    value = self.reward(rng, (h, x, a))
                    if h + 1 < task.horizon:
                        value += self.ahead(rng, (h, x, a), following)
                    self.q[h][x][a] = min(value, most)
            values = [max(row) for row in self.q[h]]

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
