"""Learners whose episodes run inside a compiled loop: tables of flat arrays, and compiled functions on them.

A class of this kind has `functions`, made by `learner_functions`, and a method `tables(task)` that returns
fresh tables, a named tuple of arrays and numbers. `_kernels.learning` says what each function does. Whoever
wrote it, such a learner runs on latent states, on observations and inside URL, in the same loops as OracleQ.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.schema import Declared
from .._kernels import learning as _learning
from .._kernels.learning import LearnerFunctions
from .._kernels.records import Dynamics, EpisodeWorkspace, ObservationKeys, Trajectories
from .episode_loops import loops_of
from .learner import Floats, Ints, Labels, Stream, Task

MOST_BYTES = 4 * 2**30
"""Upper limit on the memory of a learner's tables: a model of a thousand labels and ten actions at a level
has 80 megabytes."""


def learner_functions(
    *, choose: Any, take_step: Any, fill_policy: Any, begin_episode: Any = None, end_episode: Any = None
) -> LearnerFunctions:
    """The compiled functions of a learner: `@njit` functions of these names.

    choose(tables, level, label, rng)
        The action to take, an integer from 0 to A-1.
    take_step(tables, level, label, action, reward, next_level, next_label)
        Learn from one step. The episode is over where `next_level` is the number of levels.
    fill_policy(tables, chances)
        Fill float64[levels, labels, A] with what has been learned: a probability for each action.
    begin_episode(tables, rng), end_episode(tables, rng)
        Get ready to act, and learn from the episode as a whole; None for a learner that has nothing to do
        there.

    Levels count from 0. `rng` (uint64[4]) is the run's policy stream; `fasturl.learners.draws` draws from it.
    """
    functions = LearnerFunctions(
        choose,
        take_step,
        fill_policy,
        _learning.do_nothing if begin_episode is None else begin_episode,
        _learning.do_nothing if end_episode is None else end_episode,
    )
    for name, function in functions._asdict().items():
        if not callable(function):
            raise ValueError(
                f"{name} must be a function compiled by Numba, got {checks.short_repr(function)}"
            )
    return functions


class CompiledLearner(Declared, ABC):
    """A learner whose episodes run inside a compiled loop. A subclass has `functions` and implements
    `tables`; see `docs/extending.md`."""

    functions: ClassVar[LearnerFunctions]
    plans_by_level: ClassVar[bool] = False
    """Whether it needs tables with a level for each of the episode, as one does that plans backwards. Others
    can be given one table for the observations of all levels."""

    @abstractmethod
    def tables(self, task: Task) -> Any:
        """Fresh tables, a named tuple of arrays and numbers, for `task.n_levels` levels, `task.n_labels`
        labels and `task.n_actions` actions."""

    def start(self, task: Task) -> CompiledMemory:
        return CompiledMemory(self, task)


class CompiledMemory:
    """What a compiled learner has learned so far in one run: its tables."""

    def __init__(self, learner: CompiledLearner, task: Task) -> None:
        # a class of the user's may have tables that do not fit, even where all of its functions are ours
        self._trusted = type(learner).__module__.partition(".")[0] == __name__.partition(".")[0]
        self.learner, self.task = learner, task
        self.tables = _checked_tables(learner, learner.tables(task))
        self.episodes_learned = 0
        self._loops = loops_of(learner.functions, trusted=self._trusted)

    def policy(self) -> Ints:
        """The action for each (level, label) in the coming episode: [levels, labels]."""
        actions = np.empty((self.task.n_levels, self.task.n_labels), np.int64)
        self._run("draw_policy", self.tables, self.task.n_actions, self.task.policy_rng, actions)
        return actions

    def update(self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from one trajectory: labels [H+1], actions [H], rewards [H]."""
        self.replay(np.asarray(labels)[None], np.asarray(actions)[None], np.asarray(rewards)[None])

    def replay(self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from trajectories in their order: labels [E, H+1], actions [E, H], rewards [E, H].

        On a fresh memory this rebuilds what would have been learned with these labels.
        """
        task, shape = self.task, np.shape(actions)
        if len(shape) != 2 or shape[1] != task.horizon:
            raise ValueError(f"actions must have shape [trajectories, {task.horizon}], got {shape}")
        self._count_episodes(shape[0])
        self._run(
            "replay",
            self.tables,
            _indices("labels", labels, (shape[0], task.horizon + 1), task.n_labels),
            _indices("actions", actions, shape, task.n_actions),
            _numbers("rewards", rewards, shape),
            task.policy_rng,
        )
        self._refuse_nan()

    def final_policy(self) -> Floats:
        """What has been learned: a probability for each action, [levels, labels, A]."""
        chances = np.zeros((self.task.n_levels, self.task.n_labels, self.task.n_actions))
        self._run("fill_policy", self.tables, chances)
        return chances

    def learn_episodes(
        self, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream, returns: Floats
    ) -> None:
        """Play and learn one episode for each entry of `returns`, seeing `labels` [E, H+1, S]."""
        self._count_episodes(returns.size)
        self._run("learn", dynamics, labels, self.tables, dynamics_rng, self.task.policy_rng, returns)
        self._refuse_nan()

    def play_episodes(
        self, dynamics: Dynamics, labels: Labels, dynamics_rng: Stream
    ) -> tuple[Ints, Ints, Floats]:
        """Play one episode for each row of `labels` without learning: states [E, H+1], actions [E, H],
        rewards [E, H]."""
        episodes, horizon = labels.shape[0], self.task.horizon
        played = Trajectories(
            states=np.empty((episodes, horizon + 1), np.int64),
            actions=np.empty((episodes, horizon), np.int64),
            rewards=np.empty((episodes, horizon)),
        )
        self._run("explore", dynamics, labels, self.tables, dynamics_rng, self.task.policy_rng, played)
        return played.states, played.actions, played.rewards

    def learn_observations(
        self,
        dynamics: Dynamics,
        words: NDArray[np.uint64],
        keys: ObservationKeys,
        dynamics_rng: Stream,
        returns: Floats,
    ) -> None:
        """As `learn_episodes`, where a label is the row of an observation among the keys."""
        self._count_episodes(returns.size)
        horizon = self.task.horizon
        episode = EpisodeWorkspace(
            np.empty(horizon + 1, np.int64), np.empty(horizon, np.int64), np.empty(horizon)
        )
        rngs = dynamics_rng, self.task.policy_rng
        self._run("learn_observations", dynamics, words, keys, self.tables, *rngs, returns, episode)
        self._refuse_nan()

    def grown(self, n_labels: int) -> Self:
        """A memory with room for more labels that knows what this one does."""
        larger = type(self)(self.learner, self.task._replace(n_labels=n_labels))
        for old, new in zip(self.tables, larger.tables, strict=True):
            if isinstance(old, np.ndarray):
                new[tuple(map(slice, old.shape))] = old
        larger.episodes_learned = self.episodes_learned
        return larger

    def _run(self, loop: str, *arguments: Any) -> None:
        self._loops.run(loop, self.learner, *arguments)

    def _count_episodes(self, count: int) -> None:
        """Schedules end with the task: beyond it lies memory that is not the learner's."""
        if self.episodes_learned + count > self.task.episodes:
            raise ValueError(
                f"a learner that was told of {self.task.episodes} episodes must not be fed more, got "
                f"{self.episodes_learned + count}"
            )
        self.episodes_learned += count

    def _refuse_nan(self) -> None:
        if self._trusted:
            return
        for name, table in zip(self.tables._fields, self.tables, strict=True):
            if isinstance(table, np.ndarray) and table.dtype.kind == "f" and np.isnan(table).any():
                index = np.argwhere(np.isnan(table))[0].tolist()
                level = f" at level {index[0] + 1}" if table.shape[0] == self.task.n_levels else ""
                raise ValueError(
                    f"take_step or end_episode of {type(self.learner).__name__} must leave numbers in its "
                    f"tables, got nan in {name}{index}{level}"
                )


def table_bytes(learner: CompiledLearner, task: Task) -> int:
    """The memory that tables of a size take: from those of one label and of two, since a table has at most
    the square of the number of labels."""
    sizes = [_bytes(learner.tables(task._replace(n_labels=n))) for n in (1, 2, 3)]
    square = (sizes[2] - 2 * sizes[1] + sizes[0]) / 2
    line = sizes[1] - sizes[0] - 3 * square
    return int(sizes[0] + line * (task.n_labels - 1) + square * (task.n_labels**2 - 1))


def _bytes(tables: Any) -> int:
    return sum(table.nbytes for table in tables if isinstance(table, np.ndarray))


def _checked_tables(learner: CompiledLearner, tables: Any) -> Any:
    """Tables as the loops take them, or an error that says what is wrong."""
    owner = f"tables of {type(learner).__name__}"
    if not (isinstance(tables, tuple) and hasattr(tables, "_fields")):
        raise ValueError(f"{owner} must return a named tuple of arrays, got {checks.short_repr(tables)}")
    for name, table in zip(tables._fields, tables, strict=True):
        if isinstance(table, np.ndarray):
            if table.dtype.kind not in "biuf" or not table.flags.c_contiguous or not table.flags.writeable:
                raise ValueError(
                    f"{owner} must return arrays of numbers that are contiguous and can be written, got "
                    f"{table.dtype} of shape {table.shape} for {name}"
                )
        elif not isinstance(table, bool | int | float | np.generic):
            raise ValueError(
                f"{owner} must return arrays and numbers, got {checks.short_repr(table)} for {name}"
            )
    return tables


def _indices(name: str, values: ArrayLike, shape: tuple[int, ...], count: int) -> Ints:
    array = np.asarray(values)
    if array.shape != shape or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be integers of shape {list(shape)}, got {array.dtype} of {array.shape}"
        )
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise ValueError(f"{name} must be from 0 to {count - 1}, got {array.min()}..{array.max()}")
    return np.ascontiguousarray(array, np.int64)


def _numbers(name: str, values: ArrayLike, shape: tuple[int, ...]) -> Floats:
    array = checks.real_array(name, np.asarray(values))
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite numbers of shape {list(shape)}, got shape {array.shape}")
    return np.ascontiguousarray(array, np.float64)
