"""fasturl: provably efficient exploration with rich observations, at kernel speed.

import fasturl as fu

run = fu.train(fu.LockBernoulli(horizon=20, switch=0.2), fu.OracleQ(), episodes=10_000, seeds=50)
run.success_rate
"""

from . import compile_cache as _compile_cache
from ._version import __version__ as __version__

# Kernels look for their cache while they are imported, so this comes before everything that imports them.
CACHE_FOLDER = _compile_cache.find_folder()
with _compile_cache.keeping_in(CACHE_FOLDER):
    from .learners import OracleQ, QLearning
    from .models import BlockMDP, LockBernoulli, LockGaussian
    from .pcid import PCID
    from .runs import Run
    from .training import train
    from .url import URL

__all__ = ["PCID", "URL", "BlockMDP", "LockBernoulli", "LockGaussian", "OracleQ", "QLearning", "Run", "train"]
