"""Experiments: cells and their ids, results on disk, sweeps, the paper's figures, tuning and reports.

A cell is one environment and one agent with all their settings. A sweep runs cells over seeds and stores what comes out;
figures, statistics and reports read only what is stored.
"""

from .cells import Cell as Cell
from .store import load as load
from .sweeping import sweep as sweep
