"""UCBVI, R-MAX and UCB-Bernstein on cases that are worked out by hand."""

from math import log, sqrt

import numpy as np
import pytest
from strategies import row

import fasturl as fu
from fasturl.learners.bounds import return_range
from fasturl.learners.learner import Task

pytestmark = pytest.mark.kernel

EPISODES = 1_000


def start(learner, horizon=1, n_labels=1, n_actions=2, **more):
    settings = {"max_return": float(horizon), "episodes": EPISODES, "policy_rng": row([1, 2, 3, 4])} | more
    return learner.start(Task(horizon, n_labels, n_actions, **settings))


def pull(memory, *rewards, arm=0):
    """Feed a bandit's memory some pulls of one arm."""
    for reward in rewards:
        memory.update([0, 0], [arm], [reward])


def arms(memory):
    return memory.tables.q[0, 0]


# --- UCBVI ---

BANDIT_L = log(5 * 1 * 2 * EPISODES / 0.05)


def test_an_arm_that_was_never_pulled_is_worth_the_greatest_return():
    memory = start(fu.UCBVI(scale=0.01), max_return=2.5, reward_range=(0.0, 2.5))
    pull(memory, 0.5)
    assert arms(memory)[1] == 2.5


def test_the_practical_bernstein_index_of_an_arm():
    """Rewards 1, 0, 1, 1: mean 3/4, variance 3/16."""
    memory = start(fu.UCBVI(scale=0.01))
    pull(memory, 1, 0, 1, 1)
    bonus = 0.01 * (sqrt(2 * BANDIT_L * 3 / 16 / 4) + BANDIT_L / 4)
    assert arms(memory)[0] == pytest.approx(0.75 + bonus)


def test_the_papers_bernstein_index_of_an_arm():
    """The third term is about the next level, of which there is none."""
    memory = start(fu.UCBVI(constants="paper", scale=1e-3))
    pull(memory, 0.5, 0.5)
    assert arms(memory)[0] == pytest.approx(0.5 + 1e-3 * 14 * BANDIT_L / (3 * 2))


@pytest.mark.parametrize(
    ("constants", "bonus"), [("paper", 7 * BANDIT_L / sqrt(2)), ("practical", sqrt(BANDIT_L / 2))]
)
def test_the_hoeffding_index_of_an_arm(constants, bonus):
    memory = start(fu.UCBVI(bonus="hoeffding", constants=constants, scale=1e-3))
    pull(memory, 0.25, 0.25)
    assert arms(memory)[0] == pytest.approx(0.25 + 1e-3 * bonus)


def test_the_papers_constants_leave_everything_as_good_as_can_be_for_long():
    """7 L / sqrt(1,000) is 2.7: after a thousand pulls that paid nothing the arm is still worth 1."""
    memory = start(fu.UCBVI(bonus="hoeffding", constants="paper"))
    pull(memory, *[0] * EPISODES)
    assert arms(memory).tolist() == [1, 1]


@pytest.mark.parametrize("next_visits", [4, 10**9])
def test_the_third_term_of_the_paper_at_the_first_of_two_levels(next_visits):
    """Label 0 was followed by label 1 twice, and nothing was paid. The term is R^2 until the label that
    follows was met very often."""
    memory = start(
        fu.UCBVI(constants="paper", scale=1e-3), horizon=2, n_labels=2, n_actions=1, max_return=1.0
    )
    memory.tables.label_visits[1, 1] = next_visits - 2
    for _ in range(2):
        memory.update([0, 1, 0], [0, 0], [0.0, 0.0])
    L = log(5 * 2 * 1 * 2 * EPISODES / 0.05)
    fast = 1e-3 * 14 * L / (3 * 2)
    term = {4: 1.0, 10**9: 100**2 * 2 * 2**2 * L**2 / 10**9}[next_visits]
    assert memory.tables.values[1, 1] == pytest.approx(fast)
    assert memory.tables.values[0, 0] == pytest.approx(2 * fast + 1e-3 * sqrt(8 * term / 2))


def test_values_of_the_paper_never_rise_and_practical_ones_can():
    for constants, rises in (("paper", False), ("practical", True)):
        memory = start(fu.UCBVI(constants=constants, scale=1e-3))
        pull(memory, 0)
        low = arms(memory)[0]
        pull(memory, 1, 1, 1)
        assert bool(arms(memory)[0] > low) is rises


def test_with_doubling_a_plan_is_made_at_1_2_4_and_8_visits():
    memory = start(fu.UCBVI(scale=0.01, replan="doubling"))
    indices = [float(arms(memory)[0])]
    for _ in range(9):
        pull(memory, 0.5)
        indices.append(float(arms(memory)[0]))
    changes = [n for n in range(1, 10) if indices[n] != indices[n - 1]]
    assert changes == [1, 2, 4, 8]


def test_planning_along_the_trajectory_leaves_other_labels_as_they_are():
    """Label 1 leads to label 0 of the next level, whose value falls in an episode that began in label 0."""
    full, along = (
        start(fu.UCBVI(scale=1e-3, planning=planning), horizon=2, n_labels=2, n_actions=1)
        for planning in ("full", "trajectory")
    )
    for memory in (full, along):
        memory.update([1, 0, 0], [0, 0], [0.0, 1.0])
        memory.update([0, 0, 0], [0, 0], [0.0, 0.0])
    assert full.tables.values[1, 0] == along.tables.values[1, 0] < 0.6
    assert full.tables.values[0, 1] < 0.6
    assert along.tables.values[0, 1] > 0.9


# --- R-MAX ---


@pytest.mark.parametrize("known_after", [1, 3])
@pytest.mark.parametrize("planning", ["full", "trajectory"])
def test_a_chain_is_solved_after_as_many_episodes_as_make_every_action_known(known_after, planning):
    """One label, five levels, three actions, of which one pays 0.5 where up to 1 was possible: an unknown
    action is always worth more than a known one, so every episode takes one at every level."""
    good = np.array([0, 2, 1, 1, 0])
    rewards = 0.5 * np.eye(3)[good][:, None, :]
    env = fu.BlockMDP(np.ones((5, 1, 3, 1)), rewards, reward_draw="deterministic", reward_range=(0, 1))
    memory = start(fu.RMax(known_after, planning=planning), horizon=5, n_actions=3)
    labels, dynamics_row, exploring = np.zeros((100, 6, 1), np.uint8), row([5, 6, 7, 8]), 3 * known_after
    memory.learn_episodes(env.dynamics, labels, dynamics_row, np.empty(exploring - 1))
    assert (memory.tables.visits < known_after).sum() == 5
    memory.learn_episodes(env.dynamics, labels, dynamics_row, np.empty(1))
    assert np.all(memory.tables.visits == known_after)
    assert memory.final_policy().argmax(axis=2).ravel().tolist() == good.tolist()
    returns = np.empty(10)
    memory.learn_episodes(env.dynamics, labels, dynamics_row, returns)
    assert returns.tolist() == [2.5] * 10


def test_an_action_is_worth_its_mean_once_it_is_known():
    memory = start(fu.RMax(known_after=3))
    pull(memory, 1, 0)
    assert arms(memory).tolist() == [1, 1]
    pull(memory, 0)
    assert arms(memory).tolist() == [1 / 3, 1]


def test_a_frozen_model_is_that_of_the_first_visits():
    frozen, learning = (start(fu.RMax(2, model)) for model in ("frozen", "learning"))
    for memory in (frozen, learning):
        pull(memory, 0, 0, 1, 1)
    assert arms(frozen).tolist() == [0, 1]
    assert arms(learning).tolist() == [0.5, 1]


# --- UCB-Bernstein ---


def test_the_first_two_updates_of_the_papers_algorithm():
    """H = 1: rates 1 and 2/3. Rewards 1 and 0: variances 0 and 1/4."""
    memory = start(fu.UCBQBernstein(constants="paper", c1=0.1, c2=0.3))
    iota = log(2 * EPISODES / 0.05)
    beta_1 = min(0.1 * (sqrt(iota) + sqrt(2) * iota), 0.3 * sqrt(iota))
    pull(memory, 1)
    assert arms(memory)[0] == pytest.approx(1 + beta_1 / 2)
    beta_2 = min(0.1 * (sqrt((0.25 + 1) * iota / 2) + sqrt(2) * iota / 2), 0.3 * sqrt(iota / 2))
    bonus = (beta_2 - beta_1 / 3) / (4 / 3)
    pull(memory, 0)
    assert arms(memory)[0] == pytest.approx((1 + beta_1 / 2) / 3 + 2 / 3 * bonus)


def test_the_practical_beta_of_certain_outcomes():
    """At the last of four levels, with u = 2 / 4: the smaller of c1 u iota / t and c2 u sqrt(iota / t)."""
    memory = start(fu.UCBQBernstein(c1=0.01), horizon=4, n_actions=1, max_return=2.0)
    iota = log(4 * EPISODES / 0.05)
    for _ in range(3):
        memory.update([0] * 5, [0] * 4, [0.0] * 4)
    assert memory.tables.betas[3, 0, 0] == pytest.approx(0.01 * 0.5 * iota / 3)
    loose = start(fu.UCBQBernstein(c1=100.0, c2=0.01), horizon=4, n_actions=1, max_return=2.0)
    loose.update([0] * 5, [0] * 4, [0.0] * 4)
    assert loose.tables.betas[3, 0, 0] == pytest.approx(0.01 * 0.5 * sqrt(iota))


def test_values_are_capped_and_action_values_are_not():
    memory = start(fu.UCBQBernstein(constants="paper"))
    pull(memory, 1)
    assert arms(memory)[0] > 1.5
    assert memory.tables.values[0, 0] == 1.0


# --- the range of returns ---


@pytest.mark.parametrize(
    ("horizon", "reward_range", "max_return", "expected"),
    [
        (5, (0.0, 1.0), 1.0, 1.0),
        (5, (0.0, 1.0), 5.0, 5.0),
        (2, (-10.0, 5.0), 10.0, 30.0),
        (3, (2.0, 2.0), 6.0, 0),
    ],
)
def test_the_range_of_returns(horizon, reward_range, max_return, expected):
    task = Task(horizon, 1, 2, max_return, 10, row([1, 2, 3, 4]), reward_range)
    assert return_range(task) == expected


# --- what all of them share ---


@pytest.mark.parametrize(
    "learner", [fu.UCBVI(), fu.UCBVI(planning="trajectory"), fu.RMax(), fu.PooledUCBVI()], ids=repr
)
def test_trajectories_are_taken_in_as_if_they_were_learned_in_turn(learner):
    """The plan of the last one is the only one that shows; a learner whose plans depend on those before makes
    them all."""
    generator = np.random.default_rng(4)
    labels, actions = generator.integers(3, size=(20, 4)), generator.integers(2, size=(20, 3))
    rewards = generator.random((20, 3))
    memories = [start(learner, horizon=3, n_labels=3) for _ in range(2)]
    memories[0].take_in(labels, actions, rewards)
    memories[1].replay(labels, actions, rewards)
    np.testing.assert_array_equal(memories[0].final_policy(), memories[1].final_policy())
    np.testing.assert_array_equal(memories[0].tables.visits, memories[1].tables.visits)


@pytest.mark.parametrize("learner", [fu.OracleQ(), fu.PooledUCBVI()], ids=repr)
@pytest.mark.parametrize("kind", [np.uint8, np.int16])
def test_labels_and_actions_may_be_integers_of_any_width(learner, kind):
    generator = np.random.default_rng(5)
    labels, actions = generator.integers(3, size=(20, 4)), generator.integers(2, size=(20, 3))
    memories = [start(learner, horizon=3, n_labels=3) for _ in range(2)]
    memories[0].replay(labels, actions, np.ones((20, 3)))
    memories[1].replay(labels.astype(kind), actions.astype(kind), np.ones((20, 3)))
    np.testing.assert_array_equal(memories[0].tables.q, memories[1].tables.q)


def test_the_row_of_an_observation_in_which_nobody_acted_becomes_zero():
    memory = start(fu.UCBQBernstein(), horizon=2, n_labels=2)
    memory.learner.functions.start_at_zero(memory.tables, 1, 0)
    assert memory.tables.q[1].tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert memory.tables.values[1].tolist() == [0.0, 1.0]
