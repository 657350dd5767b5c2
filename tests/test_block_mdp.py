"""Block MDPs as tables: their checks and exact values."""

import hypothesis
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import DRAWS, SIZES, chances, mdp

import fasturl as fu
from fasturl._base.streams import Streams
from fasturl._kernels.records import FIXED_REWARDS, NO_REWARDS, RANDOM_REWARDS
from fasturl.learners.rollouts import rollout
from fasturl.problems.emissions import Gaussian

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
    allowed = r"\(2, 3\) or \(2, 3, 2\), or a 1 in place of any of these numbers"
    with pytest.raises(ValueError, match=f"^rewards at level 1 must have shape {allowed}, got "):
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
    draw = np.random.default_rng(1)
    env = fu.BlockMDP(*mdp(draw, 3, 3, 2), reward_draw=reward_draw, start=[0.2, 0.5, 0.3])
    actions = draw.integers(2, size=(3, 3))
    count = 20_000
    labels = np.tile(np.arange(3, dtype=np.uint8), (count, 4, 1))
    rngs = (Streams(0).row(name) for name in ("dynamics", "policy"))
    _, _, rewards = rollout(env.dynamics, labels, np.eye(2)[actions], 0.0, *rngs)
    returns = rewards.sum(axis=1)
    assert abs(returns.mean() - env.policy_value(actions)) < 5 * returns.std() / np.sqrt(count)


def reward_kinds(*arguments, **keywords):
    return fu.BlockMDP(*arguments, **keywords).dynamics.reward_kinds.tolist()


def test_bernoulli_rewards_draw_only_where_a_mean_is_random():
    transitions = np.ones((3, 1, 1, 1))
    rewards = np.array([0.0, 0.5, 1.0]).reshape(3, 1, 1)
    assert reward_kinds(transitions, rewards) == [NO_REWARDS, RANDOM_REWARDS, FIXED_REWARDS]
    assert reward_kinds(transitions, rewards, reward_draw="deterministic") == [
        NO_REWARDS,
        FIXED_REWARDS,
        FIXED_REWARDS,
    ]


def test_rewards_may_have_sizes_of_their_own():
    transitions = [np.ones((1, 2, 1)), np.full((1, 2, 3), 1 / 3), np.ones((3, 2, 1))]
    means = [[[0.05, 0.0]], [[0.0, 5.0]], [[-1.0, 0.0]]]
    sizes = [[[0.1, 1.0]], [[0.1, 5.0]], [[-2.0, 3.0]]]
    mdp = fu.BlockMDP(transitions, means, reward_draw=sizes)
    assert mdp.dynamics.reward_kinds.tolist() == [RANDOM_REWARDS, FIXED_REWARDS, RANDOM_REWARDS]
    assert mdp.reward_sizes[0, 0, :, 0].tolist() == [0.1, 1.0]
    assert mdp.reward_sizes[2, :, 0, 0].tolist() == [-2.0] * 3
    assert (mdp.reward_draw, mdp.reward_range) == ("bernoulli", (-2.0, 5.0))
    assert mdp.optimal_value() == pytest.approx(5.05)
    plain = fu.BlockMDP(transitions, np.full((3, 1, 2), 0.5))
    ones = fu.BlockMDP(transitions, np.full((3, 1, 2), 0.5), reward_draw=np.ones((3, 1, 1)))
    played = [fu.train(one, fu.OracleQ(), 50).average_reward.tobytes() for one in (plain, ones)]
    assert played[0] == played[1]


def test_random_rewards_pay_their_sizes():
    mdp = fu.BlockMDP(np.ones((1, 1, 1, 1)), [[[0.05]]], reward_draw=[[[0.1]]])
    run = fu.train(mdp, fu.OracleQ(), 20_000, points=20_000)
    rewards = np.diff(run.average_reward[0] * run.trajectories, prepend=0.0)
    assert set(rewards.round(6)) == {0.0, 0.1}
    wins = int((rewards > 0.05).sum())
    assert stats.binomtest(wins, 20_000, 0.5).pvalue > 1e-6


@pytest.mark.parametrize(
    ("means", "sizes", "match"),
    [
        ([[0.2]], [[[0.1]]], r"rewards at level 1 must be between 0 and their sizes, got 0.2\.\.0.2"),
        ([[0.2]], [[[-1.0]]], r"rewards at level 1 must be between 0 and their sizes"),
        ([[0.0]], [[[0.0]]], "reward_draw at level 1 must hold sizes other than 0, got 0"),
        ([[0.0]], [[[np.inf]]], "reward_draw at level 1 must be finite"),
        ([[0.0]], [[[1.0, 1.0]]], "reward_draw at level 1 must have shape"),
        ([[0.0]], [[[1.0]]] * 2, "reward_draw must have 1 levels as transitions have, got 2"),
        ([[0.0]], "size", "reward_draw must be one of 'bernoulli', 'deterministic', got 'size'"),
    ],
)
def test_other_sizes_are_refused(means, sizes, match):
    with pytest.raises(ValueError, match=match):
        fu.BlockMDP(np.ones((1, 1, 1, 1)), [means], reward_draw=sizes)


def test_the_range_of_rewards_follows_from_the_tables_and_may_be_declared_wider():
    """Entries of states that a level does not have count for nothing."""
    assert fu.BlockMDP(GAMBLE, PAY).reward_range == (0.0, 1.0)
    assert fu.BlockMDP(GAMBLE, PAY, reward_draw="deterministic").reward_range == (0.0, 0.8)
    assert fu.BlockMDP([np.ones((1, 1, 1))], [[[2.0]]], reward_draw="deterministic").reward_range == (
        2.0,
        2.0,
    )
    declared = fu.BlockMDP(GAMBLE, PAY, reward_range=(-1, 2), max_return=3, max_states=7).describe()
    assert (declared.reward_range, declared.max_return, declared.max_states) == ((-1.0, 2.0), 3.0, 7)


def test_the_greatest_return_is_that_of_the_luckiest_episode():
    """Two levels; action 0 stays and pays 0.1 half the time, action 1 leads to state 1 and pays nothing, and
    there an action pays 1."""
    transitions = np.zeros((2, 2, 2, 2))
    transitions[:, 0, 0, 0] = transitions[:, 0, 1, 1] = transitions[:, 1, :, 1] = 1.0
    rewards = np.zeros((2, 2, 2))
    rewards[:, 0, 0], rewards[:, 1, :] = 0.05, 1.0
    sizes = np.where(rewards == 0.05, 0.1, 1.0)
    assert fu.BlockMDP(transitions, rewards, reward_draw=sizes).max_return == 1.0
    assert fu.BlockMDP(transitions, rewards).max_return == 2.0  # two lucky coins
    assert fu.BlockMDP(transitions, rewards, reward_draw="deterministic").max_return == 1.0
    losses = fu.BlockMDP(transitions, -rewards - 1.0, reward_draw="deterministic")
    assert losses.max_return == -1.0  # by action 1 at the last level, whatever came before
    assert fu.BlockMDP(transitions, rewards, start=1).max_return == 2.0
    assert fu.BlockMDP(transitions, rewards, max_return=7).max_return == 7.0


@pytest.mark.parametrize(
    ("declaration", "match"),
    [
        ({"max_states": 1}, "^max_states must be an integer >= 2, got 1"),
        ({"reward_range": (1, 0)}, "^reward_range must have two ends, the lower first, got "),
        ({"reward_range": (0, 1e101)}, "^reward_range must have ends of at most 1e.100 in size, got 1e.101$"),
        ({"reward_range": (0, 0.9)}, "^reward_range must hold all rewards, from 0 to 1, got 0 to 0.9$"),
        (
            {"reward_range": (0.2, 1), "reward_draw": "deterministic"},
            "^reward_range must hold all rewards, from 0 to 0.8, got 0.2 to 1$",
        ),
        ({"max_return": "much"}, "^max_return must be a number "),
        ({"max_return": -0.5}, r"^max_return must be a number in \[0, inf\), got -0.5$"),
        (
            {"max_return": -2.1, "reward_range": (-1, 1)},
            r"^max_return must be a number in \[-2, inf\), got -2.1$",
        ),
    ],
)
def test_other_declarations_are_refused(declaration, match):
    with pytest.raises(ValueError, match=match):
        fu.BlockMDP(GAMBLE, PAY, **declaration)


def test_a_range_of_rewards_may_leave_out_what_no_episode_is_paid():
    """State 1 of level 1 is never met, and no action leads to state 1 of level 2."""
    transitions = np.zeros((1, 2, 1, 2))
    transitions[..., 0] = 1.0
    rewards = np.array([[[[0.5, 9.0]], [[-9.0, 9.0]]]])
    env = fu.BlockMDP(transitions, rewards, reward_draw="deterministic", reward_range=(0.5, 0.5))
    assert env.describe().max_return == 0.5


def test_a_range_of_rewards_may_be_rounded():
    env = fu.BlockMDP(
        np.ones((1, 1, 1, 1)), [[[0.1 + 0.2]]], reward_draw="deterministic", reward_range=(0.0, 0.3)
    )
    assert env.reward_range == (0.0, 0.3)


def test_the_greatest_return_may_be_a_loss_as_great_as_rewards_allow():
    """Three losses of 0.3 are 0.9 to a person, and a bit less to a computer."""
    env = fu.BlockMDP(
        np.ones((3, 1, 1, 1)), np.full((3, 1, 1), -0.3), reward_draw="deterministic", max_return=-0.9
    )
    assert env.describe().max_return == -0.9


def test_deterministic_rewards_may_be_any_number():
    env = fu.BlockMDP(
        np.ones((2, 1, 1, 1)), np.array([-3.0, 10.0]).reshape(2, 1, 1), reward_draw="deterministic"
    )
    assert env.optimal_value() == 7.0
    assert env.reward_range == (-3.0, 10.0)


def test_a_model_is_the_same_for_every_seed_and_cannot_be_changed():
    env = fu.BlockMDP(GAMBLE, PAY)
    assert env.instance(0) is env.instance(5) is env
    with pytest.raises(ValueError, match="read-only"):
        env.transitions[0, 0, 0, 0] = 0.5
    for table in env.dynamics:  # kernels follow them without a look
        with pytest.raises(ValueError, match="read-only"):
            table[...] = -1


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
