"""Vector tables: the instances of many environments side by side, as the kernels of vector environments read
them.

Every family has them (`Environment.vector_tables`). `InstanceTables` works for all families from `draw`
alone: each environment has the start, transitions and rewards of its own instance. `SharedInstance` is one
Block MDP for all. A family whose instances differ in little may declare smaller tables, which stay in the
cache of the processor; it must then give the same bits as its `draw` does.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .._base import checks
from .._base.origin import is_ours
from .._base.patience import announced
from .._base.streams import Streams
from .._kernels.records import RANDOM_REWARDS, SharedTables
from .emissions import Emission

if TYPE_CHECKING:
    from .block_mdp import BlockMDP
    from .environment import Environment

Mask = NDArray[np.bool_]


class VectorTables(ABC):
    """The instances of N environments of one family.

    `seed` gives an environment the streams of a run, `draw` then draws its next instance from the stream
    "instance" of these. A subclass has the attributes below and implements the methods.
    """

    arrays: SharedTables
    """What kernels read; `draw` writes into it or puts another in its place."""
    optimal_values: NDArray[np.float64]
    """V* of the instance of each environment, float64[N]."""
    emissions: list[Emission | None]
    """The emission of the instance of each environment."""
    keeps_instances: ClassVar[bool] = False
    """Whether the instances are kept beside the arrays, which takes memory of its own."""

    @abstractmethod
    def seed(self, index: int, streams: Streams) -> None:
        """Give environment `index` new streams; its instance stays until it is drawn."""

    @abstractmethod
    def draw(self, mask: Mask) -> None:
        """Draw the next instance of each environment of the mask (bool[N])."""

    @abstractmethod
    def instance(self, index: int) -> BlockMDP:
        """The instance of environment `index`."""


class InstanceTables(VectorTables):
    """An instance of its own for each environment, as `Environment.draw_checked` gives it.

    Instances may differ in their start, transitions, rewards, emission and number of states; tables have room
    for the `max_states` that the family declares.
    """

    keeps_instances = True

    def __init__(self, environment: Environment, n_envs: int) -> None:
        declared = environment.describe()
        size = declared.max_states
        shape = (declared.horizon, n_envs, size, declared.n_actions)
        n_rows = math.prod(shape)
        self._environment = environment
        self._streams: list[Streams | None] = [None] * n_envs
        self._instances: list[BlockMDP | None] = [None] * n_envs
        self._start, self._random_rewards = (
            np.ones((n_envs, size)),
            np.zeros((declared.horizon, n_envs), bool),
        )
        self._outcomes, self._rewards = np.ones((*shape, size)), np.zeros((*shape, size))
        self._sizes: NDArray[np.float64] | None = None
        self.emissions = [environment.resolved_emission] * n_envs
        self.optimal_values = np.zeros(n_envs)
        self.arrays = SharedTables(
            start=read_only(self._start),
            outcomes=read_only(self._outcomes.reshape(n_rows, size)),
            ways=_row_numbers(n_rows).reshape(shape),
            rewards=read_only(self._rewards),
            random_rewards=read_only(self._random_rewards),
        )

    def seed(self, index: int, streams: Streams) -> None:
        self._streams[index] = streams

    def draw(self, mask: Mask) -> None:
        for e in announced(np.flatnonzero(mask).tolist(), "drawing the instances"):
            streams = self._streams[e]
            assert streams is not None, "an environment is seeded before its instance is drawn"
            self._set(e, self._environment.draw_checked(streams))

    def instance(self, index: int) -> BlockMDP:
        instance = self._instances[index]
        assert instance is not None, "an instance is drawn before it is asked for"
        return instance

    def _set(self, e: int, instance: BlockMDP) -> None:
        dynamics, size = instance.dynamics, instance.transitions.shape[1]
        # cumulative chances that end in ones: no draw leads to a state that the instance does not have
        self._start[e], self._outcomes[:, e], self._rewards[:, e] = 1.0, 1.0, 0.0
        self._start[e, :size] = dynamics.start
        self._outcomes[:, e, :size, :, :size] = dynamics.transitions
        self._rewards[:, e, :size, :, :size] = dynamics.rewards
        self._random_rewards[:, e] = dynamics.reward_kinds == RANDOM_REWARDS
        self._set_sizes(e, dynamics.reward_sizes, size)
        self.emissions[e], self._instances[e] = instance.emission, instance
        self.optimal_values[e] = instance.optimal_value()

    def _set_sizes(self, e: int, sizes: NDArray[np.float64], n_states: int) -> None:
        """Note the sizes of random rewards; there is a table of them from the first that are not all 1."""
        if self._sizes is None and (sizes == 1.0).all():
            return
        if self._sizes is None:
            self._sizes = np.ones_like(self._rewards)
            self.arrays = self.arrays._replace(reward_sizes=read_only(self._sizes))
        self._sizes[:, e] = 1.0
        self._sizes[:, e, :n_states, :, :n_states] = sizes


class SharedInstance(VectorTables):
    """One instance for all environments, whatever their streams."""

    def __init__(self, instance: BlockMDP, n_envs: int) -> None:
        horizon, size, n_actions, _ = instance.transitions.shape
        n_rows, dynamics = horizon * size * n_actions, instance.dynamics
        self._instance = instance
        self.emissions = [instance.emission] * n_envs
        self.optimal_values = np.full(n_envs, instance.optimal_value())
        self.arrays = SharedTables(
            start=dynamics.start.reshape(1, size),
            outcomes=dynamics.transitions.reshape(n_rows, size),
            ways=_row_numbers(n_rows).reshape(horizon, 1, size, n_actions),
            rewards=dynamics.rewards.reshape(horizon, 1, size, n_actions, size),
            random_rewards=read_only(dynamics.reward_kinds.reshape(horizon, 1) == RANDOM_REWARDS),
            reward_sizes=dynamics.reward_sizes[:, None],
        )

    def seed(self, index: int, streams: Streams) -> None:
        pass

    def draw(self, mask: Mask) -> None:
        pass

    def instance(self, index: int) -> BlockMDP:
        return self._instance


class CheckedTables(VectorTables):
    """Tables that a user wrote: kernels take their entries for positions and check nothing, so they are
    looked at whenever instances were drawn."""

    def __init__(self, environment: Environment, tables: VectorTables, n_envs: int) -> None:
        self._known, self._tables, self._n_envs = environment.describe(), tables, n_envs
        self._must = f"vector_tables of {type(environment).__name__} must give"
        missing = [name for name in ("seed", "draw", "instance") if not callable(getattr(tables, name, None))]
        if missing:
            raise ValueError(f"{self._must} VectorTables, got {checks.short_repr(tables)}")

    # attributes of other tables: here they are read from those that are checked, at every moment
    @property
    def arrays(self) -> SharedTables:  # type: ignore[override]
        return self._arrays

    @property
    def emissions(self) -> list[Emission | None]:  # type: ignore[override]
        return self._tables.emissions

    @property
    def optimal_values(self) -> NDArray[np.float64]:  # type: ignore[override]
        return self._optimal_values

    def seed(self, index: int, streams: Streams) -> None:
        self._tables.seed(index, streams)

    def draw(self, mask: Mask) -> None:
        self._tables.draw(mask)
        self._arrays = self._checked(self._tables.arrays)
        values = checks.real_array("optimal_values", self._tables.optimal_values).astype(np.float64)
        if values.shape != (self._n_envs,) or len(self._tables.emissions) != self._n_envs:
            raise ValueError(
                f"{self._must} optimal_values and emissions of {self._n_envs} environments, "
                f"got {values.shape} and {len(self._tables.emissions)}"
            )
        self._optimal_values = values

    def instance(self, index: int) -> BlockMDP:
        return self._tables.instance(index)

    def _checked(self, arrays: SharedTables) -> SharedTables:
        horizon, n_actions = self._known.horizon, self._known.n_actions
        size, rows = np.shape(arrays.start)[-1:], np.shape(arrays.outcomes)[:1]
        n_states, n_rows = size[0] if size else 0, rows[0] if rows else 0
        some = (1, self._n_envs)
        shapes: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
            "start": (np.float64, [(m, n_states) for m in some]),
            "outcomes": (np.float64, [(n_rows, n_states)]),
            "ways": (np.integer, [(horizon, m, n_states, n_actions) for m in some]),
            "rewards": (np.float64, [(horizon, m, n_states, n_actions, n_states) for m in some]),
            "random_rewards": (np.bool_, [(horizon, m) for m in some]),
            "reward_sizes": (
                np.float64,
                [(1, 1, 1, 1, 1), *((horizon, m, n_states, n_actions, n_states) for m in some)],
            ),
        }
        for name, (kind, allowed) in shapes.items():
            table = np.asarray(getattr(arrays, name, None))
            if table.shape not in allowed or not np.issubdtype(table.dtype, kind) or 0 in table.shape:
                raise ValueError(
                    f"{self._must} {name}, {kind.__name__} of shape {' or '.join(map(str, allowed))}, "
                    f"got {table.dtype} of shape {table.shape}"
                )
        if n_states > self._known.max_states:
            raise ValueError(
                f"{self._must} at most max_states = {self._known.max_states} states, got {n_states}"
            )
        if arrays.ways.min() < 0 or arrays.ways.max() >= n_rows:
            raise ValueError(
                f"{self._must} ways from 0 to {n_rows - 1}, got {arrays.ways.min()}..{arrays.ways.max()}"
            )
        for name in ("start", "outcomes"):
            sums = getattr(arrays, name)
            rising = (np.diff(sums, axis=1) >= 0).all() and (sums >= 0).all()
            if not (rising and (sums[:, -1] == 1).all()):
                raise ValueError(f"{self._must} {name} that are running sums of probabilities up to 1")
        return arrays


def checked_tables(environment: Environment, n_envs: int) -> VectorTables:
    """The instances of `n_envs` environments: the tables themselves if they are ours, which costs nothing,
    and else some that check what is drawn."""
    tables = environment.vector_tables(n_envs)
    return tables if is_ours(type(tables)) else CheckedTables(environment, tables, n_envs)


def _row_numbers(count: int) -> NDArray[np.integer]:
    return np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)


def read_only(table: NDArray[Any]) -> NDArray[Any]:
    """The same memory, marked as the tables of a Block MDP are: kernels compile anew for writable ones."""
    view = table.view()
    view.setflags(write=False)
    return view
