"""Seeds in compiled code, against NumPy's own SeedSequence."""

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasturl._kernels import seeding

pytestmark = pytest.mark.kernel


@given(
    seed=st.integers(0, 2**64 - 1),
    key=st.lists(st.integers(0, 2**32 - 1), max_size=7),
    words=st.integers(0, 13),
)
def test_states_are_those_of_seed_sequence(seed, key, words):
    ref, comp = np.zeros((2, words), np.uint64)
    arguments = np.uint64(seed), np.array(key, np.uint32), np.empty(4, np.uint64)
    naive.seed_stream(*arguments, ref)
    seeding.seed_stream(*arguments, comp)
    np.testing.assert_array_equal(ref, comp)
