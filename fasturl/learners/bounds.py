"""What a learner knows of returns before it has seen one: the unit that bonuses are measured in.

Papers take rewards from [0, 1], so that returns lie in [0, H]. Here returns have a range R of their own,
which follows from what the environment declares. Measured in units of R / H they range over H, so a bonus of
a paper is multiplied with R / H, and a squared one with its square.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base.schema import setting
from .learner import Floats, Task
from .model import greatest_ahead, least_ahead


def constants_setting(paper: str) -> Any:
    """The setting `constants` of a learner whose bonus a paper has."""
    return setting(
        "practical",
        choices=("paper", "practical"),
        help=f"Of the bonus: those of {paper}, or smaller ones that learn in fewer episodes.",
    )


MOST_SCALE = 1e50
"""Upper limit on what a bonus is multiplied with: its square times that of the largest return is finite."""
LEAST_PROBABILITY = 1e-100
"""Lower limit on a failure probability: any number of steps divided by it is finite."""


def failure_probability_setting() -> Any:
    """The setting `failure_probability` of a learner with the constants of a paper."""
    return setting(
        0.05,
        least=LEAST_PROBABILITY,
        below=1,
        help="Probability that a bound fails which the constants of the paper come from.",
    )


def return_range(task: Task) -> float:
    """R: the greatest difference between two returns that can be ahead at the same level."""
    return float((greatest_ahead(task) - least_ahead(task))[:-1].max())


def level_caps(task: Task) -> Floats:
    """The greatest return that can be ahead at each level of the tables, [levels]."""
    caps = greatest_ahead(task)[:-1]
    return caps if task.levels_apart else np.full(1, caps.max())
