"""Real observations that decoders are compared on."""

import numpy as np
from hypothesis import strategies as st

from fasturl._kernels.records import RealObservations

SIZES = st.tuples(
    st.integers(1, 3), st.integers(1, 3), st.integers(1, 4), st.integers(1, 12), st.integers(1, 4)
)
"""Episodes, states, labels, coordinates, levels."""
N_INFORMATIVE = st.integers(0, 12)


def reals(draw, sizes, n_informative):
    """Observations whose noise has coordinates that nobody reads, and scores full of rubbish, twice."""
    episodes, n_states, n_labels, dimension, n_levels = sizes
    n_informative = min(n_informative, dimension)
    noise = draw.standard_normal((episodes, dimension + 2, n_levels), np.float32)
    noise[:, dimension:] = np.nan
    means = draw.standard_normal((n_states, dimension, n_levels), np.float32)
    means[:, n_informative:] = 0
    ref, comp = np.full((2, episodes, n_labels, n_states, n_levels), np.nan, np.float32)
    return RealObservations(noise, means, n_informative), ref, comp


def normal(draw, *shape):
    return draw.standard_normal(shape, np.float32)


def rubbish(*shape):
    return np.full(shape, np.nan, np.float32)
