"""What an environment takes and shows, as Gymnasium's spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from .._base import checks
from .._base.origin import in_method
from ..problems.emissions import Emission
from ..problems.environment import Environment


def observation_space(environment: Environment, latent: bool) -> spaces.Space[Any]:
    """Latent states are numbers below the declared bound on the states of a level."""
    emission = environment.resolved_emission
    if latent or emission is None:
        return spaces.Discrete(environment.describe().max_states)
    name, space = type(emission).__name__, emission.observation_space
    dimension = checks.integer(f"dimension of {name}", space.dimension, least=1)
    if emission.discrete:
        return spaces.MultiBinary(dimension)
    return spaces.Box(*_bounds(emission), (dimension,), np.float32)


def _bounds(emission: Emission) -> tuple[float, float]:
    """The bounds that an emission gives, which may be infinite; ValueError where they are none."""
    with in_method("bounds", emission):
        bounds = emission.bounds()
    try:
        low, high = (float(bound) for bound in bounds)
    except (TypeError, ValueError):
        low = high = np.nan
    if not low <= high:
        raise ValueError(
            f"bounds of {type(emission).__name__} must be two numbers, the lower first, "
            f"got {checks.short_repr(bounds)}"
        )
    return low, high


def action_space(environment: Environment) -> spaces.Discrete[Any]:
    return spaces.Discrete(environment.describe().n_actions)
