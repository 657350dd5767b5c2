"""Counts of labels, and FixLabel against Algorithm 3 to the letter."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import labels

pytestmark = pytest.mark.kernel

N_LABELS = st.integers(2, 5)


@hypothesis.given(DRAWS, st.integers(0, 4), st.integers(2, 12), st.sampled_from([6, 1_000]))
def test_count_labels_equals_its_reference(draw, n_sets, n_labels, size):
    """Few labels and many are counted in different ways, large sets piece by piece."""
    starts = np.concatenate([[0], np.cumsum(draw.integers(0, size, n_sets))]) + 2
    given = draw.integers(n_labels, size=starts[-1] + 2).astype(np.uint8)
    ref, comp = np.full((2, n_sets, n_labels), 85)
    naive.count_labels(given, starts, ref)
    labels.count_labels(given, starts, comp)
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize("size", [254, 255, 256, 510, 511, 100_000])
def test_a_set_of_one_label_alone_is_counted_however_large(size):
    counts = np.empty((1, 3), np.int64)
    labels.count_labels(np.ones(size, np.uint8), np.array([0, size]), counts)
    assert counts.tolist() == [[0, size, 0]]


@hypothesis.given(DRAWS, st.integers(0, 30), N_LABELS)
def test_count_pairs_equals_its_reference(draw, count, n_labels):
    first, second = draw.integers(n_labels, size=(2, count)).astype(np.uint8)
    ref, comp = np.full((2, n_labels, n_labels), 85)
    naive.count_pairs(first, second, ref)
    labels.count_pairs(first, second, comp)
    np.testing.assert_array_equal(ref, comp)


@hypothesis.given(DRAWS, st.integers(0, 6), st.integers(1, 4), st.integers(1, 3), N_LABELS)
def test_what_kernels_read_off_a_table_equals_their_references(draw, episodes, n_levels, n_states, n_labels):
    """The last level is not acted in, and has no effects."""
    table = draw.integers(n_labels, size=(episodes, n_levels, n_states)).astype(np.uint8)
    ref, comp = np.full((2, n_levels, n_states, n_labels), 85)
    naive.count_table(table, ref)
    labels.count_table(table, comp)
    np.testing.assert_array_equal(ref, comp)
    states = draw.integers(n_states, size=(episodes, n_levels))
    ref_path, comp_path = np.full((2, episodes, n_levels), 85)
    naive.labels_along(table, states, ref_path)
    labels.labels_along(table, states, comp_path)
    np.testing.assert_array_equal(ref_path, comp_path)
    effects = draw.normal(size=(n_levels - 1, n_states, n_labels))
    ref_squares, comp_squares = np.full((2, n_levels - 1), np.nan)
    naive.effect_squares(table, effects, ref_squares)
    labels.effect_squares(table, effects, comp_squares)
    np.testing.assert_array_equal(ref_squares, comp_squares)


@hypothesis.given(DRAWS, st.integers(0, 9), st.integers(1, 4), N_LABELS, st.sampled_from([2, 300]))
def test_counts_of_trajectories_equal_their_references(draw, count, horizon, n_labels, n_actions):
    seen = draw.integers(n_labels, size=(count, horizon + 1)).astype(np.uint8)
    taken = draw.integers(n_actions, size=(count, horizon)).astype(np.min_scalar_type(n_actions - 1))
    ref, comp = np.full((2, horizon + 1, n_labels), 85)  # what was counted before
    naive.count_by_level(seen, ref)
    labels.count_by_level(seen, comp)
    np.testing.assert_array_equal(ref, comp)
    ref_visits, comp_visits = np.full((2, horizon, n_labels, n_actions), 85)
    naive.count_visits(seen, taken, ref_visits)
    labels.count_visits(seen, taken, comp_visits)
    np.testing.assert_array_equal(ref_visits, comp_visits)


@hypothesis.given(DRAWS, st.integers(0, 6), N_LABELS)
@hypothesis.settings(max_examples=200)
def test_fix_labels_swaps_the_outputs_of_a_function_as_algorithm_3_does(draw, n_sets, n_labels):
    """Observations are numbers, the decoder a dictionary; sets may be empty, without majority, or contradict
    each other."""
    raw_labels = {x: int(draw.integers(n_labels)) for x in range(12)}
    favourites = draw.integers(12, size=n_sets)
    sets = [
        (
            int(draw.integers(n_labels)),
            [int(x) for x in np.where(draw.random(size) < 0.6, one, draw.integers(12, size=size))],
        )
        for one, size in zip(favourites, draw.integers(0, 11, n_sets), strict=True)
    ]
    fixed = naive.fix_label(raw_labels.get, sets, n_labels)

    raw = np.array([raw_labels[x] for _, members in sets for x in members], np.uint8)
    starts = np.concatenate([[0], np.cumsum([len(members) for _, members in sets])]).astype(np.int64)
    counts, relabel = np.empty((n_sets, n_labels), np.int64), np.arange(n_labels, dtype=np.uint8)
    labels.count_labels(raw, starts, counts)
    labels.fix_labels(counts, np.array([s for s, _ in sets], np.int64), relabel)
    assert [int(relabel[raw_labels[x]]) for x in range(12)] == [fixed(x) for x in range(12)]
    assert sorted(relabel.tolist()) == list(range(n_labels))


@hypothesis.given(DRAWS, st.integers(0, 5), N_LABELS)
def test_fix_labels_equals_its_reference_from_any_renaming(draw, n_sets, n_labels):
    counts = draw.integers(0, 4, (n_sets, n_labels)) * draw.integers(1, 6, (1, n_labels))
    standards, ref = draw.integers(n_labels, size=n_sets), draw.permutation(n_labels).astype(np.uint8)
    comp = ref.copy()
    naive.fix_labels(counts, standards, ref)
    labels.fix_labels(counts, standards, comp)
    np.testing.assert_array_equal(ref, comp)


@pytest.mark.parametrize(("majority", "swapped"), [(2, False), (3, False), (4, True), (5, True)])
def test_more_than_three_fifths_are_needed(majority, swapped):
    """A set of five that stands for label 0, most of which is given label 2; three of five are not enough."""
    relabel = np.arange(3, dtype=np.uint8)
    labels.fix_labels(np.array([[5 - majority, 0, majority]]), np.array([0]), relabel)
    assert relabel.tolist() == ([2, 1, 0] if swapped else [0, 1, 2])


def test_an_empty_set_swaps_nothing():
    relabel = np.arange(2, dtype=np.uint8)
    labels.fix_labels(np.zeros((1, 2), np.int64), np.array([1]), relabel)
    assert relabel.tolist() == [0, 1]


def test_sets_that_stand_for_every_label_undo_any_permutation():
    for permutation in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        relabel = np.arange(3, dtype=np.uint8)
        labels.fix_labels(10 * np.eye(3, dtype=np.int64)[permutation], np.arange(3), relabel)
        assert relabel[permutation].tolist() == [0, 1, 2]
