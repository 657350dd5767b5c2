"""Block MDPs as Gymnasium environments, scalar and vector, and whole batches of episodes at once.

Importing this module registers `fasturl/BlockMDP-v0` and an id for every family that is known by name:
`fasturl/<class name>-v0`, for those of fasturl, of other packages, and of the program (`fasturl.register`).

The seed given to `reset` means what it means to `fasturl.train`: the same instance, the same noise, the same
random transitions and rewards.
"""

from .._base import compile_cache as _compile_cache
from .._base import optional as _optional

_optional.need("gymnasium", "gym", "fasturl.envs")

with _compile_cache.keeping_in(_compile_cache.folder()):
    from .episodes import Episodes, rollout
    from .registration import ids, register
    from .scalar import BlockMDPEnv, ScalarEnv
    from .vector import BlockMDPVectorEnv, VectorEnv

register()

__all__ = [
    "BlockMDPEnv",
    "BlockMDPVectorEnv",
    "Episodes",
    "ScalarEnv",
    "VectorEnv",
    "ids",
    "register",
    "rollout",
]
