"""R-MAX (Brafman and Tennenholtz, 2002) for a finite horizon, slow and obvious."""

from .model import ModelLearner, is_power_of_two


class RMax(ModelLearner):
    """`settings` are those of `fasturl.RMax`."""

    def __init__(self, sizes, caps, settings):
        super().__init__(sizes, caps, settings.planning)
        self.settings = settings

    def learn(self, labels, actions, rewards):
        m, news = self.settings.known_after, False
        for h, (x, a, r) in enumerate(zip(labels, actions, rewards, strict=False)):
            known = self.visits.get((h, x, a), 0) >= m
            if known and self.settings.model == "frozen":
                continue
            self.count(h, x, a, r, labels[h + 1])
            news = news or self.visits[h, x, a] == m or (known and is_power_of_two(self.visits[h, x, a]))
        if news or self.planning == "trajectory":
            self.plan(labels)

    def pair_value(self, h, x, a):
        n = self.visits[h, x, a]
        if n < self.settings.known_after:
            return self.caps[h]
        total = 0.0
        for y, times in enumerate(self.following.get((h, x, a), [])):
            total += times * self.values[h + 1][y]
        return (self.rewards[h, x, a] + total) / n
