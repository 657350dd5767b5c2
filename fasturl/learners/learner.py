"""The protocol of tabular learners on (level, label), and the checks where a user's learner enters.

A learner is a description with one method, `start(task)`, that returns a fresh memory. A memory has

    policy() -> int array [H, n_labels]
        The action for each (level, label) in the coming episode. Not every episode is fed to `update`.
    update(labels, actions, rewards)
        Learn from one trajectory: int [H+1], int [H], float [H].
    final_policy() -> float array [H, n_labels, A]
        What was learned: a probability for each action, equal ones for ties.

Such a memory is driven one episode at a time. A learner whose episodes run inside a compiled loop is a
`CompiledLearner` (see `compiled`).
"""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import NamedTuple, Protocol, runtime_checkable
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.origin import in_method, is_ours
from .._kernels import rng as _rng
from ..problems.block_mdp import policy_table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
LabelTable = NDArray[np.uint8] | NDArray[np.int32]
"""The label of every observation that episodes can show: [episodes, H+1, states]. Labels of decoders are
bytes. Latent states as labels are int32, since there may be more than 256."""
Stream = NDArray[np.uint64]


_CLAIMED: WeakValueDictionary[int, Memory] = WeakValueDictionary()
"""The memories of users' learners that runs have begun with, by `id`, since two memories may be equal."""
_LOCK = threading.Lock()
"""Held while `_CLAIMED` is looked at and added to."""


class Task(NamedTuple):
    """What a learner is told before the first episode.

    horizon
        Number of levels that are acted in, H.
    n_labels
        Number of labels that tables need room for.
    n_actions
        Number of actions, A.
    max_return
        The greatest return that can be ahead at any level.
    episodes
        Upper limit on the episodes that the learner learns from. It may be fed fewer: some forms of URL spend
        some of a run's episodes on their decoder alone.
    policy_rng
        The random stream that the learner's own draws come from, uint64[4].
    reward_range
        The least and the greatest reward of a step.
    levels_apart
        Whether tables have rows of their own for each level. If not, they have one block of rows, which all
        levels share: a label is then an observation, whatever its level.
    most_labels
        Upper limit on the number of labels in the end, where more may turn up than there is room for now;
        None where n_labels is that limit.
    levels_per_label
        The number of levels that share one row of the tables: 1 where a label belongs to a level, and H where
        a label is an observation, whatever its level.
    believed_after
        The number of tries of an action at each level, int64[H], from which its outcomes may be believed:
        with fewer, labels of the next level may still hide states. None for one try. A learner may ignore it.

    Examples
    --------
    >>> import numpy as np
    >>> task = Task(3, 2, 4, 1.0, 100, np.array([1, 2, 3, 4], np.uint64))
    >>> task.n_levels, task.reward_span, task.most_visits
    (3, 1.0, 100)
    """

    horizon: int
    n_labels: int
    n_actions: int
    max_return: float
    episodes: int
    policy_rng: Stream
    reward_range: tuple[float, float] = (0.0, 1.0)
    levels_apart: bool = True
    most_labels: float | None = None
    levels_per_label: int = 1
    believed_after: Ints | None = None

    @property
    def n_levels(self) -> int:
        """Number of levels of the tables: H, or 1 where all levels share their rows."""
        return self.horizon if self.levels_apart else 1

    @property
    def reward_span(self) -> float:
        """Difference between the greatest and the least reward of a step."""
        return self.reward_range[1] - self.reward_range[0]

    @property
    def label_bound(self) -> float:
        """Upper limit on the number of labels in the end, the S of a learner's bounds."""
        return self.n_labels if self.most_labels is None else self.most_labels

    @property
    def most_visits(self) -> int:
        """Upper limit on the visits of one row of the tables in all episodes."""
        return self.episodes * self.levels_per_label

    def generator(self) -> np.random.Generator:
        """A NumPy generator, for learners written in Python: another one at each call, since its seed is
        drawn from `policy_rng`."""
        words = np.empty(4, np.uint64)
        _rng.fill_bits(self.policy_rng, words)
        return np.random.default_rng(words)


class Memory(Protocol):
    """What a learner has learned so far in one run. `Learner.start` makes a fresh one for each run.

    For each episode `policy` is asked for the actions, the episode is played, and `update` is given what
    happened. At the end of the run `final_policy` is asked for what was learned.

    Examples
    --------
    >>> import numpy as np
    >>> import fasturl as fu
    >>> task = Task(3, 2, 4, 1.0, 100, np.array([1, 2, 3, 4], np.uint64))
    >>> memory = fu.OracleQ().start(task)
    >>> memory.policy().shape, memory.final_policy().shape
    ((3, 2), (3, 2, 4))
    """

    def policy(self) -> Ints:
        """The action for each level and label in the coming episode: integers below A, [H, n_labels].

        Each call may explore in another way. Some episodes are played with the policy and never fed to
        `update`.
        """
        ...

    def update(self, labels: Ints, actions: Ints, rewards: Floats) -> None:
        """Learn from one episode, given the labels that were met, [H+1], the actions, [H], and the rewards,
        [H]."""
        ...

    def final_policy(self) -> Floats:
        """What was learned, without exploration: a probability for each level, label and action,
        [H, n_labels, A]. Actions that are equally good get equal ones."""
        ...


@runtime_checkable
class OwnedMemory(Protocol):
    """A memory that knows the task it was made for, and whether a run already uses it."""

    task: Task

    def claim(self) -> bool:
        """Reserve the memory for the run that calls. True at the first call, False at every further one,
        since a memory belongs to one run."""


class Learner(Protocol):
    """A tabular algorithm on (level, label): its settings, and the method that begins a run. What it learns
    is in the memory that `start` returns, so that one learner serves many runs.

    Examples
    --------
    >>> import fasturl as fu
    >>> callable(fu.OracleQ().start)
    True
    """

    def start(self, task: Task) -> Memory:
        """A fresh memory for one run of the task, which shares nothing that changes with other memories."""
        ...


def check_learner(learner: object) -> None:
    """Refuse what has no `start`."""
    checks.instance("learner", learner)
    if not callable(getattr(learner, "start", None)):
        raise ValueError(
            f"learner must be an object with start, such as OracleQ(), got {checks.short_repr(learner)}"
        )


def start(learner: Learner, task: Task) -> Memory:
    """A fresh memory of the learner, or an error that says what it lacks.

    learner
        A learner of any kind.
    task
        What it is told.

    Returns the memory.

    Examples
    --------
    >>> import numpy as np
    >>> import fasturl as fu
    >>> memory = start(fu.QLearning(), Task(3, 2, 4, 1.0, 100, np.array([1, 2, 3, 4], np.uint64)))
    >>> memory.policy().shape
    (3, 2)
    """
    check_learner(learner)
    with in_method("start", learner):
        memory = learner.start(task)
    missing = [
        name for name in ("policy", "update", "final_policy") if not callable(getattr(memory, name, None))
    ]
    if missing:
        raise ValueError(
            f"start of {type(learner).__name__} must return an object with policy, update and final_policy, "
            f"got {type(memory).__name__} without {' and '.join(missing)}"
        )
    if isinstance(memory, OwnedMemory):
        _check_task(learner, memory.task, task)
    if not _claim(memory):
        name = type(learner).__name__
        raise ValueError(f"start of {name} must return a fresh memory, got one that belongs to another run")
    return memory


def _claim(memory: Memory) -> bool:
    """Whether this is the first run of a memory. Objects that can be neither asked nor weakly referred to,
    such as tuples, hold no changing state of their own."""
    if isinstance(memory, OwnedMemory):
        return memory.claim()
    with _LOCK, suppress(TypeError):
        if id(memory) in _CLAIMED:
            return False
        _CLAIMED[id(memory)] = memory
    return True


def _check_task(learner: Learner, made_for: Task, task: Task) -> None:
    """Refuse a memory that was made for a task which is not, or smaller than, that of the run."""
    name = type(learner).__name__
    if not _fits(made_for, task):
        raise ValueError(
            f"start of {name} must return a memory for the task that it was given, got one "
            f"for {made_for.horizon} levels, {made_for.n_labels} labels, {made_for.n_actions} actions and "
            f"{made_for.episodes} episodes instead of {task.horizon}, {task.n_labels}, {task.n_actions} and "
            f"{task.episodes}"
        )


def _fits(made_for: Task, task: Task) -> bool:
    """Whether a memory that was made for one task has room for another."""
    same_tables = (
        made_for.horizon == task.horizon
        and made_for.n_actions == task.n_actions
        and made_for.levels_apart == task.levels_apart
    )
    return same_tables and made_for.n_labels >= task.n_labels and made_for.episodes >= task.episodes


def check_policy(
    memory: Memory, horizon: int, n_labels: int, n_actions: int, *, or_more: bool = False
) -> Ints:
    """The policy that a memory offers, or an error that says what is wrong with it.

    It is for `n_labels` labels, or for more where those are only the labels that are met.
    """
    owner = f"policy of {type(memory).__name__}"
    with in_method("policy", memory):
        actions = memory.policy()
    policy = checks.array(owner, actions)
    fits = (
        policy.ndim == 2
        and policy.shape[0] == horizon
        and (policy.shape[1] == n_labels or (or_more and policy.shape[1] > n_labels))
    )
    if not fits or not np.issubdtype(policy.dtype, np.integer):
        size = f"[{horizon}, {n_labels}{' or more' if or_more else ''}]"
        raise ValueError(
            f"{owner} must give an integer array {size}, got {policy.dtype} of shape {policy.shape}"
        )
    if policy.min() < 0 or policy.max() >= n_actions:
        raise ValueError(
            f"{owner} must give actions from 0 to {n_actions - 1}, got {policy.min()}..{policy.max()}"
        )
    return policy.astype(np.int64)


def check_final_policy(memory: Memory, horizon: int, n_labels: int, n_actions: int) -> Floats:
    """What a memory has learned, for `n_labels` labels or more, or an error that says what is wrong with
    it."""
    with in_method("final_policy", memory):
        chances = memory.final_policy()
    if is_ours(type(memory)):
        return chances
    owner = f"final_policy of {type(memory).__name__}"
    shape = checks.real_array(owner, chances).shape
    columns = max(shape[1], n_labels) if len(shape) > 1 else n_labels
    return policy_table(chances, horizon, columns, n_actions, name=owner)
