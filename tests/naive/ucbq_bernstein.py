"""UCB-Bernstein (Jin et al., 2018, Algorithm 2), slow and obvious."""

from math import log, sqrt


class UCBQBernstein:
    """`settings` are those of `fasturl.UCBQBernstein`, c1 and c2 given; `returns` is the range R of
    returns."""

    def __init__(self, sizes, caps, returns, episodes, settings):
        self.horizon, n_labels, n_actions = sizes
        self.caps, self.settings, self.unit = caps, settings, returns / self.horizon
        self.pairs = n_labels * n_actions
        self.iota = log(self.pairs * (episodes * self.horizon) / settings.failure_probability)
        self.q = [[[caps[h]] * n_actions for _ in range(n_labels)] for h in range(self.horizon)]
        self.values = [[cap] * n_labels for cap in caps]
        self.visits, self.means, self.squares, self.betas = {}, {}, {}, {}

    def learn(self, labels, actions, rewards):
        for h, (x, a, r) in enumerate(zip(labels, actions, rewards, strict=False)):
            self.update(h, x, a, r + self.values[h + 1][labels[h + 1]])

    def update(self, h, x, a, target):
        """The target is r + V(next label)."""
        t = self.visits[h, x, a] = self.visits.get((h, x, a), 0) + 1
        variance = self.variance(h, x, a, t, target)
        rate = (self.horizon + 1) / (self.horizon + t)
        old, beta = self.betas.get((h, x, a), 0.0), self.beta(t, variance)
        bonus = (beta - (1 - rate) * old) / (2 * rate)
        self.betas[h, x, a] = beta
        self.q[h][x][a] = (1 - rate) * self.q[h][x][a] + rate * (target + bonus)
        self.values[h][x] = min(self.caps[h], max(self.q[h][x]))

    def variance(self, h, x, a, t, target):
        """Of all targets so far, by Welford's recursion."""
        mean = self.means.get((h, x, a), 0.0)
        self.means[h, x, a] = mean + (target - mean) / t
        change = (target - mean) * (target - self.means[h, x, a])
        self.squares[h, x, a] = self.squares.get((h, x, a), 0.0) + change
        return max(self.squares[h, x, a], 0.0) / t

    def beta(self, t, variance):
        H, u, iota, c1, c2 = self.horizon, self.unit, self.iota, self.settings.c1, self.settings.c2
        if self.settings.constants == "paper":
            spread = sqrt(c1**2 * H * iota * (variance + H * u**2) / t)
            return min(
                spread + c1 * u * iota * sqrt(float(H) ** 7 * self.pairs) / t,
                c2 * u * sqrt(iota * float(H) ** 3) / sqrt(t),
            )
        spread = sqrt(c1**2 * H * iota * variance / t)
        return min(spread + c1 * u * iota / t, c2 * u * sqrt(iota) / sqrt(t))
