"""The memory that a run takes, estimated before it is played: for its instance, its observations, what it
learns and what it keeps."""

from __future__ import annotations

from typing import NamedTuple

from .._base import checks, memory
from .._base.origin import implemented_by_us, in_method
from ..problems.description import Description
from ..problems.environment import Environment
from .agent import Agent

_LEAST_BLOCK = 16
"""Episodes of the smallest block of observations."""


class Footprint(NamedTuple):
    """About the bytes that one run of an agent takes, part by part."""

    instance: float
    """The tables of the instance that it meets."""
    observations: float
    """A block of observations."""
    learner: float
    """What it learns."""
    history: float
    """What it keeps of its trajectories."""
    returns: float
    """What it earns, trajectory by trajectory."""

    @property
    def total(self) -> float:
        return sum(self)

    def workers(self, wanted: int) -> int:
        """How many runs fit into memory at a time: at most as many as wanted, and one at least."""
        return int(max(1, min(wanted, memory.memory_limit() // max(1.0, self.total))))


def checked_footprint(env: Environment, agent: Agent, episodes: int, trajectories: int) -> Footprint:
    """What a run of so many episodes, with so many trajectories in all, takes; ValueError where it does not
    fit into the memory that there is."""
    known, emission = env.describe(), env.resolved_emission
    horizon, refuse = known.horizon, memory.refuse_beyond_limit
    observations = 0.0
    if emission is not None and not agent.sees_latent_states:
        observations = _LEAST_BLOCK * emission.episode_bytes
    instance, returns = env.instance_bytes(), 16.0 * trajectories
    refuse("horizon", horizon, "the tables of an instance", instance)
    refuse("horizon", horizon, "a block of observations", observations)
    refuse("episodes", episodes, "the returns of a run", returns)
    # asked last: a learner makes small tables to tell how large they grow, of as many levels as there are
    learner = _bytes_told(agent, "learner_bytes", known, episodes)
    history = _bytes_told(agent, "history_bytes", known, trajectories)
    size = Footprint(instance, observations, learner, history, returns)
    if max(learner, history, size.total) > memory.memory_limit():
        growing: float = learner - agent.learner_bytes(known, 1)
        setting, value = _larger_cause(known, episodes, learner, growing)
        refuse(setting, value, "what is learned", learner)
        refuse("episodes", episodes, "what is kept of the trajectories", history)
        setting, value = _larger_cause(known, episodes, size.total, growing + history + returns)
        refuse(setting, value, "a run", size.total)
    return size


def _bytes_told(agent: Agent, method: str, known: Description, count: int) -> float:
    """What an agent says that something takes; ValueError where it is no number of bytes."""
    with in_method(method, agent):
        told: float = getattr(agent, method)(known, count)
    return (
        told
        if implemented_by_us(agent, method)
        else checks.real(f"{method} of {type(agent).__name__}", told, least=0)
    )


def _larger_cause(known: Description, episodes: int, size: float, growing: float) -> tuple[str, int]:
    """The setting that most of a size is due to, and its value; `growing` bytes of it grow with the
    episodes."""
    return ("episodes", episodes) if 2 * growing > size else ("horizon", known.horizon)
