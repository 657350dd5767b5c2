"""What an environment takes and shows, as Gymnasium's spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from ..problems.environment import Environment


def observation_space(environment: Environment, latent: bool) -> spaces.Space[Any]:
    """Latent states are numbers below the declared bound on the states of a level."""
    emission = environment.resolved_emission
    if latent or emission is None:
        return spaces.Discrete(environment.describe().max_states)
    if emission.discrete:
        return spaces.MultiBinary(emission.dimension)
    low, high = emission.bounds()
    return spaces.Box(low, high, (emission.dimension,), np.float32)


def action_space(environment: Environment) -> spaces.Discrete[Any]:
    return spaces.Discrete(environment.describe().n_actions)
