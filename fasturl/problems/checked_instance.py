"""Instances that a user's family draws, checked where they enter kernels.

A `BlockMDP` checks its tables when it is made, and lets nobody change them afterwards. What is left to check
is that there is one, that its sizes are those that its family declares, and, where its class is a user's,
that its tables hold what those of a `BlockMDP` do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._base import checks
from .._base.origin import is_ours
from .._kernels.records import NO_REWARDS, Dynamics
from .description import Description
from .emissions import cumulative


def check_instance(family: object, declared: Description, instance: Any) -> None:
    """ValueError where an instance is not what its family declares, or its tables cannot be played on."""
    must = f"draw of {type(family).__name__} must give"
    dynamics = getattr(instance, "dynamics", None)
    if not isinstance(dynamics, Dynamics):
        raise ValueError(f"{must} a BlockMDP, got {checks.short_repr(instance)}")
    if np.ndim(dynamics.transitions) != 4:
        raise ValueError(f"{must} transitions of shape [H, S, A, S], got {np.shape(dynamics.transitions)}")
    horizon, size, n_actions, _ = dynamics.transitions.shape
    if (horizon, n_actions) != (declared.horizon, declared.n_actions):
        raise ValueError(
            f"{must} {declared.horizon} levels and {declared.n_actions} actions as declared, "
            f"got {horizon} and {n_actions}"
        )
    if size > declared.max_states:
        raise ValueError(f"{must} at most max_states = {declared.max_states} states a level, got {size}")
    _check_counts(must, instance, horizon, size, n_actions)
    if not is_ours(type(instance)):
        _check_tables(must, instance, (horizon, size, n_actions, size))


def _check_counts(must: str, instance: Any, horizon: int, size: int, n_actions: int) -> None:
    """What an instance says of its sizes is what its tables have."""
    if (instance.horizon, instance.n_actions) != (horizon, n_actions):
        raise ValueError(
            f"{must} horizon {horizon} and n_actions {n_actions} as its tables have, "
            f"got {checks.short_repr(instance.horizon)} and {checks.short_repr(instance.n_actions)}"
        )
    n_states = instance.n_states
    right = isinstance(n_states, Sequence) and len(n_states) == horizon + 1
    if not right or not all(isinstance(n, int) and 1 <= n <= size for n in n_states):
        raise ValueError(
            f"{must} n_states, {horizon + 1} integers from 1 to {size}, got {checks.short_repr(n_states)}"
        )
    if max(n_states) != size:
        raise ValueError(
            f"{must} n_states whose greatest is {size} as its tables have, got {checks.short_repr(n_states)}"
        )


def _check_tables(must: str, instance: Any, shape: tuple[int, ...]) -> None:
    """What tables hold, where a class of a user's may have filled them."""
    horizon, size = shape[:2]
    dynamics: Dynamics = instance.dynamics
    tables = {
        "start": (instance.start, (size,)),
        "transitions": (instance.transitions, shape),
        "rewards": (instance.rewards, shape),
        "dynamics.start": (dynamics.start, (size,)),
        "dynamics.transitions": (dynamics.transitions, shape),
        "dynamics.rewards": (dynamics.rewards, shape),
    }
    sizes = dynamics.reward_sizes
    tables["dynamics.reward_sizes"] = sizes, (1, 1, 1, 1) if np.size(sizes) == 1 else shape
    for name, (table, right) in tables.items():
        _check_layout(must, name, table, right, np.float64)
        if not np.isfinite(table).all():
            raise ValueError(f"{must} {name} that is finite, got {table[~np.isfinite(table)][0]}")
    _check_layout(must, "dynamics.reward_kinds", dynamics.reward_kinds, (horizon,), np.uint8)
    if (greatest := dynamics.reward_kinds.max()) > NO_REWARDS:
        raise ValueError(f"{must} dynamics.reward_kinds from 0 to {NO_REWARDS}, got {greatest}")
    if dynamics.rewards[dynamics.reward_kinds == NO_REWARDS].any():
        raise ValueError(f"{must} rewards of 0 where dynamics.reward_kinds is {NO_REWARDS}, got others")
    for name, over in (("start", "states"), ("transitions", "next states")):
        chances = checks.probabilities(
            f"{name} of what {must.partition(' must')[0]} gives", getattr(instance, name), over
        )
        if not np.array_equal(getattr(dynamics, name), cumulative(chances)):
            raise ValueError(f"{must} dynamics.{name} that are the running sums of {name}, got others")


def _check_layout(must: str, name: str, table: Any, shape: tuple[int, ...], kind: Any) -> None:
    fits = isinstance(table, np.ndarray) and (table.dtype, table.shape) == (kind, shape)
    if not (fits and table.flags.c_contiguous):
        found = (
            f"{table.dtype} of shape {table.shape}" if isinstance(table, np.ndarray) else repr(type(table))
        )
        raise ValueError(f"{must} {name}, contiguous {np.dtype(kind)} of shape {shape}, got {found}")
