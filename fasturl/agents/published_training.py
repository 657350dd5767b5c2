"""A run of URL as the paper's experiments have it.

Observations are kept and pooled over levels; an oracle is fitted on all of them a fixed number of times,
which gives a decoder; a learner acts on its labels, and goes on alone once the decoder is there.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..decoders.decoder import Decoder
from ..learners.learner import Floats, Ints, Learner, Memory, check_final_policy, start
from ..learners.playing import player_of
from .agent import Outcome
from .evaluation import DecodedPolicy
from .game import Game, Trajectories
from .ledger import Ledger, Phases


class PublishedTraining:
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
        self.training_trajectories = 0
        self.fed: list[tuple[Ints, Ints, Floats]] = []
        """What the learner was fed while the decoder was trained: labels [1, H+1], actions and rewards [1, H]
        of one trajectory after the other."""
        self.phases = Phases("oracle", "exploration", "learning")

    def outcome(self, **diagnostics: Any) -> Outcome:
        """The policy that was learned, and these diagnostics beside the number of fits and the seconds."""
        everything = {"oracle_fits": self.fits, **diagnostics, "seconds": self.phases.seconds}
        return Outcome(self.policy(), everything)

    def policy(self) -> DecodedPolicy:
        """What has been learned by now, once there is a decoder."""
        assert self.decoder is not None
        assert self.memory is not None
        known = self.game.description
        chances = check_final_policy(self.memory, known.horizon, self.decoder.n_labels, known.n_actions)
        return DecodedPolicy(self.decoder, chances)

    def play_batch(self, size: int) -> None:
        """Play `size` trajectories with the current policy, or at random while there is none, and keep their
        observations."""
        end = self.ledger.played + size
        while self.ledger.played < end:
            trajectories = self._explore(min(self.game.block_episodes, end - self.ledger.played))
            observations = trajectories.observations()
            self.observations.append(observations.reshape(-1, observations.shape[-1]))
            self.ledger.enter(trajectories.returns)

    def fit(self) -> Decoder:
        """The oracle's decoder after a fit on all observations."""
        from ..oracles.fitting import fit_decoder

        seed = int(self.oracle_seeds.integers(2**31))
        decoder = fit_decoder(self.oracle, np.concatenate(self.observations), seed, self.n_states)
        self.fits += 1
        return decoder

    def learn_policy(self) -> None:
        """Let the learner have all trajectories that are left."""
        assert self.memory is not None
        self.ledger.offer(self.policy)
        while self.ledger.left:
            count = self.ledger.next_block(self.game.block_episodes)
            with self.phases.timed("learning"), self.ledger.entry(count) as returns:
                self.game.learn(self.memory, self.decoder, returns)
            self.ledger.offer(self.policy)

    def _explore(self, count: int) -> Trajectories:
        if self.decoder is None or self.memory is None:
            return self.game.play_random(count)
        return self.game.explore(self.memory, self.decoder, count)

    @property
    def labels_found(self) -> int:
        """How many labels the decoder has."""
        assert self.decoder is not None
        return self.decoder.n_labels

    def iterate(self, batch: int) -> None:
        """Play a batch, or what is left of the trajectories, train the decoder, and feed the learner."""
        size = min(batch, self.ledger.left)
        with self.phases.timed("exploration"):
            self.play_batch(size)
        self.training_trajectories += size
        with self.phases.timed("oracle"):
            self.decoder = self.fit()
        with self.phases.timed("learning"):
            self._make_room(self.labels_found)
            if self.ledger.left:
                self._feed_one_trajectory()

    def _make_room(self, n_labels: int) -> None:
        """See that the learner has room for every label. It keeps what it has learned of the others: a larger
        table is taught all that it was fed before."""
        if self.memory is not None and n_labels <= self.n_labels:
            return
        self.n_labels = max(n_labels, self.n_states)
        self.memory = start(self.learner, self.game.task(self.n_labels, self.ledger.returns.size))
        for trajectory in self.fed:
            player_of(self.memory).take_in(*trajectory)

    def _feed_one_trajectory(self) -> None:
        assert self.memory is not None
        assert self.decoder is not None
        played = self.game.explore(self.memory, self.decoder, 1)
        trajectory = played.labels, played.actions, played.rewards
        self.fed.append(trajectory)
        player_of(self.memory).take_in(*trajectory)
        self.ledger.enter(played.returns)
