"""fasturl: provably efficient exploration with rich observations, at kernel speed.

import fasturl as fu

run = fu.train(fu.LockBernoulli(horizon=20, switch=0.2), fu.OracleQ(), episodes=10_000, seeds=50)
run.success_rate
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from . import compile_cache as _compile_cache
from ._version import __version__ as __version__

# Kernels look for their cache while they are imported, so this comes before everything that imports them.
CACHE_FOLDER = _compile_cache.folder()
with _compile_cache.keeping_in(CACHE_FOLDER):
    from .learners import OracleQ, QLearning
    from .models import BlockMDP, LockBernoulli, LockGaussian
    from .pcid import PCID
    from .runs import Run
    from .training import train
    from .url import URL

__all__ = ["PCID", "URL", "BlockMDP", "LockBernoulli", "LockGaussian", "OracleQ", "QLearning", "Run", "train"]

if _TYPE_CHECKING:
    from . import envs as envs
    from . import experiments as experiments
    from . import oracles as oracles
    from .experiments import load as load

_LATER = {"envs": "envs", "experiments": "experiments", "oracles": "oracles", "load": "experiments"}
"""What is imported when it is first asked for: it brings libraries that `import fasturl` does without."""


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        raise AttributeError(f"module 'fasturl' has no attribute {name!r}")
    from importlib import import_module

    with _compile_cache.keeping_in(CACHE_FOLDER):
        module = import_module(f"fasturl.{_LATER[name]}")
    return module if name == _LATER[name] else getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
