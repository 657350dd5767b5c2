"""Compile every kernel ahead, by training each agent for a moment."""

from __future__ import annotations

import time
from importlib.util import find_spec
from itertools import product

from . import catalog
from .training import train
from .url import ORACLES


def warmup() -> float:
    """Compile or load all kernels; returns the seconds it took."""
    begin = time.perf_counter()
    bits, reals = catalog.environment("lock-bernoulli", horizon=3), catalog.environment("lock-gaussian", horizon=3)
    for name in catalog.AGENTS:
        train(bits, catalog.agent(name), episodes=300, progress=False)
    for env, oracle in product((bits, reals), ORACLES):
        train(env, catalog.agent("url", oracle=oracle), episodes=300, progress=False)
    for env, model in product((bits, reals), ("linear", "neural")):
        train(env, catalog.agent("pcid", model=model, samples_per_level=60), episodes=300, progress=False)
    train(reals, catalog.agent("url", form="as-written", epsilon=0.9, delta=0.9, batch=10), episodes=1, progress=False)
    if find_spec("gymnasium"):
        _step_environments()
    return time.perf_counter() - begin


def _step_environments() -> None:
    from . import envs

    for kind, observe in product((envs.LockBernoulliVectorEnv, envs.LockGaussianVectorEnv), ("observation", "latent")):
        several = kind(num_envs=2, horizon=2, observe=observe)
        several.reset(seed=0)
        several.step(several.action_space.sample())
