"""Rich locks: their tables against an obvious construction, their exact values, and what they look like."""

import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
from scipy import linalg, stats

import fasturl as fu
from fasturl._base.checks import short_repr
from fasturl._base.streams import Streams
from fasturl._kernels.records import FIXED_REWARDS, NO_REWARDS, RANDOM_REWARDS
from fasturl.problems.environment import emission_rngs

ALARM = 1e-6
"""False-alarm rate of each statistical test; the seeds are fixed."""


def obvious_tables(lock, seed):
    """Level by level, state by state, action by action: transitions, and for every transition the size of a
    reward and its chance."""
    good = Streams(seed).generator("instance").integers(lock.n_actions, size=(lock.horizon, 2))
    shape = (lock.horizon, 3, lock.n_actions, 3)
    transitions, sizes, chances = np.zeros(shape), np.ones(shape), np.zeros(shape)
    for h in range(lock.horizon):
        for a in range(lock.n_actions):
            transitions[h, 2, a, 2] = 1.0
            for s in range(2):
                if a != good[h, s]:
                    transitions[h, s, a, 2] = 1.0
                else:
                    transitions[h, s, a, s] = 1.0 - lock.switch
                    transitions[h, s, a, 1 - s] = lock.switch
                if lock.reward == "anti-shaped":
                    sizes[h, s, a, 2], chances[h, s, a, 2] = 0.1, 0.5
                if lock.reward == "dense":
                    sizes[h, s, a, :2], chances[h, s, a, :2] = 0.1, 1.0
                if h == lock.horizon - 1:
                    sizes[h, s, a, :2], chances[h, s, a, :2] = 1.0, 1.0
    return transitions, sizes, chances


@pytest.mark.parametrize("reward", ["anti-shaped", "sparse", "dense"])
@pytest.mark.parametrize("horizon", [1, 4])
def test_the_tables_are_those_of_an_obvious_construction(reward, horizon):
    lock = fu.RichLock(horizon, 5, 0.3, reward=reward)
    instance = lock.instance(11)
    transitions, sizes, chances = obvious_tables(lock, 11)
    np.testing.assert_array_equal(instance.transitions, transitions)
    np.testing.assert_array_equal(instance.rewards, sizes * chances)
    assert instance.start.tolist() == [0.5, 0.5, 0.0]
    of_levels = {
        "anti-shaped": [RANDOM_REWARDS] * horizon,
        "dense": [FIXED_REWARDS] * horizon,
        "sparse": [NO_REWARDS] * (horizon - 1) + [FIXED_REWARDS],
    }
    assert instance.dynamics.reward_kinds.tolist() == of_levels[reward]
    if reward == "anti-shaped":
        np.testing.assert_array_equal(instance.reward_sizes[chances > 0], sizes[chances > 0])


@hypothesis.given(
    horizon=st.integers(1, 30),
    n_actions=st.integers(2, 12),
    switch=st.floats(0, 1),
    seed=st.integers(0, 10**6),
)
def test_every_rich_lock_is_worth_one(horizon, n_actions, switch, seed):
    lock = fu.RichLock(horizon, n_actions, switch)
    assert lock.optimal_value(seed) == pytest.approx(1.0, abs=1e-12)
    assert (lock.describe().max_return, lock.describe().reward_range) == (1.0, (0.0, 1.0))


@pytest.mark.parametrize(("reward", "value"), [("anti-shaped", 1.0), ("sparse", 1.0), ("dense", 1.4)])
def test_the_optimal_value_follows_from_the_rewards(reward, value):
    lock = fu.RichLock(5, reward=reward)
    assert lock.optimal_value(3) == pytest.approx(value)
    assert lock.describe().max_return == pytest.approx(value)


def test_a_policy_that_knows_nothing_meets_the_small_reward_and_seldom_the_prize():
    uniform = np.full((3, 3, 4), 0.25)
    fails = 0.75 + 0.25 * 0.75 + 0.25**2 * 0.75
    assert fu.RichLock(3, 4).policy_value(uniform) == pytest.approx(0.05 * fails + 0.25**3)


def test_good_actions_are_uniform_and_independent_of_each_other():
    good = np.stack([fu.RichLock(50, 4).optimal_policy(seed)[:, :2] for seed in range(40)])
    counts = np.bincount((4 * good[..., 0] + good[..., 1]).ravel(), minlength=16)
    assert stats.chisquare(counts).pvalue > ALARM


def test_what_bad_actions_pay_is_a_tenth_half_the_time():
    lock = fu.RichLock(1, 2)
    best = lock.optimal_policy(0)
    rewards = {True: [], False: []}
    env = fu.envs.ScalarEnv(lock, observe="latent")
    env.reset(seed=0)
    for _ in range(2_000):
        state, _ = env.reset()
        action = int(env.np_random.integers(2))
        rewards[action == best[0, state]].append(env.step(action)[1])
    assert set(rewards[True]) == {1.0}
    assert set(rewards[False]) == {0.0, 0.1}
    assert stats.binomtest(rewards[False].count(0.1), len(rewards[False]), 0.5).pvalue > ALARM


# --- observations ---


def every_state(lock, episodes, seed=0):
    """What each state shows: [E, H+1, 3, D]."""
    return lock.resolved_emission.draw(emission_rngs(Streams(seed)), episodes).every_state()


def code_words(horizon, dimension):
    codes = np.zeros((horizon + 1, 3, dimension))
    for h in range(horizon + 1):
        for s in range(3):
            codes[h, s, s] = codes[h, s, 3 + h] = 1.0
    return codes


@pytest.mark.parametrize(("horizon", "dimension"), [(1, 8), (4, 8), (5, 16), (12, 16), (13, 32), (100, 128)])
def test_the_dimension_is_the_next_power_of_two(horizon, dimension):
    assert fu.RichLock(horizon).describe().observations.dimension == dimension


@pytest.mark.parametrize("rotation", [False, True])
@pytest.mark.parametrize("horizon", [1, 5])
def test_without_noise_a_state_shows_its_code_word(horizon, rotation):
    lock = fu.RichLock(horizon, noise=0.0, rotation=rotation)
    dimension = lock.describe().observations.dimension
    words = code_words(horizon, dimension)
    expected = words @ linalg.hadamard(dimension).T if rotation else words
    for shown in every_state(lock, 2):
        np.testing.assert_array_equal(shown, expected)


def test_noise_is_that_of_the_first_coordinates_behind_the_matrix():
    """Undo the matrix: independent normals on coordinates 0 to H + 2, nothing on the others, and the same in
    every state."""
    horizon, noise, episodes = 4, 0.3, 4_000
    lock = fu.RichLock(horizon, noise=noise)
    seen = every_state(lock, episodes, 5).astype(np.float64)
    plain = seen @ linalg.hadamard(8) / 8 - code_words(horizon, 8)
    np.testing.assert_allclose(plain[:, :, 1:], np.repeat(plain[:, :, :1], 2, axis=2), atol=1e-6)
    assert np.abs(plain[..., horizon + 3 :]).max() < 1e-6
    normals = plain[:, :, 0, : horizon + 3].reshape(episodes, -1) / noise
    assert stats.kstest(normals.ravel(), "norm").pvalue > ALARM
    count = normals.size
    assert abs(normals.mean()) * np.sqrt(count) < stats.norm.isf(ALARM / 2)
    low, high = stats.chi2(count).ppf([ALARM / 2, 1 - ALARM / 2])
    assert low < (normals**2).sum() < high
    correlations = np.corrcoef(normals, rowvar=False)[np.triu_indices(normals.shape[1], 1)]
    most = stats.norm.isf(ALARM / correlations.size / 2) / np.sqrt(episodes)
    assert np.abs(correlations).max() < most


@pytest.mark.parametrize("horizon", [3, 20, 61])
@pytest.mark.parametrize("emission", ["rich", "bernoulli"])
def test_observations_do_not_depend_on_the_size_of_blocks(horizon, emission):
    lock = fu.RichLock(horizon, emission=emission)
    rngs = emission_rngs(Streams(1))
    parts = [lock.resolved_emission.draw(rngs, size).every_state() for size in (1, 5, 16, 1)]
    assert every_state(lock, 23, 1).tobytes() == np.concatenate(parts).tobytes()


def test_observations_stay_within_their_bounds():
    emission = fu.RichLock(20, noise=0.5).resolved_emission
    low, high = emission.bounds()
    seen = emission.draw(emission_rngs(Streams(2)), 500).every_state()
    assert low < seen.min() < seen.max() < high


def test_bits_are_the_code_words_and_fair_coins():
    horizon, episodes = 4, 3_000
    lock = fu.RichLock(horizon, emission="bernoulli")
    assert str(lock.describe().observations) == "12 bits"
    seen = every_state(lock, episodes, 3)
    np.testing.assert_array_equal(seen[..., :8], np.broadcast_to(code_words(horizon, 8), (episodes, 5, 3, 8)))
    coins = seen[:, :, 0, 8:].reshape(episodes, -1)
    ones = coins.sum(axis=0, dtype=np.int64)
    pvalues = [stats.binomtest(int(count), episodes, 0.5).pvalue for count in ones]
    assert min(pvalues) * len(pvalues) > ALARM


# --- training, settings ---


def test_an_agent_that_sees_latent_states_opens_the_lock():
    run = fu.train(fu.RichLock(6), fu.OracleQ(), 5_000, seeds=3)
    assert run.success_rate == 1.0
    np.testing.assert_allclose(run.optimal_values, 1.0)


@pytest.mark.parametrize(
    "agent", [fu.OracleQ(), fu.URL(oracle="gmm"), fu.PCID(samples_per_level=60)], ids=type
)
@pytest.mark.parametrize("emission", ["rich", "bernoulli"])
def test_the_tables_of_a_lock_give_the_same_bits_as_the_lock(agent, emission):
    """What an agent learns follows from what it may know."""
    lock = fu.RichLock(3, 3, emission=emission)
    instance = lock.instance(2)
    tables = fu.BlockMDP(
        instance.transitions,
        instance.rewards,
        reward_draw=instance.reward_sizes,
        start=instance.start,
        emission=lock.resolved_emission,
        max_return=1,
    )
    assert tables.describe() == lock.describe()
    runs = [fu.train(env, agent, 300, seeds=[2]) for env in (lock, tables)]
    assert runs[0].average_reward.tobytes() == runs[1].average_reward.tobytes()
    assert runs[0].values.tobytes() == runs[1].values.tobytes()


def test_settings_say_which_lock_it_is():
    assert fu.RichLock(5, 4, 0.2, 0.3, reward="sparse").settings() == {
        "horizon": 5,
        "n_actions": 4,
        "switch": 0.2,
        "noise": 0.3,
        "reward": "sparse",
        "emission": "rich",
        "rotation": True,
    }
    assert fu.RichLock(5) == fu.RichLock(5) != fu.RichLock(5, emission="bernoulli")


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"horizon": 0}, "^horizon must be an integer >= 1, got 0$"),
        ({"horizon": 10**6}, "^horizon must be an integer from 1 to 5000, got 1000000$"),
        ({"n_actions": 1}, "^n_actions must be an integer >= 2, got 1$"),
        ({"switch": 1.5}, r"^switch must be a number in \[0, 1\], got 1.5$"),
        ({"noise": -1}, r"^noise must be a number in \[0, 1e\+15\], got "),
        ({"reward": "densee"}, r"^reward must be one of .* \(did you mean dense\?\)$"),
        ({"emission": "none"}, "^emission must be one of 'rich', 'bernoulli', got 'none'$"),
        ({"rotation": "no"}, "^rotation must be True or False, got 'no'$"),
        (
            {"emission": "bernoulli", "noise": 0.3},
            "^noise must be left out when emission='bernoulli', which has no use for it, got 0.3$",
        ),
        (
            {"emission": "bernoulli", "rotation": False},
            "^rotation must be left out when emission='bernoulli', which has no use for it, got False$",
        ),
    ],
    ids=short_repr,
)
def test_other_settings_are_refused(settings, match):
    with pytest.raises(ValueError, match=match):
        fu.RichLock(**settings)
