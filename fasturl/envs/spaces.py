"""What an environment takes and shows, as Gymnasium's spaces, and the checks that both forms of environment
share."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from .._base import checks
from ..problems.emissions import Emission, Gaussian
from ..problems.models import BlockMDP, Environment

RENDER_MODES = ["ansi", "rgb_array"]
METADATA: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 4}

_NORMAL_REACH = 7.0
"""Standard deviations; the normals of an emission are made of 32 bits and reach 6.8."""


def block_mdp(model: object) -> BlockMDP:
    if not isinstance(model, BlockMDP):
        raise ValueError(f"model must be a fasturl.BlockMDP, got {checks.short_repr(model)}")
    return model


def shown_emission(family: Environment, observe: str) -> Emission | None:
    """The emission whose observations are shown, or None where the latent state is."""
    if checks.choice("observe", observe, ("observation", "latent")) == "latent":
        return None
    if family.emission is None:
        raise ValueError("observe must be 'latent' for a model without emission, got 'observation'")
    return family.emission


def observation_space(family: Environment, emission: Emission | None) -> spaces.Space[Any]:
    if emission is None:
        return spaces.Discrete(max(family.n_states))
    if emission.discrete:
        return spaces.MultiBinary(emission.dimension)
    low, high = _bounds(emission)
    return spaces.Box(low, high, (emission.dimension,), np.float32)


def action_space(family: Environment) -> spaces.Discrete[Any]:
    return spaces.Discrete(family.n_actions)


def render_mode(mode: str | None) -> str | None:
    return None if mode is None else checks.choice("render_mode", mode, RENDER_MODES)


def python_seed(seed: object) -> int:
    """A seed as Gymnasium takes it, or the error that Gymnasium gives."""
    if not isinstance(seed, int):
        raise gymnasium.error.Error(f"Seed must be a python integer, actual type: {type(seed)}")
    if seed < 0:
        raise gymnasium.error.Error(f"Seed must be greater or equal to zero, actual value: {seed}")
    return int(seed)


def flag(name: str, value: object) -> bool:
    """A truth value; texts such as "no" are true to Python, and are refused."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {checks.short_repr(value)}")
    return bool(value)


def wants_new_lock(family: Environment, options: dict[str, Any] | None) -> bool:
    wanted = flag("options['new_lock']", (options or {}).get("new_lock", False))
    if wanted and isinstance(family, BlockMDP):
        raise ValueError("options['new_lock'] is for locks: a BlockMDP has no action labels to draw")
    return wanted


def _bounds(emission: Emission) -> tuple[float, float]:
    """Limits that no coordinate can leave, finite where they are known."""
    if not isinstance(emission, Gaussian):
        return -np.inf, np.inf
    means = emission.draw(np.zeros((4, 4), np.uint64), 0).means
    low, high = float(means.min()), float(means.max())
    reach = _NORMAL_REACH * emission.noise or float(low == high)
    return low - reach, high + reach
