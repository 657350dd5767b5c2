"""Seeds in compiled code, against NumPy's own SeedSequence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fasturl._kernels.seeding import seed_stream

pytestmark = pytest.mark.kernel


@given(seed=st.integers(0, 2**64 - 1), key=st.lists(st.integers(0, 2**32 - 1), max_size=7), words=st.integers(0, 13))
def test_states_are_those_of_seed_sequence(seed, key, words):
    out = np.empty(words, np.uint64)
    seed_stream(np.uint64(seed), np.array(key, np.uint32), np.empty(4, np.uint64), out)
    assert out.tolist() == np.random.SeedSequence(seed, spawn_key=key).generate_state(words, np.uint64).tolist()
