"""Optimistic planning with pooled standard errors, slow and obvious: everything is planned anew, level by
level, or the labels of an episode and one more of each level in turn."""

import math

from .turns import Turns


class PooledUCBVI:
    """`settings` are those of `fasturl.PooledUCBVI`; `floors` are the least returns that can be ahead, and
    `believed_after` says how often a pair of each level must be visited before its value is less than
    that."""

    def __init__(self, sizes, caps, floors, settings, believed_after=None):
        self.believed_after = believed_after
        self.horizon, self.n_labels, self.n_actions = sizes
        self.caps, self.floors, self.settings = caps, floors, settings
        self.steps = {}  # the steps of each (level, label, action): rewards and next labels
        self.next_plan = {}
        self.q = [[[caps[h]] * self.n_actions for _ in range(self.n_labels)] for h in range(self.horizon)]
        self.values = [[cap] * self.n_labels for cap in caps]
        self.turns, self.pools = Turns(), {}

    def learn(self, labels, actions, rewards):
        deepest = -1
        for h, (x, a, r) in enumerate(zip(labels, actions, rewards, strict=False)):
            steps = self.steps.setdefault((h, x, a), [])
            steps.append((r, labels[h + 1]))
            if len(steps) >= self.next_plan.get((h, x, a), 1):
                self.next_plan[h, x, a] = 1.25 * len(steps)
                deepest = h
        self.turns.meet(labels[:-1])
        if self.settings.planning == "trajectory":
            for h, x in self.turns.to_back_up(labels[:-1]):
                self.plan_label(h, x)
            return
        for h in range(deepest, -1, -1):
            self.plan_level(h)

    def plan_level(self, h):
        pairs = [(x, a) for (level, x, a) in sorted(self.steps) if level == h]
        estimates = {pair: self.mean_and_variance(h, *pair, self.values[h + 1]) for pair in pairs}
        squares, freedom = 0.0, 0.0
        for x in sorted({x for x, _ in pairs}):
            of_label = self.squares_and_freedom(h, x, {a: estimates[y, a] for y, a in pairs if y == x})
            squares += of_label[0]
            freedom += of_label[1]
        pooled = squares / max(freedom, 1.0)
        for x, a in pairs:
            mean, variance = estimates[x, a]
            self.q[h][x][a] = self.optimistic(h, x, a, mean + self.bonus(h, x, a, variance, pooled))
        for x in {x for x, _ in pairs}:
            self.values[h][x] = max(self.q[h][x])

    def plan_label(self, h, x):
        """One label alone: of the others, the sums are those of when they were last planned."""
        actions = [a for a in range(self.n_actions) if (h, x, a) in self.steps]
        estimates = {a: self.mean_and_variance(h, x, a, self.values[h + 1]) for a in actions}
        self.pools[h, x] = self.squares_and_freedom(h, x, estimates)
        squares, freedom = 0.0, 0.0
        for y in range(self.n_labels):
            squares += self.pools.get((h, y), (0.0, 0.0))[0]
            freedom += self.pools.get((h, y), (0.0, 0.0))[1]
        for a, (mean, variance) in estimates.items():
            bonus = self.bonus(h, x, a, variance, squares / max(freedom, 1.0))
            self.q[h][x][a] = self.optimistic(h, x, a, mean + bonus)
        self.values[h][x] = max(self.q[h][x])

    def squares_and_freedom(self, h, x, estimates):
        """Of one label: what the variance that a level shares is made of."""
        squares, freedom = 0.0, 0.0
        for a, (_, variance) in estimates.items():
            n = len(self.steps[h, x, a])
            squares += n * variance
            freedom += n - 1
        return squares, freedom

    def optimistic(self, h, x, a, value):
        if self.believed_after is not None and len(self.steps[h, x, a]) < self.believed_after[h]:
            return self.caps[h]
        return min(self.caps[h], value)

    def mean_and_variance(self, h, x, a, next_values):
        """Of a step's reward and next value; the values are added by label, as the counts of a table are."""
        steps = self.steps[h, x, a]
        n, gains, gain_squares = len(steps), 0.0, 0.0
        for r, _ in steps:
            gains += r
            gain_squares += r * r
        total, squares = 0.0, 0.0
        for y in range(self.n_labels if h + 1 < self.horizon else 0):
            times = sum(following == y for _, following in steps)
            total += times * next_values[y]
            squares += times * next_values[y] * next_values[y]
        share = 1 / n
        gain, value = gains * share, total * share
        variance = max(squares * share - value * value, 0.0)
        variance += max(gain_squares * share - gain * gain, 0.0)
        return value + gain, variance

    def bonus(self, h, x, a, variance, pooled):
        settings, n = self.settings, len(self.steps[h, x, a])
        met = sum(len(self.steps.get((h, x, b), [])) for b in range(self.n_actions))
        rarity = math.log(1 + met / n) / (n * (n + settings.pooled_visits))
        squared_error = (n * variance + settings.pooled_visits * pooled) * rarity
        novelty = settings.novelty * (self.caps[h] - self.floors[h])
        return settings.deviations * math.sqrt(squared_error) + novelty * (1 / n)

    def final_q(self):
        """Of the model without bonuses; what was never tried is worth the least."""
        values = [[floor] * self.n_labels for floor in self.floors]
        q = [[[floor] * self.n_actions for _ in range(self.n_labels)] for floor in self.floors[:-1]]
        for h in reversed(range(self.horizon)):
            for level, x, a in self.steps:
                if level == h:
                    q[h][x][a] = self.mean_and_variance(h, x, a, values[h + 1])[0]
            values[h] = [max(row) for row in q[h]]
        return q
