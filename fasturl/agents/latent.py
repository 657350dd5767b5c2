"""Agents that see the latent states: the skyline that no other agent can beat."""

from __future__ import annotations

from dataclasses import dataclass

from .._base.names import name_of
from ..learners.learner import Learner, start
from .agent import Agent, Outcome
from .evaluation import LatentPolicy
from .game import Game
from .ledger import Ledger


@dataclass(frozen=True)
class LatentAgent(Agent):
    """A tabular learner on (level, latent state)."""

    learner: Learner

    sees_latent_states = True

    @property
    def name(self) -> str:
        return name_of("learner", self.learner) + "-lat"

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        ledger.pause()
        task = game.task(game.description.max_states, ledger.episodes)
        memory = start(self.learner, task)
        ledger.pause()
        while ledger.left:
            with ledger.entry(min(game.block_episodes, ledger.left)) as returns:
                game.learn(memory, None, returns)
        return Outcome(LatentPolicy(memory.final_policy()))
