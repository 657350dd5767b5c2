"""Learners whose episodes run inside a compiled loop: tables of flat arrays, and compiled functions on them.

A class of this kind has `functions`, made by `learner_functions`, and a method `tables(task)` that returns
fresh tables, a named tuple of arrays and numbers. `_kernels.learning` says what each function does. Whoever
wrote it, such a learner runs on latent states, on observations and inside URL, in the same loops as OracleQ.
"""

from __future__ import annotations

import inspect
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from types import FunctionType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._base import checks
from .._base.origin import is_ours
from .._base.schema import Declared
from .._base.user_functions import python_function
from .._kernels import learning as _learning
from .._kernels.learning import LearnerFunctions, OneLook
from .._kernels.records import Dynamics, EpisodeWorkspace, ObservationKeys, Trajectories, blank_trajectories
from ..problems.description import checked_reward_range
from . import checked_tables
from .episode_loops import loops_of
from .function_types import ARGUMENTS
from .learner import Floats, Ints, LabelTable, Stream, Task

_PART = 2**10
"""Trajectories that `take_in` checks at a time: what is made of all of them meanwhile may be a gigabyte."""


def learner_functions(
    *,
    choose: Any,
    take_step: Any,
    fill_policy: Any,
    begin_episode: Any = None,
    end_episode: Any = None,
    start_at_zero: Any = None,
    look: Any = None,
    take_value: Any = None,
) -> LearnerFunctions:
    """The compiled functions of a learner: `@njit` functions of these names.

    `docs/extending.md` says when each is called and has examples; all but the first three may be None.

    choose(tables, level, label, rng)
        Returns the action to take, an integer from 0 to A-1.
    take_step(tables, level, label, action, reward, next_level, next_label)
        Learns from one step. The episode is over where `next_level` is the number of levels.
    fill_policy(tables, chances)
        Fills float64[levels, labels, A] with what was learned: a probability for each action.
    begin_episode(tables, rng), end_episode(tables, rng)
        Called before an episode is played, and after its last step was learned from.
    start_at_zero(tables, level, label)
        On observations without their levels: lets the values of a label start at 0. It is called where an
        episode ended with an observation that was never acted in.
    look(tables, level, label, rng)
        Returns the action of `choose` and the value of the label. It makes loops faster, together with
        `take_value`: both or neither are given.
    take_value(tables, level, label, action, reward, value)
        Learns as `take_step` does, from the value of the next label, 0 where the episode is over. It must
        change nothing that `look` sees at the next level.

    Levels count from 0. `rng` (uint64[4]) is the run's policy stream; `fasturl.learners.draws` draws from it.

    Returns the functions as a `CompiledLearner` has them in its attribute `functions`.

    Examples
    --------
    >>> from numba import njit
    >>> first = njit(lambda tables, level, label, rng: 0)
    >>> nothing = njit(lambda tables, level, label, action, reward, next_level, next_label: None)
    >>> uniform = njit(lambda tables, chances: chances.fill(1 / chances.shape[2]))
    >>> functions = learner_functions(choose=first, take_step=nothing, fill_policy=uniform)
    >>> functions.choose is first
    True
    """
    functions = LearnerFunctions(
        choose,
        take_step,
        fill_policy,
        _learning.do_nothing if begin_episode is None else begin_episode,
        _learning.do_nothing if end_episode is None else end_episode,
        _learning.leave_as_it_is if start_at_zero is None else start_at_zero,
    )
    if look is not None or take_value is not None:
        functions = functions._replace(one_look=OneLook(look, take_value, choose, take_step))
    named = functions._asdict() | (functions.one_look._asdict() if functions.one_look else {})
    for name, function in named.items():
        if name != "one_look":
            _check_function(name, python_function(function))
    return functions


def _check_function(name: str, function: Any) -> None:
    """ValueError for what is no function, or takes other arguments than the loops hand over."""
    if not isinstance(function, FunctionType):
        raise ValueError(f"{name} must be a function compiled by Numba, got {checks.short_repr(function)}")
    handed_over, code = ARGUMENTS[name], function.__code__
    least = code.co_argcount - len(function.__defaults__ or ())
    most = math.inf if code.co_flags & inspect.CO_VARARGS else code.co_argcount
    if not least <= len(handed_over.split(", ")) <= most:
        takes = ", ".join(code.co_varnames[: code.co_argcount])
        raise ValueError(f"{name} must take ({handed_over}), got ({takes})")


class CompiledLearner(Declared, ABC):
    """A learner whose episodes run inside a compiled loop. A subclass has `functions` and implements
    `tables`; see `docs/extending.md`.

    Examples
    --------
    >>> from fasturl.learners import OracleQ
    >>> issubclass(OracleQ, CompiledLearner), OracleQ.functions._fields[:2]
    (True, ('choose', 'take_step'))
    """

    functions: ClassVar[LearnerFunctions]
    plans_by_level: ClassVar[bool] = False
    """Whether the tables need rows of their own for each level even where labels are observations, as a
    learner needs that plans backwards. Otherwise all levels then share their rows."""

    @property
    def plans_from_tables(self) -> bool:
        """Whether `end_episode` does nothing but plan from the tables. A history is then learned from with
        one plan at its end instead of one for each episode."""
        return False

    @abstractmethod
    def tables(self, task: Task) -> Any:
        """Fresh tables, a named tuple of arrays and numbers, for `task.n_levels` levels, `task.n_labels`
        labels and `task.n_actions` actions."""

    def start(self, task: Task) -> CompiledMemory:
        return CompiledMemory(self, task)


class CompiledMemory:
    """What a compiled learner has learned so far in one run: its tables. It belongs to that run."""

    def __init__(self, learner: CompiledLearner, task: Task) -> None:
        if not isinstance(getattr(learner, "functions", None), LearnerFunctions):
            raise ValueError(
                f"functions of {type(learner).__name__} must be what learner_functions gives, got "
                f"{checks.short_repr(getattr(learner, 'functions', None))}"
            )
        checked_tables.stream(task.policy_rng)
        checked_reward_range(task.reward_range)
        # a class of the user's may have tables that do not fit, even where all of its functions are ours
        self._trusted = is_ours(type(learner))
        self._learner, self._task = learner, task
        self._tables = checked_tables.fresh_tables(learner, task, trusted=self._trusted)
        self._episodes_learned = 0
        self._loops = loops_of(learner.functions, trusted=self._trusted)
        self._loops.refuse_other_randomness(learner)
        self._in_use, self._unclaimed = threading.Lock(), threading.Lock()

    def __init_subclass__(cls) -> None:
        if is_ours(cls):
            return
        raise TypeError("CompiledMemory cannot be subclassed: what differs is in a CompiledLearner")

    @property
    def learner(self) -> CompiledLearner:
        return self._learner

    @property
    def task(self) -> Task:
        return self._task

    @property
    def tables(self) -> Any:
        """The learner's record of arrays, as it is now."""
        return self._tables

    @property
    def episodes_learned(self) -> int:
        """How many episodes it has learned from."""
        return self._episodes_learned

    def claim(self) -> bool:
        """Whether this is the first call. A memory belongs to one run."""
        return self._unclaimed.acquire(blocking=False)

    def check_room(self, horizon: int, n_labels: int, n_actions: int) -> None:
        """Refuse to play what the tables have no room for: a loop would leave them."""
        task = self.task
        fits = task.levels_apart and (task.horizon, task.n_actions) == (horizon, n_actions)
        if not fits or n_labels > task.n_labels:
            raise ValueError(
                f"a memory of {type(self.learner).__name__} for {_size(task)} cannot play {horizon} levels, "
                f"{n_labels} labels and {n_actions} actions"
            )

    def policy(self) -> Ints:
        """The action for each (level, label) in the coming episode: [levels, labels]."""
        actions = np.empty((self.task.n_levels, self.task.n_labels), np.int64)
        self._run("draw_policy", self.tables, self.task.n_actions, self.task.policy_rng, actions)
        return actions

    def update(self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from one trajectory: labels [H+1], actions [H], rewards [H]."""
        self.replay(
            checks.real_array("labels", labels)[None],
            checks.real_array("actions", actions)[None],
            checks.real_array("rewards", rewards)[None],
        )

    def replay(self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from trajectories in their order: labels [E, H+1], actions [E, H], rewards [E, H].

        On a fresh memory this rebuilds what would have been learned with these labels.
        """
        labels, actions, rewards = self._checked(labels, actions, rewards)
        self._learn("replay", len(actions), self.tables, labels, actions, rewards, self.task.policy_rng)

    def take_in(self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike) -> None:
        """Learn from trajectories as `replay` does, with one plan at the end where the learner allows it."""
        labels, actions = checks.real_array("labels", labels), checks.real_array("actions", actions)
        rewards = checks.real_array("rewards", rewards)
        if not labels.shape[:1] == actions.shape[:1] == rewards.shape[:1] or actions.ndim != 2:
            self._checked(labels, actions, rewards)  # which says what is wrong
        # the last trajectory is replayed, which makes the plan
        n_before = len(actions) - 1 if self.learner.plans_from_tables else 0
        for first in range(0, n_before, _PART):
            part = slice(first, min(first + _PART, n_before))
            steps = self._checked(labels[part], actions[part], rewards[part])
            self._learn("take_in", len(actions[part]), self.tables, *steps)
        for first in range(n_before, len(actions), _PART):
            part = slice(first, first + _PART)
            self.replay(labels[part], actions[part], rewards[part])

    def _checked(
        self, labels: ArrayLike, actions: ArrayLike, rewards: ArrayLike
    ) -> tuple[NDArray[np.integer], NDArray[np.integer], Floats]:
        """Trajectories that fit the tables, or an error."""
        task, shape = self.task, checks.real_array("actions", actions).shape
        self.check_room(task.horizon, task.n_labels, task.n_actions)
        if len(shape) != 2 or shape[1] != task.horizon:
            raise ValueError(f"actions must have shape [trajectories, {task.horizon}], got {list(shape)}")
        return (
            checked_tables.indices("labels", labels, (shape[0], task.horizon + 1), task.n_labels),
            checked_tables.indices("actions", actions, shape, task.n_actions),
            checked_tables.rewards(rewards, shape),
        )

    def final_policy(self) -> Floats:
        """What has been learned: a probability for each action, [levels, labels, A]."""
        chances = np.zeros((self.task.n_levels, self.task.n_labels, self.task.n_actions))
        self._run("fill_policy", self.tables, chances)
        if not self._trusted:
            checked_tables.refuse_no_policy(self.learner, chances)
        return chances

    def learn_episodes(
        self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats
    ) -> None:
        """Play and learn one episode for each entry of `returns`, seeing `labels` [E, H+1, S], or [1, H+1, S]
        where all episodes see the same."""
        self._play_and_learn(dynamics, labels, dynamics_rng, returns, None)

    def learn_episodes_in_view(
        self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream, returns: Floats
    ) -> Trajectories:
        """As `learn_episodes`, and return what happened."""
        trajectories = blank_trajectories(returns.size, self.task.horizon)
        self._play_and_learn(dynamics, labels, dynamics_rng, returns, trajectories)
        return trajectories

    def _play_and_learn(
        self,
        dynamics: Dynamics,
        labels: LabelTable,
        dynamics_rng: Stream,
        returns: Floats,
        trajectories: Trajectories | None,
    ) -> None:
        self._check_dynamics(dynamics)
        rngs = dynamics_rng, self.task.policy_rng
        self._learn("learn", returns.size, dynamics, labels, self.tables, *rngs, returns, trajectories)

    def play_episodes(self, dynamics: Dynamics, labels: LabelTable, dynamics_rng: Stream) -> Trajectories:
        """Play one episode for each row of `labels` without learning."""
        self._check_dynamics(dynamics)
        trajectories = blank_trajectories(labels.shape[0], self.task.horizon)
        self._run("explore", dynamics, labels, self.tables, dynamics_rng, self.task.policy_rng, trajectories)
        return trajectories

    def learn_observations(
        self,
        dynamics: Dynamics,
        words: NDArray[np.uint64],
        keys: ObservationKeys,
        dynamics_rng: Stream,
        returns: Floats,
    ) -> None:
        """As `learn_episodes`, where a label is the row of an observation among the keys."""
        task, rows = self.task, keys.table.keys.shape[0]
        horizon, _, n_actions, _ = dynamics.transitions.shape
        fits = (task.horizon, task.n_actions, task.levels_apart) == (horizon, n_actions, keys.level_in_tables)
        if not fits or rows > task.n_labels:
            raise ValueError(
                f"a memory of {type(self.learner).__name__} for {_size(task)} cannot learn on {rows} rows of "
                f"observations in {horizon} levels with {n_actions} actions"
            )
        episode = EpisodeWorkspace(
            np.empty(horizon + 1, np.int64), np.empty(horizon, np.int64), np.empty(horizon)
        )
        rngs = dynamics_rng, self.task.policy_rng
        self._learn(
            "learn_observations", returns.size, dynamics, words, keys, self.tables, *rngs, returns, episode
        )

    def grown(self, n_labels: int) -> Self:
        """A memory with room for more labels that knows what this one does."""
        larger = type(self)(self.learner, self.task._replace(n_labels=n_labels))
        for name, old, new in zip(self.tables._fields, self.tables, larger.tables, strict=True):
            if isinstance(old, np.ndarray):
                if old.ndim != new.ndim or any(np.less(new.shape, old.shape)):
                    raise ValueError(
                        f"tables of {type(self.learner).__name__} must grow with the number of labels, got "
                        f"shape {list(new.shape)} after {list(old.shape)} for {name}"
                    )
                new[tuple(map(slice, old.shape))] = old
        larger._episodes_learned = self.episodes_learned
        return larger

    def _learn(self, loop: str, episodes: int, *arguments: Any) -> None:
        """Run a loop that learns from so many episodes, no more than the task has: the tables of schedules
        end with it."""
        with self._alone():
            if self.episodes_learned + episodes > self.task.episodes:
                raise ValueError(
                    f"a learner that was told of {self.task.episodes} episodes must not be fed more, got "
                    f"{self.episodes_learned + episodes}"
                )
            self._episodes_learned += episodes
            self._call(loop, *arguments)
        self._refuse_nan()

    def _run(self, loop: str, *arguments: Any) -> None:
        with self._alone():
            self._call(loop, *arguments)

    def _call(self, loop: str, *arguments: Any) -> None:
        """Every loop is called from here."""
        self._loops.run(loop, self, *arguments)

    def _refuse_nan(self) -> None:
        """An error where learning has left something that is no number."""
        if not self._trusted:
            rule = (
                f"take_step and end_episode of {type(self.learner).__name__} must leave numbers in its tables"
            )
            checked_tables.refuse_nan(rule, self.tables, self.task)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Refuse a second thread: loops run without the GIL, and each believes that it alone writes."""
        if not self._in_use.acquire(blocking=False):
            raise ValueError(
                f"a memory of {type(self.learner).__name__} must be used by one thread at a time, got two"
            )
        try:
            yield
        finally:
            self._in_use.release()

    def _check_dynamics(self, dynamics: Dynamics) -> None:
        horizon, _, n_actions, _ = dynamics.transitions.shape
        self.check_room(horizon, self.task.n_labels, n_actions)


def _size(task: Task) -> str:
    return f"{task.n_levels} levels, {task.n_labels} labels and {task.n_actions} actions"
