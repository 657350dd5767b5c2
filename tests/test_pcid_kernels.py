"""The kernels of PCID against their references."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import DRAWS, GENERATORS, SIZES, dynamics, row

from fasturl._kernels import fitting, pcid
from fasturl._kernels.records import Trajectories

pytestmark = pytest.mark.kernel

EPISODES = 5
FEW = hypothesis.settings(max_examples=15)


@hypothesis.given(DRAWS, SIZES, st.integers(1, 3), st.data(), GENERATORS, GENERATORS)
def test_explore_equals_its_reference(draw, sizes, n_labels, data, dynamics_rng, policy_rng):
    horizon, n_states, n_actions = sizes
    level = data.draw(st.integers(1, horizon))
    tables = dynamics(draw, *sizes)
    labels = draw.integers(0, n_labels, (EPISODES, horizon + 1, n_states)).astype(np.uint8)
    reach = draw.integers(0, 3, (n_labels, level - 1, n_labels, n_actions)) / 2
    rows = row(dynamics_rng), row(policy_rng)
    ref, comp = (
        Trajectories(
            np.full((EPISODES, horizon + 1), -1),
            np.full((EPISODES, horizon), -1),
            np.full((EPISODES, horizon), np.nan),
        )
        for _ in range(2)
    )
    naive.pcid.explore(tables, labels, reach, level, dynamics_rng, policy_rng, ref)
    pcid.explore(tables, labels, reach, level, *rows, comp)
    for expected, given in zip(ref, comp, strict=True):
        np.testing.assert_array_equal(expected, given)
    assert [stream.tolist() for stream in rows] == [dynamics_rng, policy_rng]


@hypothesis.given(DRAWS, st.integers(0, 30))
def test_count_equals_its_reference(draw, n):
    before, after, taken, gained = (
        draw.integers(3, size=n),
        draw.integers(3, size=n),
        draw.integers(4, size=n),
        draw.random(n),
    )
    ref, comp = (np.ones((2, 3, 4, 3)) for _ in range(2))
    naive.pcid.count(before, taken, gained, after, *ref)
    pcid.count(before, taken, gained, after, *comp)
    for expected, given in zip(ref, comp, strict=True):
        np.testing.assert_array_equal(expected, given)


@FEW
@hypothesis.given(DRAWS, st.integers(1, 6), st.integers(1, 5), st.integers(1, 40))
def test_least_squares_equals_its_reference(draw, dimension, n_codes, n):
    rows, codes = draw.normal(size=(n, dimension)), draw.integers(n_codes, size=n)
    ref, comp = (np.full((n_codes, dimension), np.nan) for _ in range(2))
    for kernel, slopes in ((naive.fitting.least_squares, ref), (fitting.least_squares, comp)):
        kernel(rows, codes, 0.1, np.full((dimension, dimension), np.nan), slopes)
    np.testing.assert_allclose(ref, comp, rtol=1e-8, atol=1e-10)


def test_a_coordinate_that_others_determine_does_not_spoil_the_fit():
    draw = np.random.default_rng(0)
    states = draw.integers(3, size=300)
    rows = np.eye(3)[states] - np.eye(3)[states].mean(axis=0)
    slopes, points = np.empty((3, 3)), np.empty((3, 300))
    fitting.least_squares(rows, states, 1e-9 * 300, np.empty((3, 3)), slopes)
    fitting.embed(slopes, np.bincount(states) / 300, np.ascontiguousarray(rows.T), points)
    np.testing.assert_allclose(points.T, np.eye(3)[states], atol=1e-6)


@FEW
@hypothesis.given(DRAWS, st.integers(1, 9), st.integers(1, 5), st.integers(1, 9))
def test_embed_equals_its_reference(draw, dimension, n_axes, n):
    slopes, offset, columns = (
        draw.normal(size=(n_axes, dimension)),
        draw.normal(size=n_axes),
        draw.normal(size=(dimension, n)),
    )
    ref, comp = (np.full((n_axes, n), np.nan) for _ in range(2))
    naive.fitting.embed(slopes, offset, columns, ref)
    fitting.embed(slopes, offset, columns, comp)
    np.testing.assert_allclose(ref, comp, rtol=1e-12, atol=1e-12)
