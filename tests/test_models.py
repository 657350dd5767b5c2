"""Block MDPs and locks: tables, checks, exact values."""

import time

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, SIZES, chances, mdp

import fasturl as fu
from fasturl._base.checks import shown
from fasturl._base.streams import Streams
from fasturl.problems.emissions import Gaussian

LOCKS = [fu.LockBernoulli, fu.LockGaussian]


# --- locks
# ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", LOCKS)
@hypothesis.given(horizon=st.integers(1, 30), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_every_lock_is_worth_one_half(kind, horizon, switch, seed):
    assert kind(horizon, switch).optimal_value(seed) == pytest.approx(0.5, abs=1e-12)


@hypothesis.given(horizon=st.integers(1, 30), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_the_optimal_policy_attains_the_optimal_value(horizon, switch, seed):
    env = fu.LockBernoulli(horizon, switch)
    assert env.policy_value(env.optimal_policy(seed), seed) == pytest.approx(0.5, abs=1e-12)


@hypothesis.given(horizon=st.integers(1, 20), switch=st.floats(0, 1), seed=st.integers(0, 10**6))
def test_acting_at_random_opens_a_lock_with_probability_two_to_the_minus_horizon(horizon, switch, seed):
    uniform = np.full((horizon, 3, 4), 0.25)
    assert fu.LockBernoulli(horizon, switch).policy_value(uniform, seed) == pytest.approx(0.5 * 0.5**horizon)


def test_a_lock_has_three_states_and_four_actions():
    env = fu.LockGaussian(horizon=5, switch=0.2, noise=0.1)
    assert (env.horizon, env.n_actions, env.n_states) == (5, 4, (3,) * 6)


def test_a_lock_is_the_one_that_its_seed_draws():
    """Bit for bit the reference's lock, from the seed's own stream."""
    ref = np.empty((6, 3, 4, 3))
    naive.draw_lock(Streams(11).row("lock").tolist(), 0.2, [0] * 4, ref)
    np.testing.assert_array_equal(fu.LockBernoulli(6, 0.2).instance(11).transitions, ref)


def test_locks_of_different_seeds_differ_and_both_kinds_of_lock_share_their_latent_side():
    first, second = (fu.LockBernoulli(6, 0.2).instance(seed).transitions for seed in (0, 1))
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(first, fu.LockGaussian(6, 0.2, noise=0.3).instance(0).transitions)


def test_a_lock_starts_in_state_0_and_pays_a_coin_at_the_end_to_those_alive():
    model = fu.LockBernoulli(3).instance()
    assert model.start.tolist() == [1.0, 0.0, 0.0]
    assert model.rewards[:-1].max() == 0.0
    assert model.rewards[-1].reshape(12, 3).tolist() == [[0.5, 0.5, 0.0]] * 12
    assert model.dynamics.random_rewards.tolist() == [False, False, True]
    assert model.max_return == 1.0


def test_parameters_and_repr_say_which_lock_it_is():
    assert fu.LockBernoulli(5, 0.2).parameters() == {"horizon": 5, "switch": 0.2}
    assert fu.LockGaussian(5, 0.2, 0.1).parameters() == {"horizon": 5, "switch": 0.2, "noise": 0.1}
    assert repr(fu.LockGaussian(5, 0.2, 0.1)) == "LockGaussian(horizon=5, switch=0.2, noise=0.1)"


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("horizon", [0, -1, 2.0, "20", None, True, np.nan, [3], 10**400], ids=shown)
def test_a_lock_refuses_other_horizons(kind, horizon):
    with pytest.raises(ValueError, match=r"^horizon must be an integer .*, got "):
        kind(horizon)


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize("horizon", [10**7 + 1, 10**10])
def test_a_lock_that_no_memory_holds_is_refused_before_anything_is_made(kind, horizon):
    with pytest.raises(ValueError, match=rf"^horizon must be an integer from 1 to 10000000, got {horizon}$"):
        kind(horizon)


@pytest.mark.parametrize("kind", LOCKS)
@pytest.mark.parametrize(
    "switch", [-0.1, 1.1, np.nan, np.inf, "0.2", None, np.True_, np.complex128(0.2), 10**400], ids=shown
)
def test_a_lock_refuses_other_switches(kind, switch):
    with pytest.raises(ValueError, match=r"^switch must be a number in \[0, 1\], got "):
        kind(5, switch)


@pytest.mark.parametrize("noise", [-0.1, np.nan, np.inf, 1e16, "0.2", None, 10**400], ids=shown)
def test_a_gaussian_lock_refuses_other_noises(noise):
    with pytest.raises(ValueError, match=r"^noise must be a number in \[0, 1e\+15\], got "):
        fu.LockGaussian(5, 0.2, noise)


@pytest.mark.parametrize("seed", [-1, 0.5, "0"])
def test_an_instance_needs_a_seed(seed):
    with pytest.raises(ValueError, match=r"^seed must be an integer >= 0, got "):
        fu.LockBernoulli(5).instance(seed)


# --- Block MDPs
# ----------------------------------------------------------------------------------------------------

# One level of one state, then two states, then one: action 0 stays safe for 0.3 later, action 1 gambles on
# 0.8.
GAMBLE = [np.array([[[1.0, 0.0], [0.5, 0.5]]]), np.ones((2, 2, 1))]
PAY = [np.zeros((1, 2)), np.array([[0.3, 0.0], [0.8, 0.1]])]


def test_levels_may_differ_in_their_number_of_states():
    """By hand: gambling gives (0.3 + 0.8) / 2, playing safe 0.3."""
    env = fu.BlockMDP(GAMBLE, PAY)
    assert env.n_states == (1, 2, 1)
    assert (env.horizon, env.n_actions) == (2, 2)
    assert env.optimal_value() == pytest.approx(0.55)
    assert env.optimal_policy()[0, 0] == 1
    assert env.policy_value(np.zeros((2, 2), int)) == pytest.approx(0.3)
    assert env.policy_value(np.full((2, 2, 2), 0.5)) == pytest.approx(
        0.5 * 0.15 + 0.5 * (0.5 * 0.15 + 0.5 * 0.45)
    )


def test_start_may_be_a_state_or_a_distribution():
    transitions, rewards = np.full((1, 2, 1, 2), 0.5), np.array([[[0.2], [0.6]]])
    assert fu.BlockMDP(transitions, rewards).optimal_value() == pytest.approx(0.2)
    assert fu.BlockMDP(transitions, rewards, start=1).optimal_value() == pytest.approx(0.6)
    assert fu.BlockMDP(transitions, rewards, start=[0.75, 0.25]).optimal_value() == pytest.approx(0.3)


@pytest.mark.parametrize("shape", [(2,), (2, 2), (2, 3), (2, 3, 2), (2, 2, 3, 3), (2, 1, 1, 1, 1)])
def test_rewards_of_other_shapes_are_refused(shape):
    message = r"^rewards at level 1 must have shape \(2, 3\) or \(2, 3, 2\), or a 1 in place of any of these numbers, got "
    with pytest.raises(ValueError, match=message):
        fu.BlockMDP(np.full((2, 2, 3, 2), 0.5), np.zeros(shape))


@pytest.mark.parametrize(
    ("rewards", "got"), [(np.zeros((1, 1, 1, 1)), "1"), (np.zeros((3, 2, 3)), "3"), ([], "0")]
)
def test_rewards_are_given_for_every_level(rewards, got):
    with pytest.raises(ValueError, match=f"^rewards must have 2 levels as transitions have, got {got}$"):
        fu.BlockMDP(np.full((2, 2, 3, 2), 0.5), rewards)


def test_one_reward_for_all_is_refused():
    with pytest.raises(
        ValueError, match=r"^rewards must be an array or a sequence of arrays, one for each level, got 0\.5$"
    ):
        fu.BlockMDP(np.full((2, 2, 3, 2), 0.5), 0.5)


def test_narrow_probabilities_are_made_to_sum_to_one():
    chances = np.array([0.1, 0.2, 0.7], np.float32)
    model = fu.BlockMDP(np.tile(chances, (1, 1, 2, 1)), np.zeros((1, 1, 2)))
    np.testing.assert_allclose(model.transitions[0, 0].sum(axis=1), 1, rtol=1e-15)
    assert model.policy_value(np.full((1, 3, 2), [0.3, 0.7], np.float32)) == 0
    with pytest.raises(ValueError, match=r"with sums 0\.999999993"):
        fu.BlockMDP(np.tile(chances.astype(float), (1, 1, 2, 1)), np.zeros((1, 1, 2)))


@pytest.mark.parametrize("shape", [(2, 2, 3), (2, 2, 1), (2, 1, 3), (2, 2, 3, 1), (2, 2, 3, 2), (2, 1, 1, 2)])
def test_rewards_of_every_allowed_shape_mean_the_same_as_the_full_table(shape):
    draw = np.random.default_rng(0)
    transitions, rewards = chances(draw, 2, 2, 3, 2), draw.random(shape)
    full = np.broadcast_to(rewards[..., None] if rewards.ndim == 3 else rewards, (2, 2, 3, 2))
    np.testing.assert_array_equal(fu.BlockMDP(transitions, rewards).rewards, full)
    np.testing.assert_array_equal(fu.BlockMDP(list(transitions), list(rewards)).rewards, full)


@hypothesis.given(DRAWS, SIZES)
def test_exact_values_equal_the_references(draw, sizes):
    transitions, rewards = mdp(draw, *sizes)
    horizon, n_states, _ = sizes
    start, policy = chances(draw, n_states), chances(draw, *sizes)
    env = fu.BlockMDP(transitions, rewards, start=start)
    q, values = np.empty(sizes), np.empty((horizon + 1, n_states))
    naive.optimal_q(transitions, rewards, q, values)
    assert env.optimal_value() == pytest.approx(start @ values[0])
    naive.policy_q(transitions, rewards, policy, q, values)
    assert env.policy_value(policy) == pytest.approx(start @ values[0])


@hypothesis.given(DRAWS, SIZES)
def test_an_integer_policy_is_worth_the_same_as_its_probabilities(draw, sizes):
    horizon, n_states, n_actions = sizes
    env = fu.BlockMDP(*mdp(draw, *sizes))
    actions = draw.integers(n_actions, size=(horizon, n_states))
    assert env.policy_value(actions) == env.policy_value(np.eye(n_actions)[actions])


@pytest.mark.parametrize("reward_draw", ["bernoulli", "deterministic"])
def test_the_exact_value_is_the_mean_return_of_many_episodes(reward_draw):
    """At 5 standard errors: a false alarm once in 1.7 million. The seeds are fixed."""
    from fasturl._kernels.tabular import rollout

    draw = np.random.default_rng(1)
    env = fu.BlockMDP(*mdp(draw, 3, 3, 2), reward_draw=reward_draw, start=[0.2, 0.5, 0.3])
    actions = draw.integers(2, size=(3, 3))
    count = 20_000
    labels = np.tile(np.arange(3, dtype=np.uint8), (count, 4, 1))
    record = np.empty((count, 4), np.int64), np.empty((count, 3), np.int64), np.empty((count, 3))
    streams = Streams(0)
    rollout(
        env.dynamics, labels, np.eye(2)[actions], 0.0, streams.row("dynamics"), streams.row("policy"), *record
    )
    returns = record[2].sum(axis=1)
    assert abs(returns.mean() - env.policy_value(actions)) < 5 * returns.std() / np.sqrt(count)


def test_bernoulli_rewards_draw_only_where_a_mean_is_random():
    transitions = np.ones((3, 1, 1, 1))
    rewards = np.array([0.0, 0.5, 1.0]).reshape(3, 1, 1)
    assert fu.BlockMDP(transitions, rewards).dynamics.random_rewards.tolist() == [False, True, False]
    assert not fu.BlockMDP(transitions, rewards, reward_draw="deterministic").dynamics.random_rewards.any()


def test_the_greatest_return_counts_only_what_can_happen():
    """By hand: 0.3 and 0.8 can each be a 1 when drawn; an unreachable reward counts for nothing."""
    assert fu.BlockMDP(GAMBLE, PAY).max_return == 1.0
    assert fu.BlockMDP(GAMBLE, PAY, reward_draw="deterministic").max_return == 0.8
    never = [np.array([[[1.0, 0.0], [1.0, 0.0]]]), np.ones((2, 2, 1))]
    assert fu.BlockMDP(never, PAY, reward_draw="deterministic").max_return == 0.3


def test_a_long_lock_is_set_up_in_a_moment():
    """A loop over its levels in Python would take ten seconds or more, during which nothing could be
    interrupted."""
    begin = time.perf_counter()
    model = fu.LockBernoulli(200_000, 0.2).instance()
    assert model.max_return == 1.0
    assert model.reachable[-1].tolist() == [True, True, True]
    assert time.perf_counter() - begin < 5


def test_deterministic_rewards_may_be_any_number():
    env = fu.BlockMDP(
        np.ones((2, 1, 1, 1)), np.array([-3.0, 10.0]).reshape(2, 1, 1), reward_draw="deterministic"
    )
    assert env.optimal_value() == 7.0
    assert env.max_return == 10.0  # what is ahead at the second level


def test_a_model_is_the_same_for_every_seed_and_cannot_be_changed():
    env = fu.BlockMDP(GAMBLE, PAY)
    assert env.instance(0) is env.instance(5) is env
    with pytest.raises(ValueError, match="read-only"):
        env.transitions[0, 0, 0, 0] = 0.5


@pytest.mark.parametrize("dust", [0.0, 1e-13, -1e-13])
def test_rounding_in_a_distribution_cannot_lead_to_a_state_that_has_no_chance(dust):
    row = np.array([0.1, 0.2, 0.7 + dust, 0.0])
    env = fu.BlockMDP(np.tile(row, (1, 4, 1, 1)), np.zeros((1, 4, 1)))
    assert env.dynamics.transitions[0, 0, 0, 2] == 1.0


GOOD = np.full((2, 2, 2, 2), 0.5)
PAYING = np.zeros((2, 2, 2))


def altered(table, entry, value):
    changed = table.copy()
    changed[entry] = value
    return changed


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("transitions", 0.5),
        ("transitions", "half"),
        ("transitions", None),
        ("transitions", []),
        ("transitions", [["a", "b"]]),
        ("transitions", GOOD.astype(complex)),
        ("transitions", np.empty((2, 0, 2, 2))),
        ("transitions", GOOD[0]),
        ("transitions", [np.full((2, 2, 2), 0.5), np.full((3, 2, 2), 0.5)]),
        ("transitions", [np.full((2, 2, 2), 0.5), np.full((2, 3, 2), 0.5)]),
        ("transitions", altered(GOOD, (1, 0, 0, 0), 0.6)),
        ("transitions", altered(GOOD, (1, 0, 0), [1.5, -0.5])),
        ("transitions", altered(GOOD, (1, 0, 0, 0), np.nan)),
        ("transitions", altered(GOOD.astype(object), (1, 0, 0, 0), 10**400)),
        ("rewards", 0.5),
        ("rewards", None),
        ("rewards", PAYING[:1]),
        ("rewards", np.zeros((2, 2, 3))),
        ("rewards", np.zeros((2, 3, 2, 2))),
        ("rewards", altered(PAYING, (0, 0, 0), 1.5)),
        ("rewards", altered(PAYING, (0, 0, 0), -0.5)),
        ("rewards", altered(PAYING, (0, 0, 0), np.nan)),
        ("rewards", PAYING.astype(complex)),
        ("rewards", PAYING.astype(str)),
        ("reward_draw", "gaussian"),
        ("reward_draw", np.array(["bernoulli", "deterministic"])),
        ("start", 2),
        ("start", -1),
        ("start", 0.5),
        ("start", "first"),
        ("start", [0.5, 0.6]),
        ("start", [1.5, -0.5]),
        ("start", [np.nan, 1.0]),
        ("start", [1.0]),
        ("start", []),
        ("start", None),
        ("start", True),
        ("start", ["a", "b"]),
        ("start", [1j, 0]),
        ("start", [10**400, 0]),
        ("start", [[1.0], [0.0, 1.0]]),
        ("emission", "gauss"),
        ("emission", ""),
        ("emission", 0),
        ("emission", np.eye(2)),
        ("emission", Gaussian),
    ],
)
def test_a_block_mdp_refuses_what_is_not_one_and_says_what_it_got(argument, value):
    arguments = {"transitions": GOOD, "rewards": PAYING} | {argument: value}
    with pytest.raises(ValueError, match=rf"(?s)^{argument} .*must .*, got "):
        fu.BlockMDP(arguments.pop("transitions"), arguments.pop("rewards"), **arguments)


@pytest.mark.parametrize("size", [np.inf, -np.inf, 1e308])
def test_rewards_that_cannot_be_added_up_are_refused(size):
    with pytest.raises(
        ValueError, match=r"^rewards at level 2 must be finite and at most 1e\+100 in size, got "
    ):
        fu.BlockMDP(GOOD, altered(PAYING, (1, 0, 0), size), reward_draw="deterministic")


@pytest.mark.parametrize(
    "policy",
    [
        0,
        "best",
        None,
        [[0, 1], [0]],
        np.zeros((2, 3), int),
        np.zeros((2, 2)),
        np.full((2, 2), 2),
        np.full((2, 2), -1),
        np.full((2, 2, 3), 1 / 3),
        np.full((2, 2, 2), 0.6),
        np.full((2, 2, 2), np.nan),
        np.tile([1.5, -0.5], (2, 2, 1)),
    ],
)
def test_a_policy_that_is_none_is_refused(policy):
    with pytest.raises(ValueError, match=r"^policy must .*, got "):
        fu.BlockMDP(GOOD, PAYING).policy_value(policy)
