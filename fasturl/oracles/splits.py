"""The splitting oracle: one cluster is split in two as long as the data say that it is two.

It is for the levels of a Block MDP one by one: it finds how many states there are to see, up to n_states, from
a few dozen observations of each, among thousands of another and in a hundred dimensions. `splitting` has the
test. What it finds becomes a decoder in the space of the observations themselves,

    reals   the label k of least (x - m_k)' C^-1 (x - m_k), C being the common covariance of the clusters,
            shrunk towards a multiple of the identity by the weight D / n (Ledoit and Wolf, 2004, have the idea);
    bits    the label of greatest likelihood, bits being independent given the label. A bit whose share in a
            cluster does not differ from that of all clusters beyond chance has the share of all.

All labels weigh the same there: how frequent a state is depends on the policy, and policies change.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from .._base.schema import setting
from ..decoders.affine import AffineDecoder
from ..decoders.decoder import Decoder
from .oracle import Attempt, Oracle
from .projection import Observations, Projection
from .splitting import Reals, Split, SplitRule, best_split

_MOVES = 5
"""How often observations may change clusters after a split."""
_PRIOR_ROWS = 0.5
"""Ones and zeros that every cluster is thought to have shown of each bit (Krichevsky and Trofimov, 1981)."""

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
