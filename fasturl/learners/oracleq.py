"""OracleQ: optimistic Q-learning with a Hoeffding bonus (Jin, Allen-Zhu, Bubeck and Jordan, 2018).

Q starts at the maximal return. At the t-th visit of (level, label, action), with V the maximum of the next
level's row,

    Q <- min(max_return, (1 - rate_t) Q + rate_t (r + V + bonus_t)).

The constant form has a fixed rate and bonus_t = confidence sqrt(H / t). The theoretical form has rate_t =
(H+1) / (H+t) and bonus_t = confidence sqrt(H^3 log(S A T / p) / t), where T is the number of steps and p the
failure probability.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.schema import Declared, Range, setting
from .._kernels import tabular as _tabular
from .learner import Task
from .q_table import QTable, Rules

LEARNING_RATE = 0.3
FAILURE_PROBABILITY = 0.05
SCHEDULES = ("constant", "jin")


@dataclass(frozen=True)
class OracleQ(Declared):
    """Optimistic Q-learning with a Hoeffding bonus, in its constant or its theoretical form.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> fu.train(env, fu.OracleQ(), episodes=4000).success_rate
    1.0
    """

    learning_rate: float | None = setting(
        None,
        above=0,
        most=1,
        none=f"{LEARNING_RATE:g}",
        search=Range(1e-4, 1.0),
        help="Rate of the constant schedule, which alone has one.",
    )
    confidence: float = setting(
        1e-3, least=0, search=Range(1e-4, 1.0), help="Scale of the exploration bonus."
    )
    schedule: str = setting(
        "constant", choices=SCHEDULES, help="The constant form, or the theoretical one of Jin et al. (2018)."
    )
    failure_probability: float | None = setting(
        None,
        above=0,
        below=1,
        none=f"{FAILURE_PROBABILITY:g}",
        help="Probability p that the bonus of the schedule jin is too small.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learning_rate is not None and self.schedule == "jin":
            raise ValueError(
                f"learning_rate must be left out when schedule='jin', which sets its own, got "
                f"{self.learning_rate}"
            )
        if self.failure_probability is not None and self.schedule == "constant":
            raise ValueError(
                "failure_probability must be left out when schedule='constant', which has no use for it, "
                f"got {self.failure_probability}"
            )

    def start(self, task: Task) -> QTable:
        return QTable(self.rules(task), task)

    def rules(self, task: Task) -> Rules:
        rates, bonuses = np.empty((2, task.episodes + 1))
        if self.schedule == "constant":
            rate = LEARNING_RATE if self.learning_rate is None else self.learning_rate
            _tabular.constant_schedule(task.horizon, rate, self.confidence, rates, bonuses)
        else:
            failure = self.failure_probability or FAILURE_PROBABILITY
            _tabular.jin_schedule(
                task.horizon, task.n_labels, task.n_actions, self.confidence, failure, rates, bonuses
            )
        return Rules(task.max_return, rates, bonuses, task.max_return, np.zeros(task.episodes))
