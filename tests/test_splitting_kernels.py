"""Kernels of splits: scores of the two sides, subsets of groups, thresholds."""

import math

import naive
import numpy as np
import pytest

from fasturl._kernels import splitting

pytestmark = pytest.mark.kernel


def scored(rows, groups):
    """What `score_sides` says of splits of rows: scores, centres and variances."""
    members = groups.astype(np.float32)
    a = members.sum(axis=1, keepdims=True)
    inner = members @ rows / a
    outer = (1 - members) @ rows / (rows.shape[0] - a)
    products = np.stack([(x * y).sum(axis=1) for x, y in ((inner, inner), (outer, outer), (inner, outer))])
    along = np.stack([inner @ rows.T, outer @ rows.T])
    out = np.empty(groups.shape, np.float32), *np.empty((2, 2, len(groups)))
    splitting.score_sides(groups, along, products, np.square(rows).sum(axis=1), *out)
    return out


@pytest.mark.parametrize("n", [2, 3, 40])
def test_scores_of_sides_equal_their_reference(n):
    draw = np.random.default_rng(n)
    rows = draw.normal(size=(n, 5)).astype(np.float32)
    groups = draw.random((4, n)) < 0.4
    groups[:, 0], groups[:, -1] = True, False
    scores, centres, variances = scored(rows, groups)
    for k, group in enumerate(groups):
        expected = naive.splitting.score_sides(rows, group)
        np.testing.assert_allclose(scores[k], expected[0], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(centres[:, k], expected[1], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(variances[:, k], expected[2], rtol=1e-4, atol=1e-4)


def test_the_sides_of_noise_do_not_lie_apart_on_average():
    """In 200 dimensions any ten rows of forty lie close to their own mean: their projections on the line
    through the two means lie 5 standard deviations from the others. Their scores lie 0 apart on average, of
    50 samples with a standard error of about 0.07."""
    gaps = []
    for seed in range(50):
        rows = np.random.default_rng(seed).normal(size=(40, 200)).astype(np.float32)
        _, centres, variances = scored(rows, (np.arange(40) < 10)[None])
        gaps.append((centres[0, 0] - centres[1, 0]) / math.sqrt(variances.max()))
    assert abs(np.mean(gaps)) < 0.25


@pytest.mark.parametrize("seed", range(5))
def test_the_farthest_subset_equals_its_reference(seed):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(60, 7)).astype(np.float32)
    rows[:3] += 4
    rows -= rows.mean(axis=0)
    numbers = draw.integers(1, 8, 60)
    numbers[:3] = 0
    groups = [np.flatnonzero(numbers == g) for g in np.unique(numbers)]
    groups = [group[np.argsort(-np.square(rows[group]).sum(axis=1))] for group in groups if len(group) > 1]
    limits = float(rows.var(axis=0).sum()), math.log(1e3), 2, 6
    sizes = np.array([len(group) for group in groups])
    best = np.empty(2, np.int64)
    choices = splitting.farthest_subset(
        rows,
        np.concatenate(groups),
        np.cumsum(sizes) - sizes,
        sizes,
        limits,
        np.empty(7, np.float32),
        best,
    )
    expected_rows, expected_choices = naive.splitting.farthest_subset(rows, groups, limits)
    np.testing.assert_array_equal(groups[best[0]][: best[1]], expected_rows)
    assert choices == pytest.approx(expected_choices)


@pytest.mark.parametrize("rounded", [False, True])
def test_best_thresholds_equal_their_reference(rounded):
    draw = np.random.default_rng(1)
    scores = draw.normal(size=(6, 50)).astype(np.float32)
    scores[:3, :7] += 5
    if rounded:
        scores = scores.round()
    ranked, log_choices = np.sort(scores, axis=1), np.log([float(math.comb(50, k)) for k in range(50)])
    n_below = np.empty(6, np.int64)
    splitting.best_thresholds(ranked, log_choices, n_below)
    for k in range(6):
        assert n_below[k] == 50 - naive.splitting.best_threshold(scores[k].astype(np.float64)).sum()


def test_scores_that_are_all_the_same_have_no_threshold():
    n_below = np.empty(1, np.int64)
    splitting.best_thresholds(np.ones((1, 9), np.float32), np.zeros(9), n_below)
    assert n_below[0] == 9


@pytest.mark.parametrize(("n", "k"), [(1, 0), (5, 2), (5, 5), (60, 30)])
def test_log_choose(n, k):
    assert splitting.log_choose(n, k) == pytest.approx(math.log(math.comb(n, k)), abs=1e-12)
