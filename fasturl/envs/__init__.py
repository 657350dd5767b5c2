"""Block MDPs as Gymnasium environments, scalar and vector, and whole batches of episodes at once.

Importing this module registers `fasturl/BlockMDP-v0` and an id for every family that is known by name:
`fasturl/<class name>-v0`, for those of fasturl, of other packages, and of the program (`fasturl.register`).

The seed given to `reset` means what it means to `fasturl.train`: the same instance, the same noise, the same
random transitions and rewards.
"""

from .._base import optional as _optional

_optional.need("gymnasium.vector", "gym", "fasturl.envs", attribute="AutoresetMode")

from .episodes import Episodes, rollout  # noqa: E402  # what they need is checked first
from .registration import ids, register  # noqa: E402
from .scalar import BlockMDPEnv, ScalarEnv  # noqa: E402
from .vector import BlockMDPVectorEnv, VectorEnv  # noqa: E402

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
