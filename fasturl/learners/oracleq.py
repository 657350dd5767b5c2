"""OracleQ: optimistic Q-learning with a Hoeffding bonus (Jin, Allen-Zhu, Bubeck and Jordan, 2018).

Q starts at the maximal return. At the t-th visit of (level, label, action), with V the maximum of the next
level's row,

    Q <- min(max_return, (1 - rate_t) Q + rate_t (r + V + bonus_t)).

The constant form has a fixed rate and bonus_t = confidence sqrt(H / t). The theoretical form is Algorithm 1
of the paper, with the maximal return in place of H, which it is where rewards are in [0, 1]: rate_t =
(H+1) / (H+t) and bonus_t = confidence sqrt(H^3 log(S A T / p) / t), where T is the number of steps and p the
failure probability, and V is cut off at the maximal return while Q is not,

    Q <- (1 - rate_t) Q + rate_t (r + min(max_return, V) + bonus_t).

So an action that was tried may stand above one that was not, whose Q is the maximal return: it is then taken
again until its bonus has fallen. The bonuses of the H levels add up along an episode. The spread form caps Q
as the constant one does, has the rate of the theoretical one and shares one bonus among the levels, whatever
the horizon,

    bonus_t = confidence (greatest reward - least reward) / H sqrt(log(S A T / p) / t),

so that one confidence suits long horizons, where a large bonus means that dead ends are tried again and
again, and short ones with noisy rewards, where a small one means that bad luck is never found out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._base.schema import Range, refuse_without_effect, setting
from .._kernels import tabular as _tabular
from .bounds import LEAST_PROBABILITY, MOST_SCALE
from .compiled import CompiledLearner, learner_functions
from .learner import Task
from .q_table import QTables, choose, fill_policy, look, start_at_zero, take_step, take_value

LEARNING_RATE = 0.3
FAILURE_PROBABILITY = 0.05
SCHEDULES = ("constant", "jin", "spread")


@dataclass(frozen=True)
class OracleQ(CompiledLearner):
    """Optimistic Q-learning with a Hoeffding bonus, in its constant, its theoretical or its spread form.

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
        1e-3,
        least=0,
        most=MOST_SCALE,
        search=Range(1e-4, 1.0),
        help="Scale of the exploration bonus.",
    )
    schedule: str = setting(
        "constant",
        choices=SCHEDULES,
        help="The constant form, the theoretical one of Jin et al. (2018), or a bonus spread over levels.",
    )
    failure_probability: float | None = setting(
        None,
        least=LEAST_PROBABILITY,
        below=1,
        none=f"{FAILURE_PROBABILITY:g}",
        help="Probability p that the bonus of the schedules jin and spread is too small.",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.schedule == "constant":
            condition = "schedule='constant', which has no use for it"
            refuse_without_effect(self, ["failure_probability"], condition)
        else:
            condition = f"schedule={self.schedule!r}, which sets its own"
            refuse_without_effect(self, ["learning_rate"], condition)

    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        start_at_zero=start_at_zero,
        look=look,
        take_value=take_value,
    )

    def tables(self, task: Task) -> QTables:
        shape = task.n_levels, task.n_labels, task.n_actions
        rates, bonuses = np.empty((2, task.most_visits + 1))
        if self.schedule == "constant":
            rate = LEARNING_RATE if self.learning_rate is None else self.learning_rate
            _tabular.constant_schedule(task.horizon, rate, self.confidence, rates, bonuses)
        else:
            failure = self.failure_probability or FAILURE_PROBABILITY
            _tabular.jin_schedule(
                task.horizon,
                task.label_bound,
                task.n_actions,
                task.episodes,
                self._scale(task),
                failure,
                rates,
                bonuses,
            )
        return QTables(
            q=np.full(shape, task.max_return, np.float64),
            visits=np.zeros(shape, np.int64),
            rates=rates,
            bonuses=bonuses,
            cap=np.inf if self.schedule == "jin" else float(task.max_return),
            value_cap=float(task.max_return),
            epsilons=np.zeros(0),
            episode=np.zeros(1, np.int64),
        )

    def _scale(self, task: Task) -> float:
        """What stands before sqrt(H^3 log(S A T / p) / t) in the bonus."""
        if self.schedule == "jin":
            return self.confidence
        return float(self.confidence * task.reward_span / task.horizon**2.5)
