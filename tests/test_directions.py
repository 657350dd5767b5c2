"""Directions in which rows vary most, and the best cut across one."""

import naive
import numpy as np
import pytest

from fasturl._kernels import directions

pytestmark = pytest.mark.kernel


def found(module, rows, weights, start, n_steps):
    result = np.full((len(weights), rows.shape[1]), np.nan, np.float32)
    products = np.full(len(rows), np.nan, np.float32)
    columns = np.ascontiguousarray(rows.T)
    module.leading_directions(rows, columns, weights, start, n_steps, products, result)
    return result


@pytest.mark.parametrize(("n", "dimension"), [(1, 1), (2, 5), (40, 3), (60, 17)])
@pytest.mark.parametrize("n_steps", [0, 1, 8])
def test_directions_equal_their_reference(n, dimension, n_steps):
    draw = np.random.default_rng(n)
    rows = draw.normal(size=(n, dimension)).astype(np.float32)
    weights = draw.random((3, n)).astype(np.float32)
    ref, comp = (found(module, rows, weights, rows[0], n_steps) for module in (naive.directions, directions))
    np.testing.assert_allclose(comp, ref, atol=1e-5)


def test_the_leading_eigenvector_is_found():
    draw = np.random.default_rng(0)
    rows = (draw.normal(size=(400, 6)) * [1, 2, 1, 9, 1, 1]).astype(np.float32)
    direction = found(directions, rows, np.ones((1, 400), np.float32), rows[0], 20)[0]
    assert abs(direction[3]) > 0.999
    assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-6)


def test_where_all_rows_are_at_right_angles_to_it_the_start_stays():
    rows, start = np.eye(3, dtype=np.float32)[:2], np.array([0, 0, 2], np.float32)
    for module in (naive.directions, directions):
        np.testing.assert_array_equal(found(module, rows, np.ones((1, 2), np.float32), start, 3), [[0, 0, 2]])


@pytest.mark.parametrize("n", [2, 3, 10, 300])
@pytest.mark.parametrize("by_chance", [0.0, 3.0])
def test_the_widest_cut_equals_its_reference(n, by_chance):
    ranked = np.sort(np.random.default_rng(n).normal(size=n).round(1))
    ref, comp = (module.widest_cut(ranked, by_chance) for module in (naive.directions, directions))
    assert comp == pytest.approx(ref, rel=1e-9)


def test_two_groups_lie_apart_by_as_much_as_they_were_moved():
    draw = np.random.default_rng(0)
    ranked = np.sort(np.concatenate([draw.normal(size=3000), draw.normal(12, 1, 1000)]))
    assert directions.widest_cut(ranked, 0.0) == pytest.approx(12, rel=0.05)


def test_a_normal_cut_in_two_is_two_and_two_thirds_deviations_wide():
    """Means of halves are 2 sqrt(2 / pi) apart, the deviation of each is sqrt(1 - 2 / pi)."""
    ranked = np.sort(np.random.default_rng(0).normal(size=200_000))
    exact = 2 * np.sqrt(2 / np.pi) / np.sqrt(1 - 2 / np.pi)
    assert directions.widest_cut(ranked, 30.0) == pytest.approx(exact, rel=0.04)


@pytest.mark.parametrize(("scores", "separation"), [([1.0, 1.0, 5.0], np.inf), ([2.0, 2.0], 0.0)])
def test_scores_without_deviation_are_infinitely_far_apart_or_not_at_all(scores, separation):
    for module in (naive.directions, directions):
        np.testing.assert_equal(module.widest_cut(np.array(scores), 3.0), separation)
