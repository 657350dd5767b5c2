"""The splitting oracle where coordinates have different units."""

import numpy as np
import pytest
from oracle_samples import worst_share

import fasturl as fu


def rows_in_many_units(generator, n, n_states):
    """Clusters at random places that are eight times the noise apart, in units from 0.01 to 100, and their
    states."""
    means, units = generator.normal(size=(n_states, 14)), 10.0 ** generator.uniform(-2, 2, size=14)
    gaps = np.linalg.norm(means[:, None] - means, axis=2)
    states = generator.integers(n_states, size=n)
    noise = generator.normal(size=(n, 14))
    if n_states > 1:
        means *= 8.0 / gaps[gaps > 0].min()
    return ((means[states] + noise) * units).astype(np.float32), states


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [600, 5000])
def test_states_are_told_apart_in_any_units(n, seed):
    rows, states = rows_in_many_units(np.random.default_rng(seed), n, 4)
    oracle = fu.oracles.Splits(4, random_state=0).fit(rows)
    assert worst_share(oracle.predict(rows), states) > 0.98
    again = fu.oracles.Splits(4, random_state=1).fit(rows, oracle.predict(rows))
    assert worst_share(again.predict(rows), states) > 0.98


def test_one_state_in_many_units_is_one_cluster():
    """Thirty samples: each is split with a probability of 1e-3 at most."""
    for seed in range(30):
        rows, _ = rows_in_many_units(np.random.default_rng(seed), 600, 1)
        assert fu.oracles.Splits(4, random_state=0).fit(rows).n_clusters_ == 1
