"""Experiments: cells and their ids, results on disk, sweeps, the paper's figures, tuning and reports.

A cell is one environment and one agent with all their settings. A sweep runs cells over seeds and stores what comes out;
figures, statistics and reports read only what is stored.
"""

from .backends import Dask as Dask
from .backends import Local as Local
from .backends import Ray as Ray
from .cells import Cell as Cell
from .spec import Spec as Spec
from .spec import parse_spec as parse_spec
from .spec import read_spec as read_spec
from .store import load as load
from .sweeping import sweep as sweep
