"""Learners by name for C: Python's own, behind handles.

A learner's tables have shapes that its class alone knows, so C holds a number, its handle, and the learner
lives here. The functions of fasturl.h that begin with `learner_` are callbacks into this file, which whoever
calls them enters with Python's lock; episodes run in the compiled loops, without it. Any learner that is
compiled and known by name can be had, and a new one changes nothing here.

Arguments are checked in compiled code first (`functions.named_learners`). What a function writes is written
when everything has gone well. Nothing is raised: an exception is a status, and a sentence for `last_error`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base import checks as arguments
from .._base import names
from .._base.setting_texts import parsed_settings
from .._kernels.records import Dynamics
from ..learners.compiled import CompiledLearner, CompiledMemory
from ..learners.learner import Task
from ..learners.table_bytes import MOST_BYTES, table_bytes
from .checks import HANDLE, LEARNER, OK, RANGE, SIZE
from .header import ffi

_LONGEST_TEXT = 1 << 16
_ROWS_OF_A_CALL = 512
"""Where there are fewer rows of labels, they are repeated: a call for each episode costs more than the
episode."""

_learners: dict[int, NamedLearner] = {}
_handles = itertools.count(1)
_errors = threading.local()


class NamedLearner(NamedTuple):
    """A learner that C has a handle of."""

    memory: CompiledMemory
    lock: threading.Lock

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Horizon, number of labels and number of actions."""
        task = self.memory.task
        return task.horizon, task.n_labels, task.n_actions


class Refused(Exception):
    """Carries the status of a call that cannot be made."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def answer(function: Callable[..., None], check: Callable[..., int], *call: Any) -> int:
    """The status of a call: that of the check, or OK where the function then goes well."""
    status = check(*call)
    return _attempt(lambda: function(*call)) if status == OK else status


def answer_of_learner(
    function: Callable[..., None], check: Callable[..., int], handle: int, *call: Any
) -> int:
    """As `answer`, for a function that has a learner. Calls on one learner wait for each other."""
    learner = _learners.get(handle)
    if learner is None:
        return HANDLE
    with learner.lock:
        status = check(*learner.sizes, *call)
        return _attempt(lambda: function(learner.memory, *call)) if status == OK else status


def _attempt(work: Callable[[], None]) -> int:
    try:
        work()
    except Refused as refused:
        return refused.status
    except Exception as error:
        _errors.text = arguments.reason_of(error)
        return LEARNER
    return OK


# --- the functions of fasturl.h ---


def learner_start(name: Any, settings: Any, task: Any, policy_rng: Any, _length: int, learner: Any) -> None:
    component = names.find("learner", _text(name))
    words = _text(settings) if settings else ""
    declared = parsed_settings(f"learner {component.name!r}", component.settings, words)
    made = names.make("learner", component.name, declared)
    if not isinstance(made, CompiledLearner):
        raise ValueError(f"learner {component.name!r} must be a compiled one, got {type(made).__name__}")
    told = Task(
        task.horizon,
        task.n_labels,
        task.n_actions,
        task.max_return,
        task.episodes,
        _array(policy_rng, np.uint64, 4).copy(),
        (task.least_reward, task.greatest_reward),
    )
    _refuse_what_is_too_large(made, told)
    handle = next(_handles)
    _learners[handle] = NamedLearner(made.start(told), threading.Lock())
    learner[0] = handle


def learner_learn(
    memory: CompiledMemory,
    d: Any,
    episodes: int,
    labels: Any,
    _labels_length: int,
    label_rows: int,
    dynamics_rng: Any,
    _dynamics_rng_length: int,
    returns: Any,
    _returns_length: int,
) -> None:
    _refuse_more_than_told(memory, episodes)
    table = _array(labels, np.uint8, min(label_rows, episodes), d.horizon + 1, d.n_states)
    if table.shape[0] < min(episodes, _ROWS_OF_A_CALL):
        table = np.tile(table, (-(-_ROWS_OF_A_CALL // table.shape[0]), 1, 1))
    dynamics, rng, earned = _dynamics(d), _array(dynamics_rng, np.uint64, 4).copy(), np.empty(episodes)
    for first in range(0, episodes, table.shape[0]):
        part = earned[first : first + table.shape[0]]
        memory.learn_episodes(dynamics, table[: part.size], rng, part)
    _array(dynamics_rng, np.uint64, 4)[:] = rng
    _array(returns, np.float64, episodes)[:] = earned


def learner_policy(memory: CompiledMemory, actions: Any, _length: int) -> None:
    policy = memory.policy()
    _array(actions, np.int64, *policy.shape)[:] = policy


def learner_replay(
    memory: CompiledMemory,
    episodes: int,
    labels: Any,
    _labels_length: int,
    actions: Any,
    _actions_length: int,
    rewards: Any,
    _rewards_length: int,
) -> None:
    _refuse_more_than_told(memory, episodes)
    horizon = memory.task.horizon
    memory.replay(
        _array(labels, np.int64, episodes, horizon + 1),
        _array(actions, np.int64, episodes, horizon),
        _array(rewards, np.float64, episodes, horizon),
    )


def learner_final_policy(memory: CompiledMemory, chances: Any, _length: int) -> None:
    policy = memory.final_policy()
    _array(chances, np.float64, *policy.shape)[:] = policy


def learner_free(handle: int) -> int:
    """A call on the learner that is under way goes on to its end."""
    return HANDLE if _learners.pop(handle, None) is None else OK


def last_error(text: Any, text_length: int) -> None:
    line = getattr(_errors, "text", "").encode()[: text_length - 1]
    ffi.memmove(text, line + b"\0", len(line) + 1)


# --- what they need ---


def _text(pointer: Any) -> str:
    text: bytes = ffi.string(pointer, _LONGEST_TEXT)
    return text.decode()


def _array(pointer: Any, dtype: Any, *shape: int) -> NDArray[Any]:
    """The memory at a pointer, without a copy."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    return np.frombuffer(ffi.buffer(pointer, size), dtype).reshape(shape)


def _dynamics(d: Any) -> Dynamics:
    """The tables of a struct, of the types that the loops are compiled for when Python calls them."""
    shape = d.horizon, d.n_states, d.n_actions, d.n_states
    dynamics = Dynamics(
        _array(d.start, np.float64, d.n_states),
        _array(d.transitions, np.float64, *shape),
        _array(d.rewards, np.float64, *shape),
        _array(d.random_rewards, np.uint8, d.horizon),
    )
    for table in dynamics:
        table.setflags(write=False)
    return dynamics


def _refuse_what_is_too_large(learner: CompiledLearner, task: Task) -> None:
    """Tables that no machine has room for would not raise but end the process. Those of three labels, by
    which the bytes of all are told, are made: they too must be small enough."""
    least = 8 * max(task.horizon * task.n_actions * 3**2, 3 * task.episodes)
    if least > MOST_BYTES or table_bytes(learner, task) > MOST_BYTES:
        raise Refused(SIZE)


def _refuse_more_than_told(memory: CompiledMemory, episodes: int) -> None:
    """Before the first is played."""
    if memory.episodes_learned + episodes > memory.task.episodes:
        raise Refused(RANGE)
