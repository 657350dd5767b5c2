"""OPSRL: optimistic posterior sampling (Tiapkin, Belomestny, Calandriello, Moulines, Munos, Naumov, Rowland,
Valko and Menard, "Optimistic posterior sampling for reinforcement learning with few samples and tight
guarantees", 2022).

What an action can lead to are outcomes i, with counts n_i and worths g_i. Beside those that were met stands
an optimistic one, as if the action had led n0 times to a state from which everything is paid. Before each
episode, from the last level to the first and for every (level h, label x, action a), with J samples,

    w^j ~ Dirichlet((n0, n_1, ..., n_k) / kappa),   j = 1, ..., J,
    Q(h, x, a) = max over j of  w^j_0 G(h) + w^j_1 g_1 + ... + w^j_k g_k,
    V(h, x) = max over a of Q(h, x, a),

where G(h) = least(h) + r0 (greatest(h) - least(h)), the returns that can be ahead at level h being between
least(h) and greatest(h). The episode is greedy in Q. An action that was never taken is worth G(h).

The paper takes rewards for known. Here an outcome is a pair of a next label y and a reward that is the least
one or the greatest one: g = reward + V(h+1, y), and no more than can be ahead. A reward in between counts as
a share of either, as with Beta posteriors of Thompson sampling; so doubt about rewards, about transitions and
about both together is in the same weights, and nothing is drawn for rewards that never differ.

There are three sets of constants. Those of the paper's theorem, `constants="theorem"`, are, with S the bound
on labels, T the number of episodes, delta the probability that the theorem fails, and Phi the distribution
function of the normal law,

    J = ceil(c_J log(2 H S A T / delta)),   c_J = 1 / log(2 / (1 + Phi(1))),
    kappa = 2 (log(12 H S A / delta) + 3 log(e pi (2 T + 1))),
    n0 = ceil(kappa (c0 + log T / log(17 / 16))),   r0 = 2.

c0 is an absolute constant of its proof, which we had no copy of to check numbers against: it is a setting, 0
unless it is given, and only makes n0 greater. Even at 0 the optimistic outcome counts as thousands of visits:
on a lock of 5 levels the agent earned 0.18 of the optimum in 5,000 episodes, and 0.95 with the defaults. The
authors' experiments, `constants="experiments"`, have J = 8 and n0 = r0 = kappa = 1. The defaults,
`constants="practical"`, take one sample and share its optimism. On locks, a river, a maze, random MDPs and
two arms the last two were both near-optimal, and the defaults earned about as much or more on the way, for a
fraction of the draws. A constant that is given stands in place of the set's.

Drawn for each action apart, as in the paper, some of the H S A optimistic weights are large in nearly every
episode, and each costs an episode that leaves the best path. With shared optimism they are large together:
with n = n_1 + ... + n_k and one exponential variate E^j for all actions of an episode,

    w^j_0 = 1 - exp(-n0 E^j / n),   (w^j_1, ..., w^j_k) ~ (1 - w^j_0) Dirichlet((n_1, ..., n_k) / kappa).

For n0 = kappa the weights of each action have the very law of the paper, since Beta(1, n) is that of 1 -
exp(-E / n); what is shared is chance. `shared_optimism=False` is the paper's own form, which both of its sets
have.

With `planning="trajectory"` weights are drawn at the end of an episode, and only for the actions of its
labels and of one more of each level in turn (see `planning`); the values of all others stay as they are.
Between two visits of a label nothing is learned of its actions, so that weights which were drawn after the
first are as good a sample before the second. A sample that is shared is shared by what is drawn at the same
time.

What has been learned is the greedy policy of the counts alone, without the optimistic outcome. Actions that
were never taken are not in it where others were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .._base.schema import Range, refuse_without_effect, setting
from .bounds import failure_probability_setting
from .compiled import CompiledLearner, learner_functions
from .draws import dirichlet, exponential
from .empirical_policy import PolicyWorkspace, policy_workspace
from .learner import Floats, Stream, Task
from .model import greatest_ahead, least_ahead
from .planning import TurnTables, note_meeting, plan_in_turn, plan_met, planning_setting, turn_tables
from .q_table import choose
from .table_records import extending


class OPSRLConstants(NamedTuple):
    """Of one set, as the head of this file names them."""

    samples: int
    n0: float
    r0: float
    kappa: float
    shared_optimism: bool


@extending(TurnTables, PolicyWorkspace)
class OPSRLTables(NamedTuple):
    """Counts of H levels, X labels and A actions, the sample that is acted on, and workspaces."""

    visits: np.ndarray  # float64[H, X, A]
    outcomes: np.ndarray  # float64[H, X, A, X, 2], by next label (0 at the last level), least/greatest reward
    q: np.ndarray  # float64[H, X, A], of the sample; as at the start for labels that were not met
    values: np.ndarray  # float64[H+1, X], of the sample
    optimism: np.ndarray  # float64[H], worth G(h) of the optimistic outcome
    most: np.ndarray  # float64[H], no outcome is worth more
    weights: np.ndarray  # float64[2 X + 1], of the outcomes of one action
    worths: np.ndarray  # float64[2 X + 1]
    shares: np.ndarray  # float64[2 X + 1], one Dirichlet sample
    excesses: np.ndarray  # float64[J], exponential variates of the episode
    rewards: np.ndarray  # float64[2], the least and the greatest reward of a step
    samples: int
    n0: float
    kappa: float
    shared_optimism: bool


@njit
def take_step(
    tables: Any, level: int, label: int, action: int, reward: float, next_level: int, next_label: int
) -> None:
    """Count the outcome."""
    least, greatest = tables.rewards[0], tables.rewards[1]
    share = 0.0
    if greatest > least:
        share = min(max((reward - least) / (greatest - least), 0.0), 1.0)
    y = next_label if next_level < tables.visits.shape[0] else 0
    tables.visits[level, label, action] += 1.0
    note_meeting(tables, level, label)
    tables.outcomes[level, label, action, y, 0] += 1.0 - share
    tables.outcomes[level, label, action, y, 1] += share


@njit
def list_outcomes(tables: Any, level: int, label: int, action: int) -> int:
    """Put weights and worths of all outcomes into the workspaces, the optimistic one first: their number."""
    outcomes, values = tables.outcomes[level, label, action], tables.values[level + 1]
    tables.weights[0], tables.worths[0] = tables.n0 / tables.kappa, tables.optimism[level]
    count = 1
    n_next = outcomes.shape[0] if level + 1 < tables.visits.shape[0] else 1
    for y in range(n_next):
        for i in range(2):
            if outcomes[y, i] > 0.0:
                tables.weights[count] = outcomes[y, i] / tables.kappa
                tables.worths[count] = min(tables.rewards[i] + values[y], tables.most[level])
                count += 1
    return count


@njit
def one_sample(tables: Any, count: int, excess: float, rng: Stream) -> float:
    """The mean of the listed worths under one draw of their weights."""
    first = 0
    optimistic_share = 0.0
    if tables.shared_optimism:
        first = 1
        total = 0.0
        for i in range(1, count):
            total += tables.weights[i]
        optimistic_share = -math.expm1(-excess * tables.weights[0] / total)
    shares = tables.shares[first:count]
    if first + 1 == count:
        shares[0] = 1.0
    else:
        dirichlet(rng, tables.weights[first:count], shares)
    mean = 0.0
    for i in range(count - first):
        mean += shares[i] * tables.worths[first + i]
    return float(mean + optimistic_share * (tables.worths[0] - mean))


@njit
def best_of_samples(tables: Any, count: int, rng: Stream) -> float:
    """The greatest mean of the listed worths under `samples` draws of their weights; nothing is drawn where
    all of them are worth the same."""
    least = greatest = float(tables.worths[1])
    for i in range(count):
        if tables.weights[i] > 0.0:
            least, greatest = min(least, tables.worths[i]), max(greatest, tables.worths[i])
    if least == greatest:
        return greatest
    best = -np.inf
    for j in range(tables.samples):
        best = max(best, one_sample(tables, count, tables.excesses[j], rng))
    return best


@njit
def back_up(tables: Any, h: int, x: int, rng: Stream) -> None:
    """Draw the values of a label's actions."""
    best = -np.inf
    for a in range(tables.q.shape[2]):
        value = float(tables.optimism[h])
        if tables.visits[h, x, a] > 0.0:
            value = best_of_samples(tables, list_outcomes(tables, h, x, a), rng)
        tables.q[h, x, a] = value
        best = max(best, value)
    tables.values[h, x] = best


@njit
def draw_excesses(tables: Any, rng: Stream) -> None:
    """The chance that all actions of a plan share."""
    if tables.shared_optimism:
        for j in range(tables.samples):
            tables.excesses[j] = exponential(rng)


@njit
def begin_episode(tables: Any, rng: Stream) -> None:
    """Draw a sample of the action values of every label that was met, from the last level to the first."""
    if not tables.along_path:
        draw_excesses(tables, rng)
        plan_met(tables, back_up, rng)


@njit
def end_episode(tables: Any, rng: Stream) -> None:
    """Draw along the episode, where that is all that is planned."""
    if tables.along_path:
        draw_excesses(tables, rng)
        plan_in_turn(tables, back_up, rng)


@njit
def mean_worth(tables: Any, level: int, label: int, action: int) -> float:
    """The mean of reward plus value ahead over all visits."""
    outcomes, values = tables.outcomes[level, label, action], tables.mean_values[level + 1]
    total = 0.0
    for y in range(outcomes.shape[0]):
        for i in range(2):
            total += outcomes[y, i] * (tables.rewards[i] + values[y])
    return float(total / tables.visits[level, label, action])


@njit
def fill_policy(tables: Any, chances: Floats) -> None:
    """Greedy in the means of what was met, ties as equal probabilities; uniform where nothing was."""
    horizon, n_labels, n_actions = chances.shape
    tables.mean_values[horizon] = 0.0
    for h in range(horizon - 1, -1, -1):
        for x in range(n_labels):
            best, ties = -np.inf, 0
            for a in range(n_actions):
                tables.row[a] = -np.inf
                if tables.visits[h, x, a] > 0.0:
                    tables.row[a] = mean_worth(tables, h, x, a)
                if tables.row[a] > best:
                    best, ties = tables.row[a], 0
                ties += tables.row[a] == best
            for a in range(n_actions):
                chances[h, x, a] = 1.0 / ties if tables.row[a] == best else 0.0
            tables.mean_values[h, x] = best if tables.met[h, x] else 0.0


@dataclass(frozen=True)
class OPSRL(CompiledLearner):
    """Optimistic posterior sampling: the best of a few Dirichlet samples, with an optimistic outcome in each.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> fu.train(env, fu.OPSRL(), episodes=1000).success_rate
    1.0
    """

    samples: int | None = setting(
        None,
        least=1,
        most=10_000,
        none="that of the constants",
        search=Range(1, 16),
        help="Number J of samples, the best of which counts.",
    )
    n0: float | None = setting(
        None,
        least=0,
        most=1e9,
        none="that of the constants",
        search=Range(0.1, 10.0),
        help="Count of the optimistic outcome.",
    )
    r0: float | None = setting(
        None,
        least=0,
        most=1e9,
        none="that of the constants",
        search=Range(0.1, 2.0),
        help="Worth of the optimistic outcome, in ranges of the returns that can be ahead.",
    )
    kappa: float | None = setting(
        None,
        least=1e-9,
        most=1e9,
        none="that of the constants",
        help="Divides all counts: posteriors are wider by its root.",
    )
    shared_optimism: bool | None = setting(
        None,
        none="that of the constants",
        help="Whether the optimistic weights of all actions rise and fall together in an episode.",
    )
    constants: str = setting(
        "practical",
        choices=("practical", "experiments", "theorem"),
        help="One sample with shared optimism, or the constants of the experiments or of the theorem of "
        "Tiapkin et al. (2022).",
    )
    failure_probability: float = failure_probability_setting()
    c0: float = setting(
        0.0, least=0, most=1e9, help="Absolute constant in the n0 of the theorem, which others do not have."
    )
    planning: str = planning_setting(in_turn=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.constants != "theorem":
            condition = f"constants={self.constants!r}, which have no use for it"
            refuse_without_effect(self, ("failure_probability", "c0"), condition)

    plans_by_level = True
    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        begin_episode=begin_episode,
        end_episode=end_episode,
    )

    def constants_for(self, task: Task) -> OPSRLConstants:
        """J, n0, r0, kappa, and whether optimism is shared: what was given, and else what the set has."""
        chosen = {
            "practical": OPSRLConstants(1, 1.0, 1.0, 1.0, True),
            "experiments": OPSRLConstants(8, 1.0, 1.0, 1.0, False),
            "theorem": self._theorem(task),
        }[self.constants]
        values = {name: getattr(self, name) for name in OPSRLConstants._fields}
        return chosen._replace(**{name: value for name, value in values.items() if value is not None})

    def _theorem(self, task: Task) -> OPSRLConstants:
        episodes, pairs = max(float(task.episodes), 1.0), task.horizon * task.label_bound * task.n_actions
        phi_of_1 = 0.5 * math.erfc(-math.sqrt(0.5))
        kappa = 2 * (
            math.log(12 * pairs / self.failure_probability)
            + 3 * math.log(math.e * math.pi * (2 * episodes + 1))
        )
        return OPSRLConstants(
            samples=math.ceil(
                math.log(2 * pairs * episodes / self.failure_probability) / math.log(2 / (1 + phi_of_1))
            ),
            n0=float(math.ceil(kappa * (self.c0 + math.log(episodes) / math.log(17 / 16)))),
            r0=2.0,
            kappa=kappa,
            shared_optimism=False,
        )

    def tables(self, task: Task) -> OPSRLTables:
        constants = self.constants_for(task)
        horizon, n_labels, n_actions = task.n_levels, task.n_labels, task.n_actions
        least, greatest = task.reward_range
        greatest_return, least_return = greatest_ahead(task)[:-1], least_ahead(task)[:-1]
        optimism = least_return + constants.r0 * (greatest_return - least_return)
        values = np.zeros((horizon + 1, n_labels))
        values[:horizon] = optimism[:, None]
        return OPSRLTables(
            **turn_tables(task, self.planning),
            **policy_workspace(task),
            visits=np.zeros((horizon, n_labels, n_actions)),
            outcomes=np.zeros((horizon, n_labels, n_actions, n_labels, 2)),
            q=np.tile(values[:horizon, :, None], n_actions),
            values=values,
            optimism=optimism,
            most=np.maximum(optimism, greatest_return),
            weights=np.zeros(2 * n_labels + 1),
            worths=np.zeros(2 * n_labels + 1),
            shares=np.zeros(2 * n_labels + 1),
            excesses=np.zeros(constants.samples),
            rewards=np.array([least, greatest], np.float64),
            samples=constants.samples,
            n0=constants.n0,
            kappa=constants.kappa,
            shared_optimism=constants.shared_optimism,
        )
