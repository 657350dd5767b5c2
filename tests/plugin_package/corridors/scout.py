"""An agent: it looks around at random, learns to see once, and then leaves everything to a learner."""

from dataclasses import dataclass

import numpy as np

import fasturl as fu
from fasturl.agents import DecodedPolicy, DecodingAgent, Outcome
from fasturl.learners import start


@dataclass(frozen=True)
class Scout(DecodingAgent):
    """Random play for a share of the trajectories, one fit of the oracle, then a learner on its labels."""

    share: float = fu.setting(
        0.2,
        above=0,
        below=1,
        search=(0.1, 0.2, 0.4),
        help="Share of the trajectories that are played at random.",
    )

    def play(self, game, ledger):
        scouting = max(1, int(self.share * ledger.left))
        decoder = self._learn_to_see(game, ledger, scouting)
        memory = start(self.learner, game.task(decoder.n_labels, max(1, ledger.left)))
        while ledger.left:
            with ledger.entry(min(game.block_episodes, ledger.left)) as returns:
                game.learn(memory, decoder, returns)
        policy = DecodedPolicy(decoder, memory.final_policy())
        return Outcome(policy, {"scouting_trajectories": scouting})

    def _learn_to_see(self, game, ledger, count):
        from fasturl.oracles import fit_decoder  # scikit-learn takes its time

        known, observations = game.description, []
        while ledger.played < count:
            trajectories = game.play_random(min(game.block_episodes, count - ledger.played))
            observations.append(trajectories.observations().reshape(-1, known.observations.dimension))
            ledger.enter(trajectories.returns)
        seed = int(game.generator("oracle").integers(2**31))
        return fit_decoder(self.oracle_for(known), np.concatenate(observations), seed, self.n_labels(known))
