"""Agents that see the latent states: the skyline that no other agent can beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._base.names import name_of
from .._base.parts import part_in_words
from ..learners.learner import Learner, check_final_policy, check_learner, start
from ..learners.table_bytes import known_table_bytes
from ..problems.description import Description
from .agent import Agent, Outcome
from .evaluation import LatentPolicy
from .game import Game, task_of
from .ledger import Ledger


@dataclass(frozen=True)
class LatentAgent(Agent):
    """A tabular learner on (level, latent state).

    learner
        The learner.

    Examples
    --------
    >>> import fasturl as fu
    >>> LatentAgent(fu.OracleQ()).name
    'oracleq-lat'
    """

    learner: Learner

    sees_latent_states = True
    offers_policies = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_learner(self.learner)

    @property
    def name(self) -> str:
        return name_of("learner", self.learner) + "-lat"

    def components(self) -> list[tuple[str, Any]]:
        return [("learner", self.learner)]

    def described_settings(self) -> dict[str, Any]:
        return {"learner": part_in_words("learner", self.learner)}

    def learner_bytes(self, description: Description, episodes: int) -> int:
        return known_table_bytes(self.learner, task_of(description, description.max_states, episodes))

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        ledger.pause()
        task = game.task(game.description.max_states, ledger.episodes)
        memory = start(self.learner, task)

        def policy() -> LatentPolicy:
            return LatentPolicy(check_final_policy(memory, task.horizon, task.n_labels, task.n_actions))

        ledger.pause()
        while ledger.left:
            with ledger.entry(ledger.next_block(game.block_episodes)) as returns:
                game.learn(memory, None, returns)
            ledger.offer(policy)
        return Outcome(policy())
