"""The kernels of k-means against their references, and against scikit-learn."""

import hypothesis
import hypothesis.strategies as st
import naive
import numba
import numpy as np
import pytest
from sklearn.cluster import KMeans
from strategies import DRAWS

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
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(1, 20),
    st.sampled_from([1, 20]),
    st.sampled_from([0.0, 0.01, 1.0]),
    st.integers(1, 3),
    KINDS,
    st.booleans(),
)
@hypothesis.example(
    np.random.default_rng(0), 4, 2, 20, 20, 0.0, 1, np.float32, False
)  # points change their cluster
@hypothesis.example(
    np.random.default_rng(0), 5, 7, 150, 20, 0.01, 2, np.float32, True
)  # more samples than four registers hold, and some left over
@hypothesis.example(np.random.default_rng(1), 3, 1, 64, 20, 0.0, 1, np.float32, False)
@hypothesis.example(
    np.random.default_rng(2), 3, 6, 1100, 3, 0.0, 1, np.float64, False
)  # more samples than distances are found for at a time
def test_kmeans_equals_its_reference(
    draw, n_clusters, n_axes, n, iterations, tolerance, trials, kind, weighted
):
    points, rows, weights = samples(draw, n_axes, n, kind, weighted)
    uniforms, found = draw.random((3, 1 + (n_clusters - 1) * trials)), []
    for kernel in (naive.clustering.kmeans, clustering.kmeans):
        centres, workspace = np.full((n_clusters, n_axes), np.nan, kind), kmeans_workspace(points, n_clusters)
        kernel(uniforms, points, rows, weights, trials, iterations, tolerance, workspace, centres)
        found.append((centres, workspace.labels, workspace.closest))
    for expected, given in zip(*found, strict=True):
        np.testing.assert_array_equal(expected, given)


@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_that_loses_all_its_weight_stays_where_it_was(seed):
    """Few samples count, and there are more of them than four registers hold."""
    draw = np.random.default_rng(seed)
    points = draw.normal(size=(3, 100)).astype(np.float32)
    rows, weights = np.ascontiguousarray(points.T), (draw.random(100) < 0.06).astype(np.float32)
    uniforms, found = draw.random((2, 6)), []
    for kernel in (naive.clustering.kmeans, clustering.kmeans):
        centres, workspace = np.full((6, 3), np.nan, np.float32), kmeans_workspace(points, 6)
        kernel(uniforms, points, rows, weights, 1, 20, 0.0, workspace, centres)
        found.append((centres, workspace.labels, workspace.closest))
    for expected, given in zip(*found, strict=True):
        np.testing.assert_array_equal(expected, given)


def test_a_start_that_splits_a_cluster_of_one_with_an_empty_cluster_is_better():
    """Another clustering of the same samples that has no cluster less is no other name for it."""
    rows = np.array([[-0.8, 0.9], [-0.7, 0.2], [0.6, -1.1], [0.6, -0.4], [0.9, -1.5], [1.3, 0.8], [1.6, 0.8]])
    points, sizes, starts = np.ascontiguousarray(rows.T), [], []
    for seed in range(400):
        uniforms = np.random.default_rng(seed).random((1, 3))
        centres, workspace = np.empty((3, 2)), kmeans_workspace(points, 3)
        clustering.kmeans(uniforms, points, rows, np.ones(7), 1, 300, 0.0, workspace, centres)
        sizes.append(len(set(workspace.labels.tolist())))
        starts.append(uniforms)
    assert {2, 3} <= set(sizes)
    both = np.concatenate([starts[sizes.index(2)], starts[sizes.index(3)]])
    centres, workspace = np.empty((3, 2)), kmeans_workspace(points, 3)
    clustering.kmeans(both, points, rows, np.ones(7), 1, 300, 0.0, workspace, centres)
    assert len(set(workspace.labels.tolist())) == 3


def clustered(points, n_clusters):
    """Centres and how many samples each has."""
    rows, centres = np.ascontiguousarray(points.T), np.empty((n_clusters, len(points)))
    workspace, uniforms = (
        kmeans_workspace(points, n_clusters),
        np.random.default_rng(0).random((3, n_clusters)),
    )
    clustering.kmeans(uniforms, points, rows, np.ones(len(rows)), 1, 20, 0.0, workspace, centres)
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


SEEDS = range(1 if numba.config.DISABLE_JIT else 5)
"""Not compiled it is the same program, and takes a thousand times as long."""


@pytest.mark.parametrize("tolerance", [0.0, 0.1])
@pytest.mark.parametrize("seed", SEEDS)
def test_iterations_end_where_those_of_scikit_learn_do(seed, tolerance):
    """From the same start, to the last label; centres but for the order of sums."""
    draw = np.random.default_rng(seed)
    (points, rows, weights), uniforms = blobs(draw), draw.random((1, 3))
    ends = []
    for iterations in (0, 300):
        centres, workspace = np.empty((3, 2)), kmeans_workspace(points, 3)
        least = tolerance * rows.var(axis=0).mean()
        clustering.kmeans(uniforms, points, rows, weights, 1, iterations, least, workspace, centres)
        ends.append(centres)
    start, end = ends
    theirs = KMeans(3, init=start, n_init=1, tol=tolerance).fit(rows, sample_weight=weights)
    np.testing.assert_allclose(end, theirs.cluster_centers_, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(workspace.labels, theirs.labels_)


@pytest.mark.parametrize("n_clusters", [2, 3, 6])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_same_random_numbers_give_the_clusters_of_scikit_learn(seed, n_clusters):
    """Names included, of whatever start they come from; two of its defaults are its tolerance and how many
    trials it makes."""
    points, rows, _ = blobs(np.random.default_rng(seed))
    theirs = KMeans(n_clusters, n_init=10, random_state=seed).fit(rows)
    trials = 2 + int(np.log(n_clusters))
    uniforms = np.random.RandomState(seed).random((10, 1 + (n_clusters - 1) * trials))
    centres, workspace = np.empty((n_clusters, 2)), kmeans_workspace(points, n_clusters)
    least = 1e-4 * rows.var(axis=0).mean()
    clustering.kmeans(uniforms, points, rows, np.ones(len(rows)), trials, 300, least, workspace, centres)
    np.testing.assert_array_equal(workspace.labels, theirs.labels_)
    np.testing.assert_allclose(centres, theirs.cluster_centers_, rtol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_of_starts_that_find_the_same_clusters_the_first_names_them(seed):
    """Means round otherwise where samples came and went on other ways: no start may win by that."""
    draw = np.random.default_rng(seed)
    (points, rows, weights), uniforms, found = blobs(draw), draw.random((30, 17)), []
    for starts in (1, 30):
        centres, workspace = np.empty((3, 2)), kmeans_workspace(points, 3)
        clustering.kmeans(uniforms[:starts], points, rows, weights, 8, 300, 0.0, workspace, centres)
        found.append((workspace.labels, centres))
    (first_labels, first), (labels, centres) = found
    if len(set(zip(first_labels, labels, strict=True))) == 3:  # else there was a better start
        np.testing.assert_array_equal(centres, first)


def test_trials_make_a_start_better():
    """Clusters in a row, of which a start misses some more often where no trials are made. Both counts are of
    40 starts with seeds that are fixed."""
    draw = np.random.default_rng(0)
    labels = np.arange(80) % 8
    rows = np.stack([10.0 * labels, np.zeros(80)], axis=1) + draw.normal(size=(80, 2))
    points, weights = np.ascontiguousarray(rows.T), np.ones(80)
    missed = []
    for trials in (1, 4):
        count = 0
        for _ in range(40):
            uniforms = draw.random((1, 1 + 7 * trials))
            centres, workspace = np.empty((8, 2)), kmeans_workspace(points, 8)
            clustering.kmeans(uniforms, points, rows, weights, trials, 300, 0.0, workspace, centres)
            count += workspace.closest.sum() > 3 * 80
        missed.append(count)
    assert missed[0] > 2 * missed[1]
