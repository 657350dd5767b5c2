"""A slow, obvious reference for `learners/opsrl.py`: the algorithm over lists of outcomes."""

import math
import statistics

from . import variates
from .sampling import Counts


class OPSRL(Counts):
    """Counts by (level, label, action) and outcome, an outcome being (next label, least or greatest
    reward)."""

    def __init__(self, learner, task):
        self.samples, self.n0, self.r0, self.kappa, self.shared_optimism = constants(learner, task)
        self.counts, self.excesses = {}, [0.0] * self.samples
        (least, greatest), levels = task.reward_range, range(task.horizon)
        greatest_ahead = [min((task.horizon - h) * greatest, task.max_return) for h in levels]
        least_ahead = [(task.horizon - h) * least for h in levels]
        self.optimism = [least_ahead[h] + self.r0 * (greatest_ahead[h] - least_ahead[h]) for h in levels]
        self.most = [max(self.optimism[h], greatest_ahead[h]) for h in levels]
        super().__init__(learner, task, self.optimism)

    def take_step(self, h, x, a, reward, next_label):
        """A reward in between is a share of the greatest and a share of the least; one outside of its range
        counts as the limit that is nearest."""
        least, greatest = self.task.reward_range
        share = (min(max(reward, least), greatest) - least) / (greatest - least)
        y = next_label if h + 1 < self.task.horizon else 0
        self.visits[h, x, a] += 1
        counts = self.counts.setdefault((h, x, a), {})
        for outcome, part in (((y, least), 1 - share), ((y, greatest), share)):
            counts[outcome] = counts.get(outcome, 0.0) + part

    def begin_sample(self, rng):
        if self.shared_optimism:
            self.excesses = [variates.exponential(rng) for _ in self.excesses]

    def sample_pair(self, rng, pair, following):
        """The best of J samples; nothing is drawn where the result is certain."""
        h, n0, kappa = pair[0], self.n0, self.kappa
        if pair not in self.counts:
            return self.optimism[h]
        met = {outcome: n for outcome, n in sorted(self.counts[pair].items()) if n > 0}
        weights = [n0 / kappa] + [n / kappa for n in met.values()]
        worths = [self.optimism[h]] + [min(reward + following[y], self.most[h]) for y, reward in met]
        certain = {worth for worth, weight in zip(worths, weights, strict=True) if weight > 0}
        if len(certain) == 1:
            return certain.pop()
        if not self.shared_optimism:
            return max(mean_of_sample(rng, weights, worths) for _ in self.excesses)
        best, total = -math.inf, 0.0
        for weight in weights[1:]:
            total += weight
        for excess in self.excesses:
            optimistic_share = -math.expm1(-excess * weights[0] / total)
            mean = mean_of_sample(rng, weights[1:], worths[1:])
            best = max(best, mean + optimistic_share * (worths[0] - mean))
        return best

    def mean_worth(self, pair, following):
        total = 0.0
        for (y, reward), n in sorted(self.counts[pair].items()):
            total += n * (reward + following[y])
        return total / self.visits[pair]


def constants(learner, task):
    """J, n0, r0, kappa and shared optimism: what was given, and else those of the set that was named."""
    H, S, A, T, delta = (
        task.horizon,
        task.n_labels,
        task.n_actions,
        task.episodes,
        learner.failure_probability,
    )
    kappa = 2 * (math.log(12 * (H * S * A) / delta) + 3 * math.log(math.e * math.pi * (2 * T + 1)))
    c_j = 1 / math.log(2 / (1 + statistics.NormalDist().cdf(1)))
    theorem = {
        "samples": math.ceil(c_j * math.log(2 * H * S * A * T / delta)),
        "n0": math.ceil(kappa * (learner.c0 + math.log(T) / math.log(17 / 16))),
        "r0": 2.0,
        "kappa": kappa,
        "shared_optimism": False,
    }
    ones = {"n0": 1.0, "r0": 1.0, "kappa": 1.0}
    chosen = {
        "practical": {"samples": 1, "shared_optimism": True} | ones,
        "experiments": {"samples": 8, "shared_optimism": False} | ones,
        "theorem": theorem,
    }[learner.constants]
    for name in ("samples", "n0", "r0", "kappa", "shared_optimism"):
        given = getattr(learner, name)
        yield chosen[name] if given is None else given


def mean_of_sample(rng, weights, worths):
    """The mean of worths under weights that a Dirichlet distribution gives; nothing is drawn for one."""
    shares = [1.0]
    if len(weights) > 1:
        shares = [0.0] * len(weights)
        variates.dirichlet(rng, weights, shares)
    mean = 0.0
    for share, worth in zip(shares, worths, strict=True):
        mean += share * worth
    return mean
