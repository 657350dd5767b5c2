"""Latent start, step and lock tables."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from scipy import stats
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels.dynamics import cumulate, draw_lock, start_state, step
from fasturl._kernels.records import FIXED_REWARDS, RANDOM_REWARDS, SIZE_ONE, Dynamics

pytestmark = pytest.mark.kernel

ALARM = 1e-6
"""False-alarm rate of each statistical test below; the seeds are fixed."""


def kinds(*of_levels):
    return np.array(of_levels, np.uint8)


def rows_of_chances(n_outcomes):
    """Whose sums rounding may take past 1."""
    chance = st.sampled_from([0.0, 0.1, 0.2, 1 / 3, 0.5, 1e-11, 0.4000000005])
    return st.lists(
        st.lists(chance, min_size=n_outcomes, max_size=n_outcomes).filter(any), min_size=1, max_size=4
    )


def lock(state, switch, horizon):
    out = np.full((horizon, 3, 4, 3), np.nan)
    draw_lock(row(state), switch, np.empty(4, np.int64), out)
    return out


@hypothesis.given(DRAWS, SIZES, GENERATORS)
def test_start_state_equals_its_reference(draw, sizes, state):
    tables, dynamics_rng = dynamics(draw, *sizes), row(state)
    for _ in range(5):
        ref = naive.start_state(tables, state)
        comp = start_state(tables, dynamics_rng)
        assert comp == ref
    assert dynamics_rng.tolist() == state


@hypothesis.given(DRAWS, SIZES, GENERATORS)
def test_step_equals_its_reference(draw, sizes, state):
    tables, dynamics_rng = dynamics(draw, *sizes), row(state)
    horizon, n_states, n_actions = sizes
    for h in range(horizon):
        s, a = int(draw.integers(n_states)), int(draw.integers(n_actions))
        ref = naive.step(tables, state, h, s, a)
        comp = step(tables, dynamics_rng, h, s, a)
        assert comp == ref
    assert dynamics_rng.tolist() == state


@hypothesis.given(st.integers(1, 6).flatmap(rows_of_chances))
@hypothesis.example([[0.6, 0.4000000005, 1e-11]])
@hypothesis.example([[0.1] * 10 + [0.0]])
def test_cumulate_equals_its_reference_and_never_falls(rows):
    chances = np.array(rows)
    ref, comp = np.empty_like(chances), np.empty_like(chances)
    naive.cumulate(chances, ref)
    cumulate(chances, comp)
    np.testing.assert_array_equal(ref, comp)
    assert (np.diff(comp, axis=1) >= 0).all()
    assert (comp[:, -1] == 1).all()


@hypothesis.given(GENERATORS, st.floats(0, 1), st.integers(1, 6))
def test_draw_lock_equals_its_reference(state, switch, horizon):
    (ref, ref_order), (comp, comp_order) = (
        (np.empty((horizon, 3, 4, 3)), np.empty(4, np.int64)) for _ in range(2)
    )
    stream = row(state)
    naive.draw_lock(state, switch, ref_order, ref)
    draw_lock(stream, switch, comp_order, comp)
    np.testing.assert_array_equal(ref, comp)
    assert stream.tolist() == state


@hypothesis.given(GENERATORS, st.floats(0, 1), st.integers(1, 6))
def test_a_lock_has_one_way_on_one_flipped_way_and_two_ways_out(state, switch, horizon):
    table = lock(state, switch, horizon)
    expected = sorted(
        [(1 - switch, switch, 0.0), (switch, 1 - switch, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0)]
    )
    for h in range(horizon):
        for s in range(2):
            assert sorted(map(tuple, table[h, s].tolist())) == expected
        assert table[h, 2].tolist() == [[0.0, 0.0, 1.0]] * 4


def test_lock_permutations_are_uniform_and_those_of_the_two_states_are_independent():
    """Where the two good actions are, for states 0 and 1: 12 x 12 outcomes, chi-square."""
    table = lock([1, 2, 3, 4], 0.0, 15_000)
    ways_on = table[:, :2, :, 0].argmax(axis=2)
    flipped = table[:, :2, :, 1].argmax(axis=2)
    place = 3 * ways_on + flipped - (flipped > ways_on)
    counts = np.bincount(12 * place[:, 0] + place[:, 1], minlength=144)
    assert stats.chisquare(counts).pvalue > ALARM


def test_neighbouring_levels_of_a_lock_are_independent():
    ways_on = lock([5, 6, 7, 8], 0.0, 10_000)[:, 0, :, 0].argmax(axis=1)
    counts = np.bincount(4 * ways_on[:-1] + ways_on[1:], minlength=16)
    assert stats.chi2_contingency(counts.reshape(4, 4)).pvalue > ALARM


def test_steps_follow_the_transition_table_and_rewards_their_means():
    draw = np.random.default_rng(0)
    tables = dynamics(draw, 1, 4, 2)._replace(reward_kinds=kinds(RANDOM_REWARDS), reward_sizes=SIZE_ONE)
    dynamics_rng = row([9, 10, 11, 12])
    outcomes = np.array([step(tables, dynamics_rng, 0, 2, 1) for _ in range(5_000)])
    chances = np.diff(tables.transitions[0, 2, 1], prepend=0.0)
    counts = np.bincount(outcomes[:, 0].astype(int), minlength=4)
    assert counts[chances == 0].sum() == 0
    assert stats.chisquare(counts[chances > 0], 5_000 * chances[chances > 0]).pvalue > ALARM
    for following in np.flatnonzero(counts):
        wins = int(outcomes[outcomes[:, 0] == following, 1].sum())
        assert (
            stats.binomtest(wins, int(counts[following]), tables.rewards[0, 2, 1, following]).pvalue > ALARM
        )


@pytest.mark.parametrize("size", [0.1, 5.0, -2.0])
def test_a_random_reward_is_its_size_or_nothing_and_has_its_mean(size):
    means, sizes = np.full((1, 1, 2, 1), 0.3 * size), np.full((1, 1, 2, 1), size)
    for table in (means, sizes):
        table.setflags(write=False)
    tables = Dynamics(np.ones(1), np.ones((1, 1, 2, 1)), means, kinds(RANDOM_REWARDS), sizes)
    dynamics_rng = row([17, 18, 19, 20])
    rewards = [step(tables, dynamics_rng, 0, 0, 1)[1] for _ in range(5_000)]
    assert set(rewards) == {0.0, size}
    assert stats.binomtest(rewards.count(size), 5_000, 0.3).pvalue > ALARM


def test_starts_follow_the_start_distribution():
    tables = dynamics(np.random.default_rng(1), 1, 4, 1)._replace(start=np.array([0.1, 0.1, 0.7, 1.0]))
    dynamics_rng = row([13, 14, 15, 16])
    counts = np.bincount([start_state(tables, dynamics_rng) for _ in range(5_000)], minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], [500, 3_000, 1_500]).pvalue > ALARM


@hypothesis.given(DRAWS, SIZES, GENERATORS)
def test_the_luck_that_a_step_uses_up_does_not_depend_on_state_or_action(draw, sizes, state):
    tables = dynamics(draw, *sizes)
    horizon, n_states, n_actions = sizes
    for h in range(horizon):
        after = set()
        for s in range(n_states):
            for a in range(n_actions):
                dynamics_rng = row(state)
                step(tables, dynamics_rng, h, s, a)
                after.add(tuple(dynamics_rng.tolist()))
        assert len(after) == 1


def test_a_level_of_fixed_rewards_pays_the_mean_itself():
    rewards = np.full((1, 1, 1, 1), 0.25)
    rewards.setflags(write=False)
    sure = Dynamics(np.ones(1), np.ones((1, 1, 1, 1)), rewards, kinds(FIXED_REWARDS))
    assert step(sure, row([1, 2, 3, 4]), 0, 0, 0) == (0, 0.25)
