"""The kernels of k-means against their references, and against scikit-learn."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from sklearn.cluster import KMeans
from strategies import DRAWS, GENERATORS, row

from fasturl._kernels import clustering
from fasturl._kernels.records import kmeans_workspace

pytestmark = pytest.mark.kernel

FEW = hypothesis.settings(max_examples=15)
KINDS = st.sampled_from([np.float32, np.float64])


def samples(draw, n_axes, n, kind, weighted):
    points = draw.normal(size=(n_axes, n)).astype(kind)
    weights = (draw.integers(4, size=n) if weighted else np.ones(n)).astype(kind)
    return points, np.ascontiguousarray(points.T), weights


@FEW
@hypothesis.given(
    DRAWS,
    GENERATORS,
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 20),
    st.sampled_from([1, 20]),
    st.integers(1, 3),
    KINDS,
    st.booleans(),
)
@hypothesis.example(
    np.random.default_rng(0), [1, 2, 3, 4], 4, 2, 20, 20, 1, np.float32, False
)  # points change their cluster
@hypothesis.example(
    np.random.default_rng(0), [1, 2, 3, 4], 5, 7, 150, 20, 2, np.float32, True
)  # more samples than four registers hold, and some left over
@hypothesis.example(np.random.default_rng(1), [1, 2, 3, 4], 3, 1, 64, 20, 1, np.float32, False)
def test_kmeans_equals_its_reference(draw, state, n_clusters, n_axes, n, iterations, trials, kind, weighted):
    points, rows, weights = samples(draw, n_axes, n, kind, weighted)
    stream, found = row(state), []
    for kernel, rng in ((naive.clustering.kmeans, state), (clustering.kmeans, stream)):
        centres, workspace = np.full((n_clusters, n_axes), np.nan, kind), kmeans_workspace(points, n_clusters)
        kernel(rng, points, rows, weights, 3, trials, iterations, workspace, centres)
        found.append((centres, workspace.labels, workspace.closest))
    for expected, given in zip(*found, strict=True):
        np.testing.assert_array_equal(expected, given)
    assert stream.tolist() == state


@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_that_loses_all_its_weight_stays_where_it_was(seed):
    """Few samples count, and there are more of them than four registers hold."""
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(3, 100)).astype(np.float32)
    rows, weights = np.ascontiguousarray(points.T), (draw.random(100) < 0.06).astype(np.float32)
    found = []
    for kernel, rng in ((naive.clustering.kmeans, [1, 2, 3, 4]), (clustering.kmeans, row([1, 2, 3, 4]))):
        centres, workspace = np.full((6, 3), np.nan, np.float32), kmeans_workspace(points, 6)
        kernel(rng, points, rows, weights, 2, 1, 20, workspace, centres)
        found.append((centres, workspace.labels, workspace.closest))
    for expected, given in zip(*found, strict=True):
        np.testing.assert_array_equal(expected, given)


def clustered(points, n_clusters):
    """Centres and how many samples each has."""
    rows, centres = np.ascontiguousarray(points.T), np.empty((n_clusters, len(points)))
    workspace = kmeans_workspace(points, n_clusters)
    clustering.kmeans(row([1, 2, 3, 4]), points, rows, np.ones(len(rows)), 3, 1, 20, workspace, centres)
    return centres, np.bincount(workspace.labels, minlength=n_clusters)


def test_clusters_that_are_far_apart_are_found():
    draw = np.random.default_rng(1)
    true = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
    points = np.repeat(true, [10, 20, 30], axis=0) + draw.normal(0, 0.1, (60, 2))
    centres, sizes = clustered(np.ascontiguousarray(points.T), 3)
    order = np.argsort(sizes)
    assert sizes[order].tolist() == [10, 20, 30]
    np.testing.assert_allclose(centres[order], true, atol=0.1)


def test_clusters_are_empty_where_points_are_equal():
    centres, sizes = clustered(np.ones((2, 12)), 3)
    assert sizes.tolist() == [12, 0, 0]
    np.testing.assert_array_equal(centres, 1.0)


def blobs(draw, n=600):
    """Three clusters that overlap a little: the border is where two programs could differ."""
    labels = draw.integers(3, size=n)
    points = 2.0 * np.eye(3, 2)[labels] + 0.5 * draw.normal(size=(n, 2))
    return np.ascontiguousarray(points.T), points, draw.random(n)


@pytest.mark.parametrize("seed", range(5))
def test_iterations_end_where_those_of_scikit_learn_do(seed):
    """From the same start, to the last label; centres but for the order of sums."""
    draw = np.random.default_rng(seed)
    points, rows, weights = blobs(draw)
    ends = []
    for iterations in (0, 300):
        rng, centres, workspace = row([1, 2, 3, seed]), np.empty((3, 2)), kmeans_workspace(points, 3)
        clustering.kmeans(rng, points, rows, weights, 1, 1, iterations, workspace, centres)
        ends.append(centres)
    start, end = ends
    theirs = KMeans(3, init=start, n_init=1, tol=0.0).fit(rows, sample_weight=weights)
    np.testing.assert_allclose(end, theirs.cluster_centers_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(workspace.labels, theirs.labels_)


@pytest.mark.parametrize("seed", range(5))
def test_of_starts_that_find_the_same_clusters_the_first_names_them(seed):
    """Means round otherwise where samples came and went on other ways: no start may win by that."""
    (points, rows, weights), found = blobs(np.random.default_rng(seed)), []
    for starts in (1, 30):
        rng, centres, workspace = row([seed + 1, 2, 3, 4]), np.empty((3, 2)), kmeans_workspace(points, 3)
        clustering.kmeans(rng, points, rows, weights, starts, 8, 300, workspace, centres)
        found.append((np.sum(weights * workspace.closest), centres))
    (first_inertia, first), (inertia, centres) = found
    if inertia > (1 - 1e-6) * first_inertia:  # else there was a better start
        np.testing.assert_allclose(centres, first, rtol=1e-12)


def test_trials_make_a_start_better():
    """Clusters in a row, of which a start misses some more often where no trials are made. Both counts are of
    40 starts with seeds that are fixed."""
    draw = np.random.default_rng(0)
    labels = np.arange(80) % 8
    rows = np.stack([10.0 * labels, np.zeros(80)], axis=1) + draw.normal(size=(80, 2))
    points, weights = np.ascontiguousarray(rows.T), np.ones(80)
    missed = []
    for trials in (1, 4):
        rng, count = np.array([1, 2, 3, 4], np.uint64), 0
        for _ in range(40):
            centres, workspace = np.empty((8, 2)), kmeans_workspace(points, 8)
            clustering.kmeans(rng, points, rows, weights, 1, trials, 300, workspace, centres)
            count += workspace.closest.sum() > 3 * 80
        missed.append(count)
    assert missed[0] > 2 * missed[1]
