"""Evaluations in the course of a run: how good the agent's policy is after so many trajectories.

An agent offers its ledger the policy that it would end with, and where an evaluation is due, the policy is
judged on streams that nothing else draws from. So a run with evaluations is the same run, bit for bit.

Each evaluation gives the policy's value, from fewer observations than the verdict on a final policy, and the
returns of some episodes, for rules that look at those: "solved" in the literature on Block MDPs is a number
of successive evaluations whose episodes all have the best return.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._base import checks
from .._base.origin import in_method
from .._base.streams import Streams
from ..problems.block_mdp import BlockMDP
from .evaluation import Glance, check_glance

Record = dict[str, list[Any]]


class Checkpoints:
    """The evaluations of one run: whenever `interval` more trajectories have been played, the next policy
    that is offered is evaluated."""

    def __init__(self, interval: int, instance: BlockMDP, streams: Streams) -> None:
        self._interval, self._instance = interval, instance
        # the verdict on the final policy has the streams of `evaluation()` itself
        self._streams = streams.evaluation().evaluation()
        self._next = interval
        self._trajectories: list[int] = []
        self._glances: list[Glance] = []

    def until_next(self, played: int) -> int:
        """Trajectories from here to the next evaluation, at least 1."""
        return max(1, self._next - played)

    def due(self, played: int) -> bool:
        return played >= self._next

    def evaluate(self, played: int, policy: Any) -> None:
        """Judge the policy that an agent has after `played` trajectories."""
        self._next = (played // self._interval + 1) * self._interval
        if not callable(getattr(policy, "glance", None)):
            raise ValueError(
                "evaluate_every needs policies that have a method glance, "
                f"got {checks.short_repr(policy)} after {played} trajectories"
            )
        with in_method("glance", policy):
            glance = policy.glance(self._instance, self._streams)
        self._trajectories.append(played)
        self._glances.append(check_glance(policy, glance))

    def end(self, played: int, policy: Any) -> Record:
        """All evaluations by name, with one of the final policy if the last offer was not that: at which
        trajectories, the value, and the lowest return of the episodes."""
        if self._trajectories[-1:] != [played]:
            self.evaluate(played, policy)
        return {
            "trajectories": self._trajectories,
            "values": [glance.value for glance in self._glances],
            "lowest_returns": [float(np.min(glance.returns)) for glance in self._glances],
        }
