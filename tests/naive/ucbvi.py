"""UCBVI (Azar, Osband and Munos, 2017), slow and obvious: every plan computes every value anew."""

from math import log, sqrt

from .model import ModelLearner, is_power_of_two


class UCBVI(ModelLearner):
    """`settings` are those of `fasturl.UCBVI`; `returns` is the range R of returns."""

    def __init__(self, sizes, caps, returns, episodes, settings):
        super().__init__(sizes, caps, settings.planning)
        self.returns, self.settings = returns, settings
        self.paper = settings.constants == "paper"
        self.scale = settings.scale or (1.0 if self.paper else 0.3)
        steps = episodes * self.horizon
        self.L = log(5 * self.n_labels * self.n_actions * steps / settings.failure_probability)
        self.reward_squares = {}

    def learn(self, labels, actions, rewards):
        doubled = False
        for h, (x, a, r) in enumerate(zip(labels, actions, rewards, strict=False)):
            n, total = self.visits.get((h, x, a), 0), self.rewards.get((h, x, a), 0.0)
            change = (r - total / n) * (r - (total + r) / (n + 1)) if n else 0.0
            self.reward_squares[h, x, a] = self.reward_squares.get((h, x, a), 0.0) + change
            self.count(h, x, a, r, labels[h + 1])
            self.label_visits[h, x] = self.label_visits.get((h, x), 0) + 1
            doubled = doubled or is_power_of_two(n + 1)
        if self.settings.replan == "episode" or doubled:
            self.plan(labels)

    def pair_value(self, h, x, a):
        n = self.visits[h, x, a]
        mean = self.mean_next(h, x, a, lambda y: self.values[h + 1][y])
        bonus = {
            ("paper", "hoeffding"): self.paper_hoeffding,
            ("paper", "bernstein"): self.paper_bernstein,
            ("practical", "hoeffding"): self.practical_hoeffding,
            ("practical", "bernstein"): self.practical_bernstein,
        }[self.settings.constants, self.settings.bonus]
        value = self.rewards[h, x, a] / n + mean + bonus(h, x, a, n)
        return min(value, self.q[h][x][a]) if self.paper else min(value, self.caps[h])

    def deviation(self, h, x, a):
        """Of the next value, plus that of the rewards."""
        mean = self.mean_next(h, x, a, lambda y: self.values[h + 1][y])
        variance = self.mean_next(
            h, x, a, lambda y: (self.values[h + 1][y] - mean) * (self.values[h + 1][y] - mean)
        )
        return sqrt(variance) + sqrt(max(self.reward_squares[h, x, a], 0.0) / self.visits[h, x, a])

    def paper_hoeffding(self, h, x, a, n):
        return self.scale * 7 * self.returns * self.L / sqrt(n)

    def paper_bernstein(self, h, x, a, n):
        width = self.scale * sqrt(8 * self.L) * self.deviation(h, x, a)
        if h + 1 < self.horizon:
            width += sqrt(8 * self.mean_next(h, x, a, lambda y: self.third_term(h + 1, y)))
        return width / sqrt(n) + self.scale * 14 * self.returns * self.L / 3 / n

    def third_term(self, h, y):
        H, S, A, L, R = self.horizon, self.n_labels, self.n_actions, self.L, self.scale * self.returns
        return min(100**2 * H * S**2 * A * L**2 * R**2 / self.label_visits[h, y], R**2)

    def practical_hoeffding(self, h, x, a, n):
        return self.scale * (self.returns / self.horizon) * sqrt(self.L) / sqrt(n)

    def practical_bernstein(self, h, x, a, n):
        width = self.scale * sqrt(2 * self.L) * self.deviation(h, x, a)
        return width / sqrt(n) + self.scale * (self.returns / self.horizon) * self.L / n
