"""Kernels of splits: scores of the two sides, subsets of groups, thresholds."""

import math

import naive
import numpy as np
import pytest

from fasturl._kernels import splitting
from fasturl._kernels.records import SubsetLimits, blank_sides

pytestmark = pytest.mark.kernel


def divided(divide_sums, rows, groups):
    """Tables of splits of rows with what `divide_sums` says: means and products."""
    sides = blank_sides(len(groups), *rows.shape)
    sides.means[0] = groups.astype(np.float32) @ rows
    divide_sums(groups, rows.sum(axis=0), sides)
    return sides


def scored(score_sides, rows, groups):
    """What `score_sides` says of splits of rows: scores, centres, variances and thresholds."""
    sides = divided(naive.splitting.divide_sums, rows, groups)
    sides.along[:] = sides.means[0] @ rows.T
    score_sides(groups, rows @ rows.sum(axis=0), np.square(rows).sum(axis=1), sides)
    return sides.scores, sides.centres, sides.variances, sides.thresholds


def some_splits(n):
    draw = np.random.default_rng(n)
    groups = draw.random((4, n)) < 0.4
    groups[:, 0], groups[:, -1] = True, False
    return draw.normal(size=(n, 5)).astype(np.float32), groups


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize("n", [1, 2, 40])
def test_the_mean_row_equals_its_reference(n, dtype):
    rows = np.random.default_rng(n).integers(2, size=(n, 5)).astype(dtype)
    expected, found = np.empty(5), np.empty(5)
    naive.splitting.mean_row(rows, expected)
    splitting.mean_row(rows, found)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("n", [1, 2, 40])
def test_standardised_rows_equal_their_reference(n):
    draw = np.random.default_rng(n)
    rows = draw.normal(size=(n, 5)).astype(np.float32)
    centre, scale = draw.normal(size=5).astype(np.float32), draw.uniform(1, 2, 5).astype(np.float32)
    expected, found = ((np.empty_like(rows), np.empty(5)) for _ in range(2))
    naive.splitting.find_residuals(rows, centre, scale, *expected)
    splitting.find_residuals(rows, centre, scale, *found)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6)


@pytest.mark.parametrize("n", [2, 3, 40])
def test_means_of_sides_equal_their_reference(n):
    rows, groups = some_splits(n)
    means, products, *_ = divided(splitting.divide_sums, rows, groups)
    expected_means, expected_products, *_ = divided(naive.splitting.divide_sums, rows, groups)
    np.testing.assert_allclose(means, expected_means, rtol=1e-6)
    np.testing.assert_allclose(products, expected_products, rtol=1e-5, atol=1e-6)
    for k, group in enumerate(groups):
        np.testing.assert_allclose(
            means[:, k], [rows[group].mean(axis=0), rows[~group].mean(axis=0)], atol=1e-5
        )


@pytest.mark.parametrize("n", [2, 3, 40])
def test_scores_of_sides_equal_their_reference(n):
    rows, groups = some_splits(n)
    expected = scored(naive.splitting.score_sides, rows, groups)
    for one, other in zip(scored(splitting.score_sides, rows, groups), expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("n", [2, 3, 40])
def test_scores_of_sides_are_distances_along_the_line_through_the_means(n):
    """Less what a row adds to its own: the square of its distance from the mean of its side, shared among
    the other rows of that."""
    rows, groups = some_splits(n)
    scores, *_ = scored(splitting.score_sides, rows, groups)
    for group, found in zip(groups, scores, strict=True):
        inner, outer = rows[group].mean(axis=0), rows[~group].mean(axis=0)
        own = np.where(group[:, None], inner, outer)
        shares = np.where(group, -1 / max(group.sum() - 1, 1), 1 / max((~group).sum() - 1, 1))
        expected = (rows - outer) @ (inner - outer) + shares * np.square(rows - own).sum(axis=1)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def settled(settle_groups, rows, groups, n_steps):
    """What `settle_groups` makes of groups: these and steps."""
    groups, steps, total = groups.copy(), np.empty(len(groups), np.int64), rows.sum(axis=0)
    norms, sides = np.square(rows).sum(axis=1), blank_sides(len(groups), *rows.shape)
    columns = np.ascontiguousarray(rows.T)
    settle_groups(rows, columns, norms, total, rows @ total, n_steps, sides, groups, steps)
    return groups, steps


def clusters(seed):
    """Rows of three clusters around their mean, the clusters, and groups that are some of each."""
    draw = np.random.default_rng(seed)
    labels = draw.choice(3, size=90, p=[0.6, 0.3, 0.1])
    rows = 4.0 * np.eye(3, 5)[labels] + draw.normal(size=(90, 5))
    groups = draw.random((12, 90)) < draw.uniform(0.02, 0.98, (12, 1))
    groups[:3] = [labels == k for k in range(3)]
    groups[:, 0], groups[:, -1] = True, False
    return (rows - rows.mean(axis=0)).astype(np.float32), groups


@pytest.mark.bounds
@pytest.mark.parametrize("n_steps", [1, 2, 6])
@pytest.mark.parametrize("seed", range(6))
def test_settled_groups_equal_their_reference(seed, n_steps):
    rows, groups = clusters(seed)
    expected, expected_steps = settled(naive.splitting.settle_groups, rows, groups, n_steps)
    found, steps = settled(splitting.settle_groups, rows, groups, n_steps)
    np.testing.assert_array_equal(steps, expected_steps)
    np.testing.assert_array_equal(found, expected)


def test_settled_groups_differ_and_stay_as_they_are():
    rows, groups = clusters(0)
    groups, steps = settled(splitting.settle_groups, rows, groups, 20)
    assert {-1} < set(steps.tolist()) <= set(range(-1, 20))
    groups = groups[steps >= 0]
    assert len({group.tobytes() for group in groups}) == len(groups)
    again, steps = settled(splitting.settle_groups, rows, groups, 1)
    np.testing.assert_array_equal(again, groups)
    assert not steps.any()


def test_a_group_without_rows_and_one_of_all_have_ended():
    """Rows that are all the same are on one side of every split."""
    groups = np.eye(2, 6, dtype=bool)
    _, steps = settled(splitting.settle_groups, np.zeros((6, 2), np.float32), groups, 3)
    assert steps.tolist() == [-1, -1]


def test_the_sides_of_noise_do_not_lie_apart_on_average():
    """In 200 dimensions any ten rows of forty lie close to their own mean: their projections on the line
    through the two means lie 5 standard deviations from the others. Their scores lie 0 apart on average, of
    50 samples with a standard error of about 0.07."""
    gaps = []
    for seed in range(50):
        rows = np.random.default_rng(seed).normal(size=(40, 200)).astype(np.float32)
        _, centres, variances, _ = scored(splitting.score_sides, rows, (np.arange(40) < 10)[None])
        gaps.append((centres[0, 0] - centres[1, 0]) / math.sqrt(variances.max()))
    assert abs(np.mean(gaps)) < 0.25


@pytest.mark.parametrize("seed", range(5))
def test_the_farthest_subset_equals_its_reference(seed):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(60, 7)).astype(np.float32)
    rows[:3] += 4
    rows -= rows.mean(axis=0)
    groups = draw.integers(1, 8, 60)
    groups[:3] = 0
    order = np.lexsort((-np.square(rows).sum(axis=1), groups))
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    limits = SubsetLimits(float(rows.var(axis=0).sum()), math.log(1e3), least_rows=2, most_rows=6)
    answers = []
    for farthest_subset in (splitting.farthest_subset, naive.splitting.farthest_subset):
        best = np.empty(2, np.int64)
        choices = farthest_subset(rows, order, first, sizes, limits, np.empty(7, np.float32), best)
        answers.append((choices, *best))
    assert answers[0] == pytest.approx(answers[1])


def thresholds(best_thresholds, scores):
    n = scores.shape[1]
    n_below = np.empty(len(scores), np.int64)
    log_choices = np.log([float(math.comb(n, k)) for k in range(n)])
    best_thresholds(np.sort(scores, axis=1), log_choices, n_below)
    return n_below


@pytest.mark.parametrize("rounded", [False, True])
def test_best_thresholds_equal_their_reference(rounded):
    draw = np.random.default_rng(1)
    scores = draw.normal(size=(6, 50)).astype(np.float32)
    scores[:3, :7] += 5
    if rounded:
        scores = scores.round()
    found = thresholds(splitting.best_thresholds, scores)
    np.testing.assert_array_equal(found, thresholds(naive.splitting.best_thresholds, scores))
    if not rounded:
        np.testing.assert_array_equal(found[:3], 43)


def test_scores_that_are_all_the_same_have_no_threshold():
    assert thresholds(splitting.best_thresholds, np.ones((1, 9), np.float32)) == 9
