"""Clusters that lie together become one: the kernel against its reference, and what it is for."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS

from fasturl._kernels import merging
from fasturl.oracles.projection import merged, sums_of

KINDS = st.sampled_from([np.uint8, np.float32, np.float64])


def names_of(module, rows, labels, n_clusters, least):
    """What a module calls the clusters."""
    names, sums = np.full(n_clusters, -1), sums_of(rows, labels, n_clusters)
    products = rows.astype(np.float64) @ sums.rows.T
    scratch = np.full((2, n_clusters, n_clusters), np.nan)
    module.merge_clusters(products, labels, sums.rows, sums.sizes, least, *scratch, names)
    return names


@pytest.mark.kernel
@hypothesis.given(DRAWS, KINDS, st.integers(1, 6), st.integers(1, 3), st.sampled_from([1.0, 3.0, 6.0]))
def test_merged_clusters_equal_their_reference(draw, kind, n_clusters, dimension, least):
    """Some clusters lie near each other, some are empty, and some have a single row."""
    labels = draw.integers(n_clusters, size=draw.integers(1, 40))
    places = draw.integers(0, 30, (n_clusters, dimension))
    rows = (places[labels] + draw.uniform(0, 8, (labels.size, dimension))).astype(kind)
    expected, actual = (
        names_of(module, rows, labels, n_clusters, least) for module in (naive.merging, merging)
    )
    np.testing.assert_array_equal(actual, expected)


def merged_from_rows(rows, labels, n_clusters, least):
    """What groups the clusters end in, with every distance measured from the rows themselves."""
    exact, groups = rows.astype(np.float64), [[cluster] for cluster in range(n_clusters)]

    def apart(first, second):
        sides = [exact[np.isin(labels, group)] for group in (first, second)]
        line = sides[0].mean(axis=0) - sides[1].mean(axis=0)
        distance = np.linalg.norm(line)
        return distance / np.sqrt(np.mean([np.var(side @ line / distance) for side in sides]))

    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a + 1, len(groups))]
        distances = [apart(groups[a], groups[b]) for a, b in pairs]
        if min(distances) >= least:
            break
        a, b = pairs[int(np.argmin(distances))]
        groups[a] += groups.pop(b)
    return sorted(sorted(group) for group in groups)


@hypothesis.given(DRAWS, KINDS, st.integers(1, 6), st.integers(2, 9))
def test_clusters_are_as_far_apart_as_their_rows_say(draw, kind, n_clusters, dimension):
    """The kernel has the products of rows with sums of rows alone; some cluster lies far from the others."""
    labels = np.repeat(np.arange(n_clusters), 10)
    places = draw.integers(0, 20, (n_clusters, dimension)) + 200 * (np.arange(n_clusters) == 3)[:, None]
    rows = (places[labels] + draw.uniform(0, 8, (labels.size, dimension))).astype(kind)
    names = merged(rows, labels, n_clusters, least=4.0)
    found = [np.flatnonzero(names == name).tolist() for name in range(names.max() + 1)]
    assert sorted(found) == merged_from_rows(rows, labels, n_clusters, least=4.0)


def test_a_cluster_far_away_does_not_blur_the_distance_of_two():
    generator = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [3000, 3000, 2000])
    rows = np.array([0.0, 1.0, 10_000.0])[labels, None] + 0.1 * generator.normal(size=(8000, 2))
    centred = (rows - rows.mean(axis=0)).astype(np.float32)
    assert merged(centred, labels, 3, least=3.25).tolist() == [0, 1, 2]


def line_of(*places):
    """A hundred rows on a line at each place, with a standard deviation of 1."""
    spread = np.tile([-1.0, 1.0], 50)
    return np.concatenate([place + spread for place in places])[:, None], np.repeat(
        np.arange(len(places)), 100
    )


def test_the_nearest_become_one_first():
    """Whatever lies two apart would be merged; once the first two are, the third is further away."""
    rows, labels = line_of(0.0, 1.5, 3.4)
    assert merged(rows, labels, 3, least=1.99).tolist() == [0, 0, 1]
    assert merged(rows, labels, 3, least=1.0).tolist() == [0, 1, 2]
    assert merged(rows, labels, 3, least=9.0).tolist() == [0, 0, 0]


@pytest.mark.kernel
def test_clusters_with_one_centre_become_one():
    """However little is asked for, and whatever varies around the centre."""
    rows, labels = line_of(0.0, 0.0, 50.0)
    assert names_of(merging, rows, labels, 3, least=1e-9).tolist() == [0, 0, 2]


def test_names_count_from_zero():
    rows, labels = line_of(0.0, 100.0, 0.5, 200.0)
    assert merged(rows, labels, 4, least=3.0).tolist() == [0, 1, 0, 2]


def test_an_empty_cluster_stays_by_itself():
    rows, labels = line_of(0.0, 0.1)
    assert merged(rows, 2 * labels, 3, least=3.0).tolist() == [0, 1, 0]
