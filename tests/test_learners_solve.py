"""What learners with a bonus achieve, on problems that differ in what is hard."""

import numpy as np
import pytest

import fasturl as fu
from fasturl.agents.observation import ObservationAgent
from fasturl.problems.emissions import Bernoulli

LEARNERS = [fu.UCBVI(), fu.RMax(), fu.UCBQBernstein()]
EVERY_FORM = [
    *LEARNERS,
    fu.UCBVI(bonus="hoeffding"),
    fu.UCBVI(planning="trajectory"),
    fu.UCBVI(replan="doubling"),
    fu.UCBVI(planning="trajectory", replan="doubling"),
    fu.RMax(20, model="frozen"),
    fu.RMax(planning="trajectory"),
    fu.PooledUCBVI(planning="trajectory"),
]


def river_swim(n_states=6, horizon=20):
    """Swimming right is against the current, and only the far right pays well."""
    transitions, rewards = np.zeros((n_states, 2, n_states)), np.zeros((n_states, 2))
    for s in range(n_states):
        transitions[s, 0, max(s - 1, 0)] = 1.0
        transitions[s, 1, max(s - 1, 0)] += 0.05
        transitions[s, 1, s] += 0.6
        transitions[s, 1, min(s + 1, n_states - 1)] += 0.35
    rewards[0, 0], rewards[-1, 1] = 0.005, 1.0
    return fu.BlockMDP(np.tile(transitions, (horizon, 1, 1, 1)), np.tile(rewards, (horizon, 1, 1)))


def anti_shaped_lock(seed, horizon=20, n_actions=10):
    """One action of ten stays in the two good states, the others pay a little at once and nothing later."""
    draw = np.random.default_rng(seed)
    good = draw.integers(n_actions, size=(horizon, 2))
    transitions, rewards = np.zeros((2, horizon, 3, n_actions, 3))
    transitions[:, 2, :, 2] = 1.0
    for h in range(horizon):
        for s in range(2):
            transitions[h, s, :, 2], rewards[h, s] = 1.0, 0.05
            transitions[h, s, good[h, s]], rewards[h, s, good[h, s]] = (
                [0.5, 0.5, 0.0],
                float(h == horizon - 1),
            )
    return fu.BlockMDP(
        transitions,
        rewards,
        reward_draw="deterministic",
        start=[0.5, 0.5, 0.0],
        reward_range=(0.0, 1.0),
        max_return=1.0,
    )


@pytest.mark.parametrize("switch", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("learner", EVERY_FORM, ids=repr)
def test_locks_of_horizon_20_are_opened(learner, switch):
    run = fu.train(fu.LockBernoulli(20, switch), learner, episodes=10_000, seeds=10)
    assert run.success_rate == 1.0


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_a_lock_of_horizon_100_is_opened(learner):
    run = fu.train(fu.LockBernoulli(100, 0.2), learner, episodes=10_000, seeds=5)
    assert run.success_rate == 1.0


@pytest.mark.parametrize("learner", EVERY_FORM, ids=repr)
def test_rivers_are_swum(learner):
    assert fu.train(river_swim(), learner, episodes=10_000, seeds=10).success_rate == 1.0


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_anti_shaped_locks_are_opened(learner):
    for seed in range(5):
        assert fu.train(anti_shaped_lock(seed), learner, episodes=10_000).success_rate == 1.0


@pytest.mark.parametrize("learner", [fu.UCBVI(), fu.UCBQBernstein()], ids=repr)
def test_the_better_of_two_arms_of_close_means_is_found(learner):
    """R-MAX is not for that: it never pulls an arm again that was unlucky in its first pulls."""
    env = fu.BlockMDP(np.ones((1, 1, 2, 1)), np.array([[[0.5, 0.6]]]))
    assert fu.train(env, learner, episodes=20_000, seeds=20).success_rate == 1.0


@pytest.mark.parametrize("learner", EVERY_FORM, ids=repr)
def test_losses_are_learned_from_as_gains_are(learner):
    """A loss that cannot be avoided, and then a choice between two gains: V* = -5."""
    env = fu.BlockMDP(
        np.ones((2, 1, 2, 1)), np.array([[[-10.0, -10.0]], [[5.0, 3.0]]]), reward_draw="deterministic"
    )
    assert fu.train(env, learner, episodes=5_000, seeds=5).values.tolist() == [-5] * 5


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_observations_can_be_learned_on_where_there_are_few(learner):
    """Two states and two levels, which the agent is told: the better action is the state's own number."""
    pays = np.array([[1.0, 0.0], [0.0, 1.0]])
    env = fu.BlockMDP(
        np.full((2, 2, 2, 2), 0.5),
        np.tile(pays, (2, 1, 1)),
        reward_draw="deterministic",
        start=[0.5, 0.5],
        emission=Bernoulli(np.array([[0.0, 0.5], [1.0, 0.5]]), n_levels=3),
    )
    run = fu.train(env, ObservationAgent(learner, level_in_key=True), episodes=3_000, seeds=3)
    assert run.values.min() > 1.9


@pytest.mark.parametrize("learner", LEARNERS, ids=repr)
def test_the_url_agent_learns_with_it(learner):
    agent = fu.URL(oracle=fu.oracles.KMeans(n_states=3), learner=learner)
    assert fu.train(fu.LockBernoulli(5, 0.2), agent, episodes=4_000, seeds=3).success_rate == 1.0


@pytest.mark.parametrize(
    ("learner", "setting", "value", "allowed"),
    [
        (fu.UCBVI, "bonus", "bayes", "one of 'hoeffding', 'bernstein'"),
        (fu.UCBVI, "scale", -1, r"a number in \[0, 1e\+50\]"),
        (fu.UCBVI, "planning", "none", "one of 'full', 'trajectory'"),
        (fu.UCBVI, "replan", "never", "one of 'episode', 'doubling'"),
        (fu.RMax, "known_after", 0, "an integer >= 1"),
        (fu.RMax, "model", "melting", "one of 'frozen', 'learning'"),
        (fu.UCBQBernstein, "constants", "other", "one of 'paper', 'practical'"),
        (fu.UCBQBernstein, "failure_probability", 1, r"a number in \[1e-100, 1\)"),
    ],
)
def test_settings_outside_their_range_are_refused(learner, setting, value, allowed):
    with pytest.raises(ValueError, match=f"^{setting} must be {allowed}, got "):
        learner(**{setting: value})
