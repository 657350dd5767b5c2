"""Compile every kernel ahead, by training each agent for a moment; only those that call a user's C code wait
for it."""

from __future__ import annotations

import time
from importlib.util import find_spec
from itertools import product

import numpy as np

from .._base.streams import Streams
from ..agents.url import ORACLES, URL
from ..learners.learners import draw_policy
from ..oracles.oracles import GMM
from ..problems.emissions import Bernoulli, Categorical, Gaussian
from ..problems.models import BlockMDP
from ..training import train


def warmup() -> float:
    """Compile or load all kernels; returns the seconds it took."""
    begin = time.perf_counter()
    bits, reals = (
        catalog.environment("lock-bernoulli", horizon=3),
        catalog.environment("lock-gaussian", horizon=3),
    )
    for name in catalog.AGENTS:
        train(bits, catalog.agent(name), episodes=300, progress=False)
    for env, oracle in product((bits, reals), ORACLES):
        train(env, catalog.agent("url", oracle=oracle), episodes=300, progress=False)
    for env, model in product((bits, reals), ("linear", "neural")):
        train(env, catalog.agent("pcid", model=model, samples_per_level=60), episodes=300, progress=False)
    train(
        reals,
        catalog.agent("url", form="as-written", epsilon=0.9, delta=0.9, batch=10),
        episodes=1,
        progress=False,
    )
    models = _models_of_a_user()
    for mdp in models:
        train(mdp, URL(), episodes=100, progress=False)
    train(reals, URL(GMM(3, covariance="full", n_components="all")), episodes=100, progress=False)
    draw_policy(np.array([[[0.25, 0.75]]]), Streams(0).row("policy"))
    if find_spec("gymnasium"):
        _step_environments(models)
    return time.perf_counter() - begin


def _models_of_a_user() -> list[BlockMDP]:
    """With the emissions that no lock has."""
    apart = np.array([[0.1, 0.9], [0.9, 0.1]])
    emissions = (
        Gaussian(apart, 0.1, n_levels=3),
        Bernoulli(apart, n_levels=3),
        Categorical(np.eye(2), n_levels=3),
    )
    return [
        BlockMDP(np.full((2, 2, 2, 2), 0.5), np.zeros((2, 2, 2)), emission=emission) for emission in emissions
    ]


def _step_environments(models: list[BlockMDP]) -> None:
    from .. import envs

    for model in models:
        played = envs.BlockMDPVectorEnv(model, num_envs=2)
        played.reset(seed=0)
        played.step(played.action_space.sample())
    envs.rollout(models[0], np.zeros((2, 2), np.int64), 2)
    for kind, observe in product(
        (envs.LockBernoulliVectorEnv, envs.LockGaussianVectorEnv), ("observation", "latent")
    ):
        several = kind(num_envs=2, horizon=2, observe=observe)
        several.reset(seed=0)
        several.step(several.action_space.sample())
