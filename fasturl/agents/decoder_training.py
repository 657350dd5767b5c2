"""What runs of URL have in common.

Observations are kept and pooled over levels; an oracle is fitted on all of them, which gives a decoder; a
learner acts on its labels, and goes on alone once the decoder is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decoders.decoder import Decoder
from ..learners.learner import Learner, Memory, start
from .agent import Outcome
from .evaluation import DecodedPolicy
from .game import Game, Trajectories
from .ledger import Ledger, Phases


class DecoderTraining:
    """One run of an agent with an oracle and a learner: its observations, decoder and memory.

    fits
        How often the oracle was fitted.
    n_labels
        How many labels a level the memory has room for.
    """

    def __init__(self, game: Game, ledger: Ledger, oracle: Any, learner: Learner, n_states: int) -> None:
        self.game, self.ledger, self.oracle = game, ledger, oracle
        self.learner, self.n_states = learner, n_states
        self.oracle_seeds = game.generator("oracle")
        self.observations: list[NDArray[np.generic]] = []
        self.decoder: Decoder | None = None
        self.memory: Memory | None = None
        self.n_labels = 0
        self.fits = 0
        self.phases = Phases("oracle", "exploration", "learning")

    def outcome(self, **diagnostics: Any) -> Outcome:
        """What the run has come to, with what it has to say besides the number of fits and the seconds."""
        about = {"oracle_fits": self.fits, **diagnostics, "seconds": self.phases.seconds}
        return Outcome(self.policy(), about)

    def policy(self) -> DecodedPolicy:
        """What has been learned by now, once there is a decoder."""
        assert self.decoder is not None
        assert self.memory is not None
        return DecodedPolicy(self.decoder, self.memory.final_policy())

    def play_batch(self, size: int) -> NDArray[np.generic]:
        """Play `size` trajectories with the current policy, or at random while there is none. Returns their
        observations [n, D], which are kept."""
        first, end = len(self.observations), self.ledger.played + size
        while self.ledger.played < end:
            trajectories = self._explore(min(self.game.block_episodes, end - self.ledger.played))
            observations = trajectories.observations()
            self.observations.append(observations.reshape(-1, observations.shape[-1]))
            self.ledger.enter(trajectories.returns)
        return np.concatenate(self.observations[first:])

    def fit(self) -> Decoder:
        """The oracle's decoder after a fit on all observations."""
        from ..oracles.fitting import fit_decoder

        seed = int(self.oracle_seeds.integers(2**31))
        decoder = fit_decoder(self.oracle, np.concatenate(self.observations), seed, self.n_states)
        self.fits += 1
        return decoder

    def begin_learning(self, n_labels: int) -> Memory:
        """Give the learner a fresh memory with room for so many labels."""
        self.n_labels = n_labels
        self.memory = start(self.learner, self.game.task(n_labels, self.ledger.returns.size))
        return self.memory

    def learn(self, count: int) -> None:
        """Play and learn `count` trajectories."""
        if count == 0:
            return
        assert self.memory is not None
        with self.ledger.entry(count) as returns:
            self.game.learn(self.memory, self.decoder, returns)

    def learn_policy(self) -> None:
        """Let the learner have all trajectories that are left."""
        self.ledger.offer(self.policy)
        while self.ledger.left:
            with self.phases.timed("learning"):
                self.learn(self.ledger.next_block(self.game.block_episodes))
            self.ledger.offer(self.policy)

    def _explore(self, count: int) -> Trajectories:
        if self.decoder is None or self.memory is None:
            return self.game.play_random(count)
        return self.game.explore(self.memory, self.decoder, count)
