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

With `planning="trajectory"` an MDP is never drawn as a whole. At the end of an episode, for each of its
labels and one more of each level in turn (see `planning`), p and r are drawn for the actions of that label
alone, and Q and V are set from the values of the next level as they are. Between two visits of a label
nothing is learned of its actions, so that what was drawn after the first is as good a sample before the
second; what differs from one whole sample is that values of the next level are of older ones. V starts at the
greatest return that can be ahead, which is what a label that was not met has.

What has been learned is the greedy policy of the posterior means, without the prior: of the counts alone.
Actions that were never taken are not in it where others were.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .compiled import CompiledLearner, learner_functions
from .draws import beta, dirichlet
from .empirical_policy import PolicyWorkspace, fill_empirical_policy, policy_workspace
from .learner import Stream, Task
from .model import ModelTables, greatest_ahead, model_tables
from .planning import TurnTables, plan_in_turn, planning_setting, take_step, turn_tables
from .q_table import choose
from .table_records import extending


@extending(ModelTables, TurnTables, PolicyWorkspace)
class PSRLTables(NamedTuple):
    """The model with the values of the sample that is acted on, the prior, and workspaces."""

    most: np.ndarray  # float64[H], the greatest return that can be ahead
    weights: np.ndarray  # float64[X], of one Dirichlet posterior
    shares: np.ndarray  # float64[X], a sample of it
    least_reward: float
    reward_span: float
    transition_prior: float
    reward_alpha: float
    reward_beta: float


@njit
def sampled_reward(tables: Any, level: int, label: int, action: int, rng: Stream) -> float:
    """A mean reward, drawn from its Beta posterior."""
    if tables.reward_span == 0.0:
        return float(tables.least_reward)
    visits = tables.visits[level, label, action]
    shares = (tables.rewards[level, label, action] - visits * tables.least_reward) / tables.reward_span
    # rounding, or a reward outside of its range, must not make a parameter negative
    shares = min(max(shares, 0.0), visits)
    share = beta(rng, tables.reward_alpha + shares, tables.reward_beta + (visits - shares))
    return float(tables.least_reward + tables.reward_span * share)


@njit
def sampled_ahead(tables: Any, level: int, label: int, action: int, rng: Stream) -> float:
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
def back_up(tables: Any, h: int, x: int, rng: Stream) -> None:
    """Draw what the actions of a label do, and set its values."""
    horizon, _, n_actions = tables.q.shape
    best = -np.inf
    for a in range(n_actions):
        value = sampled_reward(tables, h, x, a, rng)
        if h + 1 < horizon:
            value += sampled_ahead(tables, h, x, a, rng)
        value = min(value, tables.most[h])
        tables.q[h, x, a] = value
        best = max(best, value)
    tables.values[h, x] = best


@njit
def begin_episode(tables: Any, rng: Stream) -> None:
    """Draw an MDP and solve it, from the last level to the first."""
    if tables.along_path:
        return
    horizon, n_labels, _ = tables.q.shape
    for h in range(horizon - 1, -1, -1):
        for x in range(n_labels):
            back_up(tables, h, x, rng)


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Back up along the episode, where that is all that is planned."""
    if tables.along_path:
        plan_in_turn(tables, back_up, rng)


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
    planning: str = planning_setting(in_turn=True)

    plans_by_level = True
    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_empirical_policy,
        begin_episode=begin_episode,
        end_episode=end_episode,
    )

    def tables(self, task: Task) -> PSRLTables:
        n_labels, caps = task.n_labels, greatest_ahead(task)
        prior = 1.0 / n_labels if self.transition_prior is None else self.transition_prior
        return PSRLTables(
            **model_tables(task, caps),
            **turn_tables(task, self.planning),
            **policy_workspace(task),
            most=caps[:-1],
            weights=np.zeros(n_labels),
            shares=np.zeros(n_labels),
            least_reward=float(task.reward_range[0]),
            reward_span=float(task.reward_span),
            transition_prior=prior,
            reward_alpha=self.reward_alpha,
            reward_beta=self.reward_beta,
        )
