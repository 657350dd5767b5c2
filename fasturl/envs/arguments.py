"""Arguments that scalar and vector environments share: each function gives the clean value or an error that
names what was wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import gymnasium

from .._base import checks, names
from .._base.schema import refuse_unknown
from .._base.streams import Streams
from ..problems.block_mdp import BlockMDP
from ..problems.environment import Environment

RENDER_MODES = ["ansi", "rgb_array"]
METADATA: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 4}

_OURS = ("observe", "observe_level", "instance_seed", "render_mode")
_OF_VECTORS = ("num_envs", "copy", "autoreset_mode")
_OF_GYMNASIUM = (
    "id",
    "env",
    "max_episode_steps",
    "disable_env_checker",
    "vectorization_mode",
    "vector_kwargs",
    "wrappers",
)
_NO_SETTING = frozenset((*_OURS, *_OF_VECTORS, *_OF_GYMNASIUM))
"""Arguments of `gymnasium.make`, `gymnasium.make_vec` and our environments, beside which no setting of a
family can have the same name."""


def environment(env: object, settings: Mapping[str, Any]) -> Environment:
    """An environment as it is, or made from the name of its family and its settings."""
    if isinstance(env, Environment):
        for name in settings:
            raise ValueError(
                f"{name} cannot be set beside env {checks.short_repr(env)}: set it in the object itself"
            )
        return env
    checks.instance("env", env)
    if not isinstance(env, str):
        raise ValueError(
            f"env must be an environment of fasturl or the name of one, got {checks.short_repr(env)}"
        )
    component = names.find("environment", env)
    declared = component.settings
    for name in declared:
        if name in _NO_SETTING:
            raise ValueError(
                f"{name} of {component.name} is an argument of Gymnasium's environments too: "
                f"hand over the object, env={component.cls.__name__}(...), or rename the setting"
            )
    refuse_unknown(component.name, settings, [*declared, *_OURS])
    environment: Environment = names.make("environment", env, settings)
    return environment


def pinned(environment: Environment, instance_seed: object) -> Environment:
    """The environment, or the one instance of it that `fasturl.train` meets with this seed."""
    if instance_seed is None:
        return environment
    seed = checks.seed("instance_seed", instance_seed)
    if environment.single_instance:
        raise ValueError(
            f"instance_seed must be None for a {type(environment).__name__}, "
            f"which is the same for every seed, got {seed}"
        )
    return environment.draw_checked(Streams(seed))


def block_mdp(instance: object) -> BlockMDP:
    if not isinstance(instance, BlockMDP):
        raise ValueError(f"instance must be a fasturl.BlockMDP, got {checks.short_repr(instance)}")
    return instance


def shows_latent_states(environment: Environment, observe: object) -> bool:
    """Whether the latent state is observed itself, and not through the emission."""
    if checks.choice("observe", observe, ("observation", "latent")) == "latent":
        return True
    if environment.resolved_emission is None:
        raise ValueError("observe must be 'latent' for an environment without emission, got 'observation'")
    return False


def render_mode(mode: object) -> str | None:
    return None if mode is None else checks.choice("render_mode", mode, RENDER_MODES)


def python_seed(seed: object) -> int:
    """A seed as Gymnasium takes it, or the error that Gymnasium gives."""
    if not isinstance(seed, int):
        raise gymnasium.error.Error(f"Seed must be a python integer, actual type: {type(seed)}")
    if seed < 0:
        raise gymnasium.error.Error(f"Seed must be greater or equal to zero, actual value: {int(seed)}")
    return int(seed)


def reset_options(options: object, known: Iterable[str] = ("new_instance",)) -> Mapping[str, Any]:
    """The options of `reset`, which are a table with these names or None."""
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict or None, got {checks.short_repr(options)}")
    for name in options:
        checks.choice("a key of options", name, known)
    return options


def wants_new_instance(environment: Environment, options: Mapping[str, Any]) -> bool:
    wanted = checks.flag("options['new_instance']", options.get("new_instance", False))
    if wanted and environment.single_instance:
        raise ValueError(
            "options['new_instance'] must be False: "
            f"a {type(environment).__name__} is the same for every seed"
        )
    return wanted
