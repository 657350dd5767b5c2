"""What the counts of an empirical model alone say to do: its greedy policy.

With p and r as `model` has them, Q(h, x, a) = r(h, x, a) + sum over y of p(y | h, x, a) V(h+1, y), and
V(h, x) is the greatest of the actions that were taken. Learners that explore by a prior, by noise or by a
bonus leave those aside when they are asked what they have learned.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from .learner import Floats, Task
from .model import expected_next


class PolicyWorkspace(NamedTuple):
    """What filling a policy needs."""

    mean_values: np.ndarray  # float64[H+1, X], values of the counts alone
    row: np.ndarray  # float64[A], action values of the counts alone


def policy_workspace(task: Task) -> dict[str, Any]:
    """Fresh workspaces, by name."""
    workspace = PolicyWorkspace(
        mean_values=np.zeros((task.n_levels + 1, task.n_labels)), row=np.zeros(task.n_actions)
    )
    return workspace._asdict()


@njit
def fill_empirical_policy(tables: Any, chances: Floats) -> None:
    """Fill float64[H, X, A] with the greedy policy of the counts alone, ties as equal probabilities.

    Actions that were never taken are not in it where others were; it is uniform where none was. `tables` has
    the model and a `PolicyWorkspace`.
    """
    horizon, n_labels, n_actions = chances.shape
    for h in range(horizon - 1, -1, -1):
        for x in range(n_labels):
            best = -np.inf
            ties = 0
            for a in range(n_actions):
                value = -np.inf
                visits = tables.visits[h, x, a]
                if visits > 0.0:
                    value = tables.rewards[h, x, a]
                    if h + 1 < horizon:
                        value += expected_next(tables.transitions[h, x, a], tables.mean_values[h + 1])
                    value /= visits
                if value > best:
                    best = value
                    ties = 0
                ties += value == best
                tables.row[a] = value
            for a in range(n_actions):
                chances[h, x, a] = 1.0 / ties if tables.row[a] == best else 0.0
            tables.mean_values[h, x] = best if best > -np.inf else 0.0
