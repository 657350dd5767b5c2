"""A slow learner with an empirical model: what it has seen of every (level, label, action), and plans."""


class ModelLearner:
    """Values that start at `caps[h]`. Subclasses have `pair_value(h, x, a)`."""

    def __init__(self, sizes, caps, planning):
        self.horizon, self.n_labels, self.n_actions = sizes
        self.caps, self.planning = caps, planning
        self.q = [[[caps[h]] * self.n_actions for _ in range(self.n_labels)] for h in range(self.horizon)]
        self.values = [[cap] * self.n_labels for cap in caps]
        self.label_visits = {}
        self.visits, self.rewards, self.following = {}, {}, {}

    def count(self, h, x, a, reward, y):
        """Add a step to the model; `y` is the label that followed."""
        self.visits[h, x, a] = self.visits.get((h, x, a), 0) + 1
        self.rewards[h, x, a] = self.rewards.get((h, x, a), 0.0) + reward
        if h + 1 < self.horizon:
            self.following.setdefault((h, x, a), [0] * self.n_labels)[y] += 1

    def mean_next(self, h, x, a, worth):
        """The mean of worth(y) over the labels that followed; nothing follows on the last level."""
        total = 0.0
        for y, times in enumerate(self.following.get((h, x, a), [])):
            if times:
                total += times * worth(y)
        return total / self.visits[h, x, a]

    def plan(self, path):
        """Back up everything that was ever tried, or the labels of the path, the last level first."""
        for h in reversed(range(self.horizon)):
            for x in range(self.n_labels) if self.planning == "full" else [path[h]]:
                for a in range(self.n_actions):
                    if (h, x, a) in self.visits:
                        self.q[h][x][a] = self.pair_value(h, x, a)
                self.values[h][x] = max(self.q[h][x])


def is_power_of_two(count):
    return count in [2**k for k in range(60)]
