"""fasturl: provably efficient exploration with rich observations, at kernel speed.

import fasturl as fu

run = fu.train(fu.LockBernoulli(horizon=20, switch=0.2), fu.OracleQ(), episodes=10_000, seeds=50)
run.success_rate
"""

import sys as _sys
from contextlib import suppress as _suppress
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from ._base import compile_cache as _compile_cache
from ._base.flat_entries import use_flat_entries as _use_flat_entries
from ._base.names import Component as _Component
from ._base.names import on_register as _on_register
from ._base.names import register
from ._base.schema import Declared, Range, setting
from ._base.vector_dots import use_vectors as _use_vectors
from ._base.vector_registers import use_registers as _use_registers
from ._version import __version__ as __version__
from .agents.guarantee import required_sizes
from .agents.pcid import PCID
from .agents.url import URL
from .agents.url_as_published import URLAsPublished
from .agents.url_as_written import URLAsWritten
from .checking import check_component
from .learners.compiled import CompiledLearner, learner_functions
from .learners.opsrl import OPSRL
from .learners.oracleq import OracleQ
from .learners.pooled_ucbvi import PooledUCBVI
from .learners.psrl import PSRL
from .learners.qlearning import QLearning
from .learners.rlsvi import RLSVI
from .learners.rmax import RMax
from .learners.ucbq_bernstein import UCBQBernstein
from .learners.ucbvi import UCBVI
from .problems.bandit import Bandit
from .problems.bidirectional_lock import BidirectionalLock
from .problems.block_mdp import BlockMDP
from .problems.deep_sea import DeepSea
from .problems.detour_lock import DetourLock
from .problems.environment import Environment
from .problems.locks import LockBernoulli, LockGaussian
from .problems.maze import Maze
from .problems.random_mdp import RandomMDP
from .problems.rich_lock import RichLock
from .problems.river_swim import RiverSwim
from .run import Run
from .training import Recording, train

CACHE_FOLDER = _compile_cache.folder()
_compile_cache.keep_kernels()
_use_flat_entries()
_use_vectors()
_use_registers()

__all__ = [
    "OPSRL",
    "PCID",
    "PSRL",
    "RLSVI",
    "UCBVI",
    "URL",
    "Bandit",
    "BidirectionalLock",
    "BlockMDP",
    "CompiledLearner",
    "Declared",
    "DeepSea",
    "DetourLock",
    "Environment",
    "LockBernoulli",
    "LockGaussian",
    "Maze",
    "OracleQ",
    "PooledUCBVI",
    "QLearning",
    "RMax",
    "RandomMDP",
    "Range",
    "Recording",
    "RichLock",
    "RiverSwim",
    "Run",
    "UCBQBernstein",
    "URLAsPublished",
    "URLAsWritten",
    "check_component",
    "learner_functions",
    "register",
    "required_sizes",
    "setting",
    "train",
]

if _TYPE_CHECKING:
    from . import emissions as emissions
    from . import envs as envs
    from . import experiments as experiments
    from . import oracles as oracles
    from .experiments import load as load

_LATER = {
    "emissions": "fasturl.emissions",
    "envs": "fasturl.envs",
    "experiments": "fasturl.experiments",
    "oracles": "fasturl.oracles",
    "load": "fasturl.experiments:load",
}
"""What is imported when it is first asked for: it brings libraries that `import fasturl` does without."""


def __getattr__(name: str) -> _Any:
    if name not in _LATER:
        raise AttributeError(f"module 'fasturl' has no attribute {name!r}")
    from importlib import import_module

    module, _, attribute = _LATER[name].partition(":")
    loaded = import_module(module)
    return getattr(loaded, attribute) if attribute else loaded


def _give_gymnasium_id(component: _Component) -> None:
    """Make a family known to Gymnasium where that is in use; else `fasturl.envs` does so when it is
    imported."""
    if component.kind == "environment" and _sys.modules.get("gymnasium") is not None:
        with _suppress(ImportError):  # one that is too old, as an import of fasturl.envs says
            __getattr__("envs").register()


_on_register(_give_gymnasium_id)


def __dir__() -> list[str]:
    return sorted([*globals(), *_LATER])
