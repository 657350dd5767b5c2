"""Learners written in C: one function that is asked for everything, and the numbers that it remembers.

The function has the signature of `fasturl_learner_fn` in fasturl.h. It is called by its address from the
loops of all compiled learners, once for each thing that a learner does; `_kernels.learning` says what these
are. What it remembers is a block of numbers, float64[L, X, A, K], that belongs to the run: K numbers for each
level, label and action.

Its answers are checked where they come in. After the first that is wrong it is not called again: the loop
goes on with action 0 and learns nothing, and `problem` tells what was wrong (see `plugin_loops`), which the
memory makes an error of.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit

from .._base import checks
from .._base.c_functions import CFunction, Context, explain
from .._base.plugin_loops import ACTION, CHANCES, FAILED, NOWHERE, STREAM, call_learner
from .._kernels.records import CFunctionCall, CLesson
from .compiled import CompiledLearner, CompiledMemory, learner_functions
from .learner import Floats, Ints, Stream, Task

START, BEGIN_EPISODE, CHOOSE, TAKE_STEP, END_EPISODE, FILL_POLICY, START_AT_ZERO = range(7)
"""What a function is asked for, by the numbers of fasturl.h."""
_ROUNDING = 1e-9
"""How far the sum of probabilities may be from 1."""


class CLearnerTables(NamedTuple):
    """What a learner in C remembers, what it is handed, and what it has done wrong."""

    numbers: np.ndarray  # float64[L, X, A, K]
    sizes: np.ndarray  # int64[6], fasturl_learner_sizes
    step: np.ndarray  # int64[5], fasturl_learner_step
    rewards: np.ndarray  # float64[4], fasturl_learner_rewards
    problem: np.ndarray  # int64[3], zeros where there is none
    function: np.uint64  # address
    context: np.uint64  # address, 0 where there is none


@njit
def report(tables: CLearnerTables, kind: int, level: int, value: int) -> None:
    """Note what is wrong, unless something was noted before."""
    if tables.problem[0] == 0:
        tables.problem[0], tables.problem[1], tables.problem[2] = kind, level, value


@njit
def ask(tables: CLearnerTables, operation: int, level: int, chances: Any, rng: Any) -> bool:
    """Call the function, unless something has gone wrong before. Returns whether nothing has."""
    if tables.problem[0] != 0:
        return False
    call = CFunctionCall(tables.function, tables.context)
    lesson = CLesson(tables.sizes, tables.step, tables.rewards)
    status = call_learner(call, operation, lesson, tables.numbers, chances, rng)
    if status != 0:
        report(tables, FAILED, level, status)
    return bool(status == 0)


@njit
def ask_with_stream(tables: CLearnerTables, operation: int, level: int, rng: Stream) -> bool:
    """As `ask`, for what may draw from the stream: one of zeros would give nothing else to who comes next."""
    is_well: bool = ask(tables, operation, level, NOWHERE, rng)
    if (rng[0] | rng[1] | rng[2] | rng[3]) == np.uint64(0):
        rng[0] = np.uint64(1)
        report(tables, STREAM, level, 0)
        return False
    return is_well


@njit
def begin_episode(tables: CLearnerTables, rng: Stream) -> None:
    """Ask the function to get ready."""
    ask_with_stream(tables, BEGIN_EPISODE, 1, rng)


@njit
def choose(tables: CLearnerTables, level: int, label: int, rng: Stream) -> int:
    """The action that the function sets, or 0 where something is wrong."""
    step = tables.step
    step[0], step[1], step[2], step[3], step[4] = level + 1, label, -1, level + 2, 0
    if not ask_with_stream(tables, CHOOSE, level + 1, rng):
        return 0
    action = step[2]
    if action < 0 or action >= tables.numbers.shape[2]:
        report(tables, ACTION, level + 1, action)
        return 0
    return int(action)


@njit
def take_step(
    tables: CLearnerTables,
    level: int,
    label: int,
    action: int,
    reward: float,
    next_level: int,
    next_label: int,
) -> None:
    """Let the function learn from a step; it counts levels from 1."""
    step = tables.step
    step[0], step[1], step[2], step[3], step[4] = level + 1, label, action, next_level + 1, next_label
    tables.rewards[0] = reward
    ask(tables, TAKE_STEP, level + 1, NOWHERE, NOWHERE)


@njit
def end_episode(tables: CLearnerTables, rng: Stream) -> None:
    """Let the function learn from the episode as a whole."""
    ask_with_stream(tables, END_EPISODE, tables.numbers.shape[0], rng)


@njit
def start_at_zero(tables: CLearnerTables, level: int, label: int) -> None:
    """Let the function set the values of a label to 0."""
    step = tables.step
    step[0], step[1], step[2], step[3], step[4] = level + 1, label, -1, level + 2, 0
    ask(tables, START_AT_ZERO, level + 1, NOWHERE, NOWHERE)


@njit
def fill_policy(tables: CLearnerTables, chances: Floats) -> None:
    """What the function has learned; what it does not write is no probability."""
    for h in range(chances.shape[0]):
        for x in range(chances.shape[1]):
            for a in range(chances.shape[2]):
                chances[h, x, a] = np.nan
    if not ask(tables, FILL_POLICY, 1, chances, NOWHERE):
        return
    for h in range(chances.shape[0]):
        for x in range(chances.shape[1]):
            total = 0.0
            for a in range(chances.shape[2]):
                total += chances[h, x, a] if chances[h, x, a] >= 0.0 else np.nan
            if not abs(total - 1.0) <= _ROUNDING:
                report(tables, CHANCES, h + 1, x)


class CLearner(CompiledLearner):
    """A learner written in C: a function with the signature of `fasturl_learner_fn` in fasturl.h.

    pointer
        A cffi function pointer, a ctypes function or a Numba cfunc. It is called from many threads at once,
        without the GIL; the calls of one run come one after the other.
    n_numbers
        How many numbers the learner remembers for each level, label and action, 1 or more.
    context
        What the function gets as its last argument: None, a NumPy array (its memory), or a pointer of cffi or
        ctypes. All runs share it.

    `docs/c-plugins.md` has a complete example, such as
    `fu.train(env, CLearner(library.optimist, n_numbers=1), episodes=1_000)`.

    Examples
    --------
    >>> from numba import cfunc, types
    >>> @cfunc(types.int32(types.int64, *[types.voidptr] * 7))
    ... def nothing(operation, sizes, step, rewards, numbers, chances, rng, context):
    ...     return 0
    >>> CLearner(nothing, n_numbers=2).n_numbers
    2
    """

    functions = learner_functions(
        choose=choose,
        take_step=take_step,
        fill_policy=fill_policy,
        begin_episode=begin_episode,
        end_episode=end_episode,
        start_at_zero=start_at_zero,
    )

    def __init__(self, pointer: Any, n_numbers: int = 1, context: Any = None) -> None:
        self.function = CFunction(pointer, "fasturl_learner_fn")
        self.context = Context(context)
        self.n_numbers = checks.integer("n_numbers", n_numbers, least=1)

    def tables(self, task: Task) -> CLearnerTables:
        """Fresh tables, whose numbers the function has filled."""
        tables = CLearnerTables(
            numbers=np.zeros((task.n_levels, task.n_labels, task.n_actions, self.n_numbers)),
            sizes=self.sizes(task),
            step=np.zeros(5, np.int64),
            rewards=np.array([0.0, *task.reward_range, task.max_return]),
            problem=np.zeros(3, np.int64),
            function=np.uint64(self.function.address),
            context=np.uint64(self.context.address),
        )
        call = CFunctionCall(tables.function, tables.context)
        lesson = CLesson(tables.sizes, tables.step, tables.rewards)
        status = call_learner(call, START, lesson, tables.numbers, NOWHERE, NOWHERE)
        if status != 0:
            raise ValueError(f"{self.function.name} failed to start: it returned {status}")
        self.refuse_nan(tables.numbers)
        return tables

    def sizes(self, task: Task) -> Ints:
        """The members of fasturl_learner_sizes."""
        members = (
            task.horizon,
            task.n_levels,
            task.n_labels,
            task.n_actions,
            self.n_numbers,
            task.episodes,
        )
        return np.array(members, np.int64)

    def start(self, task: Task) -> CLearnerMemory:
        return CLearnerMemory(self, task)

    def refuse_nan(self, numbers: Floats) -> None:
        """An error where the function has left something that is no number."""
        if np.isnan(numbers).any():
            level, *place = np.argwhere(np.isnan(numbers))[0].tolist()
            raise ValueError(
                f"{self.function.name} must leave numbers in its memory, got nan for "
                f"label {place[0]}, action {place[1]}, number {place[2]} at level {level + 1}"
            )


class CLearnerMemory(CompiledMemory):
    """What a learner in C has learned so far in one run."""

    learner: CLearner

    def grown(self, n_labels: int) -> Self:
        larger = super().grown(n_labels)
        larger.tables.sizes[:] = self.learner.sizes(larger.task)  # not those that were copied
        return larger

    def final_policy(self) -> Floats:
        chances = super().final_policy()
        kind, level, label = self.tables.problem.tolist()
        if kind == CHANCES:
            raise ValueError(
                f"{self.learner.function.name} must give probabilities that add up to 1, got "
                f"{chances[level - 1, label].tolist()} for label {label} at level {level}"
            )
        return chances

    def _call(self, loop: str, *arguments: Any) -> None:
        super()._call(loop, *arguments)
        problem = self.tables.problem
        if problem[0] == STREAM:
            explain(problem, self.learner.function, "back a stream that can be drawn from")
        elif problem[0] != CHANCES:  # which `final_policy` explains
            explain(problem, self.learner.function, f"actions from 0 to {self.task.n_actions - 1}")

    def _refuse_nan(self) -> None:
        self.learner.refuse_nan(self.tables.numbers)
