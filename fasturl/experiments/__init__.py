"""Experiments: cells and their ids, results on disk, sweeps, the paper's figures, tuning and reports.

A cell is one environment and one agent with all their settings. A sweep runs cells over seeds and stores what
comes out; figures, statistics and reports read only what is stored.
"""

from .paper.reproduce import Reproduction as Reproduction
from .paper.reproduce import reproduce as reproduce
from .running.backends import Dask as Dask
from .running.backends import Local as Local
from .running.backends import Ray as Ray
from .running.cells import Cell as Cell
from .running.spec import Spec as Spec
from .running.spec import parse_spec as parse_spec
from .running.spec import read_spec as read_spec
from .running.store import load as load
from .running.sweeping import sweep as sweep
