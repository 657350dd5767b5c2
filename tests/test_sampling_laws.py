"""The laws that PSRL, OPSRL and RLSVI sample from, against closed forms."""

import numpy as np
import pytest
from scipy import stats
from strategies import row

import fasturl as fu
from fasturl.learners.learner import Task

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below; the seeds are fixed."""
DRAWS = 3_000


def memory_of(learner, horizon=1, n_labels=1, n_actions=2, reward_range=(0.0, 1.0), max_return=None):
    if max_return is None:
        max_return = horizon * reward_range[1]
    seed = row([11, 22, 33, 44])
    return learner.start(Task(horizon, n_labels, n_actions, max_return, 1_000, seed, reward_range))


def feed_arms(memory, *arms):
    """Learn from one-step episodes: for each action, its rewards."""
    for action, rewards in enumerate(arms):
        for reward in rewards:
            memory.update([0, 0], [action], [reward])


def feed_next_labels(memory, *counts):
    """Learn from two-step episodes that start at label 0 with action 0: so many led to each label. Those
    after label 0 are paid 1, the others 0."""
    for label, count in enumerate(counts):
        for _ in range(count):
            memory.update([0, label, 0], [0, 0], [0.0, float(label == 0)])


def draws_of_q(memory, entry):
    values = np.empty(DRAWS)
    for i in range(DRAWS):
        memory.policy()
        values[i] = memory.tables.q[entry]
    return values


def test_psrl_takes_an_arm_as_often_as_it_is_the_best_of_two_betas():
    """Arms with 3 of 5 and 2 of 6: P(Beta(4, 3) > Beta(3, 5)) by integration."""
    memory = memory_of(fu.PSRL())
    feed_arms(memory, [1, 1, 1, 0, 0], [1, 1, 0, 0, 0, 0])
    grid = (np.arange(20_000) + 0.5) / 20_000
    chance = np.mean(stats.beta.pdf(grid, 4, 3) * stats.beta.cdf(grid, 3, 5))
    first = sum(memory.policy()[0, 0] == 0 for _ in range(DRAWS))
    assert stats.binomtest(int(first), DRAWS, chance).pvalue > ALARM


def test_psrl_counts_a_reward_in_between_as_shares():
    """Rewards 0.5 and 0 between -1 and 1 are shares 0.75 and 0.5: Beta(1 + 1.25, 1 + 0.75)."""
    memory = memory_of(fu.PSRL(), reward_range=(-1.0, 1.0))
    feed_arms(memory, [0.5, 0.0])
    law = stats.beta(2.25, 1.75, loc=-1, scale=2)
    assert stats.kstest(draws_of_q(memory, (0, 0, 0)), law.cdf).pvalue > ALARM


def test_psrl_gives_labels_that_never_occurred_their_prior_weight():
    """Of three labels one never occurs. Where only label 0 is worth anything, its share is Beta(1 + 3,
    2 + 2)."""
    learner = fu.PSRL(reward_alpha=1e-9, reward_beta=1e9)
    memory = memory_of(learner, horizon=2, n_labels=3, n_actions=1)
    feed_next_labels(memory, 3, 2)
    memory.tables.rewards[1, 0, 0] = 1e15  # beyond the prior: label 0 is worth 1
    memory.tables.visits[1, 0, 0] = 1e15
    values = draws_of_q(memory, (0, 0, 0))
    assert stats.kstest(values, stats.beta(4, 4).cdf).pvalue > ALARM


def test_no_value_of_psrl_is_greater_than_what_can_be_ahead():
    memory = memory_of(fu.PSRL(), horizon=30, max_return=1.0)
    memory.policy()
    assert memory.tables.q.max() == 1.0


def test_opsrl_with_one_sample_and_no_optimistic_outcome_is_psrl_on_transitions():
    """Both draw the share of label 0 from Beta(3, 2), PSRL with a prior that is as good as none."""
    known_rewards = {"reward_alpha": 1e-9, "reward_beta": 1e-9}
    for learner in (
        fu.OPSRL(samples=1, n0=0.0, shared_optimism=False),
        fu.OPSRL(samples=1, n0=0.0, shared_optimism=True),
        fu.PSRL(transition_prior=1e-9, **known_rewards),
    ):
        memory = memory_of(learner, horizon=2, n_labels=2, n_actions=1)
        feed_next_labels(memory, 3, 2)
        values = draws_of_q(memory, (0, 0, 0))
        assert stats.kstest(values, stats.beta(3, 2).cdf).pvalue > ALARM


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("samples", [1, 8])
def test_opsrl_is_the_best_of_its_samples(samples, shared):
    """An arm that failed 5 times is worth the optimistic weight, of which each sample is a Beta(1, 5)."""
    memory = memory_of(fu.OPSRL(samples=samples, shared_optimism=shared))
    feed_arms(memory, [0] * 5)
    values = draws_of_q(memory, (0, 0, 0))
    assert stats.kstest(values, lambda w: stats.beta.cdf(w, 1, 5) ** samples).pvalue > ALARM


@pytest.mark.parametrize("shared", [True, False])
def test_opsrl_weighs_rewards_and_optimism_by_one_dirichlet(shared):
    """2 of 5 and n0 = 1: the mean is the share of the optimistic outcome and of success, Beta(3, 3)."""
    memory = memory_of(fu.OPSRL(samples=1, shared_optimism=shared))
    feed_arms(memory, [1, 0, 0, 1, 0])
    assert stats.kstest(draws_of_q(memory, (0, 0, 0)), stats.beta(3, 3).cdf).pvalue > ALARM


def test_the_kappa_of_opsrl_divides_all_counts():
    """With kappa = 2 and n0 = 2: Beta((2 + 2) / 2, 3 / 2)."""
    memory = memory_of(fu.OPSRL(samples=1, n0=2.0, kappa=2.0, shared_optimism=False))
    feed_arms(memory, [1, 0, 0, 1, 0])
    assert stats.kstest(draws_of_q(memory, (0, 0, 0)), stats.beta(2, 1.5).cdf).pvalue > ALARM


def test_shared_optimism_rises_and_falls_together():
    """Two arms that failed as often are worth the same in every episode, and otherwise in none."""
    for shared in (True, False):
        memory = memory_of(fu.OPSRL(shared_optimism=shared))
        feed_arms(memory, [0, 0], [0, 0])
        for _ in range(20):
            memory.policy()
            first, second = memory.tables.q[0, 0]
            assert (first == second) == shared


def test_opsrl_draws_nothing_where_the_value_is_known():
    """An action that was not taken is worth all that can be ahead, and so is one that leads to such labels
    only."""
    memory = memory_of(fu.OPSRL(shared_optimism=False), horizon=2, n_labels=2, max_return=1.0)
    memory.tables.met[0, 0] = True
    memory.tables.visits[0, 0, 0] = memory.tables.outcomes[0, 0, 0, 1, 0] = 1
    before = memory.task.policy_rng.copy()
    memory.learner.functions.begin_episode(memory.tables, memory.task.policy_rng)
    np.testing.assert_array_equal(memory.task.policy_rng, before)
    assert (memory.tables.q == 1.0).all()


@pytest.mark.parametrize(
    ("setting", "constants"), [({"c0": 1.0}, "practical"), ({"failure_probability": 0.2}, "experiments")]
)
def test_settings_of_the_theorem_are_refused_beside_other_constants(setting, constants):
    (name,) = setting
    with pytest.raises(ValueError, match=f"^{name} must be left out when constants='{constants}'"):
        fu.OPSRL(constants=constants, **setting)


def test_the_constants_of_opsrl_by_hand():
    """H = 2, S = 3, A = 4, T = 1,000, delta = 1/2: c_J = 12.09 and log(2 * 24 * 1,000 / 0.5) = 11.47; kappa
    is 2 (log(576) + 3 log(2,001 e pi)) = 71.19, and log(1,000) / log(17 / 16) = 113.9."""
    task = Task(2, 3, 4, 2.0, 1_000, row([1, 2, 3, 4]))
    samples, n0, r0, kappa, shared = fu.OPSRL(constants="theorem", failure_probability=0.5).constants_for(
        task
    )
    assert (samples, n0, r0, shared) == (139, 8112.0, 2.0, False)
    assert kappa == pytest.approx(71.19, abs=0.01)
    with_c0 = fu.OPSRL(constants="theorem", failure_probability=0.5, c0=10.0).constants_for(task)
    assert with_c0.n0 - n0 == pytest.approx(711.9, abs=1.0)
    assert fu.OPSRL().constants_for(task) == (1, 1.0, 1.0, 1.0, True)
    assert fu.OPSRL(constants="experiments").constants_for(task) == (8, 1.0, 1.0, 1.0, False)
    assert fu.OPSRL(constants="experiments", n0=0.0, shared_optimism=True).constants_for(task) == (
        *(8, 0.0, 1.0, 1.0),
        True,
    )


@pytest.mark.parametrize("sigma", [0.5, 2.0])
def test_rlsvi_draws_from_the_normal_of_its_regression(sigma):
    """Rewards 1, 1, 0 of a range of 2, ridge 3: mean 2 / (3 + 3 sigma^2), variance (2 sigma)^2 / the same."""
    memory = memory_of(fu.RLSVI(sigma=sigma, ridge=3.0), reward_range=(0.0, 2.0))
    feed_arms(memory, [1, 1, 0])
    precision = 3 + 3 * sigma**2
    tried, untried = draws_of_q(memory, (0, 0, 0)), draws_of_q(memory, (0, 0, 1))
    law = stats.norm(2 / precision, 2 * sigma / np.sqrt(precision))
    assert stats.kstest(tried, law.cdf).pvalue > ALARM
    assert stats.kstest(untried, stats.norm(0, 2 / np.sqrt(3)).cdf).pvalue > ALARM


def test_the_prior_mean_of_rlsvi_is_the_least_return_ahead():
    memory = memory_of(fu.RLSVI(sigma=1e-6, ridge=1e9), horizon=3, reward_range=(-2.0, 0.0), max_return=0.0)
    memory.update([0, 0, 0, 0], [0, 0, 0], [-1.0, -1.0, -1.0])
    memory.policy()
    np.testing.assert_allclose(memory.tables.q[:, 0, 1], [-6.0, -4.0, -2.0], atol=0.01)


@pytest.mark.parametrize("learner", [fu.PSRL(), fu.OPSRL(), fu.RLSVI()])
def test_the_final_policy_is_greedy_in_the_means_of_actions_that_were_taken(learner):
    """At the first level actions 0 and 1 lead to label 1, action 1 pays 0.5 on the way, and action 2 was
    never taken. At the last level label 0 was not met."""
    memory = memory_of(learner, horizon=2, n_labels=2, n_actions=3)
    for reward in (1, 1, 1, 0, 0):
        memory.update([0, 1, 0], [0, 2], [0.0, reward])
    for reward in (1, 0):
        memory.update([0, 1, 0], [1, 0], [reward, 0.0])
        memory.update([1, 1, 0], [1, 0], [reward, 0.0])
    policy = memory.final_policy()
    assert policy[0].tolist() == [[0, 1, 0], [0, 1, 0]]
    np.testing.assert_allclose(policy[1], [[1 / 3, 1 / 3, 1 / 3], [0, 0, 1]])
