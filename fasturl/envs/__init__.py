"""Block MDPs as Gymnasium environments, scalar and vector, and whole batches of episodes at once.

Importing this module registers `fasturl/LockBernoulli-v0`, `fasturl/LockGaussian-v0` and
`fasturl/BlockMDP-v0`.

The seed given to `reset` means what it means to `fasturl.train`: the same lock, the same noise, the same
luck.
"""

from .._base import optional as _optional

_optional.need("gymnasium", "gym", "fasturl.envs")

from .episodes import Episodes, rollout  # noqa: E402  # what they need is checked first
from .registration import IDS, register  # noqa: E402
from .scalar import BlockMDPEnv, LockBernoulliEnv, LockGaussianEnv  # noqa: E402
from .vector import BlockMDPVectorEnv, LockBernoulliVectorEnv, LockGaussianVectorEnv  # noqa: E402

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
