"""The tables of OracleQ and QLearning: their update, and whole episodes in the loops that learners share."""

import copy
from types import SimpleNamespace

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

import fasturl as fu
from fasturl._kernels.learning import Loops
from fasturl.learners.episode_loops import loops_of
from fasturl.learners.q_table import QTables, fill_policy, take_step

pytestmark = pytest.mark.kernel

EPISODES = 6
N_LABELS = st.integers(1, 4)
CAPS = st.sampled_from([(1.0, 1.0), (np.inf, np.inf), (np.inf, 0.7)])
"""Of action values and of values: as OracleQ, QLearning and Jin et al. have them."""
LEARNERS = {
    fu.OracleQ: (naive.q_table.ORACLEQ, loops_of(fu.OracleQ.functions, trusted=True).lean),
    fu.QLearning: (naive.q_table.QLEARNING, loops_of(fu.QLearning.functions, trusted=True).lean),
}
"""The loops of each learner: the reference, and those that are compiled."""


def q_tables(draw, sizes, n_labels, caps=(1.0, 1.0)):
    """Values with many ties, and any schedule."""
    horizon, _, n_actions = sizes
    shape = horizon, n_labels, n_actions
    return QTables(
        q=draw.integers(0, 3, shape) / 2,
        visits=np.zeros(shape, np.int64),
        rates=draw.random(EPISODES + 1),
        bonuses=draw.random(EPISODES + 1) / 10,
        cap=caps[0],
        value_cap=caps[1],
        epsilons=draw.choice([0.0, 0.3, 1.0], EPISODES),
        episode=np.zeros(1, np.int64),
    )


def problem(draw, sizes, n_labels):
    """Dynamics, and labels that change from episode to episode."""
    horizon, n_states, _ = sizes
    labels = draw.integers(0, n_labels, (EPISODES, horizon + 1, n_states)).astype(np.uint8)
    return SimpleNamespace(dynamics=dynamics(draw, *sizes), labels=labels)


def one_pair(q=1.0, visits=0, n_labels=1, **schedule):
    """One level and one action."""
    shape = 1, n_labels, 1
    empty = {"rates": np.ones(2), "bonuses": np.zeros(2), "cap": 1.0, "value_cap": 1.0}
    return QTables(
        q=np.full(shape, q),
        visits=np.full(shape, visits),
        epsilons=np.zeros(1),
        episode=np.zeros(1, np.int64),
        **empty | schedule,
    )


def assert_same(ref, comp):
    for expected, computed in zip(ref, comp, strict=True):
        np.testing.assert_array_equal(expected, computed)


def learn(loops: Loops, given, tables, dynamics_rng, policy_rng, episodes=slice(None)):
    labels = given.labels[episodes]
    returns = np.full(len(labels), np.nan)
    place = np.zeros(3, np.int64)
    assert loops.learn(given.dynamics, labels, tables, dynamics_rng, policy_rng, returns, None, place)
    return returns


@hypothesis.given(DRAWS, SIZES, N_LABELS, CAPS)
def test_steps_and_final_policies_equal_their_references(draw, sizes, n_labels, caps):
    ref = q_tables(draw, sizes, n_labels, caps)
    comp = copy.deepcopy(ref)
    horizon, _, n_actions = sizes
    for _ in range(EPISODES):
        level = int(draw.integers(horizon))
        label, next_label = draw.integers(n_labels, size=2).tolist()
        step = level, label, int(draw.integers(n_actions)), float(draw.random()), level + 1, next_label
        naive.q_table.take_step(ref, *step)
        take_step(comp, *step)
    assert_same(ref, comp)
    ref_chances, comp_chances = np.full((2, *ref.q.shape), np.nan)
    naive.q_table.fill_policy(ref, ref_chances)
    fill_policy(comp, comp_chances)
    np.testing.assert_array_equal(ref_chances, comp_chances)


@pytest.mark.parametrize("learner", LEARNERS)
@hypothesis.given(DRAWS, SIZES, N_LABELS, GENERATORS, GENERATORS, CAPS)
def test_learning_equals_playing_each_episode_to_its_end_and_then_updating(
    learner, draw, sizes, n_labels, dynamics_rng, policy_rng, caps
):
    """The update of a level reads the next one, which no earlier update of the episode has touched."""
    given, ref = problem(draw, sizes, n_labels), q_tables(draw, sizes, n_labels, caps)
    comp, (slow, fast) = copy.deepcopy(ref), LEARNERS[learner]
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    place, ref_returns, states = [0] * 3, [], np.empty((1, sizes[0] + 1), int)
    for e in range(EPISODES):
        labels = given.labels[e : e + 1]
        actions, rewards = np.empty((1, sizes[0]), int), np.empty((1, sizes[0]))
        record = states, actions, rewards
        slow.explore(given.dynamics, labels, ref, dynamics_rng, policy_rng, record, place)
        slow.replay(ref, labels[:, range(sizes[0] + 1), states[0]], actions, rewards, policy_rng, place)
        ref_returns.append(np.cumsum(rewards)[-1])
    np.testing.assert_array_equal(learn(fast, given, comp, dynamics_row, policy_row), ref_returns)
    assert_same(ref, comp)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


@pytest.mark.parametrize("learner", LEARNERS)
@hypothesis.given(DRAWS, SIZES, GENERATORS, GENERATORS, st.integers(1, EPISODES - 1))
def test_learning_in_blocks_is_learning_in_one_go(learner, draw, sizes, dynamics_rng, policy_rng, cut):
    given, whole = problem(draw, sizes, sizes[1]), q_tables(draw, sizes, sizes[1])
    blocks, loops = copy.deepcopy(whole), LEARNERS[learner][1]
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref = learn(loops, given, whole, row(dynamics_rng), row(policy_rng))
    parts = [
        learn(loops, given, blocks, dynamics_row, policy_row, part) for part in (slice(cut), slice(cut, None))
    ]
    np.testing.assert_array_equal(ref, np.concatenate(parts))
    assert_same(whole, blocks)


@hypothesis.given(DRAWS, SIZES, GENERATORS, st.lists(GENERATORS, min_size=2, max_size=2))
def test_the_luck_that_episodes_use_up_does_not_depend_on_the_actions(draw, sizes, dynamics_rng, policy_rngs):
    """So two agents with the same seed meet the same luck in the same episode."""
    given, tables = problem(draw, sizes, sizes[1]), q_tables(draw, sizes, sizes[1])
    tables.epsilons[:] = 1.0
    after = []
    for learner, policy_rng in ((fu.QLearning, 0), (fu.QLearning, 1), (fu.OracleQ, 0)):
        stream = row(dynamics_rng)
        learn(LEARNERS[learner][1], given, copy.deepcopy(tables), stream, row(policy_rngs[policy_rng]))
        after.append(stream.tolist())
    assert after[0] == after[1] == after[2]


def test_one_update_is_the_one_worked_out_by_hand():
    """Q = 0.5, third visit: 0.75 x 0.5 + 0.25 x (1 + 0.2) = 0.675."""
    tables = one_pair(0.5, 2, rates=np.array([0, 1, 1, 0.25]), bonuses=np.array([0, 0, 0, 0.2]))
    take_step(tables, 0, 0, 0, 1.0, 1, 0)
    assert tables.q[0, 0, 0] == pytest.approx(0.675)
    assert tables.visits[0, 0, 0] == 3


def test_values_never_exceed_the_cap():
    tables = one_pair(bonuses=np.ones(2))
    take_step(tables, 0, 0, 0, 1.0, 1, 0)
    assert tables.q[0, 0, 0] == 1.0


def test_a_capped_value_is_cut_off_and_the_action_values_it_comes_from_are_not():
    """Two levels. Q = 1.5 at the second counts for 1 at the first, which becomes 0.3 + 1 + 0.2 itself."""
    tables = one_pair(bonuses=np.full(2, 0.2), cap=np.inf)
    tables = tables._replace(q=np.full((2, 1, 1), 1.5), visits=np.zeros((2, 1, 1), np.int64))
    take_step(tables, 0, 0, 0, 0.3, 1, 0)
    assert tables.q.ravel().tolist() == [1.5, 1.5]


def test_the_value_after_the_last_level_is_zero():
    tables = one_pair(n_labels=2)
    take_step(tables, 0, 0, 0, 0.25, 1, 1)
    assert tables.q[0, :, 0].tolist() == [0.25, 1.0]


def test_after_the_last_episode_the_share_of_random_actions_stays():
    """URL explores with a memory that has learned from all of its episodes."""
    tables, policy_rng = one_pair()._replace(epsilons=np.zeros(2)), row([1, 2, 3, 4])
    tables.episode[0] = 2
    chosen = np.empty((1, 1), np.int64)
    loops = LEARNERS[fu.QLearning][1]
    assert loops.draw_policy(tables, 1, policy_rng, chosen, np.zeros(3, np.int64))
    assert chosen.tolist() == [[0]]
