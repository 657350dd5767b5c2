"""Block MDPs as Gymnasium environments, scalar and vector, and whole batches of episodes at once.

Importing this module registers `fasturl/LockBernoulli-v0`, `fasturl/LockGaussian-v0` and
`fasturl/BlockMDP-v0`.

The seed given to `reset` means what it means to `fasturl.train`: the same lock, the same noise, the same
luck.
"""

from .._base import compile_cache as _compile_cache
from .._base import optional as _optional

_optional.need("gymnasium", "gym", "fasturl.envs")

with _compile_cache.keeping_in(_compile_cache.folder()):
    from .episodes import Episodes, rollout
    from .registration import IDS, register
    from .scalar import BlockMDPEnv, LockBernoulliEnv, LockGaussianEnv
    from .vector import BlockMDPVectorEnv, LockBernoulliVectorEnv, LockGaussianVectorEnv

register()

__all__ = [
    "IDS",
    "BlockMDPEnv",
    "BlockMDPVectorEnv",
    "Episodes",
    "LockBernoulliEnv",
    "LockBernoulliVectorEnv",
    "LockGaussianEnv",
    "LockGaussianVectorEnv",
    "register",
    "rollout",
]
