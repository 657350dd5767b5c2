"""Pieces for the compiled functions of learners: choices among action values, and random draws.

`rng` is the stream that `choose`, `begin_episode` and `end_episode` are handed, uint64[4]. Nothing else is
random in a run, so that it is the same bits wherever it is computed.

A row of action values is `table[level, label]`. The forms that end in `_at` take the table and the place of
the row, `place_of(table, level, label)`, which is faster; entries of tables of one shape share their places.
"""

from .._kernels.entries import get_entry as get_entry
from .._kernels.entries import place_of as place_of
from .._kernels.entries import set_entry as set_entry
from .._kernels.rng import below as below
from .._kernels.rng import uniform as uniform
from .._kernels.tabular import epsilon_greedy as epsilon_greedy
from .._kernels.tabular import epsilon_greedy_at as epsilon_greedy_at
from .._kernels.tabular import fill_greedy as fill_greedy
from .._kernels.tabular import greatest as greatest
from .._kernels.tabular import greatest_at as greatest_at
from .._kernels.tabular import greedy as greedy
from .._kernels.tabular import greedy_at as greedy_at
from .._kernels.variates import beta as beta
from .._kernels.variates import dirichlet as dirichlet
from .._kernels.variates import exponential as exponential
from .._kernels.variates import gamma as gamma
from .._kernels.variates import normal as normal
