"""Slow, obvious references for the functions of `learners/q_table.py`, `oracleq.py` and `qlearning.py`."""

from fasturl._kernels.learning import LearnerFunctions

from .learning import Loops
from .tabular import epsilon_greedy, fill_greedy, greedy


def take_step(tables, level, label, action, reward, next_level, next_label):
    """Move Q towards the reward, the value that follows, which is no higher than its cap, and the bonus of
    this visit, and Q no higher than its own."""
    over = next_level == len(tables.q)
    following = 0.0 if over else min(tables.value_cap, max(tables.q[next_level, next_label]))
    tables.visits[level, label, action] += 1
    visits = tables.visits[level, label, action]
    rate, target = tables.rates[visits], reward + following + tables.bonuses[visits]
    tables.q[level, label, action] = min(
        tables.cap, (1 - rate) * tables.q[level, label, action] + rate * target
    )


def fill_policy(tables, chances):
    for h in range(chances.shape[0]):
        for x in range(chances.shape[1]):
            fill_greedy(tables.q[h, x], chances[h, x])


def choose_greedily(tables, level, label, rng):
    return greedy(tables.q[level, label], rng)[0]


def choose_by_schedule(tables, level, label, rng):
    """After the last episode the share of random actions stays as it was there."""
    epsilon = tables.epsilons[min(tables.episode[0], len(tables.epsilons) - 1)]
    return epsilon_greedy(tables.q[level, label], epsilon, rng)[0]


def do_nothing(tables, rng):
    pass


def count_episode(tables, rng):
    tables.episode[0] += 1


def start_at_zero(tables, level, label):
    tables.q[level, label] = 0.0


def leave_as_it_is(tables, level, label):
    pass


ORACLEQ = Loops(
    LearnerFunctions(choose_greedily, take_step, fill_policy, do_nothing, do_nothing, start_at_zero)
)
QLEARNING = Loops(
    LearnerFunctions(choose_by_schedule, take_step, fill_policy, do_nothing, count_episode, leave_as_it_is)
)
