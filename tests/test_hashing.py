"""Tables keyed by (level, observation), against a dictionary."""

import copy

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels import hashing
from fasturl._kernels.records import HashTable, LearningRules

pytestmark = pytest.mark.kernel

EPISODES = 8
N_WORDS = st.integers(1, 3)


def empty(capacity, rows, n_words, n_actions):
    """Every row holds the initial value 0.5; the keys hold rubbish."""
    return HashTable(
        np.full(capacity, -1, np.int32),
        np.full((rows, 1 + n_words), 85, np.uint64),
        np.full((rows, 1, n_actions), 0.5),
        np.zeros((rows, 1, n_actions), np.int32),
        np.zeros(1, np.int64),
    )


def grown(table, capacity, rows, rehash):
    """The same rows in larger arrays."""
    new = empty(capacity, rows, table.keys.shape[1] - 1, table.q.shape[2])
    count = table.size[0]
    for after, before in zip(new[1:4], table[1:4], strict=True):
        after[:count] = before[:count]
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


def learning(draw):
    return LearningRules(
        draw.random(EPISODES + 1),
        draw.random(EPISODES + 1) / 10,
        1.0,
        draw.choice([0.0, 0.3, 1.0], EPISODES),
    )


@hypothesis.given(DRAWS, SIZES, N_WORDS, GENERATORS, GENERATORS)
def test_learn_and_play_equal_a_dictionary_of_rows(draw, sizes, n_words, dynamics_rng, policy_rng):
    """The table is as full as it may be: one empty slot or a few, so that most searches probe further."""
    model, words = dynamics(draw, *sizes), observations(draw, sizes, n_words)
    rows = EPISODES * sizes[0]
    comp = empty(power_of_two_above(rows), rows, n_words, sizes[2])
    ref = copy.deepcopy(comp)
    rules, dynamics_row, policy_row = learning(draw), row(dynamics_rng), row(policy_rng)
    ref_returns, comp_returns = np.full((2, EPISODES), np.nan)

    naive.hashing.learn(model, words, ref, rules, dynamics_rng, policy_rng, ref_returns)
    hashing.learn(model, words, comp, rules, dynamics_row, policy_row, comp_returns)
    np.testing.assert_array_equal(ref_returns, comp_returns)
    assert_same(comp, ref)

    words = observations(draw, sizes, n_words)  # some of them unknown
    naive.hashing.play(model, words, ref, dynamics_rng, policy_rng, ref_returns)
    hashing.play(model, words, comp, dynamics_row, policy_row, comp_returns)
    np.testing.assert_array_equal(ref_returns, comp_returns)
    assert_same(comp, ref)
    assert dynamics_row.tolist() == dynamics_rng
    assert policy_row.tolist() == policy_rng


@hypothesis.given(DRAWS, SIZES, N_WORDS, GENERATORS, GENERATORS)
def test_a_table_that_has_grown_finds_every_row_again(draw, sizes, n_words, dynamics_rng, policy_rng):
    """Two blocks of episodes, the table made larger after each."""
    model, rows = dynamics(draw, *sizes), EPISODES * sizes[0]
    comp, ref = (empty(power_of_two_above(rows), rows, n_words, sizes[2]) for _ in range(2))
    dynamics_row, policy_row = row(dynamics_rng), row(policy_rng)
    ref_returns, comp_returns = np.full((2, EPISODES), np.nan)
    rules = learning(draw)
    rules = rules._replace(rates=np.tile(rules.rates, 2), bonuses=np.tile(rules.bonuses, 2))
    for _ in range(2):
        words = observations(draw, sizes, n_words)
        naive.hashing.learn(model, words, ref, rules, dynamics_rng, policy_rng, ref_returns)
        hashing.learn(model, words, comp, rules, dynamics_row, policy_row, comp_returns)
        np.testing.assert_array_equal(ref_returns, comp_returns)
        ref = grown(ref, power_of_two_above(2 * rows), 2 * rows, naive.hashing.rehash)
        comp = grown(comp, power_of_two_above(2 * rows), 2 * rows, hashing.rehash)
        assert_same(comp, ref)


def test_keys_that_begin_at_the_same_slot_are_kept_apart():
    """Far more keys than slots would give without probing: 63 keys in 64 slots, each found in its own row
    afterwards."""
    draw = np.random.default_rng(0)
    table = empty(64, 63, 1, 2)
    table.keys[:, 0] = draw.integers(0, 3, 63)
    table.keys[:, 1] = draw.choice(10_000, 63, replace=False)
    table.size[0] = 63
    hashing.rehash(table)
    for i, (level, word) in enumerate(table.keys.tolist()):
        words = np.full((1, level + 1, 1, 1), word, np.uint64)
        assert table.slots[hashing._slot(table, words, 0, level, 0)] == i


def test_levels_and_observations_of_a_lock_spread_over_the_slots():
    """Every key of a lock with five levels. A quarter full, a random hash finds a key after 1.15 probes on
    average."""
    keys = np.array(
        [(h, 1 << s | coins << 3) for h in range(5) for s in range(3) for coins in range(32)], np.uint64
    )
    capacity = power_of_two_above(4 * len(keys))
    table, vacant = empty(capacity, len(keys), 1, 1), empty(capacity, 0, 1, 1)
    table.keys[:] = keys
    table.size[0] = len(keys)
    hashing.rehash(table)
    probes = []
    for level, word in keys.tolist():
        words = np.full((1, level + 1, 1, 1), word, np.uint64)
        home, place = (hashing._slot(one, words, 0, level, 0) for one in (vacant, table))
        probes.append((place - home) % capacity + 1)
    assert np.mean(probes) < 1.4
