"""OracleQ and QLearning: their settings, and the schedules that follow from them."""

import dataclasses
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import fasturl as fu
from fasturl._base.checks import short_repr
from fasturl.learners.learner import Task

pytestmark = pytest.mark.kernel

POLICY_RNG = np.array([1, 2, 3, 4], np.uint64)


def task(horizon=4, n_labels=3, n_actions=2, max_return=1.0, episodes=10):
    return Task(horizon, n_labels, n_actions, max_return, episodes, POLICY_RNG.copy())


def test_oracleq_starts_at_the_maximal_return_and_is_capped_there():
    tables = fu.OracleQ().tables(task(max_return=2.5))
    assert tables.q.shape == (4, 3, 2)
    assert np.all(tables.q == 2.5)
    assert tables.cap == tables.value_cap == 2.5
    assert tables.visits.sum() == 0


def test_the_constant_form_has_one_rate_and_a_bonus_that_falls_with_the_root_of_the_visits():
    tables = fu.OracleQ(learning_rate=0.2, confidence=0.5).tables(task())
    assert tables.rates[1:].tolist() == [0.2] * 10
    assert tables.bonuses[4] == pytest.approx(0.5 * np.sqrt(4 / 4))
    assert tables.bonuses[9] == pytest.approx(0.5 * np.sqrt(4 / 9))
    assert tables.epsilons.size == 0  # no action is random but for ties


def test_the_constant_form_learns_at_rate_three_tenths_if_none_is_given():
    assert fu.OracleQ().tables(task()).rates[1] == 0.3


def test_the_theoretical_form_has_the_schedule_of_jin_et_al():
    """lr_t = (H+1)/(H+t), bonus c sqrt(H^3 log(SAT/p) / t), with T = episodes x H."""
    tables = fu.OracleQ(schedule="jin", confidence=0.01, failure_probability=0.1).tables(task())
    t = np.arange(1, 11)
    np.testing.assert_allclose(tables.rates[1:], 5 / (4 + t))
    np.testing.assert_allclose(tables.bonuses[1:], 0.01 * np.sqrt(4**3 * np.log(3 * 2 * 40 / 0.1) / t))
    assert tables.rates[1] == 1.0


def test_the_theoretical_form_cuts_off_values_and_not_action_values():
    """Jin et al., Algorithm 1: Q <- (1 - lr) Q + lr (r + V(next) + b), V <- min(H, max Q). Twice the same
    trajectory, by hand."""
    learner = fu.OracleQ(schedule="jin", confidence=0.1)
    memory = learner.start(task(horizon=2, n_labels=1, max_return=1.0))
    b_1, b_2 = memory.tables.bonuses[1:3]
    assert memory.tables.rates[2] == 0.75
    trajectory = np.zeros(3, int), np.zeros(2, int), np.array([0.5, 0.5])
    memory.update(*trajectory)
    np.testing.assert_allclose(memory.tables.q[:, 0], [[0.5 + 1 + b_1, 1.0], [0.5 + b_1, 1.0]])
    memory.update(*trajectory)
    first = 0.25 * (1.5 + b_1) + 0.75 * (0.5 + 1 + b_2)
    second = 0.25 * (0.5 + b_1) + 0.75 * (0.5 + b_2)
    np.testing.assert_allclose(memory.tables.q[:, 0], [[first, 1.0], [second, 1.0]])
    assert first > 1.0 == memory.tables.value_cap
    assert memory.policy().tolist()[0] == [0]  # above the action that was not tried: no tie, no luck


def test_the_spread_form_shares_one_bonus_among_the_levels():
    """Rates of the theoretical form, bonus c (range of rewards) / H sqrt(log(SAT/p) / t)."""
    learner = fu.OracleQ(schedule="spread", confidence=0.5, failure_probability=0.1)
    tables = learner.tables(task()._replace(reward_range=(-1.0, 2.0)))
    t = np.arange(1, 11)
    np.testing.assert_allclose(tables.rates[1:], 5 / (4 + t))
    np.testing.assert_allclose(tables.bonuses[1:], 0.5 * 3 / 4 * np.sqrt(np.log(3 * 2 * 40 / 0.1) / t))


def test_qlearning_starts_at_zero_without_bonus_or_cap():
    tables = fu.QLearning(learning_rate=0.2).tables(task())
    assert np.all(tables.q == 0)
    assert np.all(tables.bonuses == 0)
    assert tables.rates[1:].tolist() == [0.2] * 10
    assert tables.cap == tables.value_cap == np.inf


def test_epsilon_falls_linearly_from_one_to_a_hundredth_over_the_exploration_fraction():
    epsilons = fu.QLearning(exploration_fraction=0.5).tables(task(episodes=1_000)).epsilons
    assert epsilons[0] == 1.0
    assert epsilons[250] == pytest.approx((1 + 0.01) / 2)
    np.testing.assert_allclose(epsilons[500:], 0.01)
    np.testing.assert_allclose(np.diff(epsilons[:501]), -0.99 / 500)


@pytest.mark.parametrize("learner", [fu.OracleQ, fu.QLearning])
@pytest.mark.parametrize(
    "rate", [0, -0.1, 1.1, np.nan, np.inf, "0.3", np.True_, np.complex128(0.3), 10**400], ids=short_repr
)
def test_a_learning_rate_outside_0_to_1_is_refused(learner, rate):
    with pytest.raises(ValueError, match=r"^learning_rate must be a number in \(0, 1\], got "):
        learner(learning_rate=rate)


@pytest.mark.parametrize("kind", [float, np.float32, np.array, Fraction, Decimal])
@pytest.mark.parametrize("learner", [fu.OracleQ, fu.QLearning])
def test_a_setting_may_be_any_kind_of_real_number_and_is_computed_with_as_a_float(learner, kind):
    other = {"schedule", "failure_probability"}  # which belongs to another schedule than the rest
    settings = {field.name: kind(0.25) for field in dataclasses.fields(learner) if field.name not in other}
    assert repr(learner(**settings)) == repr(learner(**dict.fromkeys(settings, 0.25)))


@pytest.mark.parametrize(
    ("learner", "field", "value", "allowed"),
    [
        (fu.OracleQ, "confidence", -1e-3, r"a number in \[0, 1e\+50\]"),
        (fu.OracleQ, "confidence", np.nan, r"a number in \[0, 1e\+50\]"),
        (fu.OracleQ, "confidence", 1e300, r"a number in \[0, 1e\+50\]"),
        (fu.OracleQ, "schedule", "cosine", "one of 'constant', 'jin', 'spread'"),
        (fu.OracleQ, "failure_probability", 0, r"a number in \[1e-100, 1\)"),
        (fu.OracleQ, "failure_probability", 1, r"a number in \[1e-100, 1\)"),
        (fu.QLearning, "exploration_fraction", 0, r"a number in \(0, 1\]"),
        (fu.QLearning, "exploration_fraction", 1.5, r"a number in \(0, 1\]"),
        (fu.QLearning, "exploration_fraction", np.nan, r"a number in \(0, 1\]"),
    ],
)
def test_other_settings_outside_their_range_are_refused(learner, field, value, allowed):
    with pytest.raises(ValueError, match=f"^{field} must be {allowed}, got "):
        learner(**{field: value})


def test_the_theoretical_form_refuses_a_learning_rate_of_its_own():
    with pytest.raises(ValueError, match=r"^learning_rate must be left out when schedule='jin', .* got 0.3$"):
        fu.OracleQ(learning_rate=0.3, schedule="jin")


def test_the_constant_form_refuses_a_failure_probability():
    with pytest.raises(
        ValueError, match=r"^failure_probability must be left out when schedule='constant', .* got 0.1$"
    ):
        fu.OracleQ(failure_probability=0.1)
