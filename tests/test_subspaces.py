"""Subspace clustering: k-subspaces from a graph of similar directions and from random starts."""

from itertools import pairwise

import numpy as np
import pytest
from test_oracle_clusters import accuracy

import fasturl as fu
from fasturl.decoders.quadratic import QuadraticDecoder
from fasturl.oracles import Subspaces

SEEDS = range(100, 105)


def near_subspaces(n_subspaces, dimension, rank, size, seed, noise=0.02):
    """Observations near random subspaces, the states, and the bases."""
    draw = np.random.default_rng(seed)
    bases = np.linalg.qr(draw.standard_normal((n_subspaces, dimension, rank)))[0]
    states = draw.integers(n_subspaces, size=size)
    X = np.einsum("ndr,nr->nd", bases[states], draw.standard_normal((size, rank)))
    return (X + noise * draw.standard_normal(X.shape)).astype(np.float32), states, bases


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_planted_subspaces_are_found(rank, seed):
    """As well as by someone who knows them, but for 1 % of the observations: near 0, one may lie near any of
    them."""
    X, states, planted = near_subspaces(3, 12, rank, 600, seed)
    labels = Subspaces(3, subspace_dimension=rank, random_state=0).fit_predict(X)
    known = np.square(X @ planted).sum(axis=2).argmax(axis=0)
    assert accuracy(known, states, 3) > 0.95
    assert accuracy(labels, known, 3) > 0.99


def test_the_bases_are_orthonormal_and_span_the_planted_subspaces():
    X, states, planted = near_subspaces(2, 8, 2, 500, 0, noise=0.01)
    oracle = Subspaces(2, subspace_dimension=2, random_state=0).fit(X)
    order = [oracle.predict(X[states == state][:1] * 10)[0] for state in range(2)]
    np.testing.assert_allclose(
        oracle.bases_.transpose(0, 2, 1) @ oracle.bases_, np.tile(np.eye(2), (2, 1, 1)), atol=1e-9
    )
    for found, basis in zip(oracle.bases_[order], planted, strict=True):
        np.testing.assert_allclose(found @ found.T, basis @ basis.T, atol=0.02)


def test_no_iteration_increases_the_residuals():
    X, _, _ = near_subspaces(4, 10, 2, 500, 1, noise=0.3)
    residuals = Subspaces(4, subspace_dimension=2, random_state=0).fit(X).residuals_
    assert all(later <= earlier * (1 + 1e-12) for earlier, later in pairwise(residuals))


def test_the_label_is_the_subspace_of_least_residual():
    X, _, _ = near_subspaces(3, 9, 2, 500, 2, noise=0.2)
    oracle = Subspaces(3, subspace_dimension=2, random_state=0).fit(X)
    assert isinstance(oracle.decoder_, QuadraticDecoder)
    inside = np.square(X.astype(np.float64) @ oracle.bases_).sum(axis=2)
    ranked = np.sort(inside, axis=0)
    clear = ranked[-1] - ranked[-2] > 1e-5 * np.square(X).sum(axis=1)  # float32 cannot tell the others
    assert clear.mean() > 0.99
    np.testing.assert_array_equal(oracle.predict(X)[clear], inside.argmax(axis=0)[clear])


def test_multiples_of_an_observation_have_its_label():
    X, _, _ = near_subspaces(3, 6, 1, 300, 3)
    oracle = Subspaces(3, random_state=0).fit(X)
    for factor in (-1, 4, 0.25):
        np.testing.assert_array_equal(oracle.predict(X * np.float32(factor)), oracle.predict(X))


@pytest.mark.parametrize("distinct", [1, 2])
def test_fewer_distinct_observations_than_subspaces_are_no_trouble(distinct):
    X = np.repeat(np.eye(distinct, 4, dtype=np.float32), 20, axis=0)
    labels = Subspaces(3, random_state=0).fit_predict(X).reshape(distinct, 20)
    assert np.all(labels == labels[:, :1])
    assert len(set(labels[:, 0])) == distinct


def test_observations_at_the_origin_are_no_trouble():
    X, states, _ = near_subspaces(2, 5, 1, 200, 4)
    labels = Subspaces(2, random_state=0).fit_predict(np.vstack([X, np.zeros((50, 5))]))
    assert accuracy(labels[:200], states, 2) > 0.97


def test_url_solves_a_lock_whose_states_are_directions():
    agent = fu.URL(oracle="subspaces")
    run = fu.train(fu.LockGaussian(3, noise=0.1), agent, episodes=2000, seeds=SEEDS, progress=False)
    assert run.success_rate == 1.0


@pytest.mark.parametrize(
    ("oracle", "message"),
    [
        (Subspaces(3, subspace_dimension=4), "subspace_dimension must be an integer from 1 to 3, got 4"),
        (Subspaces(3, subspace_dimension=0), "subspace_dimension must be an integer >= 1, got 0"),
        (Subspaces(3, n_init=-1), "n_init must be an integer >= 0, got -1"),
        (Subspaces(3, n_neighbours=0), "n_neighbours must be an integer >= 1, got 0"),
        (Subspaces(3, max_samples=2), "max_samples must be an integer >= 3, got 2"),
        (Subspaces(3, max_iter=0), "max_iter must be an integer >= 1, got 0"),
    ],
    ids=repr,
)
def test_settings_outside_their_range_are_refused(oracle, message):
    with pytest.raises(ValueError, match=message):
        oracle.fit(np.eye(4))


def test_one_coordinate_has_no_subspaces():
    with pytest.raises(ValueError, match="X must have at least 2 coordinates for subspaces to differ, got 1"):
        Subspaces(2).fit(np.arange(5.0)[:, None])
