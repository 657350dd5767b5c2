"""Rows for observations, against a dictionary."""

import copy

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

import fasturl as fu
from fasturl._kernels import hashing
from fasturl._kernels.records import EpisodeWorkspace, HashTable, ObservationKeys
from fasturl.learners.episode_loops import loops_of
from fasturl.learners.q_table import QTables

pytestmark = pytest.mark.kernel

EPISODES = 8
N_WORDS = st.integers(1, 3)
MODES = st.tuples(st.booleans(), st.booleans())
"""Whether the level is part of the key, and whether the learner's tables have levels."""
LEARNERS = pytest.mark.parametrize(
    ("reference", "compiled"),
    [
        (naive.q_table.QLEARNING, loops_of(fu.QLearning.functions, trusted=True).lean),
        (naive.q_table.ORACLEQ, loops_of(fu.OracleQ.functions, trusted=True).lean),
    ],
    ids=["random actions", "rows that start at zero"],
)


def empty(capacity, rows, n_words):
    """No row is in use; the keys hold rubbish."""
    return HashTable(
        np.full(capacity, -1, np.int32),
        np.full((rows, 1 + n_words), 85, np.uint64),
        np.zeros(1, np.int64),
    )


def grown(table, capacity, rows, rehash):
    """The same rows in larger arrays."""
    new = empty(capacity, rows, table.keys.shape[1] - 1)
    count = table.size[0]
    new.keys[:count] = table.keys[:count]
    new.size[0] = count
    rehash(new)
    return new


def power_of_two_above(count):
    return 1 << int(count).bit_length()


def observations(draw, sizes, n_words):
    """Few distinct words, so that observations come back, and some that differ in one bit or one word
    only."""
    horizon, n_states, _ = sizes
    pool = np.array([0, 1, 2**63, 2**64 - 1, 12345], np.uint64)
    return draw.choice(pool, (EPISODES, horizon + 1, n_states, n_words))


def assert_same(comp, ref):
    for mine, other in zip(comp, ref, strict=True):
        np.testing.assert_array_equal(mine, other)


def q_tables(draw, keys, sizes):
    """Action values of every row, which begin at 0.5."""
    rows, levels = keys.table.keys.shape[0], sizes[0] if keys.level_in_tables else 1
    visits = 2 * EPISODES * sizes[0]  # a row may be met at every level
    return QTables(
        q=np.full((levels, rows, sizes[2]), 0.5),
        visits=np.zeros((levels, rows, sizes[2]), np.int64),
        rates=draw.random(visits + 1),
        bonuses=draw.random(visits + 1) / 10,
        cap=1.0,
        value_cap=1.0,
        epsilons=draw.choice([0.0, 0.3, 1.0], 2 * EPISODES),
        episode=np.zeros(1, np.int64),
    )


def learn(loops, model, words, keys, tables, dynamics_rng, policy_rng):
    horizon, returns = model.transitions.shape[0], np.full(EPISODES, np.nan)
    episode = EpisodeWorkspace(
        np.empty(horizon + 1, np.int64), np.empty(horizon, np.int64), np.empty(horizon)
    )
    place = np.zeros(3, np.int64)
    assert loops.learn_observations(
        model, words, keys, tables, dynamics_rng, policy_rng, returns, episode, place
    )
    return returns


@LEARNERS
@hypothesis.given(DRAWS, SIZES, N_WORDS, GENERATORS, GENERATORS, MODES)
def test_learn_and_play_equal_a_dictionary_of_rows(
    reference, compiled, draw, sizes, n_words, dynamics_rng, policy_rng, modes
):
    """The table is as full as it may be: one empty slot or a few, so that most searches probe further."""
    model, words = dynamics(draw, *sizes), observations(draw, sizes, n_words)
    rows = EPISODES * (sizes[0] + 1)
    comp = ObservationKeys(empty(power_of_two_above(rows), rows, n_words), *modes)
    comp_tables = q_tables(draw, comp, sizes)
    ref, ref_tables = copy.deepcopy((comp, comp_tables))
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    np.testing.assert_array_equal(
        learn(reference, model, words, ref, ref_tables, dynamics_rng, policy_rng),
        learn(compiled, model, words, comp, comp_tables, dynamics_row, policy_row),
    )
    assert_same(comp.table, ref.table)
    assert_same(comp_tables, ref_tables)

    words = observations(draw, sizes, n_words)  # some of them unknown
    chances = draw.choice([0.0, 0.5, 1.0], comp_tables.q.shape)
    ref_returns, comp_returns = np.full((2, EPISODES), np.nan)
    naive.hashing.play(model, words, ref, chances, dynamics_rng, policy_rng, ref_returns)
    hashing.play(model, words, comp, chances, dynamics_row, policy_row, comp_returns)
    np.testing.assert_array_equal(ref_returns, comp_returns)
    assert_same(comp.table, ref.table)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


@LEARNERS
@hypothesis.given(DRAWS, SIZES, N_WORDS, GENERATORS, GENERATORS, MODES)
def test_a_table_that_has_grown_finds_every_row_again(
    reference, compiled, draw, sizes, n_words, dynamics_rng, policy_rng, modes
):
    """Two blocks of episodes, the table made larger after each."""
    model, rows = dynamics(draw, *sizes), EPISODES * (sizes[0] + 1)
    comp, ref = (ObservationKeys(empty(power_of_two_above(rows), rows, n_words), *modes) for _ in range(2))
    wide = ObservationKeys(empty(1, 3 * rows, n_words), *modes)
    comp_tables = q_tables(draw, wide, sizes)
    ref_tables = copy.deepcopy(comp_tables)
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    for _ in range(2):
        words = observations(draw, sizes, n_words)
        np.testing.assert_array_equal(
            learn(reference, model, words, ref, ref_tables, dynamics_rng, policy_rng),
            learn(compiled, model, words, comp, comp_tables, dynamics_row, policy_row),
        )
        more = power_of_two_above(2 * rows), 2 * rows
        ref = ref._replace(table=grown(ref.table, *more, naive.hashing.rehash))
        comp = comp._replace(table=grown(comp.table, *more, hashing.rehash))
        assert_same(comp.table, ref.table)
        assert_same(comp_tables, ref_tables)


def test_keys_that_begin_at_the_same_slot_are_kept_apart():
    """Far more keys than slots would give without probing: 63 keys in 64 slots, each found in its own row
    afterwards."""
    draw = np.random.default_rng(0)
    table = empty(64, 63, 1)
    table.keys[:, 0] = draw.integers(0, 3, 63)
    table.keys[:, 1] = draw.choice(10_000, 63, replace=False)
    table.size[0] = 63
    hashing.rehash(table)
    for i, (level, word) in enumerate(table.keys.tolist()):
        words = np.full((1, level + 1, 1, 1), word, np.uint64)
        assert table.slots[hashing._slot(table, words, 0, level, 0, level)] == i


def test_levels_and_observations_of_a_lock_spread_over_the_slots():
    """Every key of a lock with five levels. A quarter full, a random hash finds a key after 1.15 probes on
    average."""
    keys = np.array(
        [(h, 1 << s | coins << 3) for h in range(5) for s in range(3) for coins in range(32)], np.uint64
    )
    capacity = power_of_two_above(4 * len(keys))
    table, vacant = empty(capacity, len(keys), 1), empty(capacity, 0, 1)
    table.keys[:] = keys
    table.size[0] = len(keys)
    hashing.rehash(table)
    probes = []
    for level, word in keys.tolist():
        words = np.full((1, level + 1, 1, 1), word, np.uint64)
        home, place = (hashing._slot(one, words, 0, level, 0, level) for one in (vacant, table))
        probes.append((place - home) % capacity + 1)
    assert np.mean(probes) < 1.4
