"""Agents that see the latent states: the skyline that no other agent can beat."""

from __future__ import annotations

from dataclasses import dataclass

from .._base.names import default_name, find_class
from ..learners.learner import Learner, Task, start
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
        return f"{learner_name(self.learner)}-lat"

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        ledger.pause()
        task = Task(
            known.horizon,
            known.max_states,
            known.n_actions,
            known.max_return,
            ledger.episodes,
            game.policy_rng,
        )
        memory = start(self.learner, task)
        ledger.pause()
        while ledger.left:
            with ledger.entry(min(game.block_episodes, ledger.left)) as returns:
                game.learn(memory, None, returns)
        return Outcome(LatentPolicy(memory.final_policy()))


def learner_name(learner: Learner) -> str:
    """What a learner is called in tables and files."""
    component = find_class("learner", type(learner))
    return component.name if component else default_name(type(learner))
