"""UCB-Bernstein: optimistic Q-learning with a bonus from the variance (Jin et al., 2018, Algorithm 2).

Q starts at the greatest return that can be ahead, caps[h]. At the t-th visit of (h, x, a), which paid r and
led to y, with iota = log(S A T / failure_probability) and T the number of steps,

    rate_t = (H + 1) / (H + t)
    beta_t = min(c1 (sqrt(H / t (W_t + H) iota) + sqrt(H^7 S A) iota / t), c2 sqrt(H^3 iota / t))
    bonus_t = (beta_t - (1 - rate_t) beta_(t-1)) / (2 rate_t),   beta_0 = 0
    Q[h, x, a] <- (1 - rate_t) Q[h, x, a] + rate_t (r + V[h+1, y] + bonus_t)
    V[h, x] <- min(caps[h], max over a of Q[h, x, a]),   V = 0 after the last level.

W_t is the variance of the t values V[h+1, y] that followed, each as it was then. The paper's rewards are
certain; ours may be random, so W_t is the variance of r + V[h+1, y], which is the same where they are not. Q
itself is not capped, and a bonus can be below 0, where the variance has become smaller.

Those are the paper's constants, where c1 and c2 are absolute ones that it does not give, for returns in [0,
H]. With R the range of returns and u = R / H (see `bounds`), the three terms without W_t are multiplied with
u^2, u and u. The practical constants leave out the powers of H there, so that the H levels share what they
would have each,

    beta_t = min(c1 (sqrt(H / t W_t iota) + u iota / t), c2 u sqrt(iota / t)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, setting
from .._kernels.tabular import greatest
from .bounds import MOST_SCALE, constants_setting, failure_probability_setting, level_caps, return_range
from .compiled import CompiledLearner, learner_functions
from .learner import Task
from .q_table import choose, fill_policy


class UCBQTables(NamedTuple):
    """Action values, what their bonuses come from, and the parts of beta."""

    q: np.ndarray  # float64[L, X, A]
    values: np.ndarray  # float64[L, X], V
    visits: np.ndarray  # float64[L, X, A], t
    means: np.ndarray  # float64[L, X, A], of r + V[h+1, y]
    squares: np.ndarray  # float64[L, X, A], t W_t
    betas: np.ndarray  # float64[L, X, A], beta_t
    caps: np.ndarray  # float64[L]
    horizon: float
    by_variance: float  # c1^2 H iota
    least_variance: float  # H u^2, or 0
    by_visits: float  # what is divided by t
    by_root: float  # what is divided by sqrt(t)


@njit
def take_step(
    tables: UCBQTables, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """The update above."""
    target = reward
    if next_level < tables.q.shape[0]:
        target += tables.values[next_level, next_label]
    t = tables.visits[level, label, action] + 1.0
    tables.visits[level, label, action] = t
    mean = tables.means[level, label, action]
    new_mean = mean + (target - mean) / t
    squares = tables.squares[level, label, action] + (target - mean) * (target - new_mean)
    tables.means[level, label, action] = new_mean
    tables.squares[level, label, action] = squares
    variance = max(squares, 0.0) / t + tables.least_variance
    beta = math.sqrt(tables.by_variance * variance / t) + tables.by_visits / t
    beta = min(beta, tables.by_root / math.sqrt(t))
    rate = (tables.horizon + 1.0) / (tables.horizon + t)
    bonus = (beta - (1.0 - rate) * tables.betas[level, label, action]) / (2.0 * rate)
    tables.betas[level, label, action] = beta
    values = tables.q[level, label]
    values[action] = (1.0 - rate) * values[action] + rate * (target + bonus)
    tables.values[level, label] = min(tables.caps[level], greatest(values))


@njit
def start_at_zero(tables: UCBQTables, level: int, label: int) -> None:
    """Zeros in the place of the greatest return."""
    tables.values[level, label] = 0.0
    for a in range(tables.q.shape[2]):
        tables.q[level, label, a] = 0.0


@dataclass(frozen=True)
class UCBQBernstein(CompiledLearner):
    """Optimistic Q-learning with a bonus from the variance of what followed (Jin et al., 2018, Algorithm 2).

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> fu.train(env, fu.UCBQBernstein(), episodes=4000).success_rate
    1.0
    """

    constants: str = constants_setting("Jin et al. (2018)")
    c1: float = setting(
        1.0,
        least=0,
        most=MOST_SCALE,
        search=Range(1e-2, 10.0),
        help="Scale of the part of the bonus that comes from the variance.",
    )
    c2: float = setting(
        1.0,
        least=0,
        most=MOST_SCALE,
        search=Range(1e-2, 10.0),
        help="Scale of the greatest bonus, which comes from the range of returns.",
    )
    failure_probability: float = failure_probability_setting()

    functions = learner_functions(
        choose=choose, take_step=take_step, fill_policy=fill_policy, start_at_zero=start_at_zero
    )

    def tables(self, task: Task) -> UCBQTables:
        shape = task.n_levels, task.n_labels, task.n_actions
        caps = level_caps(task)
        return UCBQTables(
            q=np.tile(caps[:, None, None], (1, task.n_labels, task.n_actions)),
            values=np.tile(caps[:, None], (1, task.n_labels)),
            visits=np.zeros(shape),
            means=np.zeros(shape),
            squares=np.zeros(shape),
            betas=np.zeros(shape),
            caps=caps,
            horizon=float(task.horizon),
            **self._beta(task),
        )

    def _beta(self, task: Task) -> dict[str, float]:
        """The parts of beta, by name."""
        paper, horizon = self.constants == "paper", task.horizon
        pairs = task.label_bound * task.n_actions
        iota = math.log(pairs * max(float(task.episodes) * horizon, 1.0) / self.failure_probability)
        unit = return_range(task) / horizon
        return {
            "by_variance": self.c1**2 * horizon * iota,
            "least_variance": horizon * unit**2 if paper else 0.0,
            "by_visits": self.c1 * unit * iota * (math.sqrt(float(horizon) ** 7 * pairs) if paper else 1.0),
            "by_root": self.c2 * unit * math.sqrt(iota * (float(horizon) ** 3 if paper else 1.0)),
        }
