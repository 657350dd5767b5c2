"""Families of latent tables: their tables against obvious constructions, their exact values, and how they can
be seen."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import linalg, stats

import fasturl as fu
from fasturl._base.checks import short_repr
from fasturl._base.names import components
from fasturl._base.streams import Streams
from fasturl._kernels.records import RANDOM_REWARDS
from fasturl.problems.environment import emission_rngs
from fasturl.problems.table_family import TableFamily
from fasturl.problems.vector_tables import SharedInstance

ALARM = 1e-6
"""False-alarm rate of each statistical test; the seeds are fixed."""
FAMILIES = [
    *(fu.Bandit, fu.BidirectionalLock, fu.DetourLock, fu.RiverSwim, fu.DeepSea, fu.RandomMDP, fu.Maze),
]
BITS = {"emission": "bernoulli"}
EMISSIONS = ["gaussian", "bernoulli", "categorical", "rich"]


def every_state(env, episodes, seed=0):
    """What each state shows: [E, H+1, S, D]."""
    return env.resolved_emission.draw(emission_rngs(Streams(seed)), episodes).every_state()


def same_tables(one, other):
    return all(
        np.array_equal(getattr(one, name), getattr(other, name)) for name in ("transitions", "rewards")
    )


def test_every_family_of_tables_is_tested_here():
    built_in = [family.cls for family in components("environment").values() if family.built_in]
    assert {cls for cls in built_in if issubclass(cls, TableFamily)} == set(FAMILIES)


@pytest.mark.parametrize("family", FAMILIES)
def test_an_instance_is_what_its_family_declares_and_one_for_each_seed(family):
    env = family(4)
    instance = env.instance(1)
    assert instance.transitions.shape == (4, env.max_states, env.n_actions, env.max_states)
    np.testing.assert_allclose(instance.transitions.sum(axis=3), 1.0, rtol=1e-12)
    low, high = env.describe().reward_range
    assert low <= instance.rewards.min()
    assert instance.rewards.max() <= high
    assert same_tables(instance, env.instance(1))
    always_the_same = all(same_tables(instance, env.instance(seed)) for seed in range(2, 12))
    assert always_the_same == env.single_instance == (family is fu.RiverSwim)
    assert instance.optimal_value() == env.optimal_value(1) <= env.describe().max_return + 1e-12


@pytest.mark.parametrize("family", FAMILIES)
def test_no_return_exceeds_the_declared_one(family):
    env = family(horizon=7)
    q, _ = env.instance(3)._optimal_tables()
    reached = env.instance(3).reachable[:-1]
    assert q[reached].max() <= env.describe().max_return + 1e-12


# --- tables and exact values ---


@pytest.mark.parametrize("seed", range(4))
def test_one_arm_of_a_bandit_is_better_by_the_gap_at_all_levels(seed):
    env = fu.Bandit(horizon=3, n_actions=5, best=0.7, gap=0.2)
    means = env.instance(seed).rewards[:, 0, :, 0]
    assert sorted(means[0].tolist()) == pytest.approx([0.5] * 4 + [0.7])
    assert (means == means[0]).all()
    assert env.optimal_value(seed) == pytest.approx(3 * 0.7)


def test_each_arm_is_the_best_on_some_seed():
    env = fu.Bandit(n_actions=3)
    assert {int(env.instance(seed).rewards[0, 0, :, 0].argmax()) for seed in range(30)} == {0, 1, 2}


def test_a_gap_that_no_arm_can_have_is_refused():
    with pytest.raises(ValueError, match=r"gap must be at most best = 0\.3, got 0\.4"):
        fu.Bandit(best=0.3, gap=0.4)


@pytest.mark.parametrize("seed", range(3))
def test_a_detour_lock_is_the_papers_lock_with_detours(seed):
    """The tables against an obvious construction from the same draws."""
    switch, reach, n_actions = 0.2, 0.1, 5
    instance = fu.DetourLock(6, n_actions=n_actions, switch=switch, reach=reach).instance(seed)
    generator = Streams(seed).generator("instance")
    for h in range(6):
        for state in (0, 1):
            order = generator.permutation(n_actions)
            for place, action in enumerate(order):
                to_0 = [1 - switch, switch][place] if place < 2 else 0.0
                expected = [0.9 * to_0, 0.9 * (1 - to_0), 0.1, 0.0] if place < 2 else [0.0, 0.0, 0.0, 1.0]
                np.testing.assert_allclose(instance.transitions[h, state, action], expected, atol=1e-15)
        right = generator.integers(n_actions)
        for action in range(n_actions):
            expected = [0.5, 0.5, 0.0, 0.0] if action == right else [0.0, 0.0, 0.0, 1.0]
            assert instance.transitions[h, 2, action].tolist() == expected
            assert instance.transitions[h, 3, action].tolist() == [0.0, 0.0, 0.0, 1.0]
    assert not instance.rewards[:-1].any()
    assert (instance.rewards[-1] == [0.5, 0.5, 0.5, 0.0]).all()


@pytest.mark.parametrize("reach", [0.0, 0.02, 0.5, 1.0])
def test_a_detour_lock_is_worth_one_half(reach):
    for seed in range(3):
        assert fu.DetourLock(7, reach=reach, switch=0.3).optimal_value(seed) == pytest.approx(0.5)


@pytest.mark.parametrize("reach", [0.01, 0.2])
def test_no_policy_takes_the_detour_more_often_than_its_reach(reach):
    """The greatest probability of the detour at a level, by dynamic programming towards that level."""
    transitions = fu.DetourLock(5, reach=reach).instance(2).transitions
    for level in range(1, 6):
        chance = np.array([0.0, 0.0, 1.0, 0.0])
        for h in reversed(range(level)):
            chance = (transitions[h] @ chance).max(axis=1)
        assert chance[0] <= reach + 1e-12
    assert (transitions[0, 0] @ [0, 0, 1, 0]).max() == reach


def test_a_river_flows_to_the_left():
    instance = fu.RiverSwim(3, n_states=4).instance()
    for h in range(3):
        assert instance.transitions[h, :, 0].tolist() == [
            [1, 0, 0, 0],
            [1, 0, 0, 0],
            [0, 1, 0, 0],
            [0, 0, 1, 0],
        ]
        np.testing.assert_allclose(
            instance.transitions[h, :, 1],
            [[0.4, 0.6, 0, 0], [0.05, 0.6, 0.35, 0], [0, 0.05, 0.6, 0.35], [0, 0, 0.4, 0.6]],
        )
        means = (instance.transitions[h] * instance.rewards[h]).sum(axis=2)
        np.testing.assert_allclose(means, [[0.005, 0], [0, 0], [0, 0], [0, 1]])


@pytest.mark.parametrize(
    ("horizon", "n_states", "value"),
    [
        (1, 2, 0.005),
        (2, 2, 0.6 * 1 + 0.4 * 0.005),
        (3, 2, 0.4 * 0.602 + 0.6 * (1 + 0.602)),
        (2, 3, 2 * 0.005),
        (3, 3, 0.4 * 0.01 + 0.6 * (0.35 * 1 + 0.05 * 0.005)),
    ],
)
def test_short_rivers_by_hand(horizon, n_states, value):
    assert fu.RiverSwim(horizon, n_states=n_states).optimal_value() == pytest.approx(value)


def test_a_river_is_shared_by_vector_environments():
    assert isinstance(fu.RiverSwim(3).vector_tables(4), SharedInstance)
    with pytest.raises(ValueError, match="must be False: a RiverSwim is the same for every seed"):
        fu.envs.ScalarEnv("river-swim").reset(options={"new_instance": True})


@pytest.mark.parametrize("horizon", [1, 2, 7, 20])
@pytest.mark.parametrize("cost", [0.0, 0.01, 0.5])
def test_a_deep_sea_is_worth_its_treasure_without_the_cost(horizon, cost):
    sea = fu.DeepSea(horizon, cost=cost)
    for seed in range(3):
        assert sea.optimal_value(seed) == pytest.approx(1 - cost)
        uniform = np.full((horizon, horizon, 2), 0.5)
        assert sea.policy_value(uniform, seed) == pytest.approx(0.5**horizon - cost / 2)


def test_a_deep_sea_moves_down_a_row_and_over_one_column():
    sea = fu.DeepSea(5, cost=0.1)
    instance, right = sea.instance(4), Streams(4).generator("instance").integers(2, size=5)
    for h, column, action in np.ndindex(5, 5, 2):
        goes_right = action == right[column]
        following = min(column + 1, 4) if goes_right else max(column - 1, 0)
        assert instance.transitions[h, column, action].tolist() == np.eye(5)[following].tolist()
        treasure = goes_right and h == column == 4
        assert instance.rewards[h, column, action, following] == pytest.approx(treasure - 0.02 * goes_right)
    assert instance.reachable[:-1].tolist() == np.tri(5, dtype=bool).tolist()


def test_a_bidirectional_lock_pays_five_at_one_end_and_two_at_the_other():
    for seed in range(5):
        lock = fu.BidirectionalLock(4, n_actions=3, switch=0.3)
        instance = lock.instance(seed)
        assert instance.optimal_value() == pytest.approx(5.0)
        q, values = instance._optimal_tables()
        assert sorted(q[0, 0].round(9)) == [2.0, 5.0, 5.0]
        np.testing.assert_allclose(values[1:4], [[0, 5, 5, 2, 2, 0]] * 3, atol=1e-12)
        assert ((q[1:, 1:5] > 0).sum(axis=2) == 1).all()
        assert instance.transitions[1:, 1:5][q[1:, 1:5] == 0][:, 5].min() == 1.0
        on = instance.transitions[1:, 1, :, 1:3].sum(axis=1)
        np.testing.assert_allclose(on, [[0.7, 0.3]] * 3)


def test_tables_of_a_random_mdp_are_uniform_on_what_they_can_be():
    """A share of Dirichlet(1, 1, 1, 1) is Beta(1, 3)."""
    instance = fu.RandomMDP(30, n_states=4, n_actions=5, stationary=False).instance(0)
    assert stats.kstest(instance.transitions[:, :, :, 2].ravel(), stats.beta(1, 3).cdf).pvalue > ALARM
    assert stats.kstest(instance.rewards[..., 0].ravel(), "uniform").pvalue > ALARM
    np.testing.assert_array_equal(instance.rewards[..., 0], instance.rewards[..., 3])
    assert (instance.dynamics.reward_kinds == RANDOM_REWARDS).all()


def test_a_stationary_random_mdp_has_one_table_for_all_levels():
    instance = fu.RandomMDP(6).instance(0)
    for table in (instance.transitions, instance.rewards):
        np.testing.assert_array_equal(table, np.repeat(table[:1], 6, axis=0))


def distances(maze):
    """The number of moves from the goal to every cell of a maze without slips."""
    leads = maze.transitions[0].any(axis=1)
    found = {len(leads) - 1: 0}
    for steps in range(1, len(leads)):
        nearer = list(found)
        found |= {
            cell: steps for cell in range(len(leads)) if cell not in found and leads[cell, nearer].any()
        }
    return found


@pytest.mark.parametrize("walls", [0.0, 0.5, 1.0])
def test_every_cell_of_a_maze_can_be_reached_and_the_goal_is_worth_one(walls):
    for seed in range(10):
        maze = fu.Maze(walls=walls)
        instance = maze.instance(seed)
        steps = distances(instance)
        assert len(steps) == 16
        assert (steps[0] == 6) or walls > 0
        assert maze.optimal_value(seed) == 1.0
        assert replace(maze, horizon=steps[0] - 1).optimal_value(seed) == 0.0
        if walls == 1.0:  # a tree: an edge fewer than cells, each a passage in two directions but at the goal
            moves = instance.transitions[0, :15].argmax(axis=2) != np.arange(15)[:, None]
            ends = (instance.transitions[0, :15, :, 15] > 0).sum()
            assert moves.sum() == 2 * 15 - ends


def test_a_maze_moves_to_neighbours_and_pays_once():
    instance = fu.Maze(slip=0.2).instance(1)
    for cell, following in zip(*np.nonzero(instance.transitions[0].any(axis=1)), strict=True):
        (x, y), (u, v) = divmod(cell, 4), divmod(following, 4)
        assert abs(x - u) + abs(y - v) <= 1
    goal = np.zeros((4, 16))
    goal[:, 15] = 1.0
    np.testing.assert_allclose(instance.transitions[0, 15], goal)
    assert instance.rewards[0, 15].max() == 0.0
    assert np.unique(instance.rewards[..., :15]).tolist() == [0.0]
    certain = fu.Maze(slip=0.0).instance(1).transitions
    np.testing.assert_allclose(
        instance.transitions, 0.8 * certain + 0.2 * certain.mean(axis=2, keepdims=True), atol=1e-15
    )


# --- observations ---


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("emission", EMISSIONS)
@pytest.mark.parametrize("looks", ["same", "different"])
def test_every_family_can_be_seen_through_every_emission(family, emission, looks):
    env = family(4, emission=emission, looks=looks)
    assert (env.emission, env.settings()["looks"]) == (emission, looks)
    assert env.instance(0).emission is env.resolved_emission
    run = fu.train(env, fu.URL(), 60)
    assert np.isfinite(run.values).all()
    assert env.describe().observations.discrete == (emission in ("bernoulli", "categorical"))


def test_gaussian_words_are_unit_vectors_that_move_on_where_levels_differ():
    for looks in ("same", "different"):
        env = fu.RiverSwim(25, noise=0.0, looks=looks)
        shift = np.arange(26)[:, None] * (looks == "different")
        words = np.eye(20)[(np.arange(6) + shift) % 20]
        np.testing.assert_array_equal(every_state(env, 1)[0], words)


@pytest.mark.parametrize(("n_states", "dimension"), [(2, 20), (5, 20), (16, 20), (17, 32), (8, 30)])
def test_bernoulli_words_differ_in_half_of_the_bits_of_every_period(n_states, dimension):
    chosen = None if dimension in (20, 32) else dimension
    env = fu.RandomMDP(2, n_states=n_states, emission="bernoulli", noise=0.0, dimension=chosen)
    words = every_state(env, 1)[0, 0].astype(int)
    assert words.shape == (n_states, dimension)
    period = 1 << (n_states - 1).bit_length()
    apart = [np.abs(a - b).sum() for i, a in enumerate(words) for b in words[:i]]
    assert min(apart) >= dimension // period * period / 2
    np.testing.assert_array_equal(words[:, :period], linalg.hadamard(period)[:n_states] < 0)


def test_bernoulli_bits_are_flipped_as_often_as_the_noise_says():
    plain, noisy = (fu.RiverSwim(1, emission="bernoulli", noise=noise) for noise in (0.0, 0.1))
    flipped = every_state(noisy, 2_000) != every_state(plain, 1)
    counts = flipped.sum(axis=0)[:, 0].ravel()
    pvalues = [stats.binomtest(int(count), 2_000, 0.1).pvalue for count in counts]
    assert min(pvalues) * len(pvalues) > ALARM


def test_a_categorical_symbol_is_one_of_the_states_own_or_any():
    env = fu.RandomMDP(1, n_states=3, emission="categorical", dimension=7, noise=0.3)
    seen = every_state(env, 5_000)[:, 0]
    assert (seen.sum(axis=2) == 1).all()
    pvalues = []
    for state, own in enumerate(([0, 3, 6], [1, 4], [2, 5])):
        chances = np.full(7, 0.3 / 7)
        chances[own] += 0.7 / len(own)
        pvalues.append(stats.chisquare(seen[:, state].sum(axis=0), 5_000 * chances).pvalue)
    assert min(pvalues) * 3 > ALARM


def test_rich_looks_are_those_of_the_rich_lock():
    rich = fu.RandomMDP(6, n_states=3, emission="rich", noise=0.1)
    assert every_state(rich, 9).tobytes() == every_state(fu.RichLock(6), 9).tobytes()
    same = fu.RandomMDP(6, n_states=3, emission="rich", noise=0.0, looks="same")
    np.testing.assert_array_equal(every_state(same, 1)[0], np.tile(linalg.hadamard(4)[:, :3].T, (7, 1, 1)))
    assert fu.RandomMDP(6, emission="rich", dimension=64).describe().observations.dimension == 64


@pytest.mark.parametrize("emission", EMISSIONS)
def test_observations_do_not_depend_on_the_size_of_blocks(emission):
    env, rngs = fu.Maze(emission=emission), emission_rngs(Streams(1))
    parts = [env.resolved_emission.draw(rngs, size).every_state() for size in (1, 5, 16, 1)]
    assert every_state(env, 23, 1).tobytes() == np.concatenate(parts).tobytes()


# --- settings ---


@pytest.mark.parametrize(
    ("family", "settings", "match"),
    [
        (fu.RiverSwim, {"emission": "gausian"}, r"^emission must be one of .* \(did you mean gaussian\?\)$"),
        (fu.RiverSwim, {"looks": "alike"}, "^looks must be one of 'same', 'different', got 'alike'$"),
        (fu.RiverSwim, {"dimension": 5}, "^dimension must be an integer >= 6, got 5$"),
        (fu.RiverSwim, {"dimension": 7, **BITS}, "^dimension must be an integer >= 8, got 7$"),
        (fu.RiverSwim, {"dimension": 30, "emission": "rich"}, "^dimension must be a power of two .*, got 30"),
        (fu.RiverSwim, {"noise": 0.5, **BITS}, r"^noise must be a number in \[0, 0.5\), got 0.5$"),
        (fu.RiverSwim, {"noise": 1, "emission": "categorical"}, r"^noise must be a number in \[0, 1\), got"),
        (fu.RiverSwim, {"n_states": 1}, "^n_states must be an integer >= 2, got 1$"),
        (fu.BidirectionalLock, {"horizon": 1}, "^horizon must be an integer >= 2, got 1$"),
        (fu.DeepSea, {"horizon": 1_001}, "^horizon must be an integer from 1 to 1000, got 1001$"),
        (fu.Maze, {"side": 100}, "^horizon 16 with 10000 states and 4 actions must give tables of at most"),
        (fu.RandomMDP, {"stationary": 1}, "^stationary must be True or False, got 1$"),
    ],
    ids=short_repr,
)
def test_other_settings_are_refused(family, settings, match):
    with pytest.raises(ValueError, match=match):
        family(**settings)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("name", "value"), [("noise", 0.3), ("dimension", 30), ("looks", "same")])
def test_without_an_emission_there_is_nothing_to_see(family, name, value):
    assert family(3, emission="none").describe().observations is None
    message = f"^{name} must be left out when emission='none', which has no use for it, got {value!r}$"
    with pytest.raises(ValueError, match=message):
        family(3, emission="none", **{name: value})


@pytest.mark.parametrize("family", FAMILIES)
def test_equal_settings_make_equal_environments(family):
    assert family(3) == family(3) != family(3, emission="rich")
    assert replace(family(3), noise=0.3) == family(3, noise=0.3)
    assert family(**family(3).settings()) == family(3)
