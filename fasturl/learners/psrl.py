"""PSRL: posterior sampling (Osband, Russo and Van Roy, "(More) efficient reinforcement learning via posterior
sampling", 2013).

Before each episode an MDP is drawn from the posterior and solved. With n(h, x, a, y) the transitions that
were counted, and each reward a share s of the range of rewards, adding s to one count and 1 - s to the other,

    p(h, x, a) ~ Dirichlet(transition_prior + n(h, x, a, y), over all labels y),
    r(h, x, a) ~ least + (greatest - least) Beta(reward_alpha + sum of s, reward_beta + sum of (1 - s)),
    Q(h, x, a) = r(h, x, a) + sum over y of p(h, x, a, y) V(h+1, y),   V(h, x) = max over a of Q(h, x, a),

from the last level to the first, and no value is greater than the return that can be ahead. The episode is
greedy in Q.

The prior is the same for every label that there is room for. A label that never occurs, since there are fewer
states than their bound says, keeps its prior weight, and a value that is drawn from the prior: a large bound
means that more visits are needed. `transition_prior=None` is the weight 1 / S, the same in total for any
number S of labels.

What has been learned is the greedy policy of the posterior means, without the prior: of the counts alone.
Actions that were never taken are not in it where others were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .compiled import CompiledLearner, learner_functions
from .draws import beta, dirichlet
from .empirical_policy import fill_empirical_policy
from .learner import Stream, Task
from .model import count_step, greatest_ahead
from .q_table import choose


class PSRLTables(NamedTuple):
    """An empirical model of H levels, X labels and A actions, the sample that is acted on, and
    workspaces."""

    visits: np.ndarray  # float64[H, X, A]
    transitions: np.ndarray  # float64[H, X, A, X]
    rewards: np.ndarray  # float64[H, X, A], sums
    q: np.ndarray  # float64[H, X, A], of the sample
    values: np.ndarray  # float64[H+1, X], of the sample
    mean_values: np.ndarray  # float64[H+1, X], of the counts alone
    most: np.ndarray  # float64[H], the greatest return that can be ahead
    weights: np.ndarray  # float64[X], of one Dirichlet posterior
    shares: np.ndarray  # float64[X], a sample of it
    row: np.ndarray  # float64[A], action values of the counts alone
    least_reward: float
    reward_span: float
    transition_prior: float
    reward_alpha: float
    reward_beta: float


@njit
def sampled_reward(tables: PSRLTables, level: int, label: int, action: int, rng: Stream) -> float:
    """A mean reward, drawn from its Beta posterior."""
    if tables.reward_span == 0.0:
        return tables.least_reward
    visits = tables.visits[level, label, action]
    shares = (tables.rewards[level, label, action] - visits * tables.least_reward) / tables.reward_span
    # rounding, or a reward outside of its range, must not make a parameter negative
    shares = min(max(shares, 0.0), visits)
    share = beta(rng, tables.reward_alpha + shares, tables.reward_beta + (visits - shares))
    return tables.least_reward + tables.reward_span * share


@njit
def sampled_ahead(tables: PSRLTables, level: int, label: int, action: int, rng: Stream) -> float:
    """The mean value of the next label under transitions that are drawn from their Dirichlet posterior."""
    counts, values = tables.transitions[level, label, action], tables.values[level + 1]
    for y in range(counts.size):
        tables.weights[y] = tables.transition_prior + counts[y]
    dirichlet(rng, tables.weights, tables.shares)
    mean = 0.0
    for y in range(counts.size):
        mean += tables.shares[y] * values[y]
    return mean


@njit
def begin_episode(tables: PSRLTables, rng: Stream) -> None:
    """Draw an MDP and solve it, from the last level to the first."""
    horizon, n_labels, n_actions = tables.q.shape
    for h in range(horizon - 1, -1, -1):
        for x in range(n_labels):
            best = -np.inf
            for a in range(n_actions):
                value = sampled_reward(tables, h, x, a, rng)
                if h + 1 < horizon:
                    value += sampled_ahead(tables, h, x, a, rng)
                value = min(value, tables.most[h])
                tables.q[h, x, a] = value
                best = max(best, value)
            tables.values[h, x] = best


@dataclass(frozen=True)
class PSRL(CompiledLearner):
    """Posterior sampling: an MDP drawn from Dirichlet and Beta posteriors and solved before each episode.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> fu.train(env, fu.PSRL(), episodes=4000).success_rate
    1.0
    """

    transition_prior: float | None = setting(
        1.0,
        least=1e-9,
        most=1e9,
        none="1 / number of labels",
        search=Range(0.01, 1.0),
        help="Prior weight of each next label.",
    )
    reward_alpha: float = setting(
        1.0, least=1e-9, most=1e9, search=Range(0.01, 1.0), help="Prior weight of the greatest reward."
    )
    reward_beta: float = setting(
        1.0, least=1e-9, most=1e9, search=Range(0.01, 1.0), help="Prior weight of the least reward."
    )

    plans_by_level = True
    functions = learner_functions(
        choose=choose, take_step=count_step, fill_policy=fill_empirical_policy, begin_episode=begin_episode
    )

    def tables(self, task: Task) -> PSRLTables:
        horizon, n_labels, n_actions = task.n_levels, task.n_labels, task.n_actions
        prior = 1.0 / n_labels if self.transition_prior is None else self.transition_prior
        return PSRLTables(
            visits=np.zeros((horizon, n_labels, n_actions)),
            transitions=np.zeros((horizon, n_labels, n_actions, n_labels)),
            rewards=np.zeros((horizon, n_labels, n_actions)),
            q=np.zeros((horizon, n_labels, n_actions)),
            values=np.zeros((horizon + 1, n_labels)),
            mean_values=np.zeros((horizon + 1, n_labels)),
            most=greatest_ahead(task)[:horizon],
            weights=np.zeros(n_labels),
            shares=np.zeros(n_labels),
            row=np.zeros(n_actions),
            least_reward=float(task.reward_range[0]),
            reward_span=float(task.reward_span),
            transition_prior=prior,
            reward_alpha=self.reward_alpha,
            reward_beta=self.reward_beta,
        )
