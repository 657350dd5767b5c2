"""URL, practical form: an unsupervised oracle and a no-regret tabular learner explore together (Feng et al.,
2020).

It follows the procedure of the paper's experiments. All observations are kept and pooled over levels. An
iteration plays a batch of trajectories with the current policy on the current decoder (actions at random in
the first), refits the oracle on everything, matches the new labels with the old ones, and feeds the learner
one trajectory. Once the decoder is stable, the learner goes on alone. The level is part of the learner's
state. Every trajectory counts.

The form as written is in `url_as_written`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._base.schema import Range, setting
from ..decoders.decoder import Decoder
from ..learners.learner import Learner, Memory, start
from ..problems.description import Description
from .agent import Outcome
from .decoding import DecodingAgent
from .evaluation import DecodedPolicy
from .game import Game
from .label_matching import match_labels
from .ledger import Ledger, Phases

STABLE_AGREEMENT = 0.98
"""Two successive decoders must agree on at least this share of every label's observations. Below it lies a
missing cluster; above it the 1 % of points near a border that may flip."""
STABLE_ITERATIONS = 2
"""Successive agreements that make a decoder stable: one may be chance, while a rare state is not yet met; by
the second there is four times the data."""
DECODER_SHARE = 0.5
"""Share of the trajectories that may be spent on the decoder: a learner that waits for it is at most twice as
slow as one that need not."""


@dataclass(frozen=True)
class URL(DecodingAgent):
    """Unsupervised reinforcement learning on observations, in its practical form.

    The decoder is judged stable when, in two successive iterations, the old and the new one agree on the
    trajectories that the old one has not been fitted on: for every label, on at least 98 % of its
    observations. A decoder that gives all of them one label is never stable, unless a level has one state at
    most. One that is not stable after half of all trajectories, or after the first batch where that is
    longer, is taken as it is, so that the learner has the rest; `decoder_stable` in the diagnostics tells. An
    oracle may find another number of labels at each fit: the learner has room for all so far, and begins anew
    where there are more.

    All levels are decoded alike. Where a state is observed differently from level to level, `n_states` has to
    be the number of clusters that the observations of all levels make together.

    Examples
    --------
    >>> import fasturl as fu
    >>> from fasturl.registry import environment
    >>> env = environment("lock-bernoulli", horizon=5)
    >>> run = fu.train(env, fu.URL(), episodes=2000)
    >>> run.oracle, run.success_rate
    ('kmeans', 1.0)
    """

    batch: int | None = setting(
        None,
        least=1,
        unit="trajectories",
        none="5 for each level and at least 50",
        search=Range(25, 400),
        help="Trajectories of the first iteration; each later one plays as many as all before it together.",
    )

    def check(self, description: Description) -> None:
        super().check(description)
        self.check_first_fit(description, "batch", self.first_batch(description), description.horizon + 1)

    def first_batch(self, description: Description) -> int:
        """Trajectories of the first iteration."""
        return self.batch or max(50, 5 * description.horizon)

    def trajectories(self, description: Description, episodes: int) -> int:
        self.check_first_fit(description, "episodes", episodes, description.horizon + 1)
        return episodes

    def play(self, game: Game, ledger: Ledger) -> Outcome:
        known = game.description
        run = _Run(game, ledger, self.oracle_for(known), self.learner, self.n_labels(known))
        run.learn_decoder(self.first_batch(known))
        run.learn_policy()
        return run.outcome()


class _Run:
    """One run: its observations, decoder and learner."""

    def __init__(self, game: Game, ledger: Ledger, oracle: Any, learner: Learner, n_states: int) -> None:
        self.game, self.ledger, self.oracle, self.learner, self.n_states = (
            game,
            ledger,
            oracle,
            learner,
            n_states,
        )
        self.oracle_seeds = game.generator("oracle")
        self.observations: list[NDArray[np.generic]] = []
        self.decoder: Decoder | None = None
        self.memory: Memory | None = None
        self.n_labels = 0
        self.fits = 0
        self.decoder_trajectories = 0
        self.decoder_stable = False
        self.phases = Phases("oracle", "exploration", "learning")

    def outcome(self) -> Outcome:
        assert self.decoder is not None
        assert self.memory is not None
        diagnostics = {
            "oracle_fits": self.fits,
            "decoder_trajectories": self.decoder_trajectories,
            "decoder_stable": self.decoder_stable,
            "seconds": self.phases.seconds,
        }
        return Outcome(DecodedPolicy(self.decoder, self.memory.final_policy()), diagnostics)

    def learn_decoder(self, batch: int) -> None:
        ledger, size = self.ledger, batch
        most = min(max(size, int(DECODER_SHARE * ledger.returns.size)), ledger.returns.size)
        stable = 0
        while stable < STABLE_ITERATIONS and ledger.played < most:
            with self.phases.timed("exploration"):
                fresh = self._play_batch(min(size, most - ledger.played))
            with self.phases.timed("oracle"):
                agreement = self._refit(fresh)
            stable = stable + 1 if agreement >= STABLE_AGREEMENT else 0
            with self.phases.timed("learning"):
                self._learn(min(1, ledger.left))
            size = ledger.played
        self.decoder_trajectories = ledger.played
        self.decoder_stable = stable >= STABLE_ITERATIONS

    def learn_policy(self) -> None:
        with self.phases.timed("learning"):
            while self.ledger.left:
                self._learn(min(self.game.block_episodes, self.ledger.left))

    def _play_batch(self, size: int) -> NDArray[np.generic]:
        """The observations of `size` trajectories, [n, D]; they are kept."""
        first, end = len(self.observations), self.ledger.played + size
        while self.ledger.played < end:
            count = min(self.game.block_episodes, end - self.ledger.played)
            if self.decoder is None or self.memory is None:
                trajectories = self.game.play_random(count)
            else:
                trajectories = self.game.explore(self.memory, self.decoder, count)
            observations = trajectories.observations()
            self.observations.append(observations.reshape(-1, observations.shape[-1]))
            self.ledger.enter(trajectories.returns)
        return np.concatenate(self.observations[first:])

    def _refit(self, fresh: NDArray[np.generic]) -> float:
        """Fit on all observations and match labels with the old decoder; returns how well the two agree on
        the fresh observations."""
        from ..oracles.fitting import fit_decoder

        seed = int(self.oracle_seeds.integers(2**31))
        decoder = fit_decoder(self.oracle, np.concatenate(self.observations), seed, self.n_states)
        self.fits += 1
        agreement = 0.0
        if self.decoder is not None:
            old, new = self.decoder.decode(fresh), decoder.decode(fresh)
            renaming, agreement = match_labels(old, new, max(decoder.n_labels, self.decoder.n_labels))
            decoder = decoder.relabelled(renaming)
            if self.game.description.max_states > 1 and new.min() == new.max():
                agreement = 0.0  # two decoders that tell nothing apart agree on everything
        self.decoder = decoder
        self._make_room(decoder.n_labels)
        return agreement

    def _make_room(self, n_labels: int) -> None:
        """See that the learner has room for every label; one that begins anew forgets a few trajectories at
        most."""
        if self.memory is not None and n_labels <= self.n_labels:
            return
        self.n_labels = max(n_labels, self.n_states)
        self.memory = start(self.learner, self.game.task(self.n_labels, self.ledger.returns.size))

    def _learn(self, count: int) -> None:
        if count == 0:
            return
        assert self.memory is not None
        with self.ledger.entry(count) as returns:
            self.game.learn(self.memory, self.decoder, returns)
