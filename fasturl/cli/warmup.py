"""`fasturl warmup`: compile every kernel ahead, by training each agent for a moment, and the C face.

Only the kernels that call a user's C code wait for it.
"""

from __future__ import annotations

import time
from contextlib import suppress
from itertools import product
from typing import Any

import numpy as np
import typer

from .. import CACHE_FOLDER, registry
from .._base import names
from .._base.schema import Setting
from .._base.streams import Streams
from .._kernels.hashing import rehash
from .._kernels.records import HashTable
from ..learners.compiled import CompiledLearner
from ..learners.learner import Task
from ..learners.playing import draw_policy
from ..problems.block_mdp import BlockMDP
from ..problems.emissions import Bernoulli, Categorical, Gaussian, MappedGaussian
from ..problems.environment import Environment
from ..training import train

_EPISODES = 300
_HORIZON = 3
_QUICK: dict[str, dict[str, Any]] = {
    "url-as-written": {"epsilon": 0.9, "delta": 0.9, "batch": 10},
    "pcid": {"samples_per_level": 60},
}
"""Settings with which an agent is done in a moment."""
_MORE_PARTS: dict[str, list[dict[str, Any]]] = {
    "oracle": [{"name": "gmm", "covariance": "full", "n_directions": "all"}]
}
"""Settings of parts that lead to kernels of their own."""


def register(app: typer.Typer) -> None:
    app.command("warmup")(warmup_command)


def warmup_command() -> None:
    """Compile every kernel and the C face ahead, so that later runs and C programs start at once."""
    seconds = compile_kernels()
    place = f"kept in {CACHE_FOLDER}" if CACHE_FOLDER else "but there is no folder to keep them in"
    print(f"kernels compiled in {seconds:.1f} s, {place}")


def compile_kernels() -> float:
    """Compile or load all kernels and the functions of the C face; returns the seconds it took."""
    from ..capi import binding

    begin = time.perf_counter()
    environments, block_mdps = _built_in_environments(), _block_mdps()
    for env, (name, settings) in product(block_mdps, _built_in_agents()):
        _train_for_a_moment(env, name, settings)
    for env in environments:
        _train_for_a_moment(env, "url", {})
    draw_policy(np.array([[[0.25, 0.75]]]), Streams(0).row("policy"))
    # tables of observations grow in long runs alone
    rehash(HashTable(np.full(2, -1, np.int32), np.empty((1, 2), np.uint64), np.zeros(1, np.int64)))
    with suppress(ImportError):  # no Gymnasium, or one that is too old
        _step_environments([*environments, *block_mdps])
    _learn_as_c_does()
    binding.compile_functions()
    return time.perf_counter() - begin


def _built_in_environments() -> list[Environment]:
    """Each environment of fasturl with few levels."""
    components = [one for one in names.components("environment").values() if one.built_in]
    return [
        registry.environment(one.name, **({"horizon": _HORIZON} if "horizon" in one.settings else {}))
        for one in components
    ]


def _built_in_agents() -> list[tuple[str, dict[str, Any]]]:
    """Each agent of fasturl with each part and each choice that it may have, one at a time; a setting that
    agents share is tried with the first of them."""
    agents: list[tuple[str, dict[str, Any]]] = []
    tried: set[str] = set()
    for name in registry.possible_agent_names():
        component, _ = registry.agent_component(name)
        if not component.built_in:
            continue
        quick = _QUICK.get(name, {})
        agents.append((name, quick))
        for setting in component.settings.values():
            if setting.name not in tried:
                agents += [(name, {**quick, setting.name: value}) for value in _values_to_try(setting)]
        tried |= component.settings.keys()
    return agents


def _values_to_try(setting: Setting) -> list[Any]:
    if not isinstance(setting.kind, str):
        return list(setting.choices)
    parts = [one.name for one in names.components(setting.kind).values() if one.built_in]
    return [*parts, *_MORE_PARTS.get(setting.kind, [])]


def _train_for_a_moment(env: Environment, name: str, settings: dict[str, Any]) -> None:
    """Train, unless the agent cannot be trained on this environment; an oracle of bits or counts refuses
    others when it sees them."""
    agent = registry.agent(name, **settings)
    with suppress(ValueError):
        agent.check(env.describe())
        train(env, agent, episodes=1 if name == "url-as-written" else _EPISODES, progress=False)


def _block_mdps() -> list[BlockMDP]:
    """Small tables with every kind of emission, whose states every oracle tells apart."""
    apart = np.repeat([[0.02, 0.98], [0.98, 0.02]], 4, axis=1)
    emissions = (
        Gaussian(apart, 0.1, n_levels=_HORIZON + 1),
        MappedGaussian(apart, 0.1, n_levels=_HORIZON + 1, matrix=np.eye(8)),
        Bernoulli(apart, n_levels=_HORIZON + 1),
        Categorical(np.eye(2), n_levels=_HORIZON + 1),
    )
    transitions, rewards = np.full((_HORIZON, 2, 2, 2), 0.5), np.full((_HORIZON, 2, 2), 0.5)
    return [BlockMDP(transitions, rewards, emission=emission) for emission in emissions]


def _learn_as_c_does() -> None:
    """Call every loop of each learner that C programs have by name (`capi.named_learners`)."""
    dynamics = _block_mdps()[0].dynamics
    horizon, n_states, n_actions, _ = dynamics.transitions.shape
    for component in names.components("learner").values():
        if not (component.built_in and issubclass(component.cls, CompiledLearner)):
            continue
        streams = Streams(0)
        task = Task(horizon, n_states, n_actions, 1.0, 4, streams.row("policy"), (0.0, 1.0))
        memory = names.make("learner", component.name, {}).start(task)
        labels = np.zeros((2, horizon + 1, n_states), np.uint8)
        memory.learn_episodes(dynamics, labels, streams.row("dynamics"), np.empty(2))
        actions = np.zeros((2, horizon), np.int64)
        memory.replay(np.zeros((2, horizon + 1), np.int64), actions, np.zeros((2, horizon)))
        memory.policy()
        memory.final_policy()


def _step_environments(environments: list[Environment]) -> None:
    """Step vector environments, and play whole episodes."""
    from .. import envs

    for env, observe in product(environments, ("observation", "latent")):
        vector_env = envs.VectorEnv(env, num_envs=2, observe=observe)
        vector_env.reset(seed=0)
        vector_env.step(vector_env.action_space.sample())
    for env in environments:
        envs.rollout(env, np.zeros((env.horizon, env.max_states), np.int64), 2)
