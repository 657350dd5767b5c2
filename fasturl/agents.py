"""What can be trained: an agent plays all episodes of one run and says how good its final policy is.

`play` is called once for each seed, in a thread of its own, with the run's streams; it must draw from nothing
else. It calls `tick(n)` after every n trajectories or so, and `tick(0)` between other long parts: that is how progress is shown and
how Ctrl-C stops a run.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .learners import Labels, Learner, Task, learn, start
from .models import Environment
from .streams import Streams

Floats = NDArray[np.float64]
Tick = Callable[[int], None]

BLOCK = 512
"""Episodes between two ticks: long against the microseconds of a kernel call, short for a person."""
_TABLE_ENTRIES = 2**24
"""Of the labels of such a block, at most."""


@dataclass
class Outcome:
    """One run: the return of every trajectory in order, and the value of the final greedy policy."""

    returns: Floats
    value: float
    value_error: float
    """Standard error of `value`; 0 where it is exact."""
    diagnostics: dict[str, Any] = field(default_factory=dict)


class Phases:
    """Seconds that the parts of a run take."""

    def __init__(self, *names: str) -> None:
        self.seconds = dict.fromkeys(names, 0.0)

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - begin


class Agent(ABC):
    """What `train` trains."""

    @property
    @abstractmethod
    def name(self) -> str:
        """As it is called in tables and files."""

    @abstractmethod
    def play(self, env: Environment, streams: Streams, episodes: int, tick: Tick) -> Outcome:
        """One run from its first trajectory to the value of its final policy."""

    def check(self, env: Environment) -> None:  # noqa: B027  # most agents can be trained on every environment
        """Raise ValueError where this agent cannot be trained on this environment."""

    def trajectories(self, env: Environment, episodes: int) -> int:
        """How many trajectories a run of so many episodes has."""
        return episodes

    def oracle_name(self, env: Environment) -> str | None:
        """The oracle that it learns to see with, if it has one."""
        return None


@dataclass(frozen=True)
class LatentAgent(Agent):
    """A tabular learner that sees the latent states: the skyline."""

    learner: Learner

    @property
    def name(self) -> str:
        return f"{learner_name(self.learner)}-lat"

    def play(self, env: Environment, streams: Streams, episodes: int, tick: Tick) -> Outcome:
        model = env.draw(streams)
        tick(0)
        n_states = max(model.n_states)
        task = Task(model.horizon, n_states, model.n_actions, model.max_return, episodes, streams.row("policy"))
        memory = start(self.learner, task)
        tick(0)
        most = max(1, min(BLOCK, _TABLE_ENTRIES // ((model.horizon + 1) * n_states)))
        labels = latent_labels(min(most, episodes), model.horizon, n_states)
        returns = np.empty(episodes)
        for first in range(0, episodes, most):
            block = returns[first : first + most]
            learn(memory, model.dynamics, labels[: block.size], streams.row("dynamics"), block)
            tick(block.size)
        return Outcome(returns, model.policy_value(memory.final_policy()), 0.0)


def latent_labels(episodes: int, horizon: int, n_states: int) -> Labels:
    """The label table of an agent that sees the latent state itself."""
    kind: type[Any] = np.uint8 if n_states <= 256 else np.int32
    return np.tile(np.arange(n_states, dtype=kind), (episodes, horizon + 1, 1))


def learner_name(learner: Learner) -> str:
    return type(learner).__name__.lower()
