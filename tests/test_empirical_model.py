"""The empirical model of planning learners: counts of what happened, and what can be ahead."""

from types import SimpleNamespace
from typing import NamedTuple

import hypothesis
import numpy as np
import pytest
from strategies import DRAWS

from fasturl.learners.learner import Task
from fasturl.learners.model import count_step, expected_next, greatest_ahead

pytestmark = pytest.mark.kernel


class Counts(NamedTuple):
    visits: np.ndarray
    transitions: np.ndarray
    rewards: np.ndarray


@hypothesis.given(DRAWS)
def test_counts_are_those_of_the_steps(draw):
    shape = horizon, n_labels, n_actions = 3, 2, 2
    tables = Counts(np.zeros(shape), np.zeros((*shape, n_labels)), np.zeros(shape))
    steps = [
        SimpleNamespace(
            level=int(draw.integers(horizon)),
            label=int(draw.integers(n_labels)),
            action=int(draw.integers(n_actions)),
            reward=float(draw.integers(4)),
            next_label=int(draw.integers(n_labels)),
        )
        for _ in range(30)
    ]
    for one in steps:
        count_step(tables, one.level, one.label, one.action, one.reward, one.level + 1, one.next_label)
    for h, x, a in np.ndindex(shape):
        here = [one for one in steps if (one.level, one.label, one.action) == (h, x, a)]
        assert tables.visits[h, x, a] == len(here)
        assert tables.rewards[h, x, a] == sum(one.reward for one in here)
        for y in range(n_labels):
            led_there = sum(one.next_label == y for one in here)
            assert tables.transitions[h, x, a, y] == (led_there if h + 1 < horizon else 0)


def test_what_is_expected_next_is_the_sum_over_labels():
    assert expected_next(np.array([1.0, 0.0, 3.0]), np.array([0.5, 9.0, 2.0])) == 6.5


@pytest.mark.parametrize(
    ("max_return", "reward_range", "ahead"),
    [
        (1.0, (0.0, 1.0), [1, 1, 1, 0]),
        (3.0, (0.0, 1.0), [3, 2, 1, 0]),
        (2.0, (-1.0, 1.0), [2, 2, 1, 0]),
        (-1.0, (-2.0, -1.0), [-3, -2, -1, 0]),
    ],
)
def test_what_can_be_ahead_is_what_is_declared_and_no_more_than_the_steps_that_are_left_can_pay(
    max_return, reward_range, ahead
):
    task = Task(3, 1, 1, max_return, 1, np.zeros(4, np.uint64), reward_range)
    assert greatest_ahead(task).tolist() == ahead
