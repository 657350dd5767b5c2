"""The directions that clusters are looked for in, against their definitions."""

import numpy as np
import pytest

from fasturl.oracles import projection
from fasturl.oracles.projection import Projection


def observations(kind):
    """Two clusters in nine coordinates, of which the second is one in thirty."""
    generator = np.random.default_rng(0)
    in_second = np.arange(600) % 30 == 0
    if kind is np.uint8:
        return (generator.random((600, 9)) < np.where(in_second[:, None], 0.9, 0.2)).astype(kind)
    return (generator.normal(size=(600, 9)) + 4.0 * in_second[:, None] + 100.0).astype(kind)


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
def test_products_count_each_row_with_its_squared_length(kind, monkeypatch):
    """In pieces of any size."""
    rows = observations(kind)
    centre, scale = rows.mean(axis=0, dtype=np.float64), np.linspace(0.5, 1.5, 9)
    z = (rows.astype(np.float64) - centre) * scale
    expected = sum(z_i @ z_i * np.outer(z_i, z_i) for z_i in z)
    for piece in (8192, 600, 7):
        monkeypatch.setattr(projection, "_PIECE", piece)
        products = projection._products(rows, centre, scale, by_length=True)
        np.testing.assert_allclose(products, expected, atol=1e-5 * np.abs(expected).max())
        plain = projection._products(rows, centre, scale, by_length=False)
        np.testing.assert_allclose(plain, z.T @ z, atol=1e-9 * np.abs(z.T @ z).max())


@pytest.mark.parametrize(("n", "byte"), [(300, 255), (65_535, 1), (65_536, 1)])
def test_sums_of_bytes_are_exact_however_large(n, byte):
    """Numbers of 16 bits hold 65,535."""
    sums = projection.sums_of(np.full((n, 3), byte, np.uint8), np.zeros(n, np.int64), 2)
    np.testing.assert_array_equal(sums.rows, [[n * byte] * 3, [0] * 3])
    np.testing.assert_array_equal(sums.sizes, [n, 0])


def test_an_outlier_does_not_hide_the_clusters():
    """One row in 8,000 lies 2,000 standard deviations away; three clusters lie in a plane, of which four axes
    still have nearly all."""
    generator = np.random.default_rng(0)
    means = 6.0 * np.eye(3, 60)
    rows = means[generator.integers(3, size=8000)] + generator.normal(size=(8000, 60))
    rows[5] += 2000.0 / np.sqrt(60)
    plane = np.linalg.qr((means - means.mean(axis=0))[:2].T)[0]
    axes = Projection(rows.astype(np.float32), 4, False, "moments").matrix
    assert np.square(axes @ plane).sum() / 2 > 0.99


def test_a_look_that_is_seen_once_does_not_hide_the_others():
    """In one row of 8,192 all of 350 bits are set that are 0 in all others; three states differ in three."""
    generator = np.random.default_rng(0)
    rows = np.zeros((8192, 400), np.uint8)
    rows[np.arange(8192), generator.choice(3, p=[0.1, 0.1, 0.8], size=8192)] = 1
    rows[:, 3:50] = generator.integers(2, size=(8192, 47))
    rows[7, 50:] = 1
    deviations = rows.std(axis=0)
    plane = np.linalg.qr(np.pad((np.eye(3) - 1 / 3)[:2] / deviations[:3], ((0, 0), (0, 397))).T)[0]
    axes = Projection(rows, 4, "auto", "moments").matrix * deviations
    assert np.square(axes @ plane).sum() / 2 > 0.8


@pytest.mark.parametrize("kind", [np.uint8, np.float32, np.float64])
@pytest.mark.parametrize("axes", ["moments", "pca"])
def test_points_are_the_observations_on_the_axes(kind, axes):
    rows = observations(kind)
    found = Projection(rows, 3, "auto", axes)
    expected = rows.astype(np.float64) @ found.matrix.T + found.offset
    np.testing.assert_allclose(found.points, expected, atol=1e-4)
    np.testing.assert_allclose(found.points.mean(axis=0), 0.0, atol=1e-4)
