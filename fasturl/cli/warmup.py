"""`fasturl warmup`: compile every kernel ahead, by training each agent for a moment, and the C face.

Only the kernels that call a user's C code wait for it.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Annotated, Any

import numpy as np
import typer

from .. import CACHE_FOLDER, registry
from .._base import names
from .._base.sampling import balanced_choice
from .._base.schema import Setting
from .._base.short_warnings import hide_left_out
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
from .options import Command

_N_JOBS_HELP = "How many processes compile at the same time."
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
    app.command("warmup", cls=Command)(warmup_command)


def warmup_command(
    n_jobs: Annotated[int | None, typer.Option(help=_N_JOBS_HELP, show_default="all cores")] = None,
) -> None:
    """Compile every kernel and the C face ahead, so that later runs and C programs start at once."""
    hide_left_out()  # only what fasturl brings is compiled
    seconds = compile_kernels(n_jobs)
    place = f"kept in {CACHE_FOLDER}" if CACHE_FOLDER else "but there is no folder to keep them in"
    print(f"kernels compiled in {seconds:.1f} s, {place}")


def compile_kernels(n_jobs: int | None = None) -> float:
    """Compile or load all kernels and the functions of the C face; returns the seconds it took.

    So many processes share what they compile through the cache folder; all cores if `n_jobs` is not given.
    Without a folder nothing would be left of what others compile, so there is one process.
    """
    from ..experiments.running.backends import Local

    begin = time.perf_counter()
    workers = Local(n_jobs).workers()
    for _ in Local(workers if CACHE_FOLDER else 1).map(_call_all, _groups()):
        pass
    return time.perf_counter() - begin


def _groups() -> list[list[Callable[[], object]]]:
    """What is to be called, the most work first. What leads to the same kernels is one group, and done by one
    process."""
    from ..capi import binding

    environments, block_mdps = _built_in_environments(), _block_mdps()
    by_name: dict[str, list[Callable[[], object]]] = defaultdict(list)
    for name, settings in _built_in_agents():
        group = by_name[settings.get("learner") or registry.agent_component(name)[0].name]
        group += [partial(_train_for_a_moment, env, name, settings) for env in block_mdps]
    for name in _compiled_learners():
        by_name[name].append(partial(_learn_as_c_does, name))
    trainings = [partial(_train_for_a_moment, env, "url", {}) for env in environments]
    steps = [partial(_step_environment, env) for env in (*environments, *block_mdps)]
    groups = sorted(by_name.values(), key=len, reverse=True)
    rest: list[Callable[[], object]] = [*trainings, *steps, _draw_policy, _grow_table, _choose_sample]
    return [[binding.compile_functions], *groups, rest]


def _call_all(group: list[Callable[[], object]]) -> None:
    """The work of one process."""
    for function in group:
        function()


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


def _compiled_learners() -> list[str]:
    """Learners that C programs have by name (`capi.named_learners`)."""
    return [
        component.name
        for component in names.components("learner").values()
        if component.built_in and issubclass(component.cls, CompiledLearner)
    ]


def _learn_as_c_does(name: str) -> None:
    """Call every loop of a learner."""
    dynamics = _block_mdps()[0].dynamics
    horizon, n_states, n_actions, _ = dynamics.transitions.shape
    streams = Streams(0)
    task = Task(horizon, n_states, n_actions, 1.0, 4, streams.row("policy"), (0.0, 1.0))
    memory = names.make("learner", name, {}).start(task)
    labels = np.zeros((2, horizon + 1, n_states), np.uint8)
    memory.learn_episodes(dynamics, labels, streams.row("dynamics"), np.empty(2))
    actions = np.zeros((2, horizon), np.int64)
    memory.replay(np.zeros((2, horizon + 1), np.int64), actions, np.zeros((2, horizon)))
    memory.policy()
    memory.final_policy()


def _draw_policy() -> None:
    """Draw from chances, as agents with several policies do."""
    draw_policy(np.array([[[0.25, 0.75]]]), Streams(0).row("policy"))


def _grow_table() -> None:
    """Make room in a table of observations, which grows in long runs alone."""
    rehash(HashTable(np.full(2, -1, np.int32), np.empty((1, 2), np.uint64), np.zeros(1, np.int64)))


def _choose_sample() -> None:
    """Choose some observations, of which short runs take all."""
    balanced_choice(np.zeros(2, np.uint8), 1, np.random.default_rng(0))


def _step_environment(env: Environment) -> None:
    """Step vector environments, and play whole episodes, where there is a Gymnasium that is new enough."""
    try:
        from .. import envs
    except ImportError:
        return

    for observe in ("observation", "latent"):
        vector_env = envs.VectorEnv(env, num_envs=2, observe=observe)
        vector_env.reset(seed=0)
        vector_env.step(vector_env.action_space.sample())
    envs.rollout(env, np.zeros((env.horizon, env.max_states), np.int64), 2)
