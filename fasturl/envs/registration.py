"""The ids under which Gymnasium finds the environments."""

from __future__ import annotations

import gymnasium

IDS = ("fasturl/LockBernoulli-v0", "fasturl/LockGaussian-v0", "fasturl/BlockMDP-v0")


def register() -> None:
    """Add the environments to Gymnasium's registry, once.

    Called when Gymnasium is imported (see `startup`) and when `fasturl.envs` is. It is also the package's
    entry point in the group `gymnasium.envs`, which Gymnasium before version 1.0, and whatever else reads the
    group, loads by itself.
    """
    for name in IDS:
        if name not in gymnasium.registry:
            kind = name.removeprefix("fasturl/").removesuffix("-v0")
            gymnasium.register(
                name,
                entry_point=f"fasturl.envs:{kind}Env",
                vector_entry_point=f"fasturl.envs:{kind}VectorEnv",
            )
