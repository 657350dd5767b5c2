"""The kernel that chooses rows against its reference, and how many it chooses of each label."""

import hypothesis
import hypothesis.strategies as st
import naive
import numpy as np
import pytest
from strategies import GENERATORS, row

from fasturl._base.sampling import balanced_choice
from fasturl._kernels import row_samples

pytestmark = pytest.mark.kernel


@hypothesis.given(GENERATORS, st.lists(st.integers(0, 5), min_size=1, max_size=40), st.integers(1, 30))
def test_chosen_rows_are_those_of_the_reference(state, labels, most):
    stream, rows = row(state), np.array(labels, np.uint8)
    found = []
    for kernel, rng in ((naive.row_samples.choose_evenly, state), (row_samples.choose_evenly, stream)):
        chances, chosen = np.empty(6), np.full(len(labels), -1)
        found.append((chosen[: kernel(rng, rows, most, chances, chosen)].tolist(), chances.tolist()))
    assert found[0] == found[1]
    assert stream.tolist() == state


def test_every_label_gets_the_same_share_or_all_that_it_has():
    """The share of each of three labels is a third of 3,000; a sum of so many draws is five standard
    deviations of 32 away once in a million times."""
    labels = np.repeat(np.array([0, 1, 3], np.uint8), [60_000, 4_000, 50])
    chosen = balanced_choice(labels, 3_000, np.random.default_rng(0))
    sizes = np.bincount(labels[chosen], minlength=4)
    assert sizes[3] == 50
    np.testing.assert_allclose(sizes[:2], 1_000, atol=160)
    assert np.all(np.diff(chosen) > 0)


def test_all_rows_are_chosen_where_there_are_no_more_than_asked_for():
    assert balanced_choice(np.zeros(7, np.uint8), 7, np.random.default_rng(0)) == slice(None)
