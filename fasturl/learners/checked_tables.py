"""What enters and leaves the loops of compiled learners, checked: tables, trajectories, final policies.

The loops of our own learners check no index, and those of others only theirs, so that everything else has to
fit before a loop is called. An error says in one line which function of which learner gave what.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.kernel_arrays import for_kernels
from ..problems.description import LARGEST_REWARD
from .learner import Floats, Stream, Task

_KINDS = "biuf"
"""Kinds of NumPy's numbers that tables may have: truth values, integers and floats."""
_WIDEST = 8
"""Bytes of the widest of these numbers that the compiler knows."""


def fresh_tables(learner: Any, task: Task, *, trusted: bool) -> Any:
    """The tables of a learner, as the loops take them. Those of a learner that is not ours are checked and
    copied: it may hand out the same arrays to every run."""
    if trusted:
        return learner.tables(task)
    owner = f"tables of {type(learner).__name__}"
    try:
        tables: Any = learner.tables(task)
    except Exception as error:
        raise ValueError(f"{owner} failed: {checks.reason_of(error)}") from error
    if not (isinstance(tables, tuple) and hasattr(tables, "_fields")):
        raise ValueError(f"{owner} must return a named tuple of arrays, got {checks.short_repr(tables)}")
    for name, table in zip(tables._fields, tables, strict=True):
        _check_table(owner, name, table)
    refuse_nan(f"{owner} must return numbers", tables, task)
    own = [np.array(table) if isinstance(table, np.ndarray) else table for table in tables]
    return type(tables)(*own)


def _check_table(owner: str, name: str, table: Any) -> None:
    if type(table) is np.ndarray:
        compiles = table.dtype.kind in _KINDS and table.dtype.itemsize <= _WIDEST and table.dtype.isnative
        if not (compiles and table.flags.c_contiguous and table.flags.writeable):
            raise ValueError(
                f"{owner} must return C-contiguous arrays of numbers that can be written, got "
                f"{_layout(table)} for {name}"
            )
    elif not _is_number(table):
        raise ValueError(f"{owner} must return arrays and numbers, got {checks.short_repr(table)} for {name}")


def _is_number(value: Any) -> bool:
    if isinstance(value, np.generic):
        return value.dtype.kind in _KINDS and value.dtype.itemsize <= _WIDEST
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, float)


def _layout(table: NDArray[Any]) -> str:
    order = "" if table.flags.c_contiguous else "non-contiguous "
    access = "" if table.flags.writeable else "read-only "
    return f"{order}{access}{table.dtype} of shape {list(table.shape)}"


def refuse_nan(rule: str, tables: Any, task: Task) -> None:
    """An error that names the table, the entry and its level where something is no number."""
    for name, table in zip(tables._fields, tables, strict=True):
        if np.asarray(table).dtype.kind != "f" or not np.isnan(table).any():
            continue
        index = np.argwhere(np.isnan(table))[0].tolist()
        entry = f"[{', '.join(map(str, index))}]" if index else ""
        by_level = np.ndim(table) > 1 and task.levels_apart and table.shape[0] == task.n_levels
        level = f" at level {index[0] + 1}" if by_level else ""
        raise ValueError(f"{rule}, got nan in {name}{entry}{level}")


def refuse_no_policy(learner: object, chances: Floats) -> None:
    """An error where rows [levels, labels, A] are no probabilities."""
    wrong = ~((chances >= 0).all(axis=2) & (np.abs(chances.sum(axis=2) - 1) <= 1e-6))
    if wrong.any():
        level, label = np.argwhere(wrong)[0].tolist()
        raise ValueError(
            f"fill_policy of {type(learner).__name__} must give probabilities of actions, got "
            f"{checks.short_repr(chances[level, label].tolist())} at level {level + 1} for label {label}"
        )


def stream(rng: Any) -> Stream:
    """A policy stream as the kernels take it."""
    fits = isinstance(rng, np.ndarray) and rng.dtype == np.uint64 and rng.shape == (4,)
    if not (fits and rng.flags.c_contiguous and rng.flags.writeable):
        raise ValueError(
            f"policy_rng must be a stream, uint64[4] that can be written, got {checks.short_repr(rng)}"
        )
    policy_rng: Stream = rng
    return policy_rng


def indices(name: str, values: ArrayLike, shape: tuple[int, ...], count: int) -> NDArray[np.integer]:
    """Integers of a shape, from 0 to count - 1; bytes stay as they are."""
    array = checks.real_array(name, values)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers of shape {list(shape)}, got {array.dtype} of shape {list(array.shape)}"
        )
    if array.size and not (array.min() >= 0 and array.max() < count):
        wrong = array[(array < 0) | (array >= count)][0]
        raise ValueError(f"{name} must be from 0 to {count - 1}, got {wrong}")
    return np.ascontiguousarray(array, array.dtype if array.dtype == np.uint8 else np.int64)


def rewards(values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    """Rewards of a shape, no larger than an environment may pay: with sums that are no numbers, draws from a
    posterior would not end."""
    array = checks.real_array("rewards", values)
    if array.shape != shape:
        raise ValueError(f"rewards must be numbers of shape {list(shape)}, got shape {list(array.shape)}")
    table = for_kernels(array, np.float64)
    if table.size and not (table.max() <= LARGEST_REWARD and table.min() >= -LARGEST_REWARD):
        wrong = table[~(np.abs(table) <= LARGEST_REWARD)][0]
        raise ValueError(f"rewards must be finite and at most {LARGEST_REWARD:g} in size, got {wrong}")
    return table
