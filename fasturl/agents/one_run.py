"""One run: an agent plays on the instance of a seed, and the policy that it ends with is judged.

A run draws from the streams of its seed alone, so it is the same whatever runs are played beside it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._base.exits import exits_are_faults
from .._base.origin import in_method
from .._base.streams import Streams
from .._base.workers import Tick
from ..problems.block_mdp import BlockMDP
from ..problems.description import Description
from ..problems.environment import Environment
from .agent import Agent, Outcome, check_outcome, plain_diagnostics
from .checked_episodes import PaidReturns
from .checkpoints import Checkpoints
from .evaluation import check_verdict
from .game import Game
from .ledger import Ledger


class RunRecord(NamedTuple):
    """What is recorded of a run, with the average reward at the points of its curve; the returns of all
    trajectories of many seeds would fill the memory."""

    optimal_value: float
    final_average_reward: float
    average_reward: NDArray[np.float64]
    value: float
    value_error: float
    diagnostics: dict[str, Any]


@dataclass(frozen=True)
class RunPlan:
    """What the runs of all seeds have in common; every field has been checked.

    description
        What the agent is told of the environment.
    episodes
        What each run is asked for.
    trajectories
        How many trajectories it plays for that.
    curve_points
        After which numbers of trajectories its average reward is recorded: int64[points].
    evaluate_every
        Trajectories between two evaluations on the way; None for no evaluations.
    """

    env: Environment
    description: Description
    agent: Agent
    episodes: int
    trajectories: int
    curve_points: NDArray[np.int64]
    evaluate_every: int | None

    def play(self, seed: int, tick: Tick) -> RunRecord:
        """Play the run of a seed; its errors say which it was."""
        try:
            with exits_are_faults():
                return self._play(Streams(seed), tick)
        except Exception as error:
            error.add_note(f"in the run of seed {seed}")
            raise

    def _play(self, streams: Streams, tick: Tick) -> RunRecord:
        agent, total = self.agent, self.trajectories
        instance = self.env.draw_checked(streams)
        checkpoints = None
        if self.evaluate_every is not None:
            checkpoints = Checkpoints(self.evaluate_every, instance, streams)
        ledger = Ledger(self.episodes, total, tick, checkpoints)
        paid = PaidReturns(agent)
        game = Game(instance, streams, latent=agent.sees_latent_states, episodes=paid.episodes)
        with in_method("play", agent):
            outcome = agent.play(game, ledger)
        if not game.episodes_begun == ledger.played == total:
            raise ValueError(
                f"play of {type(agent).__name__} must play {total} trajectories and enter {total} returns "
                f"in its ledger, got {game.episodes_begun} that it played and {ledger.played} that it entered"
            )
        outcome = check_outcome(agent, outcome)
        ledger.refuse_no_numbers()
        paid.check(ledger.returns, self.description)
        if checkpoints is not None:
            if not ledger.has_offers:
                raise ValueError(
                    f"play of {type(agent).__name__} must offer its ledger policies, as its offers_policies "
                    "promises, got none"
                )
            outcome.diagnostics["evaluations"] = checkpoints.end(total, outcome.policy)
        return self._record(outcome, ledger.returns, instance, streams)

    def _record(
        self, outcome: Outcome, returns: NDArray[np.float64], instance: BlockMDP, streams: Streams
    ) -> RunRecord:
        """What is recorded of a run, with the verdict on its final policy."""
        begin = time.perf_counter()
        with in_method("judge", outcome.policy):
            judgement = outcome.policy.judge(instance, streams.evaluation())
        verdict = check_verdict(outcome.policy, judgement)
        diagnostics = outcome.diagnostics | plain_diagnostics(self.agent, verdict.diagnostics or {})
        if isinstance(diagnostics.get("seconds"), dict):
            diagnostics["seconds"]["evaluation"] = time.perf_counter() - begin
        total_rewards = np.cumsum(returns)
        return RunRecord(
            optimal_value=instance.optimal_value(),
            final_average_reward=float(total_rewards[-1] / total_rewards.size),
            average_reward=total_rewards[self.curve_points - 1] / self.curve_points,
            value=verdict.value,
            value_error=verdict.error,
            diagnostics=diagnostics,
        )
