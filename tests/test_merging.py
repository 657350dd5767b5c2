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
    scratch = np.full(rows.shape[1], np.nan), np.full((n_clusters, n_clusters), np.nan)
    module.merge_clusters(rows, labels, sums.rows, sums.sizes, least, *scratch, names)
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
